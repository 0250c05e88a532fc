//! What happened, in a sentence a system.

use std::fmt::Write;

use model::{Comparison, Reason, Verdict};
use stats::{is_judged, rates_of_control};

use crate::Input;
use crate::deciding;
use crate::format::{self, plural};
use crate::open_loop::view_unsustained;
use crate::table::Tone;
use crate::view::{Seen, View, is_certain, usable_ratio};

/// What happened to one system. `{system} {text}` reads as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Name of the system.
    pub system: String,
    /// What is said of it, beginning with a verb.
    pub text: String,
    /// Regressed or improved where something certainly did, plain otherwise.
    pub tone: Tone,
}

/// A sentence for each system but the base and its control, from the verdicts that decide the steps: those that
/// regressed come first, then those that improved. One for the base too where it did not sustain an offered rate.
pub fn sentences(input: &Input<'_>) -> Vec<Sentence> {
    view_sentences(&View::new(input))
}

/// What the A/A control shows of the noise, in a sentence or two; also when there is none.
pub fn control(input: &Input<'_>) -> String {
    view_control(&View::new(input))
}

pub(crate) fn view_sentences(view: &View<'_>) -> Vec<Sentence> {
    let judged = view.candidates().filter(|s| !s.is_control);
    let mut judged: Vec<Sentence> = judged.map(|system| sentence(view, system)).collect();
    // Of hundreds of systems nobody reads all to find those that regressed.
    judged.sort_by_key(|one| place(one.tone));
    of_base(view).into_iter().chain(judged).collect()
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
fn of_base(view: &View<'_>) -> Option<Sentence> {
    let text = view_unsustained(view, view.base)?;
    Some(Sentence {
        system: view.base.to_owned(),
        text: format!("{text}."),
        tone: Tone::Plain,
    })
}

/// Steps that fell to zero which a sentence names at most.
const MOST_FALLEN: usize = 3;

/// Comparisons of one system by verdict.
#[derive(Default)]
struct Sorted<'a> {
    fallen: Vec<&'a Comparison>,
    regressed: Vec<&'a Comparison>,
    improved: Vec<&'a Comparison>,
    unchanged: Vec<&'a Comparison>,
    inconclusive: Vec<&'a Comparison>,
    incomparable: Vec<&'a Comparison>,
}

fn sort<'a>(rates: &[&'a Comparison]) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for comparison in rates {
        match comparison.verdict {
            Verdict::Regressed => sorted.regressed.push(comparison),
            Verdict::Improved => sorted.improved.push(comparison),
            Verdict::Unchanged => sorted.unchanged.push(comparison),
            Verdict::Inconclusive(_) => sorted.inconclusive.push(comparison),
            Verdict::Incomparable(Reason::FellToZero { .. }) => sorted.fallen.push(comparison),
            Verdict::Incomparable(_) => sorted.incomparable.push(comparison),
        }
    }
    sorted
}

impl Sorted<'_> {
    fn tone(&self) -> Tone {
        if !(self.fallen.is_empty() && self.regressed.is_empty()) {
            Tone::Regressed
        } else if !self.improved.is_empty() {
            Tone::Improved
        } else {
            Tone::Plain
        }
    }
}

fn sentence(view: &View<'_>, system: &Seen<'_>) -> Sentence {
    let rates = view.decisions(system.name);
    let sorted = sort(&rates);
    let mut parts = parts(view.base, rates.len(), &sorted);
    if parts.is_empty() {
        parts.push(format!("was not compared with {}", view.base));
    }
    Sentence {
        system: system.name.to_owned(),
        text: match view_unsustained(view, system.name) {
            None => format!("{}.", parts.join("; ")),
            Some(unsustained) => format!("{}. It {unsustained}.", parts.join("; ")),
        },
        tone: sorted.tone(),
    }
}

/// What is said of each verdict that there is; the first part names the base and how many steps there are.
fn parts(base: &str, steps: usize, sorted: &Sorted<'_>) -> Vec<String> {
    let Sorted {
        fallen,
        regressed,
        improved,
        unchanged,
        inconclusive,
        incomparable,
    } = sorted;
    // Steps that are not decided are no sign of being alike.
    let alike = if inconclusive.is_empty() {
        format!("performs like {base}")
    } else {
        format!("against {base}")
    };
    let said = [
        (
            format!("is at zero, unlike {base},"),
            "at zero",
            fallen,
            each_fallen(fallen),
        ),
        (
            format!("is slower than {base}"),
            "slower",
            regressed,
            slowest(regressed),
        ),
        (
            format!("is faster than {base}"),
            "faster",
            improved,
            fastest(improved),
        ),
        (format!("{alike}: unchanged"), "unchanged", unchanged, None),
        (
            format!("against {base}: inconclusive"),
            "inconclusive",
            inconclusive,
            common_reason(inconclusive),
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

/// The reason that all of them give, in brackets; `None` when they differ.
fn common_reason(list: &[&Comparison]) -> Option<String> {
    let first = list.first()?.verdict.reason();
    let all_alike = list.iter().all(|c| c.verdict.reason() == first);
    all_alike.then(|| format!(" ({first})"))
}

pub(crate) fn view_control(view: &View<'_>) -> String {
    let of_run = of_run(view);
    let of_lab = view.input.false_alarms;
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

fn of_run(view: &View<'_>) -> String {
    let Some(control) = view.candidates().find(|s| s.is_control) else {
        return "This plan had no control, a second copy of the base: how much two runs of the same system differ here is not known.".to_owned();
    };
    let rates = view.decisions(control.name);
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
        return format!(
            "The control, a second copy of {}, {why}.{largest}",
            view.base
        );
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
        view.base
    );
    let all = rates_of_control(view.input.comparisons, control.name);
    if all.cells > 0 {
        let _infallible = write!(
            text,
            "; of its {} over all metrics {} say changed",
            plural(all.cells as usize, "cell"),
            all.changed()
        );
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
