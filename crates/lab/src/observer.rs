//! Watches one step: reads the probes at the window's edges and each second.

use std::ops::ControlFlow;

use load::Observer;
use model::{Counter, Edge, Event, Interval, Nanos, Readings, Step, Stretch, Stretches, Subject};
use probes::{Detail, Probe, ProbeError};
use profiles::Watcher;

pub(crate) struct StepObserver<'a> {
    probes: &'a mut [Box<dyn Probe>],
    has_died: &'a dyn Fn() -> bool,
    emit: &'a mut dyn FnMut(Event) -> ControlFlow<()>,
    /// How dear a reading at an interval's end may be.
    detail: Detail,
    opened: Readings,
    last: Readings,
    closed: Option<Readings>,
    failures: Vec<String>,
    subject: &'a Subject,
    /// Place of the subject's kind among those of every interval, if the step has it.
    kind: Option<usize>,
    stretches: Stretches,
}

#[derive(Debug, Default)]
pub(crate) struct Spent {
    pub(crate) counters: Readings,
    pub(crate) failures: Vec<String>,
    pub(crate) stretches: Stretches,
}

impl<'a> StepObserver<'a> {
    pub(crate) fn new(
        probes: &'a mut [Box<dyn Probe>],
        step: &'a Step,
        detail: Detail,
        has_died: &'a dyn Fn() -> bool,
        emit: &'a mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Self {
        Self {
            probes,
            has_died,
            emit,
            detail,
            opened: Readings::default(),
            last: Readings::default(),
            closed: None,
            failures: Vec::new(),
            subject: &step.subject,
            kind: step.kinds.iter().position(|kind| kind.name == step.subject.kind),
            stretches: Stretches::default(),
        }
    }

    /// From now on, no reading may be dearer than this.
    pub(crate) const fn read_with(&mut self, detail: Detail) {
        self.detail = detail;
    }

    pub(crate) fn into_spent(self) -> Spent {
        let counters = self.closed.map(|closed| closed.since(&self.opened)).unwrap_or_default();
        Spent { counters, failures: self.failures, stretches: self.stretches }
    }

    fn remember(&mut self, interval: &Interval) {
        let Some(kind) = self.kind.and_then(|place| interval.kinds.get(place)) else { return };
        self.stretches.add(Stretch {
            length: interval.length,
            count: self.subject.counts.count(kind.ops, kind.rows),
            server_cpu: interval.readings.get(Counter::SERVER_CPU).map(Nanos),
        });
    }

    /// Stores the failures; returns the rest.
    fn seen(&mut self, (readings, errors): (Readings, Vec<ProbeError>)) -> Readings {
        add_new(&mut self.failures, errors.iter().map(ToString::to_string));
        readings
    }
}

impl Observer for StepObserver<'_> {
    fn edge(&mut self, edge: Edge) {
        match edge {
            Edge::Open => {
                let read = probes::read_all(self.probes, Detail::Edge);
                self.opened = self.seen(read);
                self.last = self.opened.clone();
            }
            Edge::Close => {
                let read = read_backwards(self.probes);
                self.closed = Some(self.seen(read));
            }
        }
    }

    fn interval(&mut self, mut interval: Interval) -> ControlFlow<()> {
        // The window's last interval ends with its closing edge, which is read already.
        let readings = if let Some(closed) = &self.closed {
            closed.clone()
        } else {
            let read = probes::read_all(self.probes, self.detail);
            self.seen(read)
        };
        // It brings what agents on other hosts read of themselves.
        let of_agents = std::mem::replace(&mut interval.readings, readings.since(&self.last));
        interval.readings.add_beside(&of_agents);
        self.last = readings;
        self.remember(&interval);
        (self.emit)(Event::IntervalClosed { interval: Box::new(interval) })?;
        // Clients that reconnect would try until their limit.
        if (self.has_died)() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Passes everything on, and tells a watcher when the window opens and closes.
pub(crate) struct Profiled<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) watcher: Option<&'a mut Watcher>,
}

impl Observer for Profiled<'_> {
    fn edge(&mut self, edge: Edge) {
        // Reading the probes is outside of what counts, at both edges.
        if let (Edge::Close, Some(watcher)) = (edge, &mut self.watcher) {
            watcher.close();
        }
        self.observer.edge(edge);
        if let (Edge::Open, Some(watcher)) = (edge, &mut self.watcher) {
            watcher.open();
        }
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        self.observer.interval(interval)
    }

    fn ended(&mut self) {
        self.observer.ended();
    }
}

pub(crate) fn add_new(all: &mut Vec<String>, texts: impl IntoIterator<Item = String>) {
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
}

/// Reads all probes, the last one first. The first is the dearest, so its cost is outside of the window at both edges.
pub(crate) fn read_backwards(probes: &mut [Box<dyn Probe>]) -> (Readings, Vec<ProbeError>) {
    let mut all = Vec::with_capacity(probes.len());
    let mut errors = Vec::new();
    for probe in probes.iter_mut().rev() {
        match probe.read(Detail::Edge) {
            Ok(readings) => all.push(readings),
            Err(error) => errors.push(error),
        }
    }
    let mut readings = Readings::default();
    // A counter that several read is that of the last in their list, as at the opening edge.
    all.into_iter().rev().for_each(|read| readings.extend(read));
    (readings, errors)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use model::{Counts, KindInterval, KindSpec, StepId};

    use super::*;

    /// A probe that counts how often any of them was read, and writes down when it was.
    struct Counting {
        name: &'static str,
        read: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Probe for Counting {
        fn name(&self) -> &'static str {
            self.name
        }

        fn read(&mut self, _: Detail) -> Result<Readings, ProbeError> {
            let mut read = self.read.lock().unwrap();
            read.push(self.name);
            let mut readings = Readings::default();
            readings.total(self.name, read.len() as u64);
            readings.total("of both", self.name.len() as u64 * read.len() as u64);
            Ok(readings)
        }
    }

    /// A step about the second of its kinds.
    fn step() -> Step {
        let subject = Subject { kind: "update".to_owned(), counts: Counts::Operations };
        let kinds = ["read", "update"].map(KindSpec::unscheduled).to_vec();
        Step { kinds, ..Step::new(StepId::new("update"), 0, 1, subject) }
    }

    #[test]
    fn the_drift_is_that_of_the_kind_the_step_is_about() {
        let mut emit = |_| ControlFlow::Continue(());
        let step = step();
        let mut observer = StepObserver::new(&mut [], &step, Detail::Second, &|| false, &mut emit);
        for (index, updates) in (0..).zip([100, 150, 130]) {
            let kind = |ops| KindInterval { ops, ..KindInterval::default() };
            let flow = observer.interval(Interval {
                index,
                start: Nanos::from_secs(u64::from(index)),
                length: Nanos::SECOND,
                kinds: vec![kind(7), kind(updates)],
                stalled: Nanos(0),
                readings: Readings::default(),
            });
            assert!(flow.is_continue());
        }
        let drift = observer.into_spent().stretches.drift().unwrap();
        assert_eq!((drift.rate, drift.server_cpu), (1.3, None));
    }

    #[test]
    fn the_first_probe_is_the_farthest_from_the_window() {
        let read = Arc::new(Mutex::new(Vec::new()));
        let probe = |name| -> Box<dyn Probe> {
            let read = Arc::clone(&read);
            Box::new(Counting { name, read })
        };
        let mut probes = [probe("dear"), probe("cheapest")];
        let mut emit = |_| ControlFlow::Continue(());
        let step = step();
        let mut observer =
            StepObserver::new(&mut probes, &step, Detail::Second, &|| false, &mut emit);
        observer.edge(Edge::Open);
        observer.edge(Edge::Close);
        let Spent { counters, failures, .. } = observer.into_spent();
        assert_eq!(*read.lock().unwrap(), ["dear", "cheapest", "cheapest", "dear"]);
        assert_eq!((counters.get("dear"), counters.get("cheapest")), (Some(3), Some(1)));
        // Of the last in the list at both edges: 8 × 3 less 8 × 2.
        assert_eq!(counters.get("of both"), Some(8));
        assert!(failures.is_empty());
    }
}
