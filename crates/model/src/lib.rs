//! The words of the lab: plain data and units; no I/O, no clock, no threads.
//!
//! Every other crate speaks in these types. `docs/glossary.md` defines each word once; the types
//! here carry the same names. Data flows one way: a plan file becomes a [`Plan`] of [`Trial`]s,
//! each trial yields a [`StepRecord`] per step, records become [`Measurement`]s, measurements of
//! two systems become a [`Comparison`] with a [`Verdict`].

mod audit;
mod comparison;
mod counter;
mod course;
mod dbms;
mod drift;
mod event;
mod false_alarms;
mod host;
mod latency;
mod metric;
mod orders;
mod plan;
mod quarantine;
mod recipe;
mod record;
mod rng;
mod run;
mod said;
mod secret;
mod spreadsheet;
mod sql;
mod stream;
mod system;
mod tpcc;
mod units;
mod version;
mod workload;

pub use audit::{AUDIT, AUDIT_FROM, AuditRange};
pub use comparison::{Comparison, Evidence, Magnitude, Reason, Verdict};
pub use counter::{Counter, CounterId, CounterKind, Readings};
pub use course::{Course, Interleave};
pub use dbms::{Dbms, Dialect, Engine};
pub use drift::{Drift, Stretch, Stretches};
pub use event::{Edge, Event, TrialKey};
pub use false_alarms::FalseAlarms;
pub use host::{DiskFacts, Host, HostShape};
pub use latency::{Latency, LatencyError};
pub use metric::{
    Described, Direction, Group, Measurement, MetricId, Unit, describe, drift_of, judged_metrics,
    meant_by, measure,
};
pub use orders::Orders;
pub use plan::{Plan, Trial};
pub use quarantine::Quarantine;
pub use recipe::{BuildFacts, Helper, ObtainEvent, Origin, Parcel, Placing, Recipe};
pub use record::{
    Capture, Check, Counts, ErrorCount, Interval, KindInterval, KindSpec, KindTotals, Moment,
    OpenLoop, Sizes, StepId, StepRecord, Subject,
};
pub use rng::{Rng, mix};
pub use run::{
    Cell, KindSeries, Outcome, RunData, RunId, RunInfo, RunState, SliceSeries, SliceValue,
    StepHistogram, StepInfo, StepNote, StepSeries, TrialRecord,
};
pub use said::said;
pub use secret::{HIDDEN, hide_secrets};
pub use spreadsheet::{guarded, unguarded};
pub use sql::{
    Arrivals, ColumnKind, Distribution, Draw, ErrorRules, Expect, LoadMethod, LoadSpec, SqlBlock,
    SqlColumn, SqlDraw, SqlIndex, SqlOperation, SqlPace, SqlPiece, SqlRun, SqlSpec, SqlStatement,
    SqlStep, SqlTable, SqlTexts, SqlWork, TableChoice, Verb, WarmUpEnd,
};
pub use stream::{IntervalNumbers, KindNumbers, StepPlace};
pub use system::{
    Build, BuildSource, Config, Connection, Placement, RefusedSetting, Setting, System, Transport,
};
pub use tpcc::{
    DISTRICTS, Isolation, PaymentOrder, ROLLBACK, StockLevel, TpccAudit, TpccCardinality,
    TpccFacts, TpccForm, TpccHomes, TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSchema,
    TpccSpec, TpccTransaction,
};
pub use units::{Bytes, Margin, Nanos};
pub use version::{Version, VersionError};
pub use workload::{
    InsertScale, InsertSpec, Pacing, QueryKind, Settle, Statements, Tables, WorkloadSpec,
};
