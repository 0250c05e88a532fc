//! Where a system spends more than the base: what profiled rounds say.

use explain::{Quality, StepWhy, WhyLine};
use model::{Nanos, Resource};

use crate::{Cell, Columns, Header, Table, Tone, format};

/// Of so many, a layer of a tenth scatters by as much as a tenth of itself.
const FEW_SAMPLES: u64 = 1_000;

/// Its change, where its CPU or sleep went by layer, the rest, and the functions that changed most; or instructions.
pub fn why(of: &StepWhy) -> Table {
    let unit = of.of.unit();
    let (heading, functions, parts) = match of.of {
        Resource::Cpu => (
            "Time of an operation, its parts, and CPU by layer",
            "Functions, without what they call",
            vec![&of.time, &of.rest, &of.spent],
        ),
        Resource::Sleep => (
            "Time of an operation, its parts, and sleep by layer",
            "Functions that waited",
            vec![&of.time, &of.rest, &of.spent],
        ),
        Resource::Instructions => (
            "Instructions of an operation, by layer",
            "Functions, without what they call",
            vec![&of.time],
        ),
    };
    let columns = Columns::new()
        .words("where", |line: &&WhyLine| Cell::text(&line.name))
        .numbers(&of.base, unit, |line| Cell::number(line.base, format::number(line.base)))
        .numbers(&of.system, unit, |line| Cell::number(line.system, format::number(line.system)))
        .numbers("change", unit, |line| change(line))
        .column(Header::numbers("95 % interval", unit).spared(1), |line| {
            interval(line).map_or_else(Cell::absent, Cell::text)
        })
        .numbers("of the change", "%", |line| {
            Cell::of(line.share, |share| format::percent(share * 100.0))
        });
    let layers: Vec<&WhyLine> = parts.into_iter().chain(&of.layers).collect();
    let parts =
        [(heading.to_owned(), layers), (functions.to_owned(), of.functions.iter().collect())];
    let title = format!("{}: {} against {}", of.step, of.system, of.base);
    columns.in_parts(title, note(of), parts)
}

/// Instructions per operation of all counted rounds at a glance; `None` without any.
pub fn instructions(all: &[StepWhy]) -> Option<Table> {
    let counted = all.iter().filter(|one| one.of == Resource::Instructions);
    let unit = Resource::Instructions.unit();
    let ratio = |line: &WhyLine, value: Option<f64>| {
        Cell::of(value.map(|change| 1.0 + change / line.base), format::ratio)
    };
    let columns = Columns::new()
        .words("step", |one: &&StepWhy| Cell::text(&one.step.0))
        .words("system", |one| Cell::text(&one.system))
        .words("base", |one| Cell::text(&one.base))
        .numbers("base", unit, |one| Cell::number(one.time.base, format::number(one.time.base)))
        .numbers("system", unit, |one| {
            Cell::number(one.time.system, format::number(one.time.system))
        })
        .numbers("ratio", "", |one| ratio(&one.time, Some(one.time.change)))
        .numbers("low", "", |one| ratio(&one.time, one.time.low))
        .numbers("high", "", |one| ratio(&one.time, one.time.high));
    let note = "Counted under Valgrind in rounds of their own, which are never judged: they are not the instructions of \
                the rounds behind the verdicts. Low and high are the 95 % interval of the ratio.";
    columns.table("Instructions per operation", note, counted).unless_empty()
}

fn change(line: &WhyLine) -> Cell {
    let cell = Cell::number(line.change, signed(line));
    match certain_side(line) {
        None => cell,
        Some(side) if line.change > 0.0 => cell.marked(Tone::Regressed, side),
        Some(side) => cell.marked(Tone::Improved, side),
    }
}

pub(crate) fn signed(line: &WhyLine) -> String {
    format!("{}{}", if line.change > 0.0 { "+" } else { "" }, format::number(line.change))
}

/// More is worse; `None` where the change is not certain.
pub(crate) fn certain_side(line: &WhyLine) -> Option<&'static str> {
    line.is_certain().then_some(if line.change > 0.0 { "worse" } else { "better" })
}

/// `1.20 to 3.40`.
pub(crate) fn interval(line: &WhyLine) -> Option<String> {
    let (low, high) = format::finite_pair(line.low, line.high)?;
    Some(format!("{} to {}", format::number(low), format::number(high)))
}

fn note(of: &StepWhy) -> String {
    let kind = match of.of {
        Resource::Cpu | Resource::Sleep => "profiled round",
        Resource::Instructions => "counted round",
    };
    let rounds = format::plural(of.rounds as usize, kind);
    let is_thin = [&of.of_base, &of.of_system].iter().any(|it| it.samples < FEW_SAMPLES);
    let thin = if is_thin {
        "\nFew samples: only large changes can be certain. Longer steps or more rounds give more samples."
    } else {
        ""
    };
    let sides = [(&of.base, &of.of_base), (&of.system, &of.of_system)];
    let [base, system] = sides.map(|(name, it)| format!("{name}: {}", quality(of.of, it)));
    format!("From {rounds}, which are never judged.\n{base}\n{system}{thin}")
}

fn quality(of: Resource, it: &Quality) -> String {
    let percent = |share: f64| format::percent(share * 100.0);
    let (rooted, classified) = (percent(it.rooted), percent(it.classified));
    let (samples, lost) = (format::count(it.samples), format::count(it.lost));
    match of {
        Resource::Cpu => {
            let lost = if it.lost > 0 { format!(", {lost} lost") } else { String::new() };
            let slowdown = it.slowdown.map_or_else(String::new, |share| {
                let (way, size) = if share < 0.0 { ("higher", -share) } else { ("lower", share) };
                format!("; throughput {} % {way} than in judged rounds", percent(size))
            });
            format!(
                "{samples} samples{lost}, {rooted} % with a whole stack, {classified} % of CPU in a layer{slowdown}."
            )
        }
        Resource::Sleep => format!(
            "threads that serve clients slept {}. {samples} of these sleeps have a stack: {rooted} % of their time has a \
             whole stack, {classified} % has a layer. Other threads slept {}, which no line includes.",
            seconds(it.slept),
            seconds(it.lost),
        ),
        Resource::Instructions => format!(
            "{samples} instructions for clients, {classified} % in a layer; {lost} more in background threads, which no line includes."
        ),
    }
}

fn seconds(nanos: u64) -> String {
    format!("{} s", format::number(Nanos(nanos).as_secs_f64()))
}
