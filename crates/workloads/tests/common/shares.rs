//! Load hosts that are this process: the shares of a step's clients run one after the other, by what they are sent.

use std::ops::ControlFlow;
use std::sync::Arc;

use load::{Crew, LoadHosts, Observer, Result, Share, Stop, Target, Window};
use model::{Edge, Interval, KindSpec, StepRecord};
use workloads::{Part, part};

/// The target with so many load hosts.
pub(crate) fn with_hosts(target: &Target, hosts: u32) -> Target {
    let here = Here { target: target.clone(), hosts };
    Target { load_hosts: Some(Arc::new(here)), ..target.clone() }
}

struct Here {
    target: Target,
    hosts: u32,
}

impl LoadHosts for Here {
    fn crew(
        &self,
        assignment: String,
        kinds: Vec<KindSpec>,
        clients: u32,
        _sessions: u32,
    ) -> Result<Box<dyn Crew + '_>> {
        let shares = Share::divide(clients, self.hosts).into_iter();
        let parts = shares.map(|share| part(&assignment, &self.target, share, &Stop::default()));
        Ok(Box::new(Parts { kinds, parts: parts.collect::<Result<_>>()? }))
    }
}

struct Parts {
    kinds: Vec<KindSpec>,
    parts: Vec<Part>,
}

impl Crew for Parts {
    fn kinds(&self) -> &[KindSpec] {
        &self.kinds
    }

    fn window(
        &mut self,
        window: Window,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        observer.edge(Edge::Open);
        let mut whole: Option<StepRecord> = None;
        for part in &mut self.parts {
            let record = part.crew.window(window, stop, &mut Within(observer))?;
            let Some(whole) = &mut whole else {
                whole = Some(record);
                continue;
            };
            for (sum, other) in whole.kinds.iter_mut().zip(&record.kinds) {
                sum.sums.merge(&other.sums);
                sum.late += other.late;
            }
            if let (Some(sum), Some(other)) = (&mut whole.open_loop, record.open_loop) {
                (sum.arrived, sum.waiting) =
                    (sum.arrived + other.arrived, sum.waiting + other.waiting);
            }
        }
        observer.edge(Edge::Close);
        Ok(whole.unwrap())
    }

    fn end(self: Box<Self>) -> Result<Vec<String>> {
        self.parts.into_iter().map(|Part { report, .. }| report()).collect()
    }
}

/// Shows the intervals only.
struct Within<'a>(&'a mut dyn Observer);

impl Observer for Within<'_> {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        self.0.interval(interval)
    }
}
