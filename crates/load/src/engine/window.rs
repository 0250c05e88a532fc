//! What a step's window held.

use model::{ErrorCount, KindTotals, Nanos};

/// What a step's window held.
#[derive(Clone, Debug)]
pub struct Window {
    /// Its length.
    pub length: Nanos,
    /// Totals of each operation kind.
    pub kinds: Vec<KindTotals>,
    /// Errors by code.
    pub errors: Vec<ErrorCount>,
    /// Seconds on target and seconds in all, where there was a pace.
    pub on_target: Option<(u32, u32)>,
    /// Does its length follow from a time or a pace, rather than from an amount of work?
    pub timed: bool,
    /// Was the window closed by the limit?
    pub cut_short: bool,
}

impl Window {
    /// Adds a window of the same kinds, as if it had followed at once.
    pub(crate) fn extend(&mut self, later: &Self) {
        self.length += later.length;
        for (kind, more) in self.kinds.iter_mut().zip(&later.kinds) {
            kind.sums.merge(&more.sums);
            kind.late += more.late;
        }
        for error in &later.errors {
            self.add_error(error);
        }
        self.on_target = match (self.on_target, later.on_target) {
            (Some((met, all)), Some((more_met, more))) => Some((met + more_met, all + more)),
            (one, other) => one.or(other),
        };
        self.cut_short |= later.cut_short;
    }

    fn add_error(&mut self, error: &ErrorCount) {
        let same = |known: &&mut ErrorCount| {
            known.kind == error.kind && known.code == error.code && known.retried == error.retried
        };
        match self.errors.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => self.errors.push(error.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{KindInterval, KindSpec, Latency};

    use super::*;

    fn window(millis: u64, ops: u64, errors: &[(&str, u64)]) -> Window {
        let mut service = Latency::new();
        (0..ops).for_each(|_| service.record(Nanos(1_000 * millis)));
        let kind = KindTotals {
            spec: KindSpec {
                name: "query".to_owned(),
                scheduled: false,
            },
            sums: KindInterval {
                ops,
                rows: 10 * ops,
                service,
                ..KindInterval::default()
            },
            late: 1,
        };
        let errors = errors.iter().map(|(code, count)| ErrorCount {
            kind: "query".to_owned(),
            code: (*code).to_owned(),
            count: *count,
            retried: false,
        });
        Window {
            length: Nanos::from_millis(millis),
            kinds: vec![kind],
            errors: errors.collect(),
            on_target: None,
            timed: true,
            cut_short: false,
        }
    }

    #[test]
    fn windows_that_follow_each_other_are_one() {
        let mut all = window(250, 3, &[("1213", 1)]);
        all.extend(&window(100, 4, &[("1205", 2), ("1213", 5)]));
        assert_eq!(all.length, Nanos::from_millis(350));
        let [query] = &all.kinds[..] else {
            panic!("one kind")
        };
        assert_eq!((query.sums.ops, query.sums.rows, query.late), (7, 70, 2));
        assert_eq!(query.sums.service.count(), 7);
        let errors: Vec<(&str, u64)> = all
            .errors
            .iter()
            .map(|error| (error.code.as_str(), error.count))
            .collect();
        assert_eq!(errors, [("1213", 6), ("1205", 2)]);
        assert_eq!((all.on_target, all.cut_short), (None, false));
    }
}
