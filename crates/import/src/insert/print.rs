//! Merged tables as the original writes them, to the last digit, and the colours of its summary.

use std::fmt::Write;

use super::{COLUMNS, NUMBERS, StepLine, Table, without_size};
use crate::round::{fixed, relative as ratio};

/// A line of one system as the merged tables have it: reads per second as a whole number, and the tag
/// without the size of the table.
pub fn merged_row(line: &StepLine) -> StepLine {
    let mut fields = line.fields.clone();
    for (name, text) in COLUMNS.iter().zip(&mut fields) {
        let digits = match *name {
            "ips" | "qps" | "rps" => 0,
            "dbgb2" => 1,
            _ => continue,
        };
        if let Ok(value) = text.parse::<f64>()
            && (digits == 0 || value >= 10.0)
        {
            *text = fixed(value, digits);
        }
    }
    StepLine { fields, tag: without_size(&line.tag).to_owned(), number: line.number }
}

pub fn merged(table: &Table) -> String {
    print(table.lines.iter().map(|line| {
        let line = line.as_ref().map(merged_row)?;
        Some((line.fields, line.tag))
    }))
}

/// A table `rel.STEP`: each number divided by that of the first line of its part; that line is left out.
pub fn relative(table: &Table) -> String {
    let mut base: Option<&StepLine> = None;
    let mut lines = Vec::new();
    for line in &table.lines {
        match (line, base) {
            (None, _) => {
                base = None;
                lines.push(None);
            }
            (Some(first), None) => base = Some(first),
            (Some(line), Some(base)) => lines.push(Some(ratios(line, base))),
        }
    }
    print(lines.into_iter())
}

fn ratios(line: &StepLine, base: &StepLine) -> (Vec<String>, String) {
    let pairs = COLUMNS.iter().take(NUMBERS);
    let fields = pairs.map(|name| match (line.number(name), base.number(name)) {
        (Some(value), Some(base)) => ratio(value, base),
        (None, _) | (_, None) => "NA".to_owned(),
    });
    (fields.collect(), line.tag.clone())
}

fn print(lines: impl Iterator<Item = Option<(Vec<String>, String)>>) -> String {
    let mut text = format!("{}\n", COLUMNS.join("\t"));
    for line in lines {
        let _infallible = match line {
            Some((fields, tag)) => writeln!(text, "{}\t{tag}", fields.join("\t")),
            None => writeln!(text, "-"),
        };
    }
    text
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Within the lowest quarter: red.
    Lowest,
    /// The background writers fell short: grey.
    MissedSla,
    /// Within the highest quarter: green.
    Highest,
    Plain,
}

/// The colours of one column of the absolute table: each cell is a rate, and whether the writers kept
/// 95 % of what they were asked for.
///
/// A quarter of the distance between the smallest and the largest value, rounded down, bounds red and
/// green; the largest is that of the cells that kept the rate. Nothing is red where the smallest is at
/// least 80 % of the largest. Red comes before grey, grey before green.
pub fn colours(cells: &[(f64, bool)]) -> Vec<Colour> {
    let least = cells.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
    let kept = cells.iter().filter(|(_, kept)| *kept);
    let largest = kept.map(|(value, _)| *value).fold(0.0, f64::max);
    let gap = (0.25 * (largest - least)).floor();
    let has_red = least < 0.8 * largest;
    let colour = |&(value, kept): &(f64, bool)| {
        if has_red && value <= least + gap {
            Colour::Lowest
        } else if !kept {
            Colour::MissedSla
        } else if value >= largest - gap {
            Colour::Highest
        } else {
            Colour::Plain
        }
    };
    cells.iter().map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_column_has_its_colours() {
        // Loading in January 2021: three systems and their cells.
        let values = [139_860.0, 126_582.0, 84_388.0, 85_106.0, 103_093.0, 105_820.0, 81_967.0];
        let cells = values.map(|value| (value, true));
        let (red, green, plain) = (Colour::Lowest, Colour::Highest, Colour::Plain);
        assert_eq!(colours(&cells), [green, green, red, red, plain, plain, red]);
    }

    #[test]
    fn red_comes_before_grey_and_near_values_are_never_red() {
        let colours_of = |cells: &[(f64, bool)]| colours(cells);
        let low = [(100.0, true), (10.0, false), (90.0, false)];
        assert_eq!(colours_of(&low), [Colour::Highest, Colour::Lowest, Colour::MissedSla]);
        let near = [(100.0, true), (80.0, true)];
        assert_eq!(colours_of(&near), [Colour::Highest, Colour::Plain]);
        assert!(colours_of(&[]).is_empty());
    }
}
