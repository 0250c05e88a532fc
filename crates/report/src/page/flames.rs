//! Flame graphs of profiled rounds: of each system in a step, and of the difference from the base.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use explain::{StackCosts, StepWhy, WhyLine};
use model::{Profile, Resource, StepId};

use super::figures::Figure;
use crate::chart::Chart;
use crate::chart::flame::{FlameChart, Looks, Places, Said, function};
use crate::tables::why::{certain_side, interval, signed};
use crate::{Report, Seen, format};

/// Frames of a flame graph at most, and of all of a page: what keeps it below four megabytes.
pub(super) const MOST: usize = 1_000;
const ALL: usize = 10_000;
/// What remains readable where there are many.
const FEWEST: usize = 40;

/// How many frames each flame graph of a page has room for.
pub(super) fn room(report: &Report<'_>) -> usize {
    let graphs = report.input.stack_costs.len() + 2 * report.input.why.len();
    (ALL / graphs.max(1)).clamp(FEWEST, MOST)
}

/// What is drawn of a step: where its CPU time goes, or something else.
pub(super) type Drawn<'r> = (&'r StepId, Resource);

/// One for each system, in their order.
pub(super) fn each(report: &Report<'_>, drawn: Drawn<'_>, most: usize) -> Vec<Figure> {
    let all = report.systems.iter().filter_map(|seen| of(report, drawn, seen.name));
    all.filter_map(|costs| of_system(report, costs, most)).collect()
}

fn of<'r>(
    report: &'r Report<'_>,
    (step, resource): Drawn<'_>,
    system: &str,
) -> Option<&'r StackCosts> {
    let mut all = report.input.stack_costs.iter();
    all.find(|one| one.step == *step && one.of == resource && one.system == system)
}

fn seen<'r, 'a>(report: &'r Report<'a>, system: &str) -> Option<&'r Seen<'a>> {
    report.systems.iter().find(|seen| seen.name == system)
}

/// `None` where the report does not show the system.
pub(super) fn of_system(report: &Report<'_>, costs: &StackCosts, most: usize) -> Option<Figure> {
    let seen = seen(report, &costs.system)?;
    let title = format!("Flame graph of {}{}", seen.name, of_resource(costs.of));
    let class = seen.style().class();
    let looks = Looks { class, resource: costs.of, label: title.clone(), ..Looks::default() };
    let chart = FlameChart::new(&Places::of(&costs.stacks), most, looks, |place, cost, share| {
        let name = function(place).0;
        let class = if Profile::is_of_kernel(name) { "kernel" } else { "" };
        let about = format!("{}, {} %", of_operation(cost, costs.of), format::percent(share));
        Said { name: name.to_owned(), about, class: class.to_owned(), mark: "" }
    });
    Some(Figure { title, chart: Chart::flame(chart) })
}

/// The same differences twice: as wide as the candidate's CPU, and as the base's. None without samples of both.
pub(super) fn difference(report: &Report<'_>, why: &StepWhy, most: usize) -> Vec<Figure> {
    let side = |system: &str| {
        Some(Side::new(seen(report, system)?, of(report, (&why.step, why.of), system)?))
    };
    let Some([base, candidate]) = side(&why.base).zip(side(&why.system)).map(<[Side<'_>; 2]>::from)
    else {
        return Vec::new();
    };
    let own: BTreeMap<&str, &WhyLine> =
        why.functions.iter().map(|line| (line.name.as_str(), line)).collect();
    let both = [("candidate", &candidate, &base), ("base", &base, &candidate)];
    both.map(|sides| differing(sides, &own, most)).into()
}

/// What the colours and outlines of a difference mean.
pub(super) const EXPLAINED: &str = "▲ and ▼ with a colour: the function's own CPU per operation certainly rose or fell, in all places together. Grey: no certain change. A dashed outline: the function is nowhere in the other system's samples. A dotted one: narrow functions that are left out.";

struct Side<'a> {
    seen: &'a Seen<'a>,
    resource: Resource,
    places: Places<'a>,
    /// What each function costs with what it calls, in all its places together.
    functions: HashMap<&'a str, f64>,
}

impl<'a> Side<'a> {
    fn new(seen: &'a Seen<'a>, costs: &'a StackCosts) -> Self {
        let mut functions = HashMap::new();
        for (stack, cost) in &costs.stacks {
            // One that calls itself counts once.
            for name in stack.split(';').collect::<BTreeSet<_>>() {
                *functions.entry(name).or_default() += cost;
            }
        }
        Self { seen, resource: costs.of, places: Places::of(&costs.stacks), functions }
    }

    /// What the function of this place costs here, or else below other callers.
    fn cost_at(&self, place: &str) -> String {
        let key = &self.seen.key;
        let elsewhere = self.functions.get(function(place).0);
        match (self.places.at(place), elsewhere) {
            (Some(cost), _) => format!("{key} {}", of_operation(cost, self.resource)),
            (None, Some(cost)) => {
                format!("{key} {} by other callers", of_operation(*cost, self.resource))
            }
            (None, None) => format!("nowhere in {key}"),
        }
    }
}

fn of_operation(cost: f64, resource: Resource) -> String {
    format!("{} {}", format::number(cost), resource.unit())
}

/// Of CPU nothing: most flame graphs are of it.
pub(super) const fn of_resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "",
        Resource::Sleep => ", sleep",
        Resource::Instructions => ", instructions",
    }
}

fn differing(
    (role, drawn, other): (&str, &Side<'_>, &Side<'_>),
    own: &BTreeMap<&str, &WhyLine>,
    most: usize,
) -> Figure {
    let (resource, what) = (drawn.resource, drawn.resource.name());
    let title = format!("Difference, as wide as the {what} of the {role}, {}", drawn.seen.name);
    let series = [drawn, other].map(|side| side.seen.series()).into();
    let looks = Looks {
        class: "difference".to_owned(),
        of: series,
        resource,
        label: title.clone(),
        explained: EXPLAINED,
    };
    let chart = FlameChart::new(&drawn.places, most, looks, |place, cost, share| {
        let name = function(place).0;
        let is_alone = !other.functions.contains_key(name);
        let line = own.get(name);
        let about = format!(
            "{} {} ({} %), {}{}",
            drawn.seen.key,
            of_operation(cost, resource),
            format::percent(share),
            other.cost_at(place),
            line.map_or(String::new(), |line| own_change(line, resource)),
        );
        let side = line.and_then(|line| certain_side(line));
        let mark = side.map_or("", |side| if side == "worse" { "▲ " } else { "▼ " });
        let classes = side.into_iter().chain(is_alone.then_some("alone"));
        Said { name: name.to_owned(), about, class: format::joined(classes, " "), mark }
    });
    Figure { title, chart: Chart::flame(chart) }
}

/// What changed in the function without what it calls, everywhere: frames have no evidence of their own.
fn own_change(line: &WhyLine, resource: Resource) -> String {
    let interval = interval(line).map(|ends| format!(", 95 % interval {ends}")).unwrap_or_default();
    let verdict = certain_side(line).unwrap_or("not certain");
    let (name, unit, change) = (resource.name(), resource.unit(), signed(line));
    format!("; own {name} {change} {unit}{interval}, {verdict}")
}
