//! What runs of several suites found, side by side: as a page, and as a picture.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gambeson_mls::Suite;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::report::{Figure, Mark, Report, Sample, Short};
use crate::error::{Error, Result};

/// What is drawn of samples: the name, as the report has it.
const CURVES: [&str; 6] = [
    "agree, s",
    "join: from the order to the group, s",
    "commit (add and remove), bytes",
    "commit (add and remove): make, CPU ms",
    "commit (add and remove): process, CPU ms",
    "join, CPU ms",
];
/// What is drawn of figures: those whose name has one of these words.
const BARS: [&str; 2] = ["bytes ", "CPU "];
/// A colour for each suite.
const COLOURS: [RGBColor; 4] =
    [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// The size of a curve's panel, and the height of a bar, in pixels.
const PANEL: (u32, u32) = (480, 250);
const BAR: u32 = 15;
/// A line of so many points looks the same with more.
const MOST_POINTS: usize = 500;

type Drawn<T> = std::result::Result<T, Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Report {
    /// Writes the figures of several runs side by side into a folder: a page, `sim-N.md`, and its picture, `sim-N.svg`, where N are the members of the
    /// first. `command` is what they are printed by again. Returns the files' names; none without reports.
    ///
    /// # Errors
    /// [`Error::Simulation`]: a file cannot be written.
    pub fn write(reports: &[Self], command: &str, folder: &Path) -> Result<Vec<String>> {
        let Some(first) = reports.first() else { return Ok(Vec::new()) };
        let [page, picture] = ["md", "svg"].map(|kind| format!("sim-{}.{kind}", first.size.0));
        let failed = |file: &str, why: &dyn std::fmt::Display| Error::Simulation(format!("{file}: {why}"));
        let text = text(reports, command, &picture);
        fs::write(folder.join(&page), text).map_err(|error| failed(&page, &error))?;
        draw(reports, &folder.join(&picture)).map_err(|error| failed(&picture, &error))?;
        Ok(vec![page, picture])
    }

    /// The suite's number, as tables name it.
    fn number(&self) -> String {
        let number = Suite::by_name(self.suite).map(|suite| format!("{:#x}", suite.number()));
        number.unwrap_or_else(|| self.suite.to_owned())
    }

    fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

/// The names of all, in order.
fn names<'a>(reports: &'a [Report], of: impl Fn(&'a Report) -> Vec<&'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    reports.iter().flat_map(of).filter(|name| seen.insert(*name)).collect()
}

fn samples(reports: &[Report]) -> Vec<&str> {
    names(reports, |report| report.samples.keys().map(String::as_str).collect())
}

fn figures(reports: &[Report]) -> Vec<(&str, Mark)> {
    let names = names(reports, |report| report.figures.iter().map(|figure| &*figure.name).collect());
    let mark = |name| reports.iter().find_map(|report| report.figure(name)).map(|figure| (name, figure.mark));
    names.into_iter().filter_map(mark).collect()
}

fn text(reports: &[Report], command: &str, picture: &str) -> String {
    let (members, full, minutes) = reports[0].size;
    let mut page = format!(
        "# A channel of {members}\n\nWritten by `{command}` on {}. Of the {members} members {full} are whole, in {minutes} virtual minutes. \
         `measured`: whole members had it; `multiplied`: that, times the members there are. Processor time of one thread; half of the values are at most, and \
         99 % are at most. Resident memory is read when the allocator has given back what is free.\n\n![Shares of values, and sums]({picture})\n\n| | mark |",
        machine()
    );
    // Writing to a string does not fail.
    for report in reports {
        let number = report.number();
        let _ = write!(page, " {number}: values | half | 99 % | largest |");
    }
    let ratio = (reports.len() == 2).then(|| reports[1].number());
    let ratio_head =
        |what: &str| ratio.as_ref().map_or(String::new(), |number| format!(" {what}of {number} |"));
    let line = |columns: usize| {
        format!("\n| --- | --- |{}\n", " ---: |".repeat(columns + usize::from(ratio.is_some())))
    };
    page += &ratio_head("half, ");
    page += &line(4 * reports.len());
    for name in samples(reports) {
        let _ = write!(page, "| {name} | measured |");
        for sample in reports.iter().map(|report| report.samples.get(name)) {
            let cell = |sample: &Sample| {
                let [half, most, largest] = [0.5, 0.99, 1.0].map(|share| Short(sample.at(share)));
                format!(" {} | {half} | {most} | {largest} |", sample.count())
            };
            page += &sample.map_or_else(|| " | | | |".to_owned(), cell);
        }
        let half = |report: &Report| report.samples.get(name).map(|sample| sample.at(0.5));
        page += &ratio_cell(reports, half);
    }
    page += "\n| | mark |";
    reports.iter().for_each(|report| page += &format!(" {} |", report.number()));
    page += &ratio_head("");
    page += &line(reports.len());
    for (name, mark) in figures(reports) {
        let _ = write!(page, "| {name} | {mark} |");
        let value = |report: &Report| report.figure(name).map(|figure| figure.value);
        for report in reports {
            page += &value(report).map_or_else(|| " |".to_owned(), |value| format!(" {} |", Short(value)));
        }
        page += &ratio_cell(reports, value);
    }
    page
}

/// How much larger the first of two has it than the second, and the end of the row.
fn ratio_cell(reports: &[Report], value: impl Fn(&Report) -> Option<f64>) -> String {
    let [first, second] = reports else { return "\n".to_owned() };
    let ratio = value(first).zip(value(second)).map(|(first, second)| first / second);
    let ratio = ratio.filter(|ratio| ratio.is_finite());
    ratio.map_or_else(|| " |\n".to_owned(), |ratio| format!(" {ratio:.2} |\n"))
}

fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("an unnamed processor", |(_, name)| name).to_owned()
}

/// A panel of curves for each sample, two beside one another, and bars of the sums below.
fn draw(reports: &[Report], file: &Path) -> Drawn<()> {
    let present = samples(reports);
    let curves: Vec<&str> = CURVES.into_iter().filter(|name| present.contains(name)).collect();
    let bars: Vec<(&str, Mark)> = figures(reports)
        .into_iter()
        .filter(|(name, _)| BARS.iter().any(|word| name.contains(word)))
        .collect();
    let lines = u32::try_from(curves.len().div_ceil(2))?;
    let group = BAR * (u32::try_from(reports.len())? + 1);
    let (head, foot) = (64, 40 + group * u32::try_from(bars.len())?);
    let area = SVGBackend::new(file, (2 * PANEL.0, head + lines * PANEL.1 + foot)).into_drawing_area();
    area.fill(&WHITE)?;
    let (top, rest) = area.split_vertically(head);
    legend(&top, reports)?;
    let (middle, bottom) = rest.split_vertically(lines * PANEL.1);
    if lines > 0 {
        for (panel, name) in middle.split_evenly((lines as usize, 2)).iter().zip(&curves) {
            draw_curves(panel, name, reports)?;
        }
    }
    draw_bars(&bottom, &bars, reports, i32::try_from(group)?)?;
    area.present()?;
    Ok(())
}

fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

fn legend(area: &Area<'_>, reports: &[Report]) -> Drawn<()> {
    let (members, full, minutes) = reports[0].size;
    let title = format!(
        "A channel of {members}, {full} of them whole, {minutes} virtual minutes; share of values that are at most so large"
    );
    area.draw(&Text::new(title, (14, 12), ("sans-serif", 16)))?;
    for (number, report) in reports.iter().enumerate() {
        let x = 14 + 470 * i32::try_from(number)?;
        area.draw(&Rectangle::new([(x, 40), (x + 22, 50)], colour(number).filled()))?;
        area.draw(&Text::new(
            format!("{}, {}", report.number(), report.suite),
            (x + 30, 38),
            ("sans-serif", 13),
        ))?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "places in a list")]
fn draw_curves(area: &Area<'_>, name: &str, reports: &[Report]) -> Drawn<()> {
    let all: Vec<Vec<f64>> = reports
        .iter()
        .map(|report| report.samples.get(name).map(Sample::sorted).unwrap_or_default())
        .collect();
    let largest = all.iter().filter_map(|values| values.last()).fold(0.0_f64, |a, b| a.max(*b));
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{name} (measured)"), ("sans-serif", 14))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(24)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..largest.max(f64::MIN_POSITIVE) * 1.05, 0.0..1.0)?;
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    let value = |value: &f64| Short(*value).to_string();
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(6)
        .y_labels(5)
        .x_label_formatter(&value)
        .y_label_formatter(&percent)
        .draw()?;
    for (number, values) in all.iter().enumerate() {
        let (last, each) = (values.len().max(1) as f64, values.len().div_ceil(MOST_POINTS).max(1));
        let drawn = values.iter().enumerate().filter(|(at, _)| at % each == 0 || at + 1 == values.len());
        // From the smallest value on, in steps: between two values there is none.
        let mut below = 0.0;
        let points = drawn.flat_map(|(at, value)| {
            let (from, share) = (below, (at + 1) as f64 / last);
            below = share;
            [(*value, from), (*value, share)]
        });
        chart.draw_series(LineSeries::new(points.collect::<Vec<_>>(), colour(number).stroke_width(2)))?;
    }
    Ok(())
}

/// A group of bars for each figure, a bar for each suite; the longest of a group is as long as those of others.
fn draw_bars(area: &Area<'_>, bars: &[(&str, Mark)], reports: &[Report], group: i32) -> Drawn<()> {
    const LEFT: i32 = 440;
    const LONGEST: f64 = 400.0;
    let height = i32::try_from(BAR)?;
    let beside = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Right, VPos::Center));
    let behind = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Left, VPos::Center));
    let mut top = 20;
    for (name, mark) in bars {
        let values: Vec<_> =
            reports.iter().map(|report| report.figure(name).map_or(0.0, |figure| figure.value)).collect();
        let largest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let middle = top + (group - height) / 2;
        area.draw(&Text::new(format!("{name} ({mark})"), (LEFT - 10, middle), &beside))?;
        for (number, value) in values.iter().enumerate() {
            let y = top + height * i32::try_from(number)?;
            #[expect(clippy::cast_possible_truncation, reason = "at most 400")]
            let right = LEFT + (value / largest * LONGEST) as i32;
            area.draw(&Rectangle::new([(LEFT, y), (right, y + height - 2)], colour(number).filled()))?;
            area.draw(&Text::new(Short(*value).to_string(), (right + 6, y + height / 2), &behind))?;
        }
        top += group;
    }
    Ok(())
}
