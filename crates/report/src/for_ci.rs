//! Comparisons for continuous integration: as a comment for a pull request, what regressed first, the rest folded
//! away; and as test results.

use std::collections::BTreeSet;
use std::fmt::Write;

use model::{Comparison, Direction, MetricId, Reason, Verdict, describe};

use crate::markdown::{escape, grid, prose};
use crate::plain::{line, replaced};
use crate::rounds::rounds;
use crate::verdict::{self, counted_as, is_certain};
use crate::{Cell, Columns, Report, format};

/// Bytes of a comment at most: GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;

/// Rows of the table at most.
const MOST: usize = 100;

/// Names under one verdict at most, and sentences.
const MOST_NAMED: usize = 50;

impl Report<'_> {
    /// `compared` in Markdown with GitHub's tables. The first line is always the same: by it programs find the comment.
    /// `input` has all metrics, so that a change of throughput can name the cost that moved with it.
    pub fn comment(&self, compared: &[&Comparison]) -> String {
        let mut text = String::from("<!-- backslide compare -->\n");
        let _infallible = writeln!(text, "### backslide: {}\n", headline(compared));
        if compared.iter().any(|c| c.metric.0 == MetricId::RATE) {
            sentences(&mut text, self);
        }
        certain(&mut text, self, compared);
        // What is long comes last, so that a comment that is cut short has its warnings.
        remarks(&mut text, self);
        others(&mut text, self, compared);
        let info = &self.input.data.info;
        let host = format::unknown_host(info).unwrap_or_else(|| info.host.cpu_model.clone());
        let facts = [&info.id.0, &info.plan.name, &info.started, &host, &info.backslide];
        let [run, plan, started, host, by] = facts.map(|fact| escape(fact));
        let rounds = rounds(self.input.data);
        let _infallible = writeln!(
            text,
            "<sub>Run {run} of {plan}, {started}, {rounds}, on {host}, by backslide {by}.</sub>"
        );
        fitting(each_reason_once(text, compared))
    }
}

/// A reason may be as long as a log: it is told where it stands first. It is looked for with what stands around it,
/// because it may be the beginning of another one.
fn each_reason_once(mut text: String, compared: &[&Comparison]) -> String {
    let of_trials = compared.iter().filter_map(|c| match &c.verdict {
        Verdict::Incomparable(
            reason @ (Reason::FailedTrials { .. } | Reason::QuarantinedTrials { .. }),
        ) => Some(escape(&reason.to_string())),
        _ => None,
    });
    let reasons: BTreeSet<String> = of_trials.collect();
    for reason in reasons {
        // As it is listed, and as the sentence of the control ends.
        let [listed, of_control] = [format!("({reason})"), format!(" judged: {reason}.")];
        let ends = [&listed, &of_control].map(|form| Some(text.find(form)? + form.len()));
        if let Some(end) = ends.into_iter().flatten().min() {
            let after = text.split_off(end).replace(&listed, "(as above)");
            text.push_str(&after.replace(&of_control, " judged: as above."));
        }
    }
    text
}

fn fitting(mut text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    text.truncate(text.floor_char_boundary(LONGEST));
    // No tag and no name is left in half.
    let end = text.rfind(['\n', ';']).map_or(0, |at| at + 1);
    text.truncate(end);
    // What is folded away must not hold what follows.
    if text.rfind("<details>") > text.rfind("</details>") {
        text.push_str("\n\n</details>");
    }
    text.push_str("\n\nCut short: `backslide compare` has all of it.\n");
    text
}

fn sentences(text: &mut String, report: &Report<'_>) {
    let all = report.sentences();
    for one in all.iter().take(MOST_NAMED) {
        let (system, said) = (escape(&one.system), escape(&one.text));
        let _infallible = writeln!(text, "**{system}** {said}\n");
    }
    if all.len() > MOST_NAMED {
        let _infallible = writeln!(text, "And {} more systems.\n", all.len() - MOST_NAMED);
    }
}

/// `2 regressed, 5 unchanged`.
fn headline(compared: &[&Comparison]) -> String {
    let parts = WORDS.into_iter().filter_map(|word| {
        let count = compared.iter().filter(|c| counted_as(&c.verdict) == word).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let parts = format::joined(parts, ", ");
    if parts.is_empty() { "nothing to compare".to_owned() } else { parts }
}

/// The words of all verdicts, the worst first.
const WORDS: [&str; 5] = ["regressed", "improved", "unchanged", "inconclusive", "incomparable"];

/// What certainly changed, regressions first.
fn certain(text: &mut String, report: &Report<'_>, compared: &[&Comparison]) {
    let certain = compared.iter().filter(|c| is_certain(&c.verdict));
    let mut certain: Vec<&Comparison> = certain.copied().collect();
    if certain.is_empty() {
        return;
    }
    certain.sort_by_key(|c| !c.verdict.is_regression());
    let more = certain.len().saturating_sub(MOST);
    let moved = |c: &Comparison| report.moved_with(report.step_of(c)?, c);
    let table = Columns::new()
        .words("system", |c: &&&Comparison| Cell::text(c.system.clone()))
        .words("step", |c| Cell::text(report.label_of(c)))
        .words("metric", |c| Cell::text(c.metric.0.clone()))
        .numbers("ratio and 95 % interval", "", |c| Cell::text(format::ratio_and_interval(c)))
        .words("verdict", |c| verdict::cell(&c.verdict))
        .words("moved with it", |c| Cell::text(moved(c).unwrap_or_default()))
        .table("", "", certain.iter().take(MOST));
    grid(text, &table);
    if more > 0 {
        let _infallible = writeln!(text, "And {more} more.");
    }
    text.push('\n');
}

/// What did not certainly change, folded, a paragraph for each verdict.
fn others(text: &mut String, report: &Report<'_>, compared: &[&Comparison]) {
    let others = compared.iter().filter(|c| !is_certain(&c.verdict));
    let others: Vec<&Comparison> = others.copied().collect();
    if others.is_empty() {
        return;
    }
    let count = others.len();
    let _infallible =
        writeln!(text, "<details><summary>Not changed or not decided: {count}</summary>\n");
    for word in WORDS {
        let of_word = others.iter().filter(|c| c.verdict.word() == word);
        let names = of_word.map(|c| named(report, c)).collect();
        let names = format::first(MOST_NAMED, names, |more| format!("and {more} more"));
        if !names.is_empty() {
            let _infallible = writeln!(text, "**{word}**: {}\n", escape(&names.join("; ")));
        }
    }
    text.push_str("</details>\n\n");
}

/// `l.i0 of b 0.99 [0.97, 1.01]`, and why it is not decided.
fn named(report: &Report<'_>, comparison: &Comparison) -> String {
    let metric = match comparison.metric.0.as_str() {
        MetricId::RATE => String::new(),
        metric => format!(" {metric}"),
    };
    let reason = match comparison.verdict.reason() {
        none if none.is_empty() => none,
        reason => format!(" ({reason})"),
    };
    let (label, ratio) = (report.label_of(comparison), format::ratio_and_interval(comparison));
    format!("{label}{metric} of {} {ratio}{reason}", comparison.system)
}

/// What a reader must know before believing the numbers: the control, what is not equal, and what failed.
fn remarks(text: &mut String, report: &Report<'_>) {
    let _infallible = writeln!(text, "{}\n", escape(&report.control()));
    for warning in report.unequal_conditions() {
        let (what, sides) = (escape(warning.condition.name()), escape(&warning.line()));
        let _infallible = writeln!(text, "> **{what}** is not equal: {sides}\n");
    }
    for finding in report.findings() {
        let (title, said) = (escape(&finding.title), prose(&finding.text));
        let _infallible = writeln!(text, "> **{title}.** {said}\n");
    }
}

impl Report<'_> {
    /// `compared` as JUnit XML: a suite for each system, a case for each comparison. A regression is a failure, and so is
    /// what fell to zero; what else could not be compared is an error, what is not decided skipped; metrics without a
    /// direction are left out. `input` has all metrics, so that a case can say what moved with it.
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
            let Some(first) = suite.first() else { continue };
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
    let of = |holds: fn(&Verdict) -> bool| comparisons.iter().filter(|c| holds(&c.verdict)).count();
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
    let _infallible = writeln!(text, "    <testcase classname=\"{class}\" name=\"{name}\">");
    text.push_str(&result);
    text.push_str("    </testcase>\n");
}

/// `regressed: 0.62 [0.60, 0.64] of a, 4 rounds; server.cpu/o ×1.42`.
fn said(comparison: &Comparison, moved: Option<&str>) -> String {
    let (word, ratio) = (counted_as(&comparison.verdict), format::ratio_and_interval(comparison));
    let rounds = format::plural(comparison.rounds as usize, "round");
    let mut text = format!("{word}: {ratio} of {}, {rounds}", comparison.base);
    for more in [comparison.verdict.reason().as_str(), moved.unwrap_or_default()] {
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
