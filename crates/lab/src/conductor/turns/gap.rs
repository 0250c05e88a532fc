//! Counters of the whole host, or of this whole process, for a system that has only some of the time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use load::lock;
use model::{CounterId, CounterKind, Readings};
use probes::{Detail, Probe, ProbeError};

use crate::observer::add_new;

/// What such counters counted while a system had no turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Gap(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    /// In all gaps that are over. `None` before the first one.
    total: Option<Readings>,
    /// What was read when the present gap began, where there is one.
    since: Option<Readings>,
    /// Counters that could not be read at the start or end of a gap: their totals belong to no system.
    missing: BTreeSet<CounterId>,
    failures: Vec<String>,
}

/// What was read, and what could not be.
type Read = (Readings, Vec<ProbeError>);

impl Gap {
    /// A turn is over, and this was read.
    pub(super) fn begin(&self, (readings, errors): Read) {
        let mut counted = self.counted();
        counted.since = Some(readings);
        counted.remember(&errors);
    }

    /// The next turn begins, and this was read.
    pub(super) fn end(&self, (readings, errors): Read) {
        let mut counted = self.counted();
        counted.remember(&errors);
        let Some(since) = counted.since.take() else { return };
        let gap = readings.since(&since);
        let before = counted.total.take();
        let total = before.as_ref().map_or_else(|| gap.clone(), |before| before.plus(&gap));
        let seen = [Some(&since), Some(&readings), before.as_ref()];
        let seen = seen.into_iter().flatten().flat_map(|readings| readings.0.keys());
        counted.missing.extend(seen.filter(|id| !total.0.contains_key(*id)).cloned());
        counted.total = Some(total);
    }

    /// Forgets the gaps that are over, before a window opens.
    pub(super) fn restart(&self) {
        let mut counted = self.counted();
        *counted = Counted { since: counted.since.take(), ..Counted::default() };
    }

    pub(super) fn failures(&self) -> Vec<String> {
        self.counted().failures.clone()
    }

    /// A probe of these whose totals leave the gaps out.
    pub(super) fn spare(&self, probe: Box<dyn Probe>) -> Box<dyn Probe> {
        Box::new(Spared { probe, gap: self.clone() })
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        lock(&self.0)
    }
}

impl Counted {
    fn remember(&mut self, errors: &[ProbeError]) {
        add_new(&mut self.failures, errors.iter().map(ToString::to_string));
    }
}

struct Spared {
    probe: Box<dyn Probe>,
    gap: Gap,
}

impl Probe for Spared {
    fn name(&self) -> &'static str {
        self.probe.name()
    }

    fn read(&mut self, detail: Detail) -> Result<Readings, ProbeError> {
        let mut readings = self.probe.read(detail)?;
        let counted = self.gap.counted();
        readings.0.retain(|id, _| !counted.missing.contains(id));
        for (id, counter) in &mut readings.0 {
            let then = counted.since.as_ref().and_then(|since| since.0.get(id));
            if let Some(then) = then {
                *counter = *then;
            }
            let gaps = counted.total.as_ref().and_then(|total| total.get(id));
            if counter.kind == CounterKind::Total {
                counter.value = counter.value.saturating_sub(gaps.unwrap_or(0));
            }
        }
        drop(counted);
        Ok(readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts one more with each reading.
    struct Counting(Arc<Mutex<u64>>);

    impl Probe for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn read(&mut self, _: Detail) -> Result<Readings, ProbeError> {
            let mut readings = Readings::default();
            readings.total("host", *self.0.lock().unwrap());
            readings.total("server", *self.0.lock().unwrap());
            Ok(readings)
        }
    }

    #[test]
    fn what_others_did_meanwhile_is_left_out() {
        let count = Arc::new(Mutex::new(100));
        let gap = Gap::default();
        let mut probe = gap.spare(Box::new(Counting(Arc::clone(&count))));
        let host = |value| {
            let mut readings = Readings::default();
            readings.total("host", value);
            readings
        };
        let mut read = |at: u64| {
            *count.lock().unwrap() = at;
            let readings = probe.read(Detail::Edge).unwrap();
            (readings.get("host"), readings.get("server"))
        };
        assert_eq!(read(110), (Some(110), Some(110)));
        gap.begin((host(120), Vec::new()));
        assert_eq!(read(150), (Some(120), Some(150)));
        gap.end((host(180), Vec::new()));
        assert_eq!(read(190), (Some(130), Some(190)));
        gap.begin((host(200), Vec::new()));
        gap.end((host(230), Vec::new()));
        assert_eq!(read(230), (Some(140), Some(230)));
        // A gap that nobody could read.
        let cause = "no such file".to_owned();
        let error = ProbeError::Elsewhere { host: "db".to_owned(), cause };
        gap.begin((Readings::default(), vec![error]));
        gap.end((host(300), Vec::new()));
        assert_eq!(read(310), (None, Some(310)));
        gap.begin((host(320), Vec::new()));
        gap.end((host(330), Vec::new()));
        assert_eq!(read(340), (None, Some(340)));
        assert_eq!(gap.failures().len(), 1);
    }

    #[test]
    fn a_counter_that_is_missing_at_both_ends_of_a_gap_is_left_out() {
        let gap = Gap::default();
        let host = |value| {
            let mut readings = Readings::default();
            readings.total("host", value);
            (readings, Vec::new())
        };
        let mut probe = gap.spare(Box::new(Counting(Arc::new(Mutex::new(100)))));
        gap.begin(host(10));
        gap.end(host(20));
        gap.begin(Default::default());
        gap.end(Default::default());
        assert_eq!(probe.read(Detail::Edge).unwrap().get("host"), None);
    }
}
