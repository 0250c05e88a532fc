//! Tests that a run has at several client counts.

use std::collections::BTreeSet;

use model::{MetricId, StepId, StepInfo, WorkloadSpec};
use stats::{Place, ScaleUp, SweepPoint, crossings, scale_up};

use crate::Input;
use crate::format;
use crate::groups::{sql_step, title};
use crate::view::{Seen, View};

/// A test at its client counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// Its name, without a client count.
    pub(crate) name: String,
    /// The heading that it stands under; empty for none.
    pub(crate) group: String,
    /// Its steps, as places among the view's, by client count.
    pub(crate) places: Vec<usize>,
}

/// All tests that were run at more than one client count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// Every client count, from the smallest.
    pub(crate) clients: Vec<u32>,
    /// The tests, in the order of the steps.
    pub(crate) tests: Vec<Test>,
    /// Names of all their steps.
    steps: BTreeSet<StepId>,
}

impl Sweep {
    /// The sweep of a run; `None` where each test has one client count. Where operations arrive by themselves,
    /// throughput over the client counts says nothing: such steps are in no sweep.
    pub(crate) fn of(steps: &[StepInfo], workload: &WorkloadSpec) -> Option<Self> {
        let mut tests: Vec<Test> = Vec::new();
        for (place, step) in steps.iter().enumerate() {
            let sql = sql_step(workload, step);
            let Some(sql) = sql.filter(|_| workload.deciding_metric(step).0 == MetricId::RATE)
            else {
                continue;
            };
            let group = title(&sql.group);
            let last = tests.last_mut();
            match last.filter(|test| test.name == sql.test && test.group == group) {
                Some(test) => test.places.push(place),
                None => tests.push(Test {
                    name: sql.test.clone(),
                    group,
                    places: vec![place],
                }),
            }
        }
        tests.retain(|test| test.places.len() > 1);
        let swept = tests.iter().flat_map(|test| &test.places);
        let swept: Vec<&StepInfo> = swept.filter_map(|place| steps.get(*place)).collect();
        let clients: BTreeSet<u32> = swept.iter().map(|step| step.clients).collect();
        (clients.len() > 1).then(|| Self {
            clients: clients.into_iter().collect(),
            steps: swept.iter().map(|step| step.step.clone()).collect(),
            tests,
        })
    }

    /// Is this step part of it?
    pub(crate) fn holds(&self, step: &StepInfo) -> bool {
        self.steps.contains(&step.step)
    }
}

impl Test {
    /// Its steps, by client count.
    pub(crate) fn steps<'v>(&'v self, view: &'v View<'_>) -> impl Iterator<Item = &'v StepInfo> {
        self.places
            .iter()
            .filter_map(move |place| view.steps.get(*place))
    }

    /// The place of its step at a client count among the view's.
    pub(crate) fn place_at(&self, view: &View<'_>, clients: u32) -> Option<usize> {
        let has_count = |place: &usize| {
            let step = view.steps.get(*place);
            step.is_some_and(|step| step.clients == clients)
        };
        self.places.iter().copied().find(has_count)
    }

    /// Its step at a client count.
    pub(crate) fn at<'v>(&self, view: &'v View<'_>, clients: u32) -> Option<&'v StepInfo> {
        view.steps.get(self.place_at(view, clients)?)
    }

    /// How much more a system does at a step of it than at the smallest client count.
    pub(crate) fn scale_up(
        &self,
        view: &View<'_>,
        system: &str,
        step: &StepInfo,
    ) -> Option<ScaleUp> {
        let smallest = self.steps(view).next()?;
        let rounds = |step| Some(&view.values(system, step, MetricId::RATE)?.rounds);
        scale_up(rounds(smallest)?, rounds(step)?)
    }
}

/// A candidate that passes the base, or falls behind it, as the clients become more.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// The test.
    pub test: String,
    /// Name of the candidate.
    pub system: String,
    /// The client counts between which it happens.
    pub between: (u32, u32),
    /// Does the candidate pass the base, rather than fall behind it?
    pub rises: bool,
    /// Where, and how certain.
    pub place: Place,
    /// All of it in a sentence without its full stop, beginning with the candidate.
    pub text: String,
}

/// The crossovers of throughput in a sweep, by test, then by system; none where there is no sweep. The
/// control is left out.
pub fn crossovers(input: &Input<'_>) -> Vec<Crossover> {
    view_crossovers(&View::new(input))
}

pub(crate) fn view_crossovers(view: &View<'_>) -> Vec<Crossover> {
    let tests = view.sweep.iter().flat_map(|sweep| &sweep.tests);
    tests
        .flat_map(|test| {
            let candidates = view.candidates().filter(|s| !s.is_control);
            candidates.flat_map(move |system| of_system(view, test, system))
        })
        .collect()
}

fn of_system(view: &View<'_>, test: &Test, system: &Seen<'_>) -> Vec<Crossover> {
    let points: Vec<SweepPoint> = test
        .steps(view)
        .filter_map(|step| view.comparison(system.name, step, MetricId::RATE))
        .filter_map(SweepPoint::of)
        .collect();
    crossings(&points)
        .into_iter()
        .map(|crossing| Crossover {
            test: test.name.clone(),
            system: system.name.to_owned(),
            between: (crossing.from, crossing.to),
            rises: crossing.rises,
            place: crossing.place,
            text: sentence(system.name, view.base, &crossing),
        })
        .collect()
}

fn sentence(system: &str, base: &str, crossing: &stats::Crossing) -> String {
    let does = |passes: &str, falls: &str| {
        let verb = if crossing.rises { passes } else { falls };
        format!(
            "{system} {verb} {base} between {} and {} clients",
            crossing.from, crossing.to
        )
    };
    let of_rounds = |crossing: u32, rounds: u32| {
        let rounds = format::plural(rounds as usize, "round");
        format!("{crossing} of {rounds} cross there")
    };
    match crossing.place {
        Place::Found { clients, ends, .. } => {
            let ends = ends.map_or_else(String::new, |(low, high)| {
                format!(
                    ", 95 %: {} to {}",
                    format::clients(low),
                    format::clients(high)
                )
            });
            let passes = does("passes", "falls behind");
            format!("{passes} (at about {}{ends})", format::clients(clients))
        }
        Place::Between { crossing, rounds } => format!(
            "{}; where is not clear: {}",
            does("passes", "falls behind"),
            of_rounds(crossing, rounds)
        ),
        Place::Inconclusive { crossing, rounds } => format!(
            "{}: inconclusive, {}",
            does("may pass", "may fall behind"),
            of_rounds(crossing, rounds)
        ),
    }
}
