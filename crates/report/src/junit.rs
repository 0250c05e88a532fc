//! Comparisons as test results, for continuous integration.

use std::fmt::Write;

use model::{Comparison, Direction, Reason, Verdict, describe};

use crate::plain::{line, replaced};
use crate::verdict::counted_as;
use crate::{Report, format};

impl Report<'_> {
    /// `compared` as JUnit XML: a suite for each system, a case for each comparison. A regression is a
    /// failure, and so is what fell to zero; what else could not be compared is an error, what is not decided skipped;
    /// metrics of which neither direction is better are left out. `input` has the comparisons in every metric, so that
    /// a case can say what moved with it.
    pub fn junit(&self, compared: &[&Comparison]) -> String {
        let judged = |c: &&&Comparison| {
            c.verdict == Verdict::Incomparable(Reason::NotMeasured)
                || describe(&c.metric).is_none_or(|is| is.direction != Direction::Neither)
        };
        let judged: Vec<&Comparison> = compared.iter().filter(judged).copied().collect();
        let name = attribute(&format!("backslide compare {}", self.input.data.info.id));
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _infallible = writeln!(text, "<testsuites name=\"{name}\" {}>", counts(&judged));
        // They come system by system.
        for suite in judged.chunk_by(|a, b| a.system == b.system) {
            let Some(first) = suite.first() else {
                continue;
            };
            let name = attribute(&format!("{} against {}", first.system, first.base));
            let _infallible = writeln!(text, "  <testsuite name=\"{name}\" {}>", counts(suite));
            for comparison in suite {
                case(&mut text, self, comparison);
            }
            text.push_str("  </testsuite>\n");
        }
        text.push_str("</testsuites>\n");
        text
    }
}

fn counts(comparisons: &[&Comparison]) -> String {
    let of = |holds: fn(&Verdict) -> bool| {
        let found = comparisons.iter().filter(|c| holds(&c.verdict));
        found.count()
    };
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        comparisons.len(),
        of(Verdict::is_regression),
        of(|verdict| matches!(verdict, Verdict::Incomparable(_)) && !verdict.is_regression()),
        of(|verdict| matches!(verdict, Verdict::Inconclusive(_))),
    )
}

fn case(text: &mut String, report: &Report<'_>, comparison: &Comparison) {
    let step = report.step_of(comparison);
    let label = report.label_of(comparison);
    let moved = step.and_then(|step| report.moved_with(step, comparison));
    let class = attribute(&comparison.system);
    let name = attribute(&format!("{label} {}", comparison.metric));
    let said = attribute(&said(comparison, moved.as_deref()));
    let result = match &comparison.verdict {
        Verdict::Regressed | Verdict::Incomparable(Reason::FellToZero { .. }) => {
            format!("      <failure type=\"regressed\" message=\"{said}\"/>\n")
        }
        Verdict::Incomparable(_) => {
            format!("      <error type=\"incomparable\" message=\"{said}\"/>\n")
        }
        Verdict::Inconclusive(_) => format!("      <skipped message=\"{said}\"/>\n"),
        Verdict::Improved | Verdict::Unchanged => {
            format!("      <system-out>{said}</system-out>\n")
        }
    };
    let _infallible = write!(
        text,
        "    <testcase classname=\"{class}\" name=\"{name}\">\n{result}    </testcase>\n"
    );
}

/// `regressed: 0.62 [0.60, 0.64] of a, 4 rounds; server.cpu/o ×1.42`.
fn said(comparison: &Comparison, moved: Option<&str>) -> String {
    let mut text = format!(
        "{}: {} of {}, {}",
        counted_as(&comparison.verdict),
        format::ratio_and_interval(comparison),
        comparison.base,
        format::plural(comparison.rounds as usize, "round")
    );
    let reason = comparison.verdict.reason();
    for more in [reason.as_str(), moved.unwrap_or_default()] {
        if !more.is_empty() {
            text.push_str("; ");
            text.push_str(more);
        }
    }
    text
}

/// Text as it may stand in XML, within quotes or without. What XML has no way to write is replaced.
fn attribute(text: &str) -> String {
    replaced(&line(text), |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\u{fffe}' | '\u{ffff}' => Some("\u{fffd}"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn names_stay_text() {
        assert_eq!(attribute("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
        assert_eq!(attribute("bell\u{7} line\nend"), "bell\u{fffd} line end");
    }
}
