//! Tables: columns on a terminal, and Markdown.

/// A table, whose first columns are of words, and the others of numbers, which end below each other.
pub struct Table<'a> {
    pub heads: &'a [&'a str],
    /// Number of columns of words.
    pub words: usize,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table<'_> {
    /// Returns the line of heads, and a line for each row.
    pub fn lines(&self) -> Vec<String> {
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let rows = || std::iter::once(&heads).chain(&self.rows);
        let width =
            |column: usize| rows().filter_map(|row| row.get(column)).map(|it| it.chars().count()).max();
        let widths: Vec<usize> = (0..heads.len()).map(|column| width(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column < self.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        rows().map(line).collect()
    }

    /// Returns the lines as a text.
    pub fn text(&self) -> String {
        self.lines().join("\n") + "\n"
    }

    pub fn markdown(&self) -> String {
        let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<&str> =
            (0..self.heads.len()).map(|column| if column < self.words { "---" } else { "---:" }).collect();
        let rows = self.rows.iter().map(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
        line(self.heads) + &line(&rule) + &rows.collect::<String>()
    }
}

/// With a comma before each three digits.
pub fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_and_numbers_end_below_each_other() {
        let rows = [["a", "1"], ["µµ", "234"]].map(|row| row.map(str::to_owned).into());
        let table = Table { heads: &["of", "n"], words: 1, rows: rows.into() };
        assert_eq!(table.text(), "of    n\na     1\nµµ  234\n");
        assert_eq!(table.markdown(), "| of | n |\n| --- | ---: |\n| a | 1 |\n| µµ | 234 |\n");
    }

    #[test]
    fn digits_are_grouped() {
        let numbers = [0, 12, 123, 1234, 123_456, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }
}
