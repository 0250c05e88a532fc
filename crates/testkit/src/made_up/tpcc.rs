//! Made-up runs of the TPC-C-like workload. The numbers are round, so that what tables must say can be
//! computed by hand; cells come from the step's record, as in a real run.

use model::{
    Bytes, Cell, Counter, Counts, Engine, ErrorRules, KindInterval, KindSpec, KindTotals, Latency,
    LoadSpec, Nanos, ROLLBACK, Readings, Rng, RunData, Settle, Sizes, Step, StepHistogram, StepId,
    StepRecord, Subject, TpccAudit, TpccFacts, TpccSpec, TpccTransaction, TrialRecord, measure,
};

use super::{Shape, info, plan, planned, series, trial};

/// What to make up.
pub struct Tpcc {
    /// Rounds, seconds of a step; its systems are [`SYSTEMS`] unless they are told.
    pub shape: Shape,
    /// Steps `h1 … hN`.
    pub runs: u32,
    /// What was asked for.
    pub spec: TpccSpec,
}

impl Tpcc {
    /// Three steps of a minute, three rounds.
    pub fn usual() -> Self {
        Self {
            shape: Shape {
                systems: SYSTEMS.iter().map(|made| (made.name.to_owned(), 1.0)).collect(),
                rounds: 3,
                seconds: 60,
                steps: 0,
                failed: None,
            },
            runs: 3,
            spec: spec(),
        }
    }
}

/// A system as it is made up.
pub struct Made {
    pub name: &'static str,
    engine: Engine,
    /// New-Orders per minute in the middle round.
    tpmc: u64,
    /// Written, per New-Order.
    written_kb: u64,
    /// Microseconds of server, per New-Order; the host does 1,600 more, of which the client 1,400.
    server_micros: u64,
    /// Allocated and data after the load, in tenths of a GiB.
    loaded: [u64; 2],
    /// What these grow by, in KB per New-Order.
    grown_kb: [u64; 2],
    /// Is every fifth Delivery of the last step late?
    late: bool,
}

pub const SYSTEMS: [Made; 3] = [
    Made {
        name: "mysql-5.6.51/innodb/z12a",
        engine: Engine::Innodb,
        tpmc: 9_000,
        written_kb: 120,
        server_micros: 11_200,
        loaded: [100, 80],
        grown_kb: [200, 150],
        late: false,
    },
    Made {
        name: "mariadb-11.8.2/myrocks/z12a",
        engine: Engine::Myrocks,
        tpmc: 7_200,
        written_kb: 48,
        server_micros: 13_760,
        loaded: [110, 90],
        grown_kb: [100, 80],
        late: false,
    },
    Made {
        name: "mysql-9.7.4/innodb/z12a",
        engine: Engine::Innodb,
        tpmc: 6_750,
        written_kb: 90,
        server_micros: 17_600,
        loaded: [105, 84],
        grown_kb: [200, 150],
        late: true,
    },
];

pub fn run(tpcc: &Tpcc) -> RunData {
    let mut plan = plan(&tpcc.shape);
    plan.name = "tpcc".into();
    plan = plan.with_workload(tpcc.spec.clone().into());
    for (place, system) in plan.systems.iter_mut().enumerate() {
        system.engine = made(place).engine;
    }
    let steps = (0..=tpcc.runs).map(|number| planned(&plan, step(number))).collect();
    let trials: Vec<TrialRecord> =
        plan.trials().iter().map(|t| trial(&plan, t, &tpcc.shape)).collect();
    let mut data = RunData {
        trials: trials.clone(),
        info: info(plan),
        steps,
        cells: Vec::new(),
        notes: Vec::new(),
        series: Vec::new(),
        histograms: Vec::new(),
        slices: Vec::new(),
    };
    for record in trials.iter().filter(|t| t.outcome.is_completed()) {
        let mut systems = tpcc.shape.systems.iter();
        if let Some(place) = systems.position(|(name, _)| *name == record.system) {
            for number in 0..=tpcc.runs {
                let step = step_record(tpcc, made(place), record.round, number);
                keep(&mut data, tpcc, record, &step);
            }
        }
    }
    data
}

/// More systems than there are begin again.
fn made(place: usize) -> &'static Made {
    const ALL: &[Made] = &SYSTEMS;
    &ALL[place % ALL.len()]
}

/// The load is step 0.
fn step(number: u32) -> Step {
    let (step, subject) = named(number);
    Step::new(step, number, 1, subject)
}

fn named(number: u32) -> (StepId, Subject) {
    let (name, kind, counts) = match number {
        0 => ("load".to_owned(), "rows", Counts::Rows),
        number => (format!("h{number}"), TpccTransaction::NewOrder.name(), Counts::Operations),
    };
    let kind = kind.to_owned();
    (StepId(name), Subject { kind, counts })
}

fn step_record(tpcc: &Tpcc, made: &Made, round: u32, number: u32) -> StepRecord {
    let (step, subject) = named(number);
    // The second round is 1/150 faster than the first, the third 1/150 slower.
    let new_orders = match round % 3 {
        2 => made.tpmc + made.tpmc / 150,
        0 => made.tpmc - made.tpmc / 150,
        _ => made.tpmc,
    };
    let is_last = number == tpcc.runs;
    StepRecord {
        step,
        ordinal: number,
        measured: true,
        clients: 1,
        window: Nanos::from_secs(60),
        elapsed: Nanos::from_secs(61),
        subject,
        kinds: if number == 0 {
            vec![kind("rows", 60, 3_000_000, [20, 0])]
        } else {
            transactions(new_orders, made.late && is_last)
        },
        tpcc: (number > 0).then(|| facts(made)),
        counters: counters(made, new_orders),
        before: number.checked_sub(1).map(|before| sizes(made, before)),
        sizes: Some(sizes(made, number)),
        ..StepRecord::default()
    }
}

/// Operations that take so many milliseconds, but for those that take two seconds.
fn kind(name: &str, ops: u64, rows: u64, [millis, slow]: [u64; 2]) -> KindTotals {
    let mut service = Latency::new();
    service.record_many(Nanos::from_millis(millis), ops - slow);
    // Counting none of them would still make them the longest.
    if slow > 0 {
        service.record_many(Nanos::from_secs(2), slow);
    }
    KindTotals {
        spec: KindSpec { name: name.to_owned(), scheduled: false },
        sums: KindInterval { ops, rows, service, ..KindInterval::default() },
        late: 0,
    }
}

fn transactions(new_orders: u64, late: bool) -> Vec<KindTotals> {
    let tenth = new_orders / 10;
    let slow = if late { tenth / 5 } else { 0 };
    let mut kinds = vec![
        kind("new-order", new_orders, 0, [20, 0]),
        kind("payment", new_orders, 0, [5, 0]),
        kind("order-status", tenth, 0, [4, 0]),
        kind("delivery", tenth, 0, [80, slow]),
        kind("stock-level", tenth, 0, [10, 0]),
        kind(ROLLBACK, new_orders / 100, 0, [15, 0]),
    ];
    // A deadlock or two.
    kinds[1].sums.retries = 2;
    kinds
}

fn facts(made: &Made) -> TpccFacts {
    TpccFacts {
        limits_millis: spec().limits_millis,
        skipped: 0,
        backlog: 89_000,
        committed: made.tpmc,
        counted: made.tpmc,
        audit: TpccAudit {
            new_orders: 20_000,
            rollbacks: 200,
            lines: 200_000,
            remote_lines: 2_000,
            payments: 20_000,
            remote_payments: 3_000,
            payments_by_name: 12_000,
            order_statuses: 2_000,
            order_statuses_by_name: 1_200,
        },
    }
}

fn counters(made: &Made, new_orders: u64) -> Readings {
    let micros = |each: u64| new_orders * each * 1000;
    let mut counters = Readings::default();
    counters.total(Counter::DISK_WRITTEN, new_orders * made.written_kb * 1024);
    counters.total(Counter::SERVER_CPU, micros(made.server_micros));
    counters.total(Counter::CLIENT_CPU, micros(1_400));
    counters.total(Counter::HOST_CPU, micros(made.server_micros + 1_600));
    counters.level(Counter::HOST_CPUS, 8);
    counters
}

fn sizes(made: &Made, after: u32) -> Sizes {
    let size = |of: usize| {
        let loaded = (made.loaded[of] << 30) / 10;
        Bytes(loaded + u64::from(after) * made.tpmc * made.grown_kb[of] * 1024)
    };
    Sizes { data: size(1), log: Bytes(1 << 30), total: size(0), allocated: size(0) }
}

fn keep(data: &mut RunData, tpcc: &Tpcc, record: &TrialRecord, step: &StepRecord) {
    data.cells.extend(measure(step).into_iter().map(|m| Cell {
        round: record.round,
        position: record.position,
        system: record.system.clone(),
        step: step.step.clone(),
        ordinal: step.ordinal,
        clients: step.clients,
        metric: m.metric,
        unit: m.unit,
        value: m.value,
    }));
    data.histograms.extend(step.kinds.iter().map(|kind| StepHistogram {
        round: record.round,
        system: record.system.clone(),
        step: step.step.clone(),
        kind: kind.spec.name.clone(),
        is_response: false,
        latency: kind.sums.service.clone(),
    }));
    if step.tpcc.is_some() {
        let rate = step.subject_count() as f64 / 60.0;
        let kinds = [("new-order", rate, rate), ("payment", rate, rate)];
        let mut rng = Rng::new(u64::from(record.round));
        let made = series(&tpcc.shape, record, &step.step.0, &kinds, &mut rng);
        data.series.push(made);
    }
}

pub fn spec() -> TpccSpec {
    let load = LoadSpec { indexes_first: true, ..LoadSpec::usual(2) };
    TpccSpec {
        settle: Settle::Seconds(60),
        delivery_by_district: true,
        steps: 3,
        seconds: 60,
        warmup_seconds: 10,
        limits_millis: [1000; 5],
        errors: ErrorRules { tries: 2000, ..ErrorRules::usual() },
        ..TpccSpec::usual(100, load)
    }
}
