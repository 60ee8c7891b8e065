//! The figures of a run as a page and a picture.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gambeson_cli::mls_bench::Failure;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;

const COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

/// Writes `groups.md` and `groups.svg` into the folder, from what the run reported, an object a line.
pub fn write(folder: &Path, members: u32, lines: &str) -> Result<(), Failure> {
    let reports: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let figures: Vec<Figure> = reports.iter().filter_map(Figure::of).collect();
    let contenders = in_order(&figures, |figure| (figure.by.clone(), figure.suite));
    let rows = in_order(&figures, |figure| figure.row.clone());
    let machine = machine();
    let mut page = format!(
        "# Groups\n\nWritten by `cargo run --manifest-path bench/peers/mls/Cargo.toml --release -- --members {members} --out \
         docs/performance/mls` on {machine}. Processor time, medians of interleaved rounds of one run; bytes over the wire. What is remembered \
         between operations is forgotten before each row, unless its name says otherwise. In brackets: of the same library's suite 1.\n\n"
    );
    page += &format!("{members} members beside the creator.\n\n| row |");
    for (by, suite) in &contenders {
        page += &format!(" {by}, {suite:#x} |");
    }
    page += &format!("\n| --- |{}\n", " ---: |".repeat(contenders.len()));
    for row in &rows {
        page += &format!("| {row} |");
        for contender in &contenders {
            let cell = figures.iter().find(|it| it.row == *row && (it.by.clone(), it.suite) == *contender);
            page += &cell.map_or(String::from(" |"), |figure| format!(" {} |", figure.text()));
        }
        page += "\n";
    }
    page += "\n![Times of each row](groups.svg)\n\n## Promises\n\n| promise | figure | at most | |\n| --- | ---: | ---: | --- |\n";
    for report in &reports {
        let (Some(promise), Some(figure)) = (named(report, "promise"), report["figure"].as_f64()) else {
            continue;
        };
        let unit = report["unit"].as_str().filter(|unit| !unit.is_empty());
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        let verdict = if report["ok"] == true { "holds" } else { "missed" };
        page += &format!("| {promise} | {figure:.2}{unit} | {}{unit} | {verdict} |\n", report["goal"]);
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("groups.md"), page)?;
    draw(&folder.join("groups.svg"), &rows, &contenders, &figures, &machine)
}

/// The name in a report of that type.
fn named<'a>(report: &'a Value, kind: &str) -> Option<&'a str> {
    report["name"].as_str().filter(|_| report["type"] == kind)
}

struct Figure {
    row: String,
    by: String,
    suite: u64,
    us: Option<f64>,
    bytes: u64,
    of_classical: Option<f64>,
}

impl Figure {
    fn of(report: &Value) -> Option<Self> {
        Some(Self {
            row: named(report, "group-benchmark")?.to_owned(),
            by: report["library"].as_str()?.to_owned(),
            suite: u64::from_str_radix(report["suite"].as_str()?.strip_prefix("0x")?, 16).ok()?,
            us: report["us"].as_f64(),
            bytes: report["bytes"].as_u64()?,
            of_classical: report["ofClassical"].as_f64(),
        })
    }

    fn text(&self) -> String {
        let time = match self.us {
            Some(us) if us >= 1e3 => format!("{:.1} ms, ", us / 1e3),
            Some(us) => format!("{us:.0} µs, "),
            None => String::new(),
        };
        let ratio = self.of_classical.map_or(String::new(), |ratio| format!(" ({ratio:.2})"));
        format!("{time}{} B{ratio}", self.bytes)
    }
}

/// What the figures have of something, in the order in which it comes first.
fn in_order<T: Ord + Clone>(figures: &[Figure], what: impl Fn(&Figure) -> T) -> Vec<T> {
    let mut seen = BTreeSet::new();
    figures.iter().map(what).filter(|it| seen.insert(it.clone())).collect()
}

fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = model.map_or("an unnamed processor", |(_, name)| name);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {processors} processors")
}

/// Bars of time, a group for each row, on a logarithmic axis.
fn draw(
    file: &Path,
    rows: &[String],
    contenders: &[(String, u64)],
    figures: &[Figure],
    machine: &str,
) -> Result<(), Failure> {
    let rows: Vec<&String> =
        rows.iter().filter(|row| figures.iter().any(|it| it.row == **row && it.us.is_some())).collect();
    let (group, bar) = (contenders.len() as f64 + 1.0, 0.85);
    let height = (rows.len() as f64 * group * 9.0) as u32 + 130;
    let area = SVGBackend::new(file, (1000, height)).into_drawing_area();
    let times = figures.iter().filter_map(|it| it.us);
    let most = times.fold(1.0, f64::max);
    let bottom = rows.len() as f64 * group;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("Processor time, microseconds; {machine}"), ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(230)
        .build_cartesian_2d((10.0..most * 1.5).log_scale(), 0.0..bottom)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().draw()?;
    let beside = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Right, VPos::Center));
    for (at, row) in rows.iter().enumerate() {
        let middle = bottom - at as f64 * group - contenders.len() as f64 / 2.0;
        let (x, y) = chart.backend_coord(&(10.0, middle));
        area.draw(&Text::new((*row).clone(), (x - 8, y), &beside))?;
    }
    for (number, (by, suite)) in contenders.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let bars = rows.iter().enumerate().filter_map(|(at, row)| {
            let figure = figures.iter().find(|it| it.row == **row && it.by == *by && it.suite == *suite)?;
            let top = bottom - at as f64 * group - number as f64;
            Some(Rectangle::new([(10.0, top), (figure.us?, top - bar)], colour.filled()))
        });
        chart
            .draw_series(bars.collect::<Vec<_>>())?
            .label(format!("{by}, {suite:#x}"))
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart.configure_series_labels().position(SeriesLabelPosition::LowerRight).border_style(BLACK).draw()?;
    area.present()?;
    Ok(())
}
