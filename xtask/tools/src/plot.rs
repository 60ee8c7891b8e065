//! The least stack of each operation as a picture: a line for each, a mark for each implementation.

use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The content of the picture, as `xtask` hands it over.
#[derive(Deserialize)]
struct Picture {
    /// The label of each line.
    lines: Vec<String>,
    marks: Vec<Mark>,
}

/// A figure of one implementation.
#[derive(Deserialize)]
struct Mark {
    /// Index of the line.
    line: i32,
    /// Index into [`LEGEND`].
    by: usize,
    bytes: u64,
}

/// The implementations, and where the legend has them, in pixels.
const LEGEND: [(&str, i32); 4] =
    [("gambeson, small", 0), ("gambeson, fast", 170), ("pqm4 m4fstack", 330), ("others", 490)];

/// Pixels.
const WIDTH: i32 = 900;
const LEFT: i32 = 190;
const RIGHT: i32 = 20;
const TOP: i32 = 84;
const BOTTOM: i32 = 50;
const LINE: i32 = 19;

/// The axis: bytes, in octaves.
const TICKS: [u64; 11] = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144, 524_288];

/// Legible on a light and on a dark page.
const TEXT: RGBColor = RGBColor(118, 126, 135);
pub const GRID: RGBColor = RGBColor(140, 149, 159);
/// Ours, the record's, the others': three that stay apart for colour-blind eyes (Okabe and Ito).
const OURS: RGBColor = RGBColor(213, 94, 0);
const RECORD: RGBColor = RGBColor(0, 114, 178);

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the picture that the file `input` describes in JSON into the file `output`.
pub fn write(input: &Path, output: &Path) -> Result<()> {
    let text = fs::read_to_string(input).with_context(|| input.display().to_string())?;
    fs::write(output, svg(&serde_json::from_str(&text)?)?).with_context(|| output.display().to_string())
}

fn svg(picture: &Picture) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, picture)?;
    styled(svg)
}

/// Lets a picture's text follow the reader's colour scheme.
pub fn styled(mut svg: String) -> Result<String> {
    // For viewers that know the scheme; the grey is for the others.
    let style = "<style>text{fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#b1bac4}}</style>";
    let body = svg.find('\n').context("an empty picture")? + 1;
    svg.insert_str(body, &format!("{style}\n"));
    Ok(svg)
}

fn draw(svg: &mut String, picture: &Picture) -> Result<()> {
    let bottom = TOP + LINE * picture.lines.len() as i32;
    let area = SVGBackend::with_string(svg, (WIDTH as u32, (bottom + BOTTOM) as u32)).into_drawing_area();
    say(&area, (LEFT, 18), "Bytes of stack and heap of one operation, Cortex-M4", 16, HPos::Left)?;
    for (number, (name, x)) in LEGEND.into_iter().enumerate() {
        mark(&area, number, (LEFT + 8 + x, 46))?;
        say(&area, (LEFT + 20 + x, 46), name, 12, HPos::Left)?;
    }
    for tick in TICKS {
        let x = across(tick);
        area.draw(&PathElement::new(vec![(x, TOP), (x, bottom)], GRID.mix(0.3)))?;
        let label = if tick < 1024 { format!("{tick}") } else { format!("{} Ki", tick >> 10) };
        say(&area, (x, bottom + 14), &label, 12, HPos::Center)?;
    }
    let below = ((LEFT + WIDTH - RIGHT) / 2, bottom + 36);
    say(&area, below, "bytes, logarithmic: less is left", 12, HPos::Center)?;
    let middle = |line: i32| TOP + LINE * line + LINE / 2;
    for (line, label) in (0..).zip(&picture.lines) {
        let y = middle(line);
        area.draw(&PathElement::new(vec![(LEFT, y), (WIDTH - RIGHT, y)], GRID.mix(0.2)))?;
        say(&area, (LEFT - 8, y), label, 12, HPos::Right)?;
    }
    for Mark { line, by, bytes } in &picture.marks {
        mark(&area, *by, (across(*bytes), middle(*line)))?;
    }
    Ok(area.present()?)
}

/// The place of a number of bytes; what lies beyond the axis is drawn at its end.
fn across(bytes: u64) -> i32 {
    let log = |bytes: u64| (bytes.max(1) as f64).log2();
    let (first, last) = (log(TICKS[0]), log(TICKS[TICKS.len() - 1]));
    let part = ((log(bytes) - first) / (last - first)).clamp(0.0, 1.0);
    LEFT + 8 + (part * f64::from(WIDTH - RIGHT - LEFT - 16)).round() as i32
}

/// Writes text at a point, which is its beginning, middle or end.
pub fn say(area: &Area<'_>, at: (i32, i32), text: &str, size: i32, side: HPos) -> Result<()> {
    let font = ("sans-serif", size).into_font();
    let style = TextStyle::from(font).color(&TEXT).pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
}

/// Small, fast, the record, the others.
fn mark(area: &Area<'_>, kind: usize, (x, y): (i32, i32)) -> Result<()> {
    let style = |color: RGBColor, filled| ShapeStyle { color: color.mix(0.9), filled, stroke_width: 2 };
    match kind {
        0 => area.draw(&Circle::new((x, y), 5, style(OURS, true)))?,
        1 => area.draw(&Circle::new((x, y), 5, style(OURS, false)))?,
        2 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style(RECORD, true)))?,
        _ => area.draw(&Rectangle::new([(x - 2, y - 4), (x + 2, y + 4)], style(GRID, true)))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_names_its_axis_and_its_rows_and_less_is_left() {
        let marks = r#"[{"line": 0, "by": 0, "bytes": 900}, {"line": 0, "by": 2, "bytes": 2000}]"#;
        let text = format!(r#"{{"lines": ["ML-DSA-87 verify"], "marks": {marks}}}"#);
        let svg = svg(&serde_json::from_str(&text).unwrap()).unwrap();
        assert!(svg.contains("ML-DSA-87 verify") && svg.contains("logarithmic"));
        // Those of the legend, and ours.
        assert_eq!((svg.matches("<circle").count(), svg.matches("<rect").count()), (3, 3));
        assert!(across(1024) < across(2048) && across(1) == across(512));
    }
}
