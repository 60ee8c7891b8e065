//! The ratios as a picture: a line for each operation and form, a mark for each peer.

use std::io::{Error, Result};
use std::path::Path;

use plotters::coord::Shift;
use plotters::element::{Circle, Cross, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use crate::peers::Form;
use crate::report::Context;
use crate::row::Row;

/// Pixels.
const WIDTH: i32 = 1000;
const LEFT: i32 = 240;
const RIGHT: i32 = 20;
const TOP: i32 = 118;
const BOTTOM: i32 = 60;
const LINE: i32 = 19;

/// The axis: ratios from the first to the last, in octaves.
const TICKS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Legible on a light and on a dark page.
const TEXT: RGBColor = RGBColor(118, 126, 135);
const GRID: RGBColor = RGBColor(140, 149, 159);
/// Colours that stay apart for colour-blind eyes (six of Okabe and Ito's), none of them near black or white.
const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(150, 105, 60),
    RGBColor(128, 115, 192),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the rows into `file`; the compact ones, which trade time for memory, are left to the table.
pub fn write(file: &Path, context: &Context, rows: &[Row]) -> Result<()> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.form != Form::Compact).collect();
    let mut svg = String::new();
    draw(&mut svg, context, &rows).map_err(|error| Error::other(error.to_string()))?;
    // Text follows the reader's colour scheme where the viewer knows it; the grey is for the others.
    let style = "<style>text{fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#b1bac4}}</style>";
    let body = svg.find("\n").ok_or_else(|| Error::other("an empty picture"))? + 1;
    svg.insert_str(body, &format!("{style}\n"));
    std::fs::write(file, svg)
}

fn draw(
    svg: &mut String,
    context: &Context,
    rows: &[&Row],
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let bottom = TOP + LINE * rows.len() as i32;
    let area = SVGBackend::with_string(svg, (WIDTH as u32, (bottom + BOTTOM) as u32)).into_drawing_area();
    let limit = context.limit.map_or("every level".to_owned(), |limit| format!("limited to {limit}"));
    say(&area, (LEFT, 16), &format!("Each peer's time over gambeson's, {limit}"), 16, HPos::Left)?;
    say(&area, (LEFT, 36), &context.machine, 11, HPos::Left)?;
    let mut names: Vec<(&str, bool)> = Vec::new();
    for peer in rows.iter().flat_map(|row| &row.peers) {
        if !names.contains(&(peer.name, peer.scaled)) {
            names.push((peer.name, peer.scaled));
        }
    }
    for (number, (name, scaled)) in names.iter().enumerate() {
        let (x, y) = (LEFT + 8 + 185 * (number as i32 % 4), 60 + 17 * (number as i32 / 4));
        mark(&area, number, (x, y), !scaled)?;
        say(&area, (x + 10, y), name, 12, HPos::Left)?;
    }
    for tick in TICKS {
        let x = across(tick);
        let width = if tick == 1.0 { 2 } else { 1 };
        let opacity = if tick == 1.0 { 0.9 } else { 0.3 };
        area.draw(&PathElement::new(
            vec![(x, TOP), (x, bottom)],
            ShapeStyle { color: GRID.mix(opacity), filled: false, stroke_width: width },
        ))?;
        say(&area, (x, bottom + 14), &tick.to_string(), 12, HPos::Center)?;
    }
    let axis = "time of the peer / time of gambeson, logarithmic: right of 1, gambeson is faster";
    say(&area, ((LEFT + WIDTH - RIGHT) / 2, bottom + 38), axis, 12, HPos::Center)?;
    for (line, row) in rows.iter().enumerate() {
        let y = TOP + LINE * line as i32 + LINE / 2;
        area.draw(&PathElement::new(vec![(LEFT, y), (WIDTH - RIGHT, y)], GRID.mix(0.2)))?;
        say(&area, (LEFT - 8, y), &format!("{}, {}", row.op, row.form.name()), 12, HPos::Right)?;
        for peer in &row.peers {
            let number = names.iter().position(|(name, _)| *name == peer.name).unwrap_or_default();
            mark(&area, number, (across(peer.ns / row.ours_ns), y), !peer.scaled)?;
        }
    }
    area.present()?;
    Ok(())
}

/// The place of a ratio; what lies beyond the axis is drawn at its end.
fn across(ratio: f64) -> i32 {
    let (first, last) = (TICKS[0].log2(), TICKS[TICKS.len() - 1].log2());
    let part = ((ratio.log2() - first) / (last - first)).clamp(0.0, 1.0);
    LEFT + 8 + (part * f64::from(WIDTH - RIGHT - LEFT - 16)).round() as i32
}

fn say(
    area: &Area,
    at: (i32, i32),
    text: &str,
    size: i32,
    side: HPos,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let font = ("sans-serif", size).into_font().transform(FontTransform::None);
    let style = TextStyle::from(font).color(&TEXT).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_string(), at, style)).map_err(|error| error.to_string().into())
}

/// A colour and a shape for each number.
fn mark(
    area: &Area,
    number: usize,
    (x, y): (i32, i32),
    filled: bool,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let color = COLOURS[number % COLOURS.len()].mix(0.9);
    let style = ShapeStyle { color, filled, stroke_width: 2 };
    match (number / COLOURS.len() + number) % 4 {
        0 => area.draw(&Circle::new((x, y), 4, style))?,
        1 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style))?,
        2 => area.draw(&Polygon::new(vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)], style))?,
        _ => area.draw(&Cross::new((x, y), 4, style))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Time;
    use gambeson::cpu::Level;

    #[test]
    fn a_plot_names_its_axis_its_rows_and_its_peers() {
        let time = |name, ns| Time { name, level: Level::Avx2, ns, random: false, scaled: false };
        let peers = vec![time("slower", 200.0), time("faster", 50.0)];
        let row = Row {
            op: "ML-KEM-768 encaps".into(),
            form: Form::Oneshot,
            kernels: Level::Avx2,
            ours_ns: 100.0,
            bound: None,
            peers,
        };
        let context =
            Context { machine: "m".into(), compiler: "c", command: "x".into(), limit: Some(Level::Avx2) };
        let file = std::env::temp_dir().join(format!("gambeson-bench-{}.svg", std::process::id()));
        write(&file, &context, &[row]).expect("a picture");
        let svg = std::fs::read_to_string(&file).expect("the file");
        std::fs::remove_file(&file).expect("removed");
        for text in ["ML-KEM-768 encaps, oneshot", "slower", "faster", "limited to avx2", "logarithmic"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn the_axis_is_logarithmic_and_has_ends() {
        // To a pixel: places are rounded.
        assert!((across(2.0) - 2 * across(1.0) + across(0.5)).abs() <= 1);
        assert_eq!(across(1000.0), across(32.0));
        assert_eq!(across(0.001), across(0.25));
    }
}
