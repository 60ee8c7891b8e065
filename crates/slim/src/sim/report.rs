//! Figures, and as text.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use gambeson_mls::Suite;

use super::Options;

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Whole members had it.
    Measured,
    /// What a whole member had, times the members there are.
    Multiplied,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Measured => "measured",
            Self::Multiplied => "multiplied",
        })
    }
}

/// Values of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value that this share of them does not exceed; 0 if there are none.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub fn at(&self, share: f64) -> f64 {
        let sorted = self.sorted();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    pub(super) fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// The sum.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// What is gathered while it runs.
#[derive(Debug, Default)]
pub(super) struct Samples {
    by_name: BTreeMap<String, Sample>,
    counts: BTreeMap<String, u64>,
}

impl Samples {
    pub(super) fn note(&mut self, what: &str, value: f64) {
        match self.by_name.get_mut(what) {
            Some(sample) => sample.0.push(value),
            None => drop(self.by_name.insert(what.to_owned(), Sample(vec![value]))),
        }
    }

    pub(super) fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is, with its unit.
    pub name: String,
    /// Where it comes from.
    pub mark: Mark,
    /// It.
    pub value: f64,
}

/// What a simulation found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The suite's name.
    pub suite: &'static str,
    /// Members, whole members, virtual minutes.
    pub size: (usize, usize, u64),
    /// Values of which there are many, all measured.
    pub samples: BTreeMap<String, Sample>,
    /// Single numbers.
    pub figures: Vec<Figure>,
    /// Resident memory after each virtual minute, in bytes, when the allocator has given back what is free.
    pub resident: BTreeMap<u64, u64>,
}

impl Report {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub(super) fn new(
        options: &Options,
        suite: &'static Suite,
        samples: Samples,
        [bytes_in, bytes_out]: [u64; 2],
        resident: BTreeMap<u64, u64>,
        settled: usize,
        wall: Duration,
    ) -> Self {
        let (n, full) = (options.members as f64, options.full as f64);
        let mut figures = Vec::new();
        let mut add = |name: &str, mark, value| figures.push(Figure { name: name.to_owned(), mark, value });
        add("whole members in one epoch at the end", Mark::Measured, settled as f64);
        add("wall time of the simulation, s", Mark::Measured, wall.as_secs_f64().round());
        for (name, count) in &samples.counts {
            add(name, Mark::Measured, *count as f64);
        }
        let hours = options.minutes as f64 / 60.0;
        for (way, bytes) in [("in", bytes_in), ("out", bytes_out)] {
            let each = bytes as f64 / full / hours;
            add(&format!("bytes {way}, MB a whole member and hour"), Mark::Measured, each / 1e6);
            if way == "in" {
                add("bytes in, GB all members and hour", Mark::Multiplied, each * n / 1e9);
            }
        }
        let worked = |word: &str| -> f64 {
            let names = samples.by_name.iter().filter(|(name, _)| name.contains(word));
            names.map(|(_, sample)| sample.sum()).sum()
        };
        let each = worked("process, CPU ms") / full / hours / 1e3;
        add("processing commits, CPU s a whole member and hour", Mark::Measured, each);
        add("processing commits, CPU hours all members and hour", Mark::Multiplied, each * n / 3_600.0);
        let mean = |from: u64, to: u64| {
            let values: Vec<f64> = resident.range(from..=to).map(|(_, bytes)| *bytes as f64).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64 / 1e6
        };
        if options.minutes >= 60 {
            add("resident memory in minutes 20 to 30, MB", Mark::Measured, mean(20, 30));
            add("resident memory in minutes 50 to 60, MB", Mark::Measured, mean(50, 60));
        }
        let size = (options.members, options.full, options.minutes);
        Self { suite: suite.name(), size, samples: samples.by_name, figures, resident }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (members, full, minutes) = self.size;
        writeln!(f, "{}: {members} members, {full} of them whole, {minutes} virtual minutes", self.suite)?;
        writeln!(f, "{:<62} {:>7} {:>12} {:>12} {:>12}", "measured", "values", "half", "99 %", "largest")?;
        for (name, sample) in &self.samples {
            let [half, most, largest] = [0.5, 0.99, 1.0].map(|share| Short(sample.at(share)).to_string());
            writeln!(f, "{name:<62} {:>7} {half:>12} {most:>12} {largest:>12}", sample.count())?;
        }
        for figure in &self.figures {
            let value = Short(figure.value).to_string();
            writeln!(f, "{:<62} {value:>7} {}", figure.name, figure.mark)?;
        }
        Ok(())
    }
}

/// A number in as many digits as it deserves, in groups of three.
pub(super) struct Short(pub(super) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let digits = match self.0 {
            value if value == value.trunc() || size >= 100.0 => 0,
            _ if size >= 1.0 => 2,
            _ => 4,
        };
        let text = format!("{:.digits$}", self.0);
        let whole = text.find('.').unwrap_or(text.len());
        for (at, digit) in text.char_indices() {
            let behind = text[..at].ends_with(|before: char| before.is_ascii_digit());
            if behind && at < whole && (whole - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Short;

    #[test]
    fn numbers_have_the_digits_they_deserve_in_groups_of_three() {
        let texts =
            [0.0, 0.123_45, 1.5, 99.0, 150.4, 999.6, 5_767_264.0, -1_234.5].map(|v| Short(v).to_string());
        assert_eq!(texts, ["0", "0.1235", "1.50", "99", "150", "1,000", "5,767,264", "-1,234"]);
    }
}
