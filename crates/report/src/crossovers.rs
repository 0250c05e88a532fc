//! Where candidates pass the base as the clients become more.

use model::{MetricId, Step};
use stats::{Place, ScaleUp, SweepPoint, crossings, scale_up};

use crate::report::At;
use crate::{Report, Seen, Test, format};

impl Test {
    pub(crate) fn steps<'v>(&'v self, report: &'v Report<'_>) -> impl Iterator<Item = &'v Step> {
        self.places.iter().filter_map(move |place| report.steps.get(*place))
    }

    /// The place of its step at a client count among the report's.
    pub(crate) fn place_at(&self, report: &Report<'_>, clients: u32) -> Option<usize> {
        let has_count = |place: &usize| {
            let step = report.steps.get(*place);
            step.is_some_and(|step| step.clients == clients)
        };
        self.places.iter().copied().find(has_count)
    }

    pub(crate) fn at<'v>(&self, report: &'v Report<'_>, clients: u32) -> Option<&'v Step> {
        report.steps.get(self.place_at(report, clients)?)
    }
}

impl At<'_> {
    /// How much more the system does in this step than in another.
    pub(crate) fn scale_up(self, smallest: &Step) -> Option<ScaleUp> {
        let rounds = |at: At<'_>| Some(at.values(MetricId::RATE)?.rounds.clone());
        scale_up(&rounds(self.report.at(self.system, smallest))?, &rounds(self)?)
    }
}

/// A candidate that passes the base, or falls behind it, as the clients become more.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    pub test: String,
    pub system: String,
    /// The client counts between which it happens.
    pub between: (u32, u32),
    /// Does the candidate pass the base, rather than fall behind it?
    pub rises: bool,
    pub place: Place,
    /// All of it in a sentence without its full stop, beginning with the candidate.
    pub text: String,
}

impl Report<'_> {
    /// The crossovers of throughput in a sweep, by test, then by system; none where there is no sweep. The
    /// control is left out.
    pub fn crossovers(&self) -> Vec<Crossover> {
        let tests = self.sweep.iter().flat_map(|sweep| &sweep.tests);
        tests
            .flat_map(|test| self.judged().flat_map(move |system| of_system(self, test, system)))
            .collect()
    }
}

fn of_system(report: &Report<'_>, test: &Test, system: &Seen<'_>) -> Vec<Crossover> {
    let points: Vec<SweepPoint> = test
        .steps(report)
        .filter_map(|step| report.at(system, step).comparison(MetricId::RATE))
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
            text: sentence(system.name, report.base, &crossing),
        })
        .collect()
}

fn sentence(system: &str, base: &str, crossing: &stats::Crossing) -> String {
    let does = |passes: &str, falls: &str| {
        let verb = if crossing.rises { passes } else { falls };
        format!("{system} {verb} {base} between {} and {} clients", crossing.from, crossing.to)
    };
    let of_rounds = |crossing: u32, rounds: u32| {
        let rounds = format::plural(rounds as usize, "round");
        format!("{crossing} of {rounds} cross there")
    };
    match crossing.place {
        Place::Found { clients, ends, .. } => {
            let ends = ends.map_or_else(String::new, |(low, high)| {
                format!(", 95 %: {} to {}", format::clients(low), format::clients(high))
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
