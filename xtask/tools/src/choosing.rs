//! Signature sizes and verification times as a picture: a mark with its name for each parameter set.

use crate::plot::{Area, GRID, say, styled};
use anyhow::{Context, Result, ensure};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor, ShapeStyle};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// A parameter set, as `xtask` hands it over.
#[derive(Deserialize)]
struct Mark {
    label: String,
    /// Sets of one family have the same shape and colour.
    family: usize,
    /// Bytes of a signature.
    bytes: f64,
    /// Microseconds of a verification.
    us: f64,
}

/// Pixels.
const WIDTH: i32 = 900;
const HEIGHT: i32 = 560;
const LEFT: i32 = 70;
const RIGHT: i32 = 20;
const TOP: i32 = 44;
const BOTTOM: i32 = 60;
/// Half of a mark.
const MARK: i32 = 6;
/// Half of the height of a name, with the space around it.
const NAME: i32 = 9;
/// The width of a letter of a name, at most.
const LETTER: i32 = 7;

/// Families by their colours, which stay apart for colour-blind eyes (Okabe and Ito).
const COLOURS: [RGBColor; 4] =
    [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// A logarithmic axis: the labels of its ticks, and the pixels of its ends.
struct Axis {
    ticks: Vec<f64>,
    ends: [i32; 2],
}

impl Axis {
    /// An axis of powers of `base`, each times every one of `steps`, from the last tick below all values to the first above.
    fn new(values: impl Iterator<Item = f64> + Clone, base: f64, steps: &[f64], ends: [i32; 2]) -> Self {
        let (least, most) = (values.clone().fold(f64::MAX, f64::min), values.fold(0.0, f64::max));
        let powers = (least.log(base).floor() as i32..=most.log(base).ceil() as i32).map(|i| base.powi(i));
        let mut ticks: Vec<f64> =
            powers.flat_map(|power| steps.iter().map(move |step| power * step)).collect();
        let below = ticks.iter().rposition(|tick| *tick <= least).unwrap_or(0);
        let above = ticks.iter().position(|tick| *tick >= most).unwrap_or(ticks.len() - 1);
        ticks.truncate(above + 1);
        ticks.drain(..below);
        Self { ticks, ends }
    }

    fn place(&self, value: f64) -> i32 {
        let (first, last) = (self.ticks[0].ln(), self.ticks[self.ticks.len() - 1].ln());
        let [from, to] = self.ends.map(f64::from);
        (from + (value.ln() - first) / (last - first).max(f64::EPSILON) * (to - from)).round() as i32
    }
}

/// Left, top, right and bottom, in pixels.
#[derive(Clone, Copy)]
struct Space([i32; 4]);

impl Space {
    /// The space of a name that begins, or ends, at a point.
    fn of_name(name: &str, (x, y): (i32, i32), side: &HPos) -> Self {
        let width = LETTER * name.chars().count() as i32;
        let left = match side {
            HPos::Left => x,
            HPos::Center => x - width / 2,
            HPos::Right => x - width,
        };
        Self([left, y - NAME, left + width, y + NAME])
    }

    fn meets(self, other: Self) -> bool {
        let ([a, b, c, d], [left, top, right, bottom]) = (self.0, other.0);
        a < right && left < c && b < bottom && top < d
    }

    const fn is_inside(self) -> bool {
        let [left, top, right, bottom] = self.0;
        left >= LEFT && top >= TOP && right <= WIDTH - RIGHT && bottom <= HEIGHT - BOTTOM
    }
}

/// Draws the parameter sets that the file `input` lists in JSON into the file `output`.
pub fn write(input: &Path, output: &Path) -> Result<()> {
    let text = fs::read_to_string(input).with_context(|| input.display().to_string())?;
    fs::write(output, svg(&serde_json::from_str::<Vec<_>>(&text)?)?)
        .with_context(|| output.display().to_string())
}

fn svg(marks: &[Mark]) -> Result<String> {
    let is_known = |mark: &Mark| mark.bytes >= 1.0 && mark.us > 0.0 && mark.family < COLOURS.len();
    ensure!(
        !marks.is_empty() && marks.iter().all(is_known),
        "a set without a size, a time or a known family"
    );
    let mut svg = String::new();
    draw(&mut svg, marks)?;
    styled(svg)
}

fn draw(svg: &mut String, marks: &[Mark]) -> Result<()> {
    let bytes = Axis::new(marks.iter().map(|mark| mark.bytes), 2.0, &[1.0], [LEFT, WIDTH - RIGHT]);
    let us = Axis::new(marks.iter().map(|mark| mark.us), 10.0, &[1.0, 2.0, 5.0], [HEIGHT - BOTTOM, TOP]);
    let area = SVGBackend::with_string(svg, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
    say(
        &area,
        (LEFT, 18),
        "Verification time in µs, and signature size in bytes, of each parameter set",
        16,
        HPos::Left,
    )?;
    for tick in &bytes.ticks {
        let x = bytes.place(*tick);
        area.draw(&PathElement::new(vec![(x, TOP), (x, HEIGHT - BOTTOM)], GRID.mix(0.3)))?;
        let label = if *tick < 1024.0 { format!("{tick}") } else { format!("{} Ki", tick / 1024.0) };
        say(&area, (x, HEIGHT - BOTTOM + 16), &label, 12, HPos::Center)?;
    }
    for tick in &us.ticks {
        let y = us.place(*tick);
        area.draw(&PathElement::new(vec![(LEFT, y), (WIDTH - RIGHT, y)], GRID.mix(0.3)))?;
        say(&area, (LEFT - 8, y), &tick.to_string(), 12, HPos::Right)?;
    }
    let below = ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18);
    say(
        &area,
        below,
        "bytes of a signature; both axes are logarithmic: less is left and below",
        12,
        HPos::Center,
    )?;
    let places: Vec<_> = marks.iter().map(|mark| (bytes.place(mark.bytes), us.place(mark.us))).collect();
    let mut taken: Vec<Space> =
        places.iter().map(|(x, y)| Space([x - MARK, y - MARK, x + MARK, y + MARK])).collect();
    for (mark, place) in marks.iter().zip(places) {
        shape(&area, mark.family, place)?;
        let (at, side) = beside(&mark.label, place, &taken);
        taken.push(Space::of_name(&mark.label, at, &side));
        say(&area, at, &mark.label, 12, side)?;
    }
    Ok(area.present()?)
}

/// The place for a mark's name: right, left, above or below, where it meets nothing that is drawn.
fn beside(name: &str, (x, y): (i32, i32), taken: &[Space]) -> ((i32, i32), HPos) {
    let choices = [
        ((x + 10, y), HPos::Left),
        ((x - 10, y), HPos::Right),
        ((x, y - 16), HPos::Center),
        ((x, y + 16), HPos::Center),
        ((x + 10, y - 14), HPos::Left),
        ((x + 10, y + 14), HPos::Left),
        ((x - 10, y - 14), HPos::Right),
        ((x - 10, y + 14), HPos::Right),
    ];
    let is_free = |(at, side): &((i32, i32), HPos)| {
        let space = Space::of_name(name, *at, side);
        space.is_inside() && !taken.iter().any(|other| space.meets(*other))
    };
    choices.into_iter().find(is_free).unwrap_or(((x + 10, y), HPos::Left))
}

/// Circle, square, triangle, rhombus.
fn shape(area: &Area<'_>, family: usize, (x, y): (i32, i32)) -> Result<()> {
    let style = ShapeStyle { color: COLOURS[family].mix(0.9), filled: true, stroke_width: 1 };
    match family {
        0 => area.draw(&Circle::new((x, y), 5, style))?,
        1 => area.draw(&Rectangle::new([(x - 5, y - 5), (x + 5, y + 5)], style))?,
        2 => area.draw(&Polygon::new(vec![(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)], style))?,
        _ => area.draw(&Polygon::new(vec![(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], style))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(label: &str, family: usize, bytes: f64, us: f64) -> Mark {
        Mark { label: label.to_owned(), family, bytes, us }
    }

    #[test]
    fn the_picture_has_its_axes_and_a_mark_with_its_name_for_each_set() {
        let text = r#"[{"label": "ML-DSA-44", "family": 0, "bytes": 2420, "us": 21.5},
            {"label": "LMS-SHA256-H10-W8", "family": 2, "bytes": 1452, "us": 234}]"#;
        let svg = svg(&serde_json::from_str::<Vec<_>>(text).unwrap()).unwrap();
        for text in ["ML-DSA-44", "LMS-SHA256-H10-W8", "Verification time in µs", "logarithmic"] {
            assert!(svg.contains(text), "{text}");
        }
        for tick in ["\n1 Ki\n", "\n4 Ki\n", "\n20\n", "\n500\n"] {
            assert!(svg.contains(tick), "{tick}");
        }
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polygon").count()), (1, 1));
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn an_axis_ends_at_the_ticks_around_its_values() {
        let axis = Axis::new([21.0, 480.0].into_iter(), 10.0, &[1.0, 2.0, 5.0], [0, 100]);
        assert_eq!(axis.ticks, [20.0, 50.0, 100.0, 200.0, 500.0]);
        assert_eq!([20.0, 100.0, 500.0].map(|value| axis.place(value)), [0, 50, 100]);
    }

    #[test]
    fn names_of_marks_that_are_close_do_not_meet() {
        let place = (400, 300);
        let mark = Space([394, 294, 406, 306]);
        let (at, side) = beside("XMSS-SHA2_10_192", place, &[mark]);
        let first = Space::of_name("XMSS-SHA2_10_192", at, &side);
        let (at, side) = beside("LMS-SHA256-H10-W8", place, &[mark, first]);
        assert!(!Space::of_name("LMS-SHA256-H10-W8", at, &side).meets(first));
        let at_the_edge = beside("SLH-DSA-SHA2-256f", (WIDTH - RIGHT - 10, 300), &[]);
        assert!(matches!(at_the_edge.1, HPos::Right));
    }

    #[test]
    fn a_set_without_a_size_or_a_time_is_refused() {
        for bad in [mark("a", 0, 0.0, 1.0), mark("a", 0, 1.0, 0.0), mark("a", 4, 1.0, 1.0)] {
            assert!(svg(&[bad]).is_err());
        }
        assert!(svg(&[]).is_err());
    }
}
