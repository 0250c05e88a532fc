//! What happened, in a sentence a system.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use model::{Comparison, Interleave, Metric, Nanos, Reason, Verdict, describe};
use stats::{is_judged, rates_of_control};

use crate::format::{self, plural};
use crate::verdict::{is_certain, usable_ratio};
use crate::{Report, Seen, Tone, verdict};

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
        // Of hundreds of systems nobody reads all to find those that regressed; the rest keeps the order of the plan.
        judged.sort_by_key(|one| (one.tone != Tone::Regressed, one.tone != Tone::Improved));
        of_base(self).into_iter().chain(judged).collect()
    }

    /// What the A/A control shows of the noise, in a sentence or two; also when there is none.
    pub fn control(&self) -> String {
        let of_run = of_run(self);
        match self.input.false_alarms.filter(|all| all.runs > 1 && all.cells > 0) {
            None => of_run,
            Some(all) => format!(
                "{of_run} Over {} of this lab with a control, {} of {} cells were flagged as different.",
                plural(all.runs as usize, "run"),
                format::count(all.changed),
                format::count(all.cells)
            ),
        }
    }
}

/// Of the base only what is no comparison.
fn of_base(report: &Report<'_>) -> Option<Sentence> {
    let text = report.unsustained_in_words(report.systems.iter().find(|system| system.is_base)?)?;
    Some(Sentence { system: report.base.to_owned(), text: format!("{text}."), tone: Tone::Plain })
}

/// Steps that fell to zero which a sentence names at most.
const MOST_FALLEN: usize = 3;

type Sorted<'a> = [Vec<&'a Comparison>; 6];

/// In the order in which a sentence tells them.
fn sorted<'a>(rates: &[&'a Comparison]) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for comparison in rates {
        let place = match &comparison.verdict {
            Verdict::Incomparable(Reason::FellToZero { .. }) => 0,
            Verdict::Regressed => 1,
            Verdict::Improved => 2,
            Verdict::Unchanged => 3,
            Verdict::Inconclusive(_) => 4,
            Verdict::Incomparable(_) => 5,
        };
        sorted[place].push(comparison);
    }
    sorted
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
    let rates = report.decisions(system);
    let sorted = sorted(&rates);
    let mut parts = parts(report, rates.len(), &sorted);
    if parts.is_empty() {
        parts.push(format!("was not compared with {}", report.base));
    }
    Sentence {
        system: system.name.to_owned(),
        text: match report.unsustained_in_words(system) {
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
    let by_gain =
        |a: &&&Comparison, b: &&&Comparison| verdict::gain(a).total_cmp(&verdict::gain(b));
    let slowest = named("worst", regressed.iter().min_by(by_gain));
    let fastest = named("best", improved.iter().max_by(by_gain));
    let undecided = undecided(report, inconclusive);
    let against = |word: &str| format!("against {base}: {word}");
    let said = [
        (format!("is at zero, unlike {base},"), "at zero", fallen, each_fallen(fallen)),
        (format!("is slower than {base}"), "slower", regressed, slowest),
        (format!("is faster than {base}"), "faster", improved, fastest),
        (format!("{alike}: unchanged"), "unchanged", unchanged, None),
        (against("inconclusive"), "inconclusive", inconclusive, Some(undecided)),
        (against("incomparable"), "incomparable", incomparable, common_reason(incomparable)),
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
    let told = list.iter().map(|comparison| {
        let step = verdict::beside(&comparison.step.0, &comparison.metric);
        format!("{step} {}", comparison.verdict.reason())
    });
    let told = format::first(MOST_FALLEN, told.collect(), |more| format!("and {more} more"));
    (!told.is_empty()).then(|| format!(": {}", told.join(", ")))
}

/// `, worst l.i0: 0.62 [0.60, 0.64]`.
fn named(word: &str, comparison: Option<&&Comparison>) -> Option<String> {
    let comparison = comparison?;
    let step = verdict::beside(&comparison.step.0, &comparison.metric);
    Some(format!(", {word} {step}: {}", format::ratio_and_interval(comparison)))
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
    list.iter().all(|c| c.verdict.reason() == first).then(|| format!(" ({first})"))
}

fn of_run(report: &Report<'_>) -> String {
    let Some(control) = report.candidates().find(|s| s.is_control) else {
        return "This plan had no control (a second copy of the base), so the difference between two runs of the same system is unknown.".to_owned();
    };
    let rates = report.decisions(control);
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
    let mut steps = plural(judged, "step");
    if judged < rates.len() {
        steps = format!("the {steps} that could be judged, of {}", rates.len());
    }
    let mut text = format!(
        "The control, a second copy of {}, was flagged as different in {called} of {steps}",
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
        text.push_str(
            " Both are the same system, so do not trust effects of that size in this run.",
        );
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
        return "cannot be judged yet: a verdict needs more rounds".to_owned();
    }
    let mut seen = BTreeSet::new();
    let reasons = rates.iter().map(|comparison| comparison.verdict.reason());
    let once = reasons.filter(|reason| seen.insert(reason.clone()));
    format!("could not be judged: {}", format::joined(once, "; "))
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

/// Losses beyond this are told in no sentence: to exclude them says nothing.
const LARGEST_LOSS: u32 = 50;

impl Report<'_> {
    /// `, ratios 0.95–2.3; the interval shows only gains in 2; a loss of more than 6 % is ruled out in 7; about 6
    /// more rounds (25m00s) would decide 5`.
    pub(crate) fn undecided(&self, list: &[&Comparison]) -> Option<String> {
        let known = [ratios(list), one_sided(list), excluded(list), self.more_rounds(list)];
        let known = known.into_iter().chain([self.certain_cost(list)]);
        let known: Vec<String> = known.flatten().collect();
        (!known.is_empty()).then(|| format!(", {}", known.join("; ")))
    }

    /// The fewest further rounds that would decide half of the steps that rounds decide.
    fn more_rounds(&self, list: &[&Comparison]) -> Option<String> {
        let needed = list.iter().filter_map(|comparison| match comparison.verdict {
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds }) => more_rounds,
            _ => None,
        });
        let mut needed: Vec<u32> = needed.collect();
        needed.sort_unstable();
        let most = *needed.get(needed.len().checked_sub(1)? / 2)?;
        let decided = needed.iter().filter(|rounds| **rounds <= most).count();
        let of_all = match (decided, list.len()) {
            (1, 1) => "it".to_owned(),
            (decided, all) if decided == all => "all".to_owned(),
            (decided, _) => decided.to_string(),
        };
        let cycle = self.input.data.info.plan.cycle();
        let time = Nanos(self.round_time().0 * u64::from(most) * u64::from(cycle));
        let rounds = plural(most as usize, "more round");
        // Other tools do not say how long theirs took.
        let time = if time == Nanos(0) { String::new() } else { format!(" ({time})") };
        Some(format!("about {rounds}{time} would decide {of_all}"))
    }

    /// How long a round took, in the mean. Trials that alternate run at the same time.
    fn round_time(&self) -> Nanos {
        let mut rounds: BTreeMap<u32, u64> = BTreeMap::new();
        for trial in &self.input.data.trials {
            let took = rounds.entry(trial.round).or_default();
            *took = match self.input.data.info.plan.course.interleave {
                Interleave::Trials => *took + trial.duration.0,
                Interleave::Slices(_) | Interleave::Turns(_) => trial.duration.0.max(*took),
            };
        }
        Nanos(rounds.values().sum::<u64>() / (rounds.len() as u64).max(1))
    }

    /// The CPU of an operation that changed most for certain, in a step whose rate is not decided.
    fn certain_cost(&self, list: &[&Comparison]) -> Option<String> {
        let costs = list.iter().flat_map(|comparison| {
            let step = self.step_of(comparison);
            step.map(|step| self.movers(step, &comparison.system)).unwrap_or_default()
        });
        let is_cpu = |cost: &Comparison| describe(&cost.metric).is_some_and(Metric::is_cpu);
        let of_cpu = costs.filter(|(cost, _)| is_cpu(cost));
        let (cost, ratio) = of_cpu.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()))?;
        let moved = if ratio > 1.0 { "rose" } else { "fell" };
        let (told, step) = (format::ratio_and_interval(cost), self.label_of(cost));
        Some(format!("{} certainly {moved}: {told} in {step}", cost.metric))
    }
}

/// `ratios 0.95–1.08`; of one step with its interval.
fn ratios(list: &[&Comparison]) -> Option<String> {
    if let [one] = list {
        let name = verdict::beside(&one.step.0, &one.metric);
        return usable_ratio(one).map(|_| format!("{name}: {}", format::ratio_and_interval(one)));
    }
    let ratios = || list.iter().filter_map(|c| usable_ratio(c));
    let [low, high] = [ratios().reduce(f64::min)?, ratios().reduce(f64::max)?];
    Some(format!("ratios {}–{}", format::ratio(low), format::ratio(high)))
}

/// The worse end of the interval, and the better one: above 1 is a gain.
fn ends(comparison: &Comparison) -> Option<(f64, f64)> {
    let ends = [comparison.low?, comparison.high?];
    let [one, other] = ends.map(|ratio| verdict::gain_of(&comparison.metric, ratio));
    let (worst, best) = (one.min(other), one.max(other));
    (worst > 0.0 && worst.is_finite()).then_some((worst, best))
}

/// In how many steps the whole interval is on one side of 1: undecided among many steps, it still has a direction.
fn one_sided(list: &[&Comparison]) -> Option<String> {
    if list.len() == 1 {
        // Its interval is told.
        return None;
    }
    let of = |is_there: fn((f64, f64)) -> bool| {
        list.iter().filter_map(|c| ends(c)).filter(|ends| is_there(*ends)).count()
    };
    let (gains, losses) = (of(|(worst, _)| worst > 1.0), of(|(_, best)| best < 1.0));
    let only = |(count, side)| (count > 0).then(|| format!("only {side} in {count}"));
    let told = [(gains, "gains"), (losses, "losses")].into_iter().filter_map(only);
    let told = format::joined(told, ", ");
    (!told.is_empty()).then(|| format!("the interval shows {told}"))
}

/// In whole per cent, the smallest loss that the intervals of two steps in three exclude; `None` where these show only
/// gains.
fn excluded(list: &[&Comparison]) -> Option<String> {
    let loss = |(worst, _): (f64, f64)| (100.0 * (1.0 - worst)).max(0.0).ceil() as u32;
    let mut losses: Vec<u32> = list.iter().filter_map(|c| ends(c)).map(loss).collect();
    losses.sort_unstable();
    let of_most = *losses.get((2 * list.len()).div_ceil(3).checked_sub(1)?)?;
    if list.len() == 1 || of_most == 0 || of_most > LARGEST_LOSS {
        return None;
    }
    let excluding = losses.iter().filter(|loss| **loss <= of_most).count();
    let of_all = if excluding == list.len() { "all".to_owned() } else { excluding.to_string() };
    Some(format!("a loss of more than {of_most} % is ruled out in {of_all}"))
}
