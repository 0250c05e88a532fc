//! Each candidate against the base, a line a comparison.

use model::{Comparison, MetricId, StepInfo, Verdict};

use crate::deciding;
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View, is_certain};

/// Costs that may explain a change of throughput.
const COSTS: [&str; 8] = [
    "server.cpu/o",
    "server.cs/o",
    "cpu/o",
    "cs/o",
    "r/o",
    "rKB/o",
    "w/o",
    "wKB/o",
];

/// Which comparisons a table of verdicts shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// One system, which is then named in the title; all when `None`.
    pub system: Option<String>,
    /// Every metric, or only that which decides each step.
    pub all_metrics: bool,
    /// Leave out what is unchanged or not decided.
    pub decided_only: bool,
}

impl Shown {
    /// All steps of all systems, each in the metric that decides it.
    pub(crate) fn decisions() -> Self {
        Self::default()
    }

    /// `deciding` is the metric that decides the step of the comparison.
    fn shows(&self, deciding: &MetricId, comparison: &Comparison) -> bool {
        let system = self.system.as_ref();
        system.is_none_or(|system| *system == comparison.system)
            && (self.all_metrics || comparison.metric == *deciding)
            && (!self.decided_only || is_certain(&comparison.verdict))
    }
}

pub(crate) fn verdicts(view: &View<'_>, shown: &Shown) -> Table {
    let mut headers = Vec::new();
    if shown.system.is_none() {
        headers.push(Header::words("system"));
    }
    headers.push(Header::words("step"));
    if shown.all_metrics {
        headers.push(Header::words("metric"));
    }
    headers.extend([
        Header::numbers("ratio", ""),
        Header::numbers("95 % interval", ""),
        Header::numbers("rounds", ""),
        Header::numbers("q", ""),
        Header::words("verdict"),
        Header::words("to decide it, or what moved with it"),
    ]);
    // Under headings the systems would be mixed.
    let has_headings = shown.system.is_some();
    let mut all = Vec::new();
    for system in view.candidates() {
        for group in &view.groups {
            let steps = group.places.clone();
            let steps = steps.filter_map(|place| view.steps.get(place));
            let of_group: Vec<Vec<Cell>> = steps
                .flat_map(|step| rows(view, system, step, shown))
                .collect();
            if has_headings && !(of_group.is_empty() || group.title.is_empty()) {
                all.push(Table::heading(&group.title, headers.len()));
            }
            all.extend(of_group);
        }
    }
    let title = match &shown.system {
        Some(system) => format!("{system} against {}", view.base),
        None => format!("Verdicts against {}", view.base),
    };
    Table {
        title,
        note: "q is the p-value adjusted for false discoveries over the steps.".to_owned(),
        headers,
        rows: all,
    }
}

fn rows(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, shown: &Shown) -> Vec<Vec<Cell>> {
    let deciding = view.deciding(step);
    let comparisons: Vec<&Comparison> = if shown.all_metrics {
        let all = view.input.comparisons.iter();
        all.filter(|c| c.system == system.name && c.step == step.step && c.clients == step.clients)
            .collect()
    } else {
        view.decision(system.name, step).into_iter().collect()
    };
    comparisons
        .into_iter()
        .filter(|c| shown.shows(&deciding, c))
        .map(|c| row(view, step, c, shown))
        .collect()
}

fn row(view: &View<'_>, step: &StepInfo, comparison: &Comparison, shown: &Shown) -> Vec<Cell> {
    let mut cells = Vec::new();
    if shown.system.is_none() {
        cells.push(Cell::text(comparison.system.clone()));
    }
    let label = view.label(step);
    if shown.all_metrics {
        cells.push(Cell::text(label));
        cells.push(Cell::text(comparison.metric.0.clone()));
    } else {
        let metric = deciding::word(&comparison.metric);
        cells.push(Cell::text(match metric {
            None => label,
            Some(metric) => format!("{label}, {metric}"),
        }));
    }
    let reason = comparison.verdict.reason();
    let why = if reason.is_empty() {
        moved_with(view, step, comparison).unwrap_or_default()
    } else {
        reason
    };
    cells.extend([
        comparison.ratio.map_or_else(Cell::absent, |ratio| {
            Cell::number(ratio, format::ratio_of(comparison))
        }),
        format::interval(comparison).map_or_else(Cell::absent, Cell::text),
        Cell::number(
            f64::from(comparison.rounds),
            format::count(u64::from(comparison.rounds)),
        ),
        comparison
            .q_value
            .map_or_else(Cell::absent, |q| Cell::number(q, format::q_value(q))),
        Cell::text(comparison.verdict.word()).with_tone(tone(&comparison.verdict)),
        Cell::text(why),
    ]);
    cells
}

/// What the colour of a verdict is.
pub(crate) const fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Regressed => Tone::Regressed,
        Verdict::Improved => Tone::Improved,
        Verdict::Unchanged => Tone::Plain,
        Verdict::Inconclusive(_) | Verdict::Incomparable(_) => Tone::Muted,
    }
}

/// Where what decides a step certainly changed: the cost that certainly changed most, `server.cpu/o ×1.42`.
pub(crate) fn moved_with(
    view: &View<'_>,
    step: &StepInfo,
    comparison: &Comparison,
) -> Option<String> {
    if comparison.metric != view.deciding(step) || !is_certain(&comparison.verdict) {
        return None;
    }
    let movers = movers(view, step, &comparison.system);
    let (cost, ratio) = movers.first()?;
    Some(format!("{} ×{}", cost.metric, format::ratio(*ratio)))
}

/// The costs of a system in a step that certainly changed, with their ratios; what changed most comes first.
pub(crate) fn movers<'a>(
    view: &View<'a>,
    step: &StepInfo,
    system: &str,
) -> Vec<(&'a Comparison, f64)> {
    // Of two that changed alike, the host's says more than the server's.
    let costs = COSTS.iter().rev();
    let mut movers: Vec<(&Comparison, f64)> = costs
        .filter_map(|metric| view.comparison(system, step, metric))
        .filter(|cost| is_certain(&cost.verdict))
        .filter_map(|cost| Some((cost, cost.ratio.filter(|r| r.is_finite() && *r > 0.0)?)))
        .collect();
    movers.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    movers
}

/// The evidence behind the ratios that decide a step: systems × rounds; `None` without any pair.
pub(crate) fn pairs(view: &View<'_>, step: &StepInfo) -> Option<Table> {
    let evidence: Vec<&Comparison> = view
        .candidates()
        .filter_map(|s| view.decision(s.name, step))
        .collect();
    let mut rounds: Vec<u32> = evidence
        .iter()
        .flat_map(|c| c.pairs.iter().map(|(round, _)| *round))
        .collect();
    rounds.sort_unstable();
    rounds.dedup();
    if rounds.is_empty() {
        return None;
    }
    let columns = rounds
        .iter()
        .map(|r| Header::numbers(format!("round {r}"), ""));
    let rows = evidence.iter().map(|c| {
        let values = rounds.iter().map(|round| {
            let pair = c.pairs.iter().find(|(r, _)| r == round);
            pair.map_or_else(Cell::absent, |(_, ratio)| {
                Cell::number(*ratio, format::pair(*ratio))
            })
        });
        std::iter::once(Cell::text(c.system.clone()))
            .chain(values)
            .collect()
    });
    Some(Table {
        title: "Ratio to the base in each round".to_owned(),
        note: String::new(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    })
}
