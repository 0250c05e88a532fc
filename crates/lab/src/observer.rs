//! Watches one step: reads the probes at the window's edges and each second.

use std::ops::ControlFlow;

use load::Observer;
use model::{Edge, Event, Interval, Readings};
use probes::{Detail, Probe};

/// Reads the probes of one step and passes its intervals on.
pub(crate) struct StepObserver<'a> {
    probes: Vec<Box<dyn Probe>>,
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
        probes: Vec<Box<dyn Probe>>,
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

    fn read(&mut self, detail: Detail) -> Readings {
        let (readings, errors) = probes::read_all(&mut self.probes, detail);
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
        let readings = self.read(Detail::Edge);
        match edge {
            Edge::Open => {
                self.last = readings.clone();
                self.opened = readings;
            }
            Edge::Close => self.closed = Some(readings),
        }
    }

    fn interval(&mut self, mut interval: Interval) -> ControlFlow<()> {
        // The window's last interval ends with its closing edge, which is read already.
        let readings = match &self.closed {
            Some(closed) => closed.clone(),
            None => self.read(Detail::Second),
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
