//! What a bisection prints.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use model::{Bytes, Nanos};
use report::format::{pair as decimals, plural};
use report::{Cell, Columns};
use serde::Serialize;
use stats::{Advice, CONFIDENCE, Posterior};

use super::evidence::Evidence;
use super::ladder::Needs;
use super::question::{Question, ROUNDS};
use crate::args::Format;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::table;

pub(super) const CONTINUE: &str = "all finished rounds are kept; the same command continues";

/// Pairs that most bisections of a change need that is twice the scatter of a pair: `docs/statistics.md`.
const USUAL_PAIRS: u64 = 30;

/// The answer, for programs.
#[derive(Serialize)]
struct Answer<'a> {
    good: &'a str,
    bad: &'a str,
    step: &'a str,
    metric: &'a str,
    result: &'static str,
    builds: Vec<&'a str>,
    probability: Option<f64>,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    pairs: usize,
    measured: Vec<Measured<'a>>,
    skipped: Vec<Skipped<'a>>,
    runs: Vec<&'a str>,
}

#[derive(Serialize)]
struct Measured<'a> {
    build: &'a str,
    pairs: usize,
    ratio: f64,
}

#[derive(Serialize)]
struct Skipped<'a> {
    build: &'a str,
    why: &'a str,
}

/// What it would take, without measuring anything.
pub(super) fn costs(question: &Question<'_>, pairs: usize, printer: Printer) {
    let builds = question.ladder.builds();
    let needs = (0..builds).filter_map(|place| question.ladder.needs(place, question.builds));
    let needs: Vec<Needs> = needs.collect();
    let round = plan::estimate(&question.ends).time.0 / u64::from(ROUNDS);
    let (usual, most) = (Nanos(round * USUAL_PAIRS), Nanos(round * u64::from(question.args.pairs)));
    printer.prose(&format!("{}: {}", plural(builds, "build"), subject(question)));
    printer.prose(&format!(
        "about {usual} for a change that is twice the scatter of a pair, at most {most} ({} pairs); {pairs} measured so far",
        question.args.pairs
    ));
    if let Some(count) = NonZeroU64::new(needs.len() as u64) {
        let download: u64 = needs.iter().map(|needs| needs.download.0).sum();
        let compile: u64 = needs.iter().map(|needs| needs.compile.0).sum();
        let each = [
            (download > 0).then(|| format!("{} to download", Bytes(download / count))),
            (compile > 0).then(|| format!("{} to compile", Nanos(compile / count))),
        ];
        let each: Vec<String> = each.into_iter().flatten().collect();
        let log = builds.ilog2() + 2;
        printer.prose(&format!(
            "{count} builds are not installed; a bisection installs the ends and about {log} others: for each {}",
            each.join(", ")
        ));
    }
}

pub(super) fn begin(question: &Question<'_>, evidence: &Evidence, printer: Printer) {
    let builds = plural(question.ladder.builds(), "build");
    printer.note(&format!("{builds}: {}", subject(question)));
    if evidence.pairs() > 0 {
        let pairs = plural(evidence.pairs(), "pair");
        printer.note(&format!("continues with {pairs} of {}", plural(evidence.runs.len(), "run")));
    }
}

/// `rate of point-query, sqlite-3.7.8 to sqlite-3.54.1`.
fn subject(question: &Question<'_>) -> String {
    let (good, bad) = ends(question);
    format!("{} of {}, {good} to {bad}", question.metric(), question.args.step)
}

fn ends<'a>(question: &'a Question<'_>) -> (&'a str, &'a str) {
    let ladder = &question.ladder;
    (ladder.name(0), ladder.name(ladder.last()))
}

/// A measurement is over: what is known now.
pub(super) fn measured(
    question: &Question<'_>,
    evidence: &Evidence,
    place: usize,
    printer: Printer,
) {
    let Some(measured) = of_place(question, evidence, place) else {
        let why = evidence.skipped.iter().rev().find(|(skipped, _)| *skipped == place);
        let why = why.map_or("", |(_, why)| why);
        return printer.note(&format!("{} is skipped: {why}", question.ladder.name(place)));
    };
    let Measured { build, pairs, ratio } = measured;
    let now = evidence.bisection.posterior().map_or_else(String::new, |now| {
        let where_it_is = among(question, &now.range);
        format!("; a change with {}, in {where_it_is}", percent(1.0 - now.none))
    });
    printer.note(&format!("{build}: {} in {}{now}", decimals(ratio), plural(pairs, "pair")));
}

fn of_place<'a>(
    question: &'a Question<'_>,
    evidence: &Evidence,
    place: usize,
) -> Option<Measured<'a>> {
    let pairs = evidence.bisection.pairs().iter().filter(|pair| pair.place == place);
    let logs: Vec<f64> = pairs.map(|pair| pair.log).collect();
    let ratio = stats::mean(&logs)?.exp();
    Some(Measured { build: question.ladder.name(place), pairs: logs.len(), ratio })
}

/// `a`, `a or b`, or `one of the 7 builds a to b`.
fn among(question: &Question<'_>, range: &RangeInclusive<usize>) -> String {
    let (first, last) =
        (question.ladder.title(*range.start()), question.ladder.title(*range.end()));
    match range.clone().count() {
        1 => first,
        2 => format!("{first} or {last}"),
        builds => format!("one of the {builds} builds {first} to {last}"),
    }
}

fn percent(probability: f64) -> String {
    format!("{:.0} %", 100.0 * probability.min(0.994))
}

pub(super) fn result(
    question: &Question<'_>,
    evidence: &Evidence,
    advice: &Advice,
    printer: Printer,
) -> Exit {
    let (word, now) = match advice {
        Advice::Found(now) => ("found", Some(now.clone())),
        Advice::NoChange(now) => ("no-change", Some(now.clone())),
        Advice::Several(now) => ("several", Some(now.clone())),
        Advice::Measure(_) => ("undecided", evidence.bisection.posterior()),
    };
    let places = 1..question.ladder.builds();
    let measured = places.filter_map(|place| of_place(question, evidence, place));
    match question.args.format {
        Format::Json => {
            let answer =
                answer(question, evidence, (advice, word), now.as_ref(), measured.collect());
            printer.json(&answer);
        }
        Format::Text => {
            let table = Columns::new()
                .words("build", |one: &Measured<'_>| Cell::text(one.build))
                .numbers("pairs", "", |one| Cell::number(one.pairs as f64, one.pairs.to_string()))
                .numbers("ratio", "", |one| Cell::number(one.ratio, decimals(one.ratio)));
            table::print(
                printer,
                &table.table(subject(question), "ratio: to the good end", measured),
            );
            printer.prose(&sentence(question, advice, now.as_ref(), evidence.pairs()));
        }
    }
    match advice {
        Advice::Found(_) | Advice::NoChange(_) => Exit::Fine,
        Advice::Several(_) | Advice::Measure(_) => Exit::Inconclusive,
    }
}

fn answer<'a>(
    question: &'a Question<'_>,
    evidence: &'a Evidence,
    (advice, result): (&Advice, &'static str),
    now: Option<&Posterior>,
    measured: Vec<Measured<'a>>,
) -> Answer<'a> {
    let (good, bad) = ends(question);
    let name = |place| question.ladder.name(place);
    let is_named = matches!(advice, Advice::Found(_) | Advice::Measure(_));
    let named = now.filter(|_| is_named);
    let skipped = evidence.skipped.iter();
    Answer {
        good,
        bad,
        step: &question.args.step,
        metric: question.metric(),
        result,
        builds: named.map_or_else(Vec::new, |now| now.range.clone().map(name).collect()),
        probability: named.map(|now| now.probability),
        ratio: now.map(|now| now.effect.ratio),
        low: now.map(|now| now.effect.low),
        high: now.map(|now| now.effect.high),
        pairs: evidence.pairs(),
        measured,
        skipped: skipped.map(|(place, why)| Skipped { build: name(*place), why }).collect(),
        runs: evidence.runs.iter().map(|run| run.0.as_str()).collect(),
    }
}

fn sentence(
    question: &Question<'_>,
    advice: &Advice,
    now: Option<&Posterior>,
    pairs: usize,
) -> String {
    let Some(now) = now else {
        return format!("undecided: {} are too few", plural(pairs, "pair"));
    };
    let (good, bad) = ends(question);
    let effect = &now.effect;
    let interval = format!(
        "{bad} is {} of {good} [{}, {}]",
        decimals(effect.ratio),
        decimals(effect.low),
        decimals(effect.high)
    );
    let after = format!("after {}", plural(pairs, "pair"));
    let subject = format!("{} of {}", question.metric(), question.args.step);
    match advice {
        Advice::Found(_) => {
            let (build, sure) = (among(question, &now.range), percent(now.probability));
            format!("{build} changed {subject}, with a probability of {sure} {after}: {interval}")
        }
        Advice::NoChange(_) => {
            let sure = percent(now.none);
            format!("{subject} did not change, with a probability of {sure} {after}: {interval}")
        }
        Advice::Several(_) => {
            let two: Vec<String> = now.two.iter().map(|range| among(question, range)).collect();
            format!(
                "more than one build changed {subject}, with a probability of {} {after}, most likely {}: {interval}; \
                 bisect each part with nearer ends",
                percent(now.several),
                two.join(" and ")
            )
        }
        Advice::Measure(_) if now.none > 1.0 - CONFIDENCE => format!(
            "undecided {after}: a change has a probability of {}: {interval}; --pairs allows more",
            percent(1.0 - now.none)
        ),
        Advice::Measure(_) => format!(
            "undecided {after}: {} changed {subject}, with a probability of {}: {interval}; --pairs allows more",
            among(question, &now.range),
            percent(now.probability)
        ),
    }
}
