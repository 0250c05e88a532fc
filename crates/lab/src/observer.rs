//! Watches one step, or a slice of one: reads the probes at the window's edges and each second.

use std::ops::ControlFlow;

use load::Observer;
use model::{Edge, Event, Interval, Readings};
use probes::{Detail, Probe, ProbeError};

/// Reads the probes of one step, or of a slice of it, and passes the intervals on.
pub(crate) struct StepObserver<'a> {
    probes: &'a mut [Box<dyn Probe>],
    /// Has the server ended, so that there is nothing left to measure?
    has_died: &'a dyn Fn() -> bool,
    emit: &'a mut dyn FnMut(Event) -> ControlFlow<()>,
    opened: Readings,
    last: Readings,
    closed: Option<Readings>,
    failures: Vec<String>,
}

impl<'a> StepObserver<'a> {
    pub(crate) fn new(
        probes: &'a mut [Box<dyn Probe>],
        has_died: &'a dyn Fn() -> bool,
        emit: &'a mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Self {
        Self {
            probes,
            has_died,
            emit,
            opened: Readings::default(),
            last: Readings::default(),
            closed: None,
            failures: Vec::new(),
        }
    }

    /// What happened between the two edges, and which probes could not read.
    pub(crate) fn into_counters(self) -> (Readings, Vec<String>) {
        let counters = self
            .closed
            .map(|closed| closed.since(&self.opened))
            .unwrap_or_default();
        (counters, self.failures)
    }

    /// Keeps what could not be read; the rest.
    fn seen(&mut self, (readings, errors): (Readings, Vec<ProbeError>)) -> Readings {
        for error in errors {
            let text = error.to_string();
            if !self.failures.contains(&text) {
                self.failures.push(text);
            }
        }
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
            let read = probes::read_all(self.probes, Detail::Second);
            self.seen(read)
        };
        interval.readings = readings.since(&self.last);
        self.last = readings;
        (self.emit)(Event::IntervalClosed {
            interval: Box::new(interval),
        })?;
        // Clients that reconnect would try until their limit.
        if (self.has_died)() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Reads all probes, the last one first. What reading costs is this process's CPU time and the host's, and the
/// dearest, that of the server's threads, is the first: so it is outside of the window at both edges. In a window
/// of a quarter of a second that is a share that counts.
fn read_backwards(probes: &mut [Box<dyn Probe>]) -> (Readings, Vec<ProbeError>) {
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

    #[test]
    fn the_first_probe_is_the_farthest_from_the_window() {
        let read = Arc::new(Mutex::new(Vec::new()));
        let probe = |name| -> Box<dyn Probe> {
            let read = Arc::clone(&read);
            Box::new(Counting { name, read })
        };
        let mut probes = [probe("dear"), probe("cheapest")];
        let mut emit = |_| ControlFlow::Continue(());
        let mut observer = StepObserver::new(&mut probes, &|| false, &mut emit);
        observer.edge(Edge::Open);
        observer.edge(Edge::Close);
        let (counters, failures) = observer.into_counters();
        assert_eq!(
            *read.lock().unwrap(),
            ["dear", "cheapest", "cheapest", "dear"]
        );
        assert_eq!(
            (counters.get("dear"), counters.get("cheapest")),
            (Some(3), Some(1))
        );
        // Of the last in the list at both edges: 8 × 3 less 8 × 2.
        assert_eq!(counters.get("of both"), Some(8));
        assert!(failures.is_empty());
    }
}
