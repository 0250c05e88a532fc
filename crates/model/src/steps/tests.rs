use super::*;
use crate::{
    InsertSpec, LoadSpec, QueryKind, StepClass, StepId, StepPace, StepTask, Tables, TpccPace,
    TpccSpec,
};

fn insert() -> InsertSpec {
    let steps = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500"];
    InsertSpec {
        clients: 2,
        rates: vec![100, 500],
        query_sessions: 3,
        query_rows_per_commit: 50,
        steps: steps.map(StepId::new).to_vec(),
        ..InsertSpec::usual()
    }
}

fn tpcc() -> TpccSpec {
    TpccSpec { steps: 2, clients: 5, ..TpccSpec::usual(3, LoadSpec::usual(4)) }
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.id.0.as_str()).collect()
}

fn find(steps: Vec<Step>, name: &str) -> Step {
    steps.into_iter().find(|step| step.id.0 == name).unwrap()
}

#[test]
fn settling_comes_before_the_first_query_step_and_ends_the_loading() {
    let steps = WorkloadSpec::Insert(insert()).steps();
    let all = ["l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100", "qp100", "qr500", "qp500"];
    assert_eq!(names(&steps), all);
    assert!(steps.iter().zip(0..).all(|(step, ordinal)| step.ordinal == ordinal));
    assert_eq!(steps.iter().filter(|step| step.loads).count(), 5);
    assert_eq!(steps[4].task, StepTask::Settle);
    assert!(!steps[4].measured && steps[3].measured);
}

#[test]
fn without_query_steps_nothing_can_be_kept_for_others() {
    let mut spec = insert();
    spec.steps.truncate(4);
    assert!(WorkloadSpec::Insert(spec).steps().iter().all(|step| !step.loads));
}

#[test]
fn what_is_not_among_the_named_steps_is_left_out() {
    let mut spec = insert();
    spec.steps = ["l.i0", "l.i2", "qp500"].map(StepId::new).to_vec();
    assert_eq!(names(&WorkloadSpec::Insert(spec).steps()), ["l.i0", "l.i2", "settle", "qp500"]);
}

#[test]
fn query_steps_write_in_the_background_at_the_rate_of_all_clients() {
    let steps = || WorkloadSpec::Insert(insert()).steps();
    let (load, query) = (find(steps(), "l.i1"), find(steps(), "qr500"));
    assert_eq!((load.class, query.class), (StepClass::Loading, StepClass::Writing));
    assert_eq!((load.target_rate, query.target_rate), (None, Some(1_000)));
    assert!(load.writes() && query.writes());
    let scheduled = |step: &Step| step.kinds.iter().any(|kind| kind.scheduled);
    assert!(!scheduled(&load) && scheduled(&query));
    assert_eq!(
        query.description,
        "Short range queries that secondary indexes cover, while background writers insert and delete 1000 rows/s."
    );
    assert_eq!(
        load.description,
        "Inserts and deletes rows with all indexes in place, in large transactions."
    );
}

#[test]
fn a_slow_rate_lowers_the_rows_of_a_statement() {
    let slow = InsertStage::Query { kind: QueryKind::Range, rate: 20 };
    assert_eq!(slow.rows_per_commit(&insert()), 20);
}

#[test]
fn every_session_of_a_query_step_counts() {
    let sessions = |change: fn(&mut InsertSpec)| {
        let mut spec = insert();
        change(&mut spec);
        find(WorkloadSpec::Insert(spec).steps(), "qr100").sessions
    };
    // One inserts, one deletes, one looks for the lowest row.
    assert_eq!(sessions(|_| ()), 2 * 6);
    assert_eq!(sessions(|spec| spec.htap_seconds = 5), 2 * 7);
    assert_eq!(sessions(|spec| spec.deletes = false), 2 * 4);
    // Nobody deletes from a table that is shared.
    assert_eq!(sessions(|spec| spec.tables = Tables::Shared), 2 * 4);
}

#[test]
fn a_trial_on_a_clone_reads_the_data_first() {
    let steps = WorkloadSpec::Tpcc(tpcc()).steps_on_clone();
    assert_eq!(names(&steps), ["warm", "h1", "h2", "check"]);
    assert_eq!((steps[0].clients, steps[0].measured, steps[0].loads), (4, false, false));
    assert_eq!(steps[3].ordinal, 3);
    let steps = WorkloadSpec::Insert(insert()).steps_on_clone();
    assert_eq!(names(&steps), ["warm", "qr100", "qp100", "qr500", "qp500"]);
}

#[test]
fn transactions_run_on_what_was_loaded_and_proved() {
    let steps = || WorkloadSpec::Tpcc(tpcc()).steps();
    assert_eq!(names(&steps()), ["load", "index", "check.load", "settle", "h1", "h2", "check"]);
    let measured: Vec<Step> = steps().into_iter().filter(|step| step.measured).collect();
    assert_eq!(names(&measured), ["load", "index", "h1", "h2"]);
    let (load, run) = (find(steps(), "load"), find(steps(), "h1"));
    assert_eq!((load.class, run.class), (StepClass::Loading, StepClass::Writing));
    assert_eq!((load.clients, load.sessions), (4, 5));
    assert_eq!((run.clients, run.sessions), (5, 6));
    assert_eq!((run.subject.kind.as_str(), run.metric.0.as_str()), ("new-order", "rate"));
    assert_eq!(load.description, "Makes the tables and loads 3 warehouses.");
}

#[test]
fn indexes_that_come_before_the_rows_are_no_step() {
    let mut spec = tpcc();
    spec.load.indexes_first = true;
    assert!(!names(&WorkloadSpec::Tpcc(spec.clone()).steps()).contains(&"index"));
    spec.schema.foreign_keys = true;
    assert!(names(&WorkloadSpec::Tpcc(spec).steps()).contains(&"index"));
}

#[test]
fn only_what_arrives_has_a_response_time_that_decides() {
    let of = |pace| find(WorkloadSpec::Tpcc(TpccSpec { pace, ..tpcc() }).steps(), "h1");
    let arrivals = crate::Arrivals::Even;
    let waiting = of(TpccPace::Wait { percent: 100 });
    assert_eq!((waiting.pace, waiting.kinds[0].scheduled), (StepPace::Closed, false));
    let paced = of(TpccPace::Rate { per_second: 10, arrivals, queue: 1 });
    assert!(paced.kinds[0].scheduled);
    assert_eq!(paced.metric.0, "response.new-order.p99");
    let ramp = of(TpccPace::Ramp { from: 1, arrivals, queue: 1, attempt_seconds: 1 });
    assert_eq!(ramp.metric.0, crate::MetricId::HIGHEST_RATE);
    assert!(!ramp.is_of_throughput());
}
