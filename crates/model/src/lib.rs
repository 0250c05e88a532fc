//! The words of the lab: plain data and units; no I/O, no clock, no threads.
//!
//! Every other crate speaks in these types. `docs/glossary.md` defines each word once; the types
//! here carry the same names. Data flows one way: a plan file becomes a [`Plan`] of [`Trial`]s,
//! each trial yields a [`StepRecord`] per step, records become [`Measurement`]s, measurements of
//! two systems become a [`Comparison`] with a [`Verdict`].

mod audit;
mod comparison;
mod condition;
mod connection;
mod counter;
mod course;
mod dbms;
mod drift;
mod event;
mod false_alarms;
mod family;
mod host;
mod insert;
mod latency;
mod metric;
mod note;
mod orders;
mod plan;
mod product;
mod quarantine;
mod recipe;
mod record;
mod rng;
mod run;
mod said;
mod secret;
mod spreadsheet;
mod sql;
mod step;
mod steps;
mod stream;
mod subject;
mod system;
mod tpcc;
mod units;
mod version;
mod workload;

pub use audit::{AUDIT, AUDIT_FROM, AuditRange};
pub use comparison::{Comparison, Evidence, Magnitude, Reason, Verdict};
pub use condition::Condition;
pub use connection::{Connection, Isolation, Transport};
pub use counter::{Counter, CounterId, CounterKind, Readings};
pub use course::{Course, Interleave};
pub use dbms::{Dbms, UnknownDbms};
pub use drift::{Drift, Stretch, Stretches};
pub use event::{Edge, Event, TrialKey};
pub use false_alarms::FalseAlarms;
pub use family::{Dialect, Engine};
pub use host::{DiskFacts, Host, HostShape};
pub use insert::{InsertScale, InsertSpec, Pacing, QueryKind, Settle, Statements, Tables};
pub use latency::{Latency, LatencyError};
pub use metric::{
    Chart, Clock, Direction, Group, Measurement, Metric, MetricId, OverRounds, Part, RunColumn,
    RunTable, Unit, When, describe, judged_metrics, meant_by, measure, metrics,
};
pub use note::{Fact, Note, NoteKind, Provenance};
pub use orders::Orders;
pub use plan::{Plan, Trial};
pub use product::{
    Banner, BuiltIn, CaptureRule, Case, ConditionRule, ConnectionFacts, Costs, EngineFacts,
    HugePages, PRODUCT_FILE, Product, ProductError, Since, Tree, catalog_files,
};
pub use quarantine::Quarantine;
pub use recipe::{BuildFacts, Helper, ObtainEvent, Origin, Parcel, Placing, Recipe};
pub use record::{
    Capture, Check, ErrorCount, Interval, KindInterval, KindTotals, Moment, OpenLoop, Sizes,
    StepRecord,
};
pub use rng::{Rng, mix};
pub use run::{
    Cell, KindSeries, Outcome, RunData, RunId, RunInfo, RunState, SliceSeries, SliceValue,
    StepHistogram, StepNote, StepSeries, TrialRecord,
};
pub use said::said;
pub use secret::{HIDDEN, hide_secrets};
pub use spreadsheet::{guarded, unguarded};
pub use sql::{
    Arrivals, ColumnKind, Distribution, Draw, ErrorRules, Expect, HotValues, LoadMethod, LoadSpec,
    SqlBlock, SqlColumn, SqlDraw, SqlIndex, SqlOperation, SqlPace, SqlPiece, SqlRun, SqlSpec,
    SqlStatement, SqlStep, SqlTable, SqlTexts, SqlWork, TableChoice, Verb, WarmUpEnd,
};
pub use step::{ResponseLimit, Step, StepClass, StepPace, StepTask};
pub use steps::{BEGIN, COMMIT, InsertKinds, InsertStage, SqlKinds, TpccStage, Transactions};
pub use stream::{IntervalNumbers, KindNumbers, StepPlace};
pub use subject::{Counts, KindSpec, StepId, Subject};
pub use system::{Build, BuildSource, Config, Placement, RefusedSetting, Setting, System};
pub use tpcc::{
    DISTRICTS, PaymentOrder, ROLLBACK, StockLevel, TpccAudit, TpccCardinality, TpccFacts, TpccForm,
    TpccHomes, TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSchema, TpccSpec, TpccTransaction,
};
pub use units::{Bytes, Margin, Nanos, group_digits, grouped};
pub use version::{Version, VersionError};
pub use workload::{ImportedScale, ImportedSpec, WorkloadSpec};
