//! Counters of the whole host, or of this whole process, for a system that has only some of the time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{CounterKind, Readings};
use probes::{Detail, Probe, ProbeError};

/// What such counters counted while a system had no turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Gap(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    /// In all gaps that are over. `None` before the first one.
    total: Option<Readings>,
    /// What was read when the present gap began, where there is one.
    since: Option<Readings>,
}

impl Gap {
    /// A turn is over, and this was read.
    pub(super) fn begin(&self, readings: Readings) {
        self.counted().since = Some(readings);
    }

    /// The next turn begins, and this was read.
    pub(super) fn end(&self, readings: &Readings) {
        let mut counted = self.counted();
        if let Some(since) = counted.since.take() {
            let gap = readings.since(&since);
            let total = counted.total.take();
            counted.total = Some(total.map_or_else(|| gap.clone(), |total| total.plus(&gap)));
        }
    }

    /// A probe of these whose totals leave the gaps out.
    pub(super) fn spare(&self, probe: Box<dyn Probe>) -> Box<dyn Probe> {
        Box::new(Spared { probe, gap: self.clone() })
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        gap.begin(host(120));
        assert_eq!(read(150), (Some(120), Some(150)));
        gap.end(&host(180));
        assert_eq!(read(190), (Some(130), Some(190)));
        gap.begin(host(200));
        gap.end(&host(230));
        assert_eq!(read(230), (Some(140), Some(230)));
    }
}
