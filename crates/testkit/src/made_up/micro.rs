//! Made-up runs of the microbenchmarks: 32 tests in four groups, at one client count or several.

use model::{
    Arrivals, Cell, Counts, Distribution, Draw, ErrorRules, Expect, KindSeries, LoadMethod,
    LoadSpec, MetricId, Nanos, NoteKind, Rng, RunData, SqlBlock, SqlColumn, SqlDraw, SqlOperation,
    SqlPace, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep, SqlTable, SqlTexts, SqlWork,
    Statements, Step, StepHistogram, StepId, StepNote, StepSeries, Subject, TableChoice,
    TrialRecord, Unit, Verb, WarmUpEnd, WorkloadSpec, mix,
};

use super::{COSTS, Shape, info, latencies, noise, plan, planned, rounded, trial};

/// What to make up.
pub struct Micro {
    /// Systems, rounds, seconds of each test.
    pub shape: Shape,
    /// Client counts; with more than one the run is a sweep.
    pub clients: Vec<u32>,
    /// How many of the tests, from the first.
    pub tests: usize,
    /// Operations arrive at a rate that not every system sustains; in one test the highest is looked for.
    pub arrivals: bool,
}

impl Micro {
    /// Two MySQL versions and a control, four rounds, one client.
    pub fn usual() -> Self {
        Self {
            shape: Shape {
                systems: [("mysql-5.6.24/z12a", 1.0), ("mysql-9.7.4/z12a", 0.8), ("control", 1.0)]
                    .map(|(name, effect)| (name.to_owned(), effect))
                    .to_vec(),
                rounds: 4,
                seconds: 10,
                steps: 0,
                failed: None,
            },
            clients: vec![1],
            tests: TESTS.len(),
            arrivals: false,
        }
    }

    /// The same at several client counts.
    pub fn sweep(clients: &[u32]) -> Self {
        Self { clients: clients.to_vec(), ..Self::usual() }
    }
}

/// Name, group, statements of an operation, usual statements (of the scan: rows) per second; in the order
/// in which they run.
const TESTS: [(&str, &str, u32, f64); 32] = [
    ("update-inlist", "write", 1, 4_900.0),
    ("update-index", "write", 1, 7_800.0),
    ("update-nonindex", "write", 1, 11_200.0),
    ("update-one", "write", 1, 12_400.0),
    ("update-zipf", "write", 1, 11_000.0),
    ("write-only_range=10000", "write", 6, 18_000.0),
    ("read-write_range=10", "write", 20, 19_000.0),
    ("read-write_range=100", "write", 20, 15_000.0),
    ("scan", "range", 1, 4_100_000.0),
    ("read-only_range=10", "range-aggregate", 16, 31_000.0),
    ("read-only_range=100", "range-aggregate", 16, 22_000.0),
    ("read-only_range=10000", "range-aggregate", 16, 640.0),
    ("read-only-simple_range=1000", "range-aggregate", 13, 17_000.0),
    ("read-only-sum_range=1000", "range-aggregate", 13, 20_500.0),
    ("read-only-order_range=1000", "range-aggregate", 13, 13_200.0),
    ("read-only-distinct_range=1000", "range-aggregate", 13, 13_000.0),
    ("read-only-count_range=1000", "range-aggregate", 1, 3_900.0),
    ("point-query", "point", 1, 33_000.0),
    ("random-points_range=10", "point", 1, 19_000.0),
    ("random-points_range=100", "point", 1, 4_300.0),
    ("random-points_range=1000", "point", 1, 470.0),
    ("hot-points_range=100", "point", 1, 5_200.0),
    ("points-covered-pk_range=100", "point", 1, 6_100.0),
    ("points-notcovered-pk_range=100", "point", 1, 5_000.0),
    ("range-covered-pk_range=100", "range", 1, 12_500.0),
    ("range-notcovered-pk_range=100", "range", 1, 9_800.0),
    ("points-covered-si_range=100", "point", 1, 5_900.0),
    ("points-notcovered-si_range=100", "point", 1, 3_300.0),
    ("range-covered-si_range=100", "range", 1, 12_000.0),
    ("range-notcovered-si_range=100", "range", 1, 3_400.0),
    ("delete", "write", 1, 13_900.0),
    ("insert", "write", 1, 12_700.0),
];

/// The kinds of operations that send several statements, besides the operation itself.
const STATEMENTS: [&str; 4] = ["begin", "point", "simple", "commit"];

pub fn run(micro: &Micro) -> RunData {
    let spec = spec(micro);
    let mut plan = plan(&micro.shape);
    plan.name = "micro".into();
    plan = plan.with_workload(WorkloadSpec::Sql(spec.clone()));
    let steps = spec.steps.iter().zip(0..);
    let steps = steps.map(|(step, ordinal)| planned(&plan, made_step(step, ordinal))).collect();
    let mut data = RunData {
        trials: plan.trials().iter().map(|t| trial(&plan, t, &micro.shape)).collect(),
        info: info(plan),
        steps,
        cells: Vec::new(),
        notes: Vec::new(),
        series: Vec::new(),
        histograms: Vec::new(),
        slices: Vec::new(),
    };
    for record in data.trials.clone() {
        let system = micro.shape.systems.iter();
        let place = system.clone().position(|(n, _)| *n == record.system);
        if let Some(place) = place.filter(|_| record.outcome.is_completed()) {
            for step in data.steps.clone() {
                measured(&mut data, micro, &record, place, &step);
            }
        }
    }
    data
}

fn made_step(step: &SqlStep, ordinal: u32) -> Step {
    let (subject, counts) = match &step.work {
        SqlWork::Run(run) if run.operations[0].blocks[0].statements[0].scans => {
            (step.test.clone(), Counts::Rows)
        }
        SqlWork::Run(run) => match run.operations[0].statements() {
            1 => (step.test.clone(), Counts::Operations),
            n => (step.test.clone(), Counts::Statements(n)),
        },
        _ => ("insert".to_owned(), Counts::Rows),
    };
    let subject = Subject { kind: subject, counts };
    Step::new(step.id.clone(), ordinal, step.clients, subject)
}

pub fn spec(micro: &Micro) -> SqlSpec {
    let mut steps = vec![SqlStep {
        id: StepId::new("load"),
        test: "load".into(),
        group: String::new(),
        clients: 1,
        work: SqlWork::Load,
    }];
    for test in TESTS.iter().take(micro.tests) {
        steps.extend(micro.clients.iter().map(|n| sql_step(micro, test, *n)));
    }
    SqlSpec {
        name: "micro".into(),
        tables: vec![SqlTable {
            name: "sbtest".into(),
            numbered: true,
            copies: 8,
            rows: 1_000_000,
            columns: vec![SqlColumn {
                name: "id".into(),
                kind: model::ColumnKind::Int,
                auto: true,
                value: Draw::Row,
            }],
            primary_key: vec!["id".into()],
            indexes: Vec::new(),
        }],
        load: LoadSpec {
            clients: 1,
            method: LoadMethod::Fastest,
            rows_per_commit: 10_000,
            indexes_first: false,
        },
        steps,
        statements: Statements::Prepared,
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1000,
            reconnect_seconds: 0,
        },
        statement_timeout: 600,
        compat: false,
    }
}

fn sql_step(micro: &Micro, test: &(&str, &str, u32, f64), clients: u32) -> SqlStep {
    let (name, group, statements, rate) = *test;
    let id = if micro.clients.len() > 1 { format!("{name}@{clients}") } else { name.to_owned() };
    let repeat = if statements > 2 { statements - 2 } else { 1 };
    SqlStep {
        id: StepId(id),
        test: name.to_owned(),
        group: group.to_owned(),
        clients,
        work: SqlWork::Run(SqlRun {
            measured: true,
            seconds: micro.shape.seconds as u32,
            warmup_seconds: 5,
            warmup_end: WarmUpEnd::Fixed,
            writes: group == "write",
            whole: false,
            pace: match (micro.arrivals, name) {
                (true, "point-query") => SqlPace::Ramp {
                    from: 100,
                    arrivals: Arrivals::Poisson,
                    queue: 1000,
                    permille: 990,
                    limit_micros: 5000,
                    attempt_seconds: 5,
                },
                (true, name) if is_open(name) => SqlPace::Rate {
                    per_second: offered(rate, statements),
                    arrivals: Arrivals::Poisson,
                    queue: 1000,
                },
                _ => SqlPace::Unlimited,
            },
            operations: vec![SqlOperation {
                name: name.to_owned(),
                weight: 1,
                transaction: statements > 1,
                blocks: vec![block(repeat, name == "scan")],
            }],
        }),
    }
}

/// Do operations of this test arrive by themselves, where any do?
fn is_open(test: &str) -> bool {
    test == "point-query" || test.starts_with("read-") || test.starts_with("update-")
}

fn offered(rate: f64, statements: u32) -> u64 {
    (0.9 * rate / f64::from(statements)) as u64
}

fn block(repeat: u32, scans: bool) -> SqlBlock {
    let text = vec![
        SqlPiece::Text("SELECT c FROM ".into()),
        SqlPiece::Table,
        SqlPiece::Text(" WHERE id = ".into()),
        SqlPiece::Draw(0),
    ];
    SqlBlock {
        table: 0,
        choice: TableChoice::Random,
        repeat,
        draws: vec![SqlDraw {
            name: "id".into(),
            count: 1,
            draw: Draw::Int { low: 1, high: 1_000_000, by: Distribution::Uniform },
        }],
        statements: vec![SqlStatement {
            name: "point".into(),
            verb: Verb::Select,
            text: SqlTexts { mysql: text.clone(), postgres: text.clone(), sqlite: text },
            expect: Expect::Rows(1, 1),
            always_text: false,
            scans,
        }],
    }
}

/// Throughput relative to the base. Writes suffer most; points and ranges lose with one client and gain
/// with many; scans are alike.
fn effect(of_system: f64, group: &str, clients: u32) -> f64 {
    let change = of_system - 1.0;
    let many = f64::from(clients).ln() / 3.7;
    match group {
        "write" => of_system,
        "point" => 1.0 + change * (0.5 - many),
        "range" => 1.0 + change * 0.01,
        _ => 1.0 + change * (0.2 - 0.6 * many),
    }
}

/// One step of one trial while it is made up.
struct Making<'a> {
    data: &'a mut RunData,
    record: &'a TrialRecord,
    step: &'a Step,
    rng: Rng,
}

fn measured(data: &mut RunData, micro: &Micro, record: &TrialRecord, place: usize, step: &Step) {
    let salt = [place as u64, u64::from(step.ordinal), u64::from(record.round)];
    let mut making = Making { data, record, step, rng: Rng::new(mix(8, &salt)) };
    let name = step.id.0.split('@').next();
    let test = TESTS.iter().find(|(test, ..)| name == Some(test));
    let (_, group, statements, usual) = test.copied().unwrap_or(("load", "", 1, 220_000.0));
    let each = f64::from(statements);
    let effect = effect(micro.shape.systems[place].1, group, step.clients);
    let scale = f64::from(step.clients).powf(0.8);
    let mut rate = usual * effect * scale * noise(&mut making.rng, 0.006);
    if micro.arrivals && is_open(name.unwrap_or_default()) {
        rate = making.arrivals(offered(usual, statements), rate / each) * each;
    }
    making.put("rate", unit_of(step), rate);
    for (metric, base, unit) in COSTS {
        let value = base / effect * noise(&mut making.rng, 0.003);
        making.put(metric, unit, value);
    }
    making.put("size.data", Unit::Gib, 1.9);
    making.put("size.total", Unit::Gib, 2.6);
    let ops = match step.subject.counts {
        Counts::Rows => rate / 1e6,
        Counts::Operations | Counts::Statements(_) => rate / each,
    };
    let mut kinds = vec![(step.subject.kind.clone(), ops)];
    if statements > 1 {
        kinds.extend(STATEMENTS.map(|kind| (kind.to_owned(), ops)));
    }
    for (kind, ops) in &kinds {
        making.kind(kind, *ops);
    }
    let series = series(micro, record, step, &kinds, &mut making.rng);
    data.series.push(series);
}

impl Making<'_> {
    fn put(&mut self, metric: &str, unit: Unit, value: f64) {
        self.data.cells.push(Cell {
            round: self.record.round,
            position: self.record.position,
            system: self.record.system.clone(),
            step: self.step.id.clone(),
            ordinal: self.step.ordinal,
            clients: self.step.clients,
            metric: MetricId::new(metric),
            unit,
            value: rounded(value),
        });
    }

    /// What becomes of operations that arrive; yields how many are done.
    fn arrivals(&mut self, offered: u64, able: f64) -> f64 {
        let offered = offered as f64;
        let lost = (offered - able).max(0.0);
        self.put("offered", Unit::OpsPerSecond, offered);
        self.put("shed", Unit::Count, (lost * 9.0).floor());
        let waiting = if lost > 0.0 { 1000.0 } else { 2.0 };
        self.put("waiting", Unit::Count, waiting);
        // Who loses some waits behind a full queue.
        let slowest = if lost > 0.0 { 1e9 } else { 3e6 } / able;
        let subject = self.step.subject.kind.clone();
        for (part, micros) in [("p50", slowest / 5.0), ("p99", slowest)] {
            self.put(&format!("response.{subject}.{part}"), Unit::Micros, micros);
        }
        if subject == "point-query" {
            let highest = (able * 0.97).floor();
            self.put("highest_rate", Unit::OpsPerSecond, highest);
            self.tried(&format!("{highest}/s: p99 4.2ms, kept"));
            self.tried("99999/s: p99 61ms, over 5ms");
        }
        offered - lost
    }

    fn tried(&mut self, text: &str) {
        self.data.notes.push(StepNote {
            round: self.record.round,
            system: self.record.system.clone(),
            step: self.step.id.clone(),
            what: NoteKind::Ramp,
            text: text.to_owned(),
        });
    }

    fn kind(&mut self, kind: &str, ops: f64) {
        self.put(&format!("rate.{kind}"), Unit::OpsPerSecond, ops);
        let mean = 1e9 / ops.max(1.0) * 0.9;
        // Histograms are asked for nothing here: with their many buckets that would take seconds.
        for (part, times) in PARTS {
            let micros = mean / 1e3 * times * noise(&mut self.rng, 0.01);
            self.put(&format!("service.{kind}.{part}"), Unit::Micros, micros);
        }
        if kind == self.step.subject.kind {
            self.data.histograms.push(StepHistogram {
                round: self.record.round,
                system: self.record.system.clone(),
                step: self.step.id.clone(),
                kind: kind.to_owned(),
                is_response: false,
                latency: latencies(&mut self.rng, mean),
            });
        }
    }
}

/// Percentiles of service time, in times of the mean.
const PARTS: [(&str, f64); 7] = [
    ("mean", 1.0),
    ("p50", 0.8),
    ("p90", 1.5),
    ("p95", 1.9),
    ("p99", 3.0),
    ("p999", 22.0),
    ("max", 60.0),
];

fn unit_of(step: &Step) -> Unit {
    if step.subject.counts.is_rows() { Unit::RowsPerSecond } else { Unit::OpsPerSecond }
}

fn series(
    micro: &Micro,
    record: &TrialRecord,
    step: &Step,
    kinds: &[(String, f64)],
    rng: &mut Rng,
) -> StepSeries {
    let n = micro.shape.seconds;
    let rows = if step.subject.counts.is_rows() { 1e6 } else { 1.0 };
    let column = |(kind, ops): &(String, f64), rng: &mut Rng| {
        let mut values = |of: f64, spread: f64| -> Vec<u64> {
            (0..n).map(|_| (of * noise(rng, spread)) as u64).collect()
        };
        let mean = 1e9 / ops.max(1.0);
        KindSeries {
            kind: kind.clone(),
            ops: values(*ops, 0.02),
            rows: values(*ops * rows, 0.02),
            p50: values(mean * 0.7, 0.05).into_iter().map(Nanos).collect(),
            p99: values(mean * 3.0, 0.2).into_iter().map(Nanos).collect(),
            max: values(mean * 22.0, 0.5).into_iter().map(Nanos).collect(),
        }
    };
    StepSeries {
        round: record.round,
        system: record.system.clone(),
        step: step.id.clone(),
        spans: (0..n).map(|i| (i as f64, 1.0)).collect(),
        kinds: kinds.iter().map(|kind| column(kind, rng)).collect(),
    }
}
