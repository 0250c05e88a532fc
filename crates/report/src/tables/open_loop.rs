//! What became of operations that arrive whether clients are free or not.

use model::{Clock, MetricId, NoteKind, OpenLoop, ResponseLimit, Step, StepNote, StepPace};

use super::grid::name;
use crate::format::{self, plural};
use crate::index::median;
use crate::report::At;
use crate::transactions::spec;
use crate::{Cell, Columns, Report, Seen, Table, Tone};

const UNIT: &str = "ops/s";

impl<'a> Report<'a> {
    /// A row a system under the heading of each step with arrivals; `None` where clients start operations themselves.
    pub fn open_loop(&self) -> Option<Table> {
        let (has_ramp, has_base) = (self.has(MetricId::HIGHEST_RATE), self.has_candidates());
        let mut columns = arrivals();
        if has_ramp {
            columns = columns
                .words("limit", |(at, _)| limit(*at).unwrap_or_else(Cell::absent))
                .numbers("highest", UNIT, |(at, _)| highest(*at));
        }
        if has_base {
            columns = columns.numbers("to the base", "", |(at, _)| at.relative(&at.step.metric.0));
        }
        let parts = self.steps.iter().map(|step| {
            let arrived = self.each_at(step).map(|at| (at, at.arrivals()));
            (self.label(step), arrived.filter(|(_, rounds)| !rounds.is_empty()))
        });
        columns.in_parts("Offered rates", note(has_ramp, has_base), parts).unless_empty()
    }

    /// Of each system that did not sustain a rate: what it did in the worst such step, and how many others there are.
    pub fn unsustained(&self) -> Vec<String> {
        let told = self.systems.iter().filter_map(|system| {
            let text = self.unsustained_in_words(system)?;
            Some(format!("{} {text}.", system.name))
        });
        told.collect()
    }

    /// The same of one system, without its name and full stop; `None` where it sustained all rates.
    pub(crate) fn unsustained_in_words(&self, system: &Seen<'_>) -> Option<String> {
        let steps = self.steps.iter().filter_map(|step| self.at(system, step).unsustained());
        let mut steps: Vec<(f64, String)> = steps.collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, worst) = steps.first()?;
        let others = match steps.len() - 1 {
            0 => String::new(),
            others => format!("; nor in {}", plural(others, "other step")),
        };
        Some(format!("{worst}{others}"))
    }

    /// The attempts of a step that looks for the highest rate.
    pub(crate) fn tries(&self, step: &Step) -> impl Iterator<Item = &'a StepNote> {
        let notes = self.input.data.notes.iter();
        notes.filter(move |note| note.what == NoteKind::Ramp && note.step == step.id)
    }

    /// A row a trial with its rates in order, under the heading of each step that searches; `None` where none does.
    pub fn tried(&self) -> Option<Table> {
        let parts = self.steps.iter().map(|step| (self.label(step), tried_in(self, step)));
        let note =
            "Operations per second, with the percentile of response time that has the limit.";
        Columns::new()
            .words("system", |(first, _): &(&StepNote, String)| Cell::text(&first.system))
            .numbers("round", "", |(first, _)| Cell::count(first.round.into()))
            .words("rates in the order of the tries", |(_, tries)| Cell::text(tries))
            .in_parts("Rates tried", note, parts)
            .unless_empty()
    }
}

/// A system in a step, and what arrived in each round.
type Arrived<'r> = (At<'r>, Vec<OpenLoop>);

fn arrivals<'r>() -> Columns<'r, Arrived<'r>> {
    let time = |at: At<'_>, part: &str| {
        let metric = Clock::Response.metric(part)?.of_kind(&at.step.subject.kind);
        at.median(&metric.0)
    };
    let offered = |rounds: &[OpenLoop]| median(rounds.iter().map(|round| round.per_second as f64));
    let shed = |rounds: &[OpenLoop]| match rounds.iter().map(|round| round.shed).sum() {
        0_u64 => Cell::count(0.0),
        shed => Cell::count(shed as f64).with_tone(Tone::Missed),
    };
    let waiting = |rounds: &[OpenLoop]| rounds.iter().map(|round| round.waiting).max();
    Columns::new()
        .words("system", |(at, _): &Arrived<'_>| name(at.system))
        .numbers("offered", UNIT, move |(_, rounds)| Cell::of(offered(rounds), format::number))
        .numbers("achieved", UNIT, |(at, _)| Cell::of(at.achieved(), format::number))
        .numbers("shed", "count", move |(_, rounds)| shed(rounds))
        .numbers("waiting", "count", move |(_, rounds)| {
            Cell::count(waiting(rounds).unwrap_or_default() as f64)
        })
        .words("sustained", |(_, rounds)| sustained(rounds))
        .numbers("p50", "", move |(at, _)| Cell::of(time(*at, "p50"), format::micros))
        .numbers("p99", "", move |(at, _)| Cell::of(time(*at, "p99"), format::micros))
}

fn note(has_ramp: bool, has_base: bool) -> String {
    let mut note = "Operations arrive on a schedule and wait in one queue. A transaction is one operation here, whatever statements it sends; tables of throughput count its statements. Offered and achieved are medians over the rounds, and so are p50 and p99 of response time, which counts from the arrival. Shed: arrivals that found the queue full, all rounds together. Waiting: the longest queue at the end of a round. A rate is sustained if nothing is shed and the final queue is no longer than the arrivals of a tenth of a second.".to_owned();
    if has_ramp {
        note.push_str(" Highest is the median, over the rounds, of the highest rate found by the search to keep the limit on response time. The measured window offers this rate; its response time stands beside the limit.");
    }
    if has_base {
        note.push_str(" Relative to the base: the metric that decides the step, which is the highest rate where the step searches for it (above 1 is better), otherwise p99 of response time (below 1 is better).");
    }
    note
}

fn sustained(rounds: &[OpenLoop]) -> Cell {
    let kept = rounds.iter().filter(|round| round.is_sustained()).count();
    if kept == rounds.len() {
        Cell::text("yes")
    } else {
        Cell::text(format!("in {kept} of {}", rounds.len())).with_tone(Tone::Missed)
    }
}

fn highest(at: At<'_>) -> Cell {
    match at.median(MetricId::HIGHEST_RATE) {
        Some(0.0) => Cell::number(0.0, "none".to_owned()).with_tone(Tone::Missed),
        rate => Cell::of(rate, format::number),
    }
}

/// Whether the measured window keeps a ramp's limit: `p99 4.10ms within 5.00ms`; `None` without a limit or measurement.
fn limit(at: At<'_>) -> Option<Cell> {
    let StepPace::Ramp { limit: Some(ResponseLimit { permille, micros }) } = at.step.pace else {
        return None;
    };
    let part = format!("p{}", f64::from(permille) / 10.0);
    let metric = Clock::Response.metric(&part)?.of_kind(&at.step.subject.kind);
    let limit = micros as f64;
    let window = at.values(&metric.0)?;
    let over = window.rounds.iter().filter(|(_, v)| *v > limit).count();
    let took = format::micros(at.median(&metric.0)?);
    let limit = format::micros(limit);
    Some(if over == 0 {
        Cell::text(format!("{part} {took} within {limit}"))
    } else {
        let rounds = window.rounds.len();
        Cell::text(format!("{part} {took}, over {limit} in {over} of {rounds}"))
            .with_tone(Tone::Missed)
    })
}

/// The first note of each trial, and the texts of all of them.
fn tried_in<'r>(report: &'r Report<'_>, step: &Step) -> Vec<(&'r StepNote, String)> {
    let notes: Vec<&StepNote> = report.tries(step).collect();
    let same = |a: &&StepNote, b: &&StepNote| (&a.system, a.round) == (&b.system, b.round);
    let trials = notes.chunk_by(same).filter_map(|tries| {
        Some((*tries.first()?, format::joined(tries.iter().map(|note| &note.text), "; ")))
    });
    trials.collect()
}

impl At<'_> {
    /// Of each round, as far as it was measured; empty where clients start the next operation themselves.
    pub(crate) fn arrivals(self) -> Vec<OpenLoop> {
        let in_round = |metric: &str, round| Some(self.in_round(metric, round)? as u64);
        let offered = self.values("offered").into_iter().flat_map(|offered| &offered.rounds);
        let rounds = offered.filter_map(|(round, per_second)| {
            Some(OpenLoop {
                per_second: *per_second as u64,
                // How many arrived is no metric: rate and window say it.
                arrived: 0,
                shed: in_round("shed", *round)?,
                waiting: in_round("waiting", *round)?,
                highest_rate: in_round(MetricId::HIGHEST_RATE, *round),
            })
        });
        rounds.collect()
    }

    /// Rounds in which the offered rate was not sustained, and all; `None` where nothing was offered.
    pub(crate) fn unsustained_rounds(self) -> Option<(usize, usize)> {
        let rounds = self.arrivals();
        let failed = rounds.iter().filter(|round| !round.is_sustained()).count();
        (!rounds.is_empty()).then_some((failed, rounds.len()))
    }

    /// Was there a round in which the offered rate was not sustained?
    pub(crate) fn is_unsustained(self) -> bool {
        self.unsustained_rounds().is_some_and(|(failed, _)| failed > 0)
    }

    /// Operations per second, median over the rounds: of transactions all kinds, though the step is about one of them.
    fn achieved(self) -> Option<f64> {
        match spec(self.report) {
            Some(_) => self.transactions_per_second(),
            None => self.median(&format!("rate.{}", self.step.subject.kind)),
        }
    }

    /// The share that was done of the rate that was not sustained, and what to say of it.
    fn unsustained(self) -> Option<(f64, String)> {
        let (failed, all) = self.unsustained_rounds().filter(|(failed, _)| *failed > 0)?;
        let rates = [self.achieved()?, self.median("offered")?];
        let [done, offered] = rates.map(format::number);
        let (step, rounds) = (self.report.label(self.step), plural(all, "round"));
        let text = format!(
            "did {done} of {offered} operations/s in {step}: the rate was not sustained in {failed} of {rounds}"
        );
        Some((rates[0] / rates[1].max(1.0), text))
    }
}
