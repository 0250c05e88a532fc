//! What the well-known steps do, for people who do not know their names.

use model::{
    Counts, SqlPace, SqlRun, SqlStep, SqlWork, StepInfo, TpccSpec, TpccTransaction, WorkloadSpec,
};

use crate::format::{self, plural};
use crate::groups::sql_step;
use crate::transactions;

/// A sentence or two on a step.
pub(crate) fn describe(step: &StepInfo, workload: &WorkloadSpec) -> String {
    match (sql_step(workload, step), workload) {
        (Some(sql), _) => of_sql(step, sql),
        (None, WorkloadSpec::Tpcc(spec)) => of_tpcc(step, spec),
        (None, WorkloadSpec::Insert(_) | WorkloadSpec::Sql(_)) => by_name(step),
    }
}

fn of_tpcc(step: &StepInfo, spec: &TpccSpec) -> String {
    match step.step.0.as_str() {
        "load" => format!(
            "Makes the tables and loads {}.",
            plural(spec.warehouses as usize, "warehouse")
        ),
        "index" if spec.schema.foreign_keys => {
            "Builds the secondary indexes and adds the foreign keys.".to_owned()
        }
        "index" => "Builds the secondary indexes.".to_owned(),
        _ if step.subject == TpccTransaction::NewOrder.name() => format!(
            "Runs the five transactions on what the steps before left: {}. Throughput and costs count New-Orders, those rolled back on purpose included.",
            transactions::pace(&spec.pace)
        ),
        _ => by_name(step),
    }
}

fn of_sql(step: &StepInfo, sql: &SqlStep) -> String {
    match &sql.work {
        SqlWork::Load => "Makes the tables and loads their rows.".to_owned(),
        SqlWork::Index => "Builds the secondary indexes.".to_owned(),
        SqlWork::Settle(_) => "Analyses, writes back and waits.".to_owned(),
        SqlWork::Reset => "Loads all tables anew.".to_owned(),
        SqlWork::Run(run) => [counted(step, run), paced(run)]
            .join(" ")
            .trim_end()
            .to_owned(),
    }
}

/// What throughput and cost per operation count.
fn counted(step: &StepInfo, run: &SqlRun) -> String {
    match step.counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements{}; throughput and costs count statements, response times are of whole operations.",
            if run.operations.iter().all(|o| o.transaction) {
                ", BEGIN and COMMIT among them"
            } else {
                ""
            }
        ),
        Counts::Operations if run.operations.len() > 1 => {
            format!("A mix of {}.", plural(run.operations.len(), "operation"))
        }
        Counts::Operations => "Counts statements.".to_owned(),
    }
}

/// When operations start, where clients do not decide it.
fn paced(run: &SqlRun) -> String {
    match &run.pace {
        SqlPace::Unlimited => String::new(),
        SqlPace::Rate { per_second, .. } => format!(
            "Operations arrive at {} a second.",
            format::count(*per_second)
        ),
        SqlPace::Ramp {
            permille,
            limit_micros,
            ..
        } => format!(
            "Looks for the highest rate at which p{} of response time stays within {}, and measures that.",
            f64::from(*permille) / 10.0,
            format::micros(*limit_micros as f64)
        ),
    }
}

fn by_name(step: &StepInfo) -> String {
    let rate = step.target_rate.map_or(String::new(), |rate| {
        format!(", while background writers insert and delete {rate} rows/s")
    });
    match step.step.0.as_str() {
        "l.i0" => "Loads the table in primary-key order, without secondary indexes.".to_owned(),
        "l.x" => "Creates the secondary indexes.".to_owned(),
        "l.i1" => {
            "Inserts and deletes rows with all indexes in place, in large transactions.".to_owned()
        }
        "l.i2" => {
            "Inserts and deletes rows with all indexes in place, in small transactions.".to_owned()
        }
        name if is_paced(name, "qr") => {
            format!("Short range queries that secondary indexes cover{rate}.")
        }
        name if is_paced(name, "qp") => format!("Point queries by primary key{rate}."),
        _ => format!("Measures the operation “{}”{rate}.", step.subject),
    }
}

fn is_paced(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rate| !rate.is_empty() && rate.chars().all(|c| c.is_ascii_digit()))
}
