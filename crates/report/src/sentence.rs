//! What happened, in a sentence a system.

use std::fmt::Write;

use model::{Comparison, Reason, Verdict};
use stats::{is_judged, rates_of_control};

use crate::format::{self, plural};
use crate::verdict::{is_certain, usable_ratio};
use crate::{Report, Seen, Tone, deciding};

/// What happened to one system. `{system} {text}` reads as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub system: String,
    /// What is said of it, beginning with a verb.
    pub text: String,
    /// Regressed or improved where something certainly did, plain otherwise.
    pub tone: Tone,
}

impl Report<'_> {
    /// A sentence for each system but the base and its control, from the verdicts that decide the steps: those that
    /// regressed come first, then those that improved. One for the base too where it did not sustain an offered rate.
    pub fn sentences(&self) -> Vec<Sentence> {
        let judged = self.judged();
        let mut judged: Vec<Sentence> = judged.map(|system| sentence(self, system)).collect();
        // Of hundreds of systems nobody reads all to find those that regressed.
        judged.sort_by_key(|one| place(one.tone));
        of_base(self).into_iter().chain(judged).collect()
    }

    /// What the A/A control shows of the noise, in a sentence or two; also when there is none.
    pub fn control(&self) -> String {
        let of_run = of_run(self);
        let of_lab = self.input.false_alarms;
        match of_lab.filter(|all| all.runs > 1 && all.cells > 0) {
            None => of_run,
            Some(all) => format!(
                "{of_run} Over {} of this lab with a control, {} of {} cells were called different.",
                plural(all.runs as usize, "run"),
                format::count(all.changed),
                format::count(all.cells)
            ),
        }
    }
}

/// What regressed comes first, then what improved; the rest stays in the order of the plan.
const fn place(tone: Tone) -> u8 {
    match tone {
        Tone::Regressed => 0,
        Tone::Improved => 1,
        Tone::Plain | Tone::Missed | Tone::Muted | Tone::Heading => 2,
    }
}

/// Of the base only what is no comparison.
fn of_base(report: &Report<'_>) -> Option<Sentence> {
    let text = report.unsustained_in_words(report.base)?;
    Some(Sentence { system: report.base.to_owned(), text: format!("{text}."), tone: Tone::Plain })
}

/// Steps that fell to zero which a sentence names at most.
const MOST_FALLEN: usize = 3;

/// Comparisons of one system by verdict.
type Sorted<'a> = [Vec<&'a Comparison>; 6];

fn sorted<'a>(rates: &[&'a Comparison]) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for comparison in rates {
        sorted[place_of(&comparison.verdict)].push(comparison);
    }
    sorted
}

/// In the order in which a sentence tells them.
const fn place_of(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::Incomparable(Reason::FellToZero { .. }) => 0,
        Verdict::Regressed => 1,
        Verdict::Improved => 2,
        Verdict::Unchanged => 3,
        Verdict::Inconclusive(_) => 4,
        Verdict::Incomparable(_) => 5,
    }
}

const fn tone([fallen, regressed, improved, ..]: &Sorted<'_>) -> Tone {
    if !(fallen.is_empty() && regressed.is_empty()) {
        Tone::Regressed
    } else if !improved.is_empty() {
        Tone::Improved
    } else {
        Tone::Plain
    }
}

fn sentence(report: &Report<'_>, system: &Seen<'_>) -> Sentence {
    let rates = report.decisions(system.name);
    let sorted = sorted(&rates);
    let mut parts = parts(report, rates.len(), &sorted);
    if parts.is_empty() {
        parts.push(format!("was not compared with {}", report.base));
    }
    Sentence {
        system: system.name.to_owned(),
        text: match report.unsustained_in_words(system.name) {
            None => format!("{}.", parts.join("; ")),
            Some(unsustained) => format!("{}. It {unsustained}.", parts.join("; ")),
        },
        tone: tone(&sorted),
    }
}

/// What is said of each verdict that there is; the first part names the base and how many steps there are.
fn parts(report: &Report<'_>, steps: usize, sorted: &Sorted<'_>) -> Vec<String> {
    let base = report.base;
    let [fallen, regressed, improved, unchanged, inconclusive, incomparable] = sorted;
    // Steps that are not decided are no sign of being alike.
    let alike = if inconclusive.is_empty() {
        format!("performs like {base}")
    } else {
        format!("against {base}")
    };
    let said = [
        (format!("is at zero, unlike {base},"), "at zero", fallen, each_fallen(fallen)),
        (format!("is slower than {base}"), "slower", regressed, slowest(regressed)),
        (format!("is faster than {base}"), "faster", improved, fastest(improved)),
        (format!("{alike}: unchanged"), "unchanged", unchanged, None),
        (
            format!("against {base}: inconclusive"),
            "inconclusive",
            inconclusive,
            Some(undecided(report, inconclusive)),
        ),
        (
            format!("against {base}: incomparable"),
            "incomparable",
            incomparable,
            common_reason(incomparable),
        ),
    ];
    let mut parts = Vec::new();
    for (first, other, list, more) in said.into_iter().filter(|(.., list, _)| !list.is_empty()) {
        let (count, more) = (list.len(), more.unwrap_or_default());
        let part = if parts.is_empty() {
            format!("{first} in {count} of {}{more}", plural(steps, "step"))
        } else {
            format!("{other} in {count}{more}")
        };
        parts.push(part);
    }
    parts
}

/// `: l.i1 fell to zero in all 4 rounds`.
fn each_fallen(list: &[&Comparison]) -> Option<String> {
    let told = list.iter().take(MOST_FALLEN).map(|comparison| {
        let step = deciding::beside(&comparison.step.0, &comparison.metric);
        format!("{step} {}", comparison.verdict.reason())
    });
    let mut told: Vec<String> = told.collect();
    let more = list.len().saturating_sub(MOST_FALLEN);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    (!told.is_empty()).then(|| format!(": {}", told.join(", ")))
}

fn slowest(list: &[&Comparison]) -> Option<String> {
    let worst = list.iter().min_by(|a, b| by_gain(a, b))?;
    Some(format!(", worst {}", named(worst)))
}

fn fastest(list: &[&Comparison]) -> Option<String> {
    let best = list.iter().max_by(|a, b| by_gain(a, b))?;
    Some(format!(", best {}", named(best)))
}

fn by_gain(a: &Comparison, b: &Comparison) -> std::cmp::Ordering {
    deciding::gain(a).total_cmp(&deciding::gain(b))
}

fn named(comparison: &Comparison) -> String {
    format!(
        "{}: {}",
        deciding::beside(&comparison.step.0, &comparison.metric),
        format::ratio_and_interval(comparison)
    )
}

/// Why they are not decided, where more rounds would not do, and what is known all the same.
fn undecided(report: &Report<'_>, list: &[&Comparison]) -> String {
    let is_noise =
        |c: &&Comparison| matches!(c.verdict, Verdict::Inconclusive(Reason::TooNoisy { .. }));
    let reason = common_reason(list).filter(|_| !list.iter().any(is_noise));
    reason.into_iter().chain(report.undecided(list)).collect()
}

/// The reason that all of them give, in brackets; `None` when they differ.
fn common_reason(list: &[&Comparison]) -> Option<String> {
    let first = list.first()?.verdict.reason();
    let all_alike = list.iter().all(|c| c.verdict.reason() == first);
    all_alike.then(|| format!(" ({first})"))
}

fn of_run(report: &Report<'_>) -> String {
    let Some(control) = report.candidates().find(|s| s.is_control) else {
        return "This plan had no control, a second copy of the base: how much two runs of the same system differ here is not known.".to_owned();
    };
    let rates = report.decisions(control.name);
    if rates.is_empty() {
        return format!(
            "The control ({}) was not compared: it has no complete round.",
            control.name
        );
    }
    let largest = largest_deviation(&rates).unwrap_or_default();
    let judged = rates.iter().filter(|c| is_judged(&c.verdict)).count();
    if judged == 0 {
        let why = why_not_judged(&rates);
        return format!("The control, a second copy of {}, {why}.{largest}", report.base);
    }
    let called = rates.iter().filter(|c| is_certain(&c.verdict)).count();
    let steps = if judged == rates.len() {
        plural(judged, "step")
    } else {
        let judged = plural(judged, "step");
        format!("the {judged} that could be judged, of {}", rates.len())
    };
    let mut text = format!(
        "The control, a second copy of {}, was called different in {called} of {steps}",
        report.base
    );
    let all = rates_of_control(report.input.comparisons, control.name);
    if all.cells > 0 {
        let cells = plural(all.cells as usize, "control comparison");
        let _infallible = write!(text, "; {} of {cells} were flagged", all.changed());
    }
    text.push('.');
    text.push_str(&largest);
    if called > 0 {
        text.push_str(" As nothing differs there, believe no effect of that size in this run.");
    }
    text
}

/// Why nothing could be judged, each reason once; without a full stop.
fn why_not_judged(rates: &[&Comparison]) -> String {
    let has_few = |c: &&Comparison| {
        let verdict = &c.verdict;
        matches!(verdict, Verdict::Inconclusive(Reason::TooFewRounds { .. }))
    };
    if rates.iter().all(has_few) {
        return "cannot be judged yet: no verdict is possible with so few rounds".to_owned();
    }
    let mut reasons: Vec<String> = Vec::new();
    for comparison in rates {
        let reason = comparison.verdict.reason();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    format!("could not be judged: {}", reasons.join("; "))
}

fn largest_deviation(rates: &[&Comparison]) -> Option<String> {
    let (comparison, ratio) = rates
        .iter()
        .filter_map(|c| Some((c, usable_ratio(c)?)))
        .max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()))?;
    Some(format!(
        " Its largest deviation is {} % ({}).",
        format::percent(100.0 * (ratio - 1.0).abs()),
        comparison.step
    ))
}
