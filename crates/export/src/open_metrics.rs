//! OpenMetrics text, version 1.0: for Prometheus and what else reads its format.
//!
//! Units are the base units that the format asks for (seconds, bytes, ratios), and the unit ends the name
//! of a family. All samples of a family stand together, as the format requires; a text ends in `# EOF`.
//! Samples carry the time at which their trial started, so that a run can be loaded as history.

mod comparisons;
mod histograms;
mod measurements;

use std::io::{self, Write};

pub use comparisons::comparisons;
pub use histograms::Histograms;
pub use measurements::Measurements;

/// The metadata above the samples of a family; an empty unit means none.
fn head(out: &mut impl Write, name: &str, kind: &str, unit: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# TYPE {name} {kind}")?;
    if !unit.is_empty() {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    writeln!(out, "# HELP {name} {}", escaped(help))
}

fn end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"# EOF\n")?;
    out.flush()
}

/// `a="1",b="2"`.
fn labels(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.collect::<Vec<_>>().join(",")
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\\\"),
            '"' => safe.push_str("\\\""),
            '\n' => safe.push_str("\\n"),
            _ => safe.push(c),
        }
    }
    safe
}

fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}

/// A timestamp after a value: seconds since 1970, or nothing where it is not known.
fn at(time: Option<f64>) -> String {
    time.filter(|time| time.is_finite()).map_or_else(String::new, |time| format!(" {time}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_line_ends_stay_within_their_label() {
        assert_eq!(
            labels(&[("system", "a\"b\\c\nd"), ("step", "l.i0")]),
            "system=\"a\\\"b\\\\c\\nd\",step=\"l.i0\""
        );
    }

    #[test]
    fn what_is_no_number_has_the_names_of_the_format() {
        let texts = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5].map(number);
        assert_eq!(texts, ["NaN", "+Inf", "-Inf", "0.5"]);
        assert_eq!((at(None), at(Some(12.5))), (String::new(), " 12.5".into()));
    }
}
