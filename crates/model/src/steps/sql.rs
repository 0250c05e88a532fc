//! The steps of a workload of SQL statements. Their names come from its file.

use super::place::{INDEXES, Place, SETTLES};
use crate::{
    Counts, KindSpec, Nanos, ResponseLimit, SqlKinds, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork,
    Step, StepClass, StepPace, StepTask, Subject, Verb, grouped,
};

pub(super) fn steps(spec: &SqlSpec) -> Vec<Step> {
    let loading = spec.steps.iter().position(|step| !step.work.is_loading());
    // Nothing would be left to do where all steps load.
    let steps = Place::all(loading.unwrap_or(0)).zip(&spec.steps);
    steps.map(|(place, step)| of(spec, step, place)).collect()
}

fn of(spec: &SqlSpec, step: &SqlStep, place: Place) -> Step {
    let kinds = step.work.kinds();
    let subject = match &step.work {
        SqlWork::Run(run) => SqlKinds::of(run).subject,
        SqlWork::Settle(_) => first(&kinds, Counts::Operations),
        SqlWork::Load | SqlWork::Index | SqlWork::Reset => first(&kinds, Counts::Rows),
    };
    let pace = step.work.run().map_or(StepPace::Closed, |run| pace(&run.pace));
    let (task, class) = match &step.work {
        SqlWork::Load => (StepTask::Load, StepClass::Loading),
        SqlWork::Index => (StepTask::Index, StepClass::Loading),
        SqlWork::Settle(_) => (StepTask::Settle, StepClass::Loading),
        SqlWork::Reset => (StepTask::Reset, StepClass::Loading),
        SqlWork::Run(run) if run.writes => (StepTask::Run, StepClass::Writing),
        SqlWork::Run(_) => (StepTask::Run, StepClass::Reading),
    };
    Step {
        test: step.test.clone(),
        task,
        class,
        group: step.group.clone(),
        measured: step.work.is_result(),
        sessions: sessions(spec, step),
        kinds,
        metric: pace.deciding(&subject),
        pace,
        loads: place.loads,
        slices: step.work.run().and_then(slices),
        compat: spec.compat,
        description: description(&step.work, subject.counts),
        ..Step::new(step.id.clone(), place.ordinal, step.clients, subject)
    }
}

fn first(kinds: &[KindSpec], counts: Counts) -> Subject {
    Subject { kind: kinds.first().map(|kind| kind.name.clone()).unwrap_or_default(), counts }
}

impl SqlWork {
    pub fn kinds(&self) -> Vec<KindSpec> {
        let names: &[&str] = match self {
            Self::Load => &["insert"],
            Self::Index => &["create_index"],
            Self::Settle(_) => &["settle"],
            Self::Reset => &["insert", "create_index"],
            Self::Run(run) => return SqlKinds::of(run).specs,
        };
        names.iter().map(|name| KindSpec::unscheduled(name)).collect()
    }

    /// Can it be done once for many trials, where it comes before all others?
    pub const fn is_loading(&self) -> bool {
        matches!(self, Self::Load | Self::Index | Self::Settle(_))
    }

    /// The operations that it runs, if it runs any.
    pub const fn run(&self) -> Option<&SqlRun> {
        match self {
            Self::Run(run) => Some(run),
            Self::Load | Self::Index | Self::Settle(_) | Self::Reset => None,
        }
    }
}

const fn pace(pace: &SqlPace) -> StepPace {
    match *pace {
        SqlPace::Unlimited => StepPace::Closed,
        SqlPace::Rate { per_second, .. } => StepPace::Rate { per_second },
        SqlPace::Ramp { permille, limit_micros, .. } => {
            StepPace::Ramp { limit: Some(ResponseLimit { permille, micros: limit_micros }) }
        }
    }
}

/// Length of the window of a step that can be cut into slices: its operations only read, in a closed loop and for a
/// time.
fn slices(run: &SqlRun) -> Option<Nanos> {
    let blocks = run.operations.iter().flat_map(|operation| &operation.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    let only_reads = !run.writes && statements.all(|s| s.verb == Verb::Select);
    let for_a_time = run.pace == SqlPace::Unlimited && !run.whole;
    let length = Nanos::from_secs(u64::from(run.seconds));
    (run.measured && only_reads && for_a_time).then_some(length)
}

fn sessions(spec: &SqlSpec, step: &SqlStep) -> u32 {
    let tables: u32 = spec.tables.iter().map(|table| table.copies).sum();
    match step.work {
        SqlWork::Run(_) => step.clients,
        SqlWork::Load | SqlWork::Reset => spec.load.clients.saturating_add(1),
        SqlWork::Index => tables,
        SqlWork::Settle(_) => tables.saturating_add(1),
    }
}

fn description(work: &SqlWork, counts: Counts) -> String {
    match work {
        SqlWork::Load => "Makes the tables and loads their rows.".to_owned(),
        SqlWork::Index => INDEXES.to_owned(),
        SqlWork::Settle(_) => SETTLES.to_owned(),
        SqlWork::Reset => "Loads all tables anew.".to_owned(),
        SqlWork::Run(run) => [counted(run, counts), paced(run)].join(" ").trim_end().to_owned(),
    }
}

/// What throughput and cost per operation count.
fn counted(run: &SqlRun, counts: Counts) -> String {
    let operations = run.operations.len();
    match counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements{}; throughput and costs count statements, response times are of whole operations.",
            if run.operations.iter().all(|operation| operation.transaction) {
                ", BEGIN and COMMIT among them"
            } else {
                ""
            }
        ),
        Counts::Operations if operations > 1 => format!("A mix of {operations} operations."),
        Counts::Operations => "Counts statements.".to_owned(),
    }
}

/// When operations start, where clients do not decide it.
fn paced(run: &SqlRun) -> String {
    match &run.pace {
        SqlPace::Unlimited => String::new(),
        SqlPace::Rate { per_second, .. } => {
            format!("Operations arrive at {} a second.", grouped(*per_second))
        }
        SqlPace::Ramp { permille, limit_micros, .. } => format!(
            "Looks for the highest rate at which p{} of response time stays within {}, and measures that.",
            f64::from(*permille) / 10.0,
            Nanos(limit_micros.saturating_mul(1_000))
        ),
    }
}
