//! A step's record as it is stored: JSON for all but the histograms, which have a table.
//!
//! A field that is added later needs `#[serde(default)]`, so that older files stay readable.

use std::borrow::Cow;

use model::{
    Check, Drift, ErrorCount, KindInterval, KindSpec, KindTotals, Latency, Nanos, OpenLoop,
    Readings, Sizes, StepId, StepRecord, Subject, TpccFacts,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRecord<'a> {
    pub(crate) step: Cow<'a, StepId>,
    pub(crate) ordinal: u32,
    pub(crate) measured: bool,
    pub(crate) clients: u32,
    window: Nanos,
    elapsed: Nanos,
    pub(crate) subject: Cow<'a, Subject>,
    pub(crate) kinds: Vec<StoredKind<'a>>,
    errors: Cow<'a, [ErrorCount]>,
    pub(crate) target_rate: Option<u64>,
    seconds_on_target: Option<(u32, u32)>,
    requested_rows: u64,
    #[serde(default)]
    open_loop: Option<OpenLoop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tpcc: Option<TpccFacts>,
    counters: Cow<'a, Readings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drift: Option<Drift>,
    #[serde(default)]
    before: Option<Sizes>,
    sizes: Option<Sizes>,
    checks: Cow<'a, [Check]>,
    pub(crate) notes: Cow<'a, [(String, String)]>,
    #[serde(default)]
    compat: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredKind<'a> {
    pub(crate) spec: Cow<'a, KindSpec>,
    ops: u64,
    rows: u64,
    errors: u64,
    retries: u64,
    late: u64,
}

/// The histograms of one kind: service time, and response time where there is a schedule.
pub(crate) type Histograms = (Latency, Option<Latency>);

impl<'a> StoredRecord<'a> {
    /// Every field is named, so that a new one cannot be forgotten.
    pub(crate) fn of(record: &'a StepRecord) -> Self {
        let StepRecord {
            step,
            ordinal,
            measured,
            clients,
            window,
            elapsed,
            subject,
            kinds,
            errors,
            target_rate,
            seconds_on_target,
            requested_rows,
            open_loop,
            tpcc,
            counters,
            drift,
            before,
            sizes,
            checks,
            notes,
            compat,
        } = record;
        Self {
            step: Cow::Borrowed(step),
            ordinal: *ordinal,
            measured: *measured,
            clients: *clients,
            window: *window,
            elapsed: *elapsed,
            subject: Cow::Borrowed(subject),
            kinds: kinds.iter().map(StoredKind::of).collect(),
            errors: Cow::Borrowed(errors),
            target_rate: *target_rate,
            seconds_on_target: *seconds_on_target,
            requested_rows: *requested_rows,
            open_loop: *open_loop,
            tpcc: *tpcc,
            counters: Cow::Borrowed(counters),
            drift: *drift,
            before: *before,
            sizes: *sizes,
            checks: Cow::Borrowed(checks),
            notes: Cow::Borrowed(notes),
            compat: *compat,
        }
    }

    /// The record again; `histograms` yields those of each kind, in order.
    pub(crate) fn with_histograms<E>(
        self,
        mut histograms: impl FnMut(&KindSpec) -> Result<Histograms, E>,
    ) -> Result<StepRecord, E> {
        let kinds = self.kinds.into_iter().map(|kind| {
            let (service, response) = histograms(&kind.spec)?;
            Ok(kind.with(service, response))
        });
        Ok(StepRecord {
            kinds: kinds.collect::<Result<_, E>>()?,
            step: self.step.into_owned(),
            ordinal: self.ordinal,
            measured: self.measured,
            clients: self.clients,
            window: self.window,
            elapsed: self.elapsed,
            subject: self.subject.into_owned(),
            errors: self.errors.into_owned(),
            target_rate: self.target_rate,
            seconds_on_target: self.seconds_on_target,
            requested_rows: self.requested_rows,
            open_loop: self.open_loop,
            tpcc: self.tpcc,
            counters: self.counters.into_owned(),
            drift: self.drift,
            before: self.before,
            sizes: self.sizes,
            checks: self.checks.into_owned(),
            notes: self.notes.into_owned(),
            compat: self.compat,
        })
    }
}

impl<'a> StoredKind<'a> {
    fn of(kind: &'a KindTotals) -> Self {
        let KindTotals { spec, sums, late } = kind;
        Self {
            spec: Cow::Borrowed(spec),
            ops: sums.ops,
            rows: sums.rows,
            errors: sums.errors,
            retries: sums.retries,
            late: *late,
        }
    }

    fn with(self, service: Latency, response: Option<Latency>) -> KindTotals {
        KindTotals {
            spec: self.spec.into_owned(),
            sums: KindInterval {
                ops: self.ops,
                rows: self.rows,
                errors: self.errors,
                retries: self.retries,
                service,
                response,
            },
            late: self.late,
        }
    }
}
