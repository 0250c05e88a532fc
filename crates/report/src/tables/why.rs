//! Where a system spends more than the base: what profiled rounds say.

use explain::{Quality, StepWhy, WhyLine, WhyUnit};

use crate::{Cell, Columns, Header, Table, Tone, format};

/// What a certain change is, where more is worse.
const WORSE: &str = "worse";
const BETTER: &str = "better";

/// The time of an operation of one step: its change, where its CPU went by layer, the rest, and the functions that
/// changed most. Of instructions, those of an operation, by layer and by function.
pub fn why(of: &StepWhy) -> Table {
    let unit = of.unit.name();
    let heading = match of.unit {
        WhyUnit::Micros => "Time of an operation, its parts, and CPU by layer",
        WhyUnit::Instructions => "Instructions of an operation, by layer",
    };
    let parts = [&of.time, &of.rest, &of.cpu];
    let parts = &parts[..if of.unit == WhyUnit::Micros { parts.len() } else { 1 }];
    let columns = Columns::new()
        .words("where", |line: &&WhyLine| Cell::text(&line.name))
        .numbers(&of.base, unit, |line| Cell::number(line.base, format::number(line.base)))
        .numbers(&of.system, unit, |line| Cell::number(line.system, format::number(line.system)))
        .numbers("change", unit, |line| change(line))
        .column(Header::numbers("95 % interval", unit).spared(1), |line| interval(line))
        .numbers("of the change", "%", |line| {
            Cell::of(line.share, |share| format::percent(share * 100.0))
        });
    let layers: Vec<&WhyLine> = parts.iter().copied().chain(&of.layers).collect();
    let parts = [
        (heading.to_owned(), layers),
        ("Functions, without what they call".to_owned(), of.functions.iter().collect()),
    ];
    let title = format!("{}: {} against {}", of.step, of.system, of.base);
    columns.in_parts(title, note(of), parts)
}

fn change(line: &WhyLine) -> Cell {
    let text =
        format!("{}{}", if line.change > 0.0 { "+" } else { "" }, format::number(line.change));
    let cell = Cell::number(line.change, text);
    if !line.is_certain() {
        cell
    } else if line.change > 0.0 {
        cell.marked(Tone::Regressed, WORSE)
    } else {
        cell.marked(Tone::Improved, BETTER)
    }
}

fn interval(line: &WhyLine) -> Cell {
    let both = format::finite_pair(line.low, line.high);
    let text =
        |(low, high)| Cell::text(format!("{} to {}", format::number(low), format::number(high)));
    both.map_or_else(Cell::absent, text)
}

fn note(of: &StepWhy) -> String {
    let kind = if of.unit == WhyUnit::Micros { "profiled round" } else { "counted round" };
    let rounds = format::plural(of.rounds as usize, kind);
    let percent = |share: f64| format::percent(share * 100.0);
    let quality = |name: &str, it: &Quality| {
        let lost =
            if it.lost > 0 { format!(", {} lost", format::count(it.lost)) } else { String::new() };
        let slowdown = it.slowdown.map_or_else(String::new, |share| {
            let (way, size) = if share < 0.0 { ("higher", -share) } else { ("lower", share) };
            format!("; throughput {} % {way} than in judged rounds", percent(size))
        });
        let (rooted, classified) = (percent(it.rooted), percent(it.classified));
        let samples = format::count(it.samples);
        if of.unit == WhyUnit::Instructions {
            let others = format::count(it.lost);
            return format!(
                "{name}: {samples} instructions for clients, {classified} % in a layer; {others} in the background, which \
                 are in no line."
            );
        }
        format!(
            "{name}: {samples} samples{lost}, {rooted} % with a whole stack, {classified} % of CPU in a layer{slowdown}."
        )
    };
    format!(
        "From {rounds}, which are never judged.\n{}\n{}",
        quality(&of.base, &of.of_base),
        quality(&of.system, &of.of_system)
    )
}
