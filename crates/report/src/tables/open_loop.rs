//! What became of operations that arrive whether clients are free or not.

use model::{Clock, MetricId, NoteKind, OpenLoop, ResponseLimit, Step, StepNote, StepPace};

use super::grid::name;
use crate::open_loop::{achieved, rounds};
use crate::spread::median;
use crate::{Cell, Columns, Header, Report, Seen, Table, Tone, format};

/// The unit of what arrives.
const UNIT: &str = "ops/s";

impl Report<'_> {
    /// What became of operations that arrive by themselves, a row a system under the heading of each step with
    /// arrivals; `None` where clients start the next operation themselves.
    pub fn open_loop(&self) -> Option<Table> {
        let (has_ramp, has_base) = (self.has(MetricId::HIGHEST_RATE), self.has_candidates());
        let mut columns = self.arrivals();
        if has_ramp {
            columns = columns
                .words("limit", |at: &Arrived<'_>| limit(self, at).unwrap_or_else(Cell::absent))
                .numbers("highest", UNIT, |at| highest(self, at));
        }
        if has_base {
            let relative =
                |at: &Arrived<'_>| self.relative_cell(at.system, at.step, &at.step.metric.0);
            columns = columns.numbers("to the base", "", relative);
        }
        let headers = columns.headers();
        let rows = self.under_steps(self.steps.iter(), headers.len(), |step| {
            let systems = self.systems.iter();
            let arrived = systems.map(|system| Arrived {
                system,
                step,
                rounds: rounds(self, system.name, step),
            });
            arrived.filter(|at| !at.rounds.is_empty()).map(|at| columns.row(&at)).collect()
        });
        Table::new("Offered rates", note(has_ramp, has_base), headers, rows).unless_empty()
    }

    /// The columns of every open loop.
    fn arrivals(&self) -> Columns<'_, Arrived<'_>> {
        let time = |at: &Arrived<'_>, part: &str| {
            let metric = Clock::Response.metric(part)?.of_kind(&at.step.subject.kind);
            self.median(at.system.name, at.step, &metric.0)
        };
        let shed = |at: &Arrived<'_>| match at.rounds.iter().map(|round| round.shed).sum() {
            0_u64 => Cell::count(0.0),
            shed => Cell::count(shed as f64).with_tone(Tone::Missed),
        };
        let waiting = |at: &Arrived<'_>| at.rounds.iter().map(|round| round.waiting).max();
        Columns::new()
            .words("system", |at: &Arrived<'_>| name(at.system))
            .numbers("offered", UNIT, |at| Cell::of(at.offered(), format::number))
            .numbers("achieved", UNIT, |at| {
                Cell::of(achieved(self, at.system.name, at.step), format::number)
            })
            .numbers("shed", "count", shed)
            .numbers("waiting", "count", move |at| {
                Cell::count(waiting(at).unwrap_or_default() as f64)
            })
            .words("sustained", |at| sustained(&at.rounds))
            .numbers("p50", "", move |at| Cell::of(time(at, "p50"), format::micros))
            .numbers("p99", "", move |at| Cell::of(time(at, "p99"), format::micros))
    }

    /// A row a trial with the rates that it tried, in the order of the tries, under the heading of each step that
    /// looks for the highest rate; `None` where none does.
    pub fn tried(&self) -> Option<Table> {
        let headers = vec![
            Header::words("system"),
            Header::numbers("round", ""),
            Header::words("rates in the order of the tries"),
        ];
        let rows = self.under_steps(self.steps.iter(), headers.len(), |step| tried_in(self, step));
        let note =
            "Operations per second, with the percentile of response time that has the limit.";
        Table::new("Rates that were tried", note, headers, rows).unless_empty()
    }
}

/// What arrived in a step of a system, round by round.
struct Arrived<'r> {
    system: &'r Seen<'r>,
    step: &'r Step,
    rounds: Vec<OpenLoop>,
}

impl Arrived<'_> {
    /// Operations per second, median over the rounds.
    fn offered(&self) -> Option<f64> {
        median(self.rounds.iter().map(|round| round.per_second as f64))
    }
}

fn note(has_ramp: bool, has_base: bool) -> String {
    let mut note = "Operations arrive by themselves and wait in one queue. A transaction is one operation here, whatever statements it sends; tables of throughput count its statements. Offered and achieved are medians over the rounds, and so are p50 and p99 of response time, which counts from the arrival. Shed are arrivals of all rounds that found the queue full; waiting is the most that still waited at the end of a round. A rate is sustained where nothing is shed and no more waits at the end than arrives in a tenth of a second.".to_owned();
    if has_ramp {
        note.push_str(" Highest is the median of the highest rates that kept the limit on response time while it was looked for; it is the rate that is offered in the measured window, whose response time stands beside the limit.");
    }
    if has_base {
        note.push_str(" Relative to the base is what decides the step: the highest rate where it is looked for (above 1 is better), else p99 of response time (below 1 is better).");
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

fn highest(report: &Report<'_>, at: &Arrived<'_>) -> Cell {
    match report.median(at.system.name, at.step, MetricId::HIGHEST_RATE) {
        Some(0.0) => Cell::number(0.0, "none".to_owned()).with_tone(Tone::Missed),
        rate => Cell::of(rate, format::number),
    }
}

/// The percentile that a ramp limits as it was in the measured window, and whether that keeps the limit:
/// `p99 4.10ms within 5.00ms`; `None` where there is no limit or it was not measured.
fn limit(report: &Report<'_>, Arrived { system, step, .. }: &Arrived<'_>) -> Option<Cell> {
    let StepPace::Ramp { limit: Some(ResponseLimit { permille, micros }) } = step.pace else {
        return None;
    };
    let part = format!("p{}", f64::from(permille) / 10.0);
    let metric = Clock::Response.metric(&part)?.of_kind(&step.subject.kind);
    let limit = micros as f64;
    let window = report.values(system.name, step, &metric.0)?;
    let over = window.rounds.iter().filter(|(_, v)| *v > limit).count();
    let at = format::micros(median(window.rounds.iter().map(|(_, v)| *v))?);
    let limit = format::micros(limit);
    Some(if over == 0 {
        Cell::text(format!("{part} {at} within {limit}"))
    } else {
        let rounds = window.rounds.len();
        Cell::text(format!("{part} {at}, over {limit} in {over} of {rounds}"))
            .with_tone(Tone::Missed)
    })
}

fn tried_in(report: &Report<'_>, step: &Step) -> Vec<Vec<Cell>> {
    let notes = report.input.data.notes.iter();
    let notes: Vec<&StepNote> =
        notes.filter(|note| note.what == NoteKind::Ramp && note.step == step.id).collect();
    let same = |a: &&StepNote, b: &&StepNote| (&a.system, a.round) == (&b.system, b.round);
    let trials = notes.chunk_by(same).filter_map(|tries| {
        let first = tries.first()?;
        let texts: Vec<&str> = tries.iter().map(|note| note.text.as_str()).collect();
        Some(vec![
            Cell::text(first.system.clone()),
            Cell::count(first.round.into()),
            Cell::text(texts.join("; ")),
        ])
    });
    trials.collect()
}
