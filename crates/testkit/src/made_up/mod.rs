//! A run made up from a seed: the same every time, with effects of known size.

#![expect(clippy::unwrap_used, reason = "a made-up run is always whole")]

pub mod micro;
pub mod tpcc;

use std::collections::{BTreeSet, HashMap};

use explain::{Condition, Names, Overview, Side, VariableRow, Warning};
use model::{
    Build, BuildSource, Bytes, Cell, Comparison, Config, Counts, Dbms, DiskFacts, Engine, Fact,
    Host, HostShape, InsertScale, InsertSpec, KindSeries, Latency, Magnitude, MetricId, Nanos,
    Outcome, Pacing, Placement, Plan, Provenance, QueryKind, Reason, Rng, RunData, RunId, RunInfo,
    RunState, Setting, Settle, Statements, Step, StepHistogram, StepId, StepSeries, Subject,
    System, Tables, TrialRecord, Unit, Verdict, WorkloadSpec, describe, mix,
};

/// What to make up.
pub struct Shape {
    /// Name and throughput relative to the first, which is the base; `control` is its control.
    pub systems: Vec<(String, f64)>,
    pub rounds: u32,
    pub seconds: usize,
    pub steps: usize,
    /// System and round whose trial failed.
    pub failed: Option<(usize, u32)>,
}

impl Shape {
    /// Three systems with a control, ten steps, four rounds.
    pub fn usual() -> Self {
        Self {
            systems: [("sqlite/wal", 1.0), ("sqlite/rollback", 0.62), ("control", 1.0)]
                .map(|(name, effect)| (name.to_owned(), effect))
                .to_vec(),
            rounds: 4,
            seconds: 20,
            steps: 10,
            failed: None,
        }
    }
}

/// What differs between the first two systems at run time.
pub fn differing() -> (Vec<Overview>, Vec<Warning>) {
    let systems = ["sqlite/wal".to_owned(), "sqlite/rollback".to_owned()];
    let row =
        |name: &str, kind: explain::Reason, values: [&str; 2], matters: Option<&str>| VariableRow {
            name: name.into(),
            group: "durability".into(),
            kinds: vec![kind],
            values: values.map(str::to_owned).to_vec(),
            matters: matters.map(str::to_owned),
        };
    (
        vec![Overview {
            systems: systems.to_vec(),
            rows: vec![
                row(
                    "journal_mode",
                    explain::Reason::OnPurpose,
                    ["wal", "delete"],
                    Some("a log & more"),
                ),
                row("page_size", explain::Reason::ChangedDefault, ["4096", "–"], None),
            ],
            names: vec![Names {
                system: "sqlite/rollback".into(),
                kind: explain::Reason::Gone,
                group: "memory".into(),
                names: vec!["mmap_size".into(), "cache_spill".into()],
            }],
        }],
        vec![Warning {
            condition: Condition::Durability,
            sides: vec![
                Side {
                    holds: "survives a crash of the machine".into(),
                    systems: vec![systems[1].clone()],
                },
                Side {
                    holds: "survives a crash of the <server>".into(),
                    systems: vec![systems[0].clone()],
                },
            ],
            text: "Commits cost. Set by the configs. Settings that decide it: synchronous, journal_mode.".into(),
        }],
    )
}

/// Name, subject, counts rows, target rate, usual rate.
const STEPS: [(&str, &str, bool, Option<u64>, f64); 10] = [
    ("l.i0", "insert", true, None, 180_000.0),
    ("l.x", "index", true, None, 950_000.0),
    ("l.i1", "insert", true, None, 21_000.0),
    ("l.i2", "insert", true, None, 6_400.0),
    ("qr100", "query", false, Some(100), 9_800.0),
    ("qp100", "query", false, Some(100), 13_200.0),
    ("qr500", "query", false, Some(500), 9_400.0),
    ("qp500", "query", false, Some(500), 12_900.0),
    ("qr1000", "query", false, Some(1000), 8_800.0),
    ("qp1000", "query", false, Some(1000), 12_100.0),
];

pub fn run(shape: &Shape) -> RunData {
    let plan = plan(shape);
    let mut data = RunData {
        trials: plan.trials().iter().map(|t| trial(&plan, t, shape)).collect(),
        steps: (0..shape.steps).map(|ordinal| planned(&plan, step(ordinal))).collect(),
        info: info(plan),
        cells: Vec::new(),
        notes: Vec::new(),
        series: Vec::new(),
        histograms: Vec::new(),
        slices: Vec::new(),
    };
    for record in data.trials.clone() {
        let Some(place) = shape.systems.iter().position(|(n, _)| *n == record.system) else {
            continue;
        };
        if record.outcome.is_completed() {
            for ordinal in 0..shape.steps {
                measured(&mut data, shape, &record, place, ordinal);
            }
        }
    }
    data
}

fn trial(plan: &Plan, trial: &model::Trial, shape: &Shape) -> TrialRecord {
    let failed = shape.failed == Some((trial.system, trial.round));
    TrialRecord {
        round: trial.round,
        position: trial.position,
        system: plan.systems[trial.system].name.clone(),
        started: format!("2026-11-21T10:{:02}:{:02}Z", trial.round * 7, trial.position * 11),
        duration: Nanos::from_secs(192 + u64::from(trial.position)),
        outcome: if failed {
            Outcome::Failed {
                step: Some(StepId::new("l.i1")),
                reason: "the server died: signal 9 (in `INSERT INTO pi1 VALUES <…>`)".into(),
                log_tail: vec![
                    "[Note] InnoDB: Buffer pool(s) load completed".into(),
                    "[ERROR] mysqld got signal 9 ; <killed>".into(),
                ],
            }
        } else {
            Outcome::Completed
        },
        provenance: Provenance(vec![
            (Fact::ServerVersion, "3.46.0".into()),
            ("tls".into(), "none".into()),
        ]),
    }
}

fn step(ordinal: usize) -> Step {
    let (name, subject, counts_rows, target_rate, _) = STEPS[ordinal % STEPS.len()];
    let counts = if counts_rows { Counts::Rows } else { Counts::Operations };
    let subject = Subject { kind: subject.into(), counts };
    Step { target_rate, ..Step::new(StepId::new(name), ordinal as u32, 1, subject) }
}

/// The step of a plan that is measured so.
pub fn planned(plan: &Plan, measured: Step) -> Step {
    match plan.steps.iter().find(|planned| planned.id == measured.id) {
        None => measured,
        Some(planned) => Step {
            ordinal: measured.ordinal,
            clients: measured.clients,
            subject: measured.subject,
            target_rate: measured.target_rate,
            ..planned.clone()
        },
    }
}

/// The same on every machine, whatever its logarithm does in the last digit.
fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// Noise with a spread of about one per cent.
fn noise(rng: &mut Rng, spread: f64) -> f64 {
    let sum: f64 = (0..4).map(|_| rng.unit()).sum();
    1.0 + spread * (sum - 2.0) * 1.7
}

/// One step of one trial while it is made up.
struct Making<'a> {
    data: &'a mut RunData,
    trial: &'a TrialRecord,
    ordinal: usize,
    rng: Rng,
}

/// A kind of operation: name, rows per second, operations per second.
type Kind = (&'static str, f64, f64);

fn measured(data: &mut RunData, shape: &Shape, trial: &TrialRecord, place: usize, ordinal: usize) {
    let (name, subject, counts_rows, target, usual) = STEPS[ordinal % STEPS.len()];
    let salt = [place as u64, ordinal as u64, u64::from(trial.round)];
    let mut making = Making { data, trial, ordinal, rng: Rng::new(mix(7, &salt)) };
    let effect = effect(name, shape.systems[place].1);
    let rate = usual * effect * noise(&mut making.rng, 0.01);
    let kinds = kinds(name, subject, rate, target, place);
    making.put(
        "rate".into(),
        if counts_rows { Unit::RowsPerSecond } else { Unit::OpsPerSecond },
        rate,
    );
    if let Some(target) = target {
        making.put("sla.insert".into(), Unit::Percent, 100.0 * kinds[1].1 / target as f64);
    }
    for (metric, base, unit) in COSTS {
        let value = base / effect * noise(&mut making.rng, 0.004);
        making.put(metric.into(), unit, value);
    }
    for (metric, gib) in [("size.data", 0.41), ("size.total", 0.62)] {
        making.put(metric.into(), Unit::Gib, gib * (1.0 + ordinal as f64 / 10.0));
    }
    for kind in &kinds {
        let errors = if kind.0 == "delete" && place == 1 && ordinal == 3 { 2.0 } else { 0.0 };
        making.kind(kind, errors, target.is_some() && kind.0 != "query");
    }
    let series = series(shape, trial, name, &kinds, &mut making.rng);
    data.series.push(series);
}

/// Small transactions suffer most, point queries least, range queries gain.
fn effect(step: &str, of_system: f64) -> f64 {
    let change = of_system - 1.0;
    match step {
        "l.i2" => of_system * if change < 0.0 { 0.5 } else { 1.0 },
        "l.x" => 1.0 + change * 0.02,
        n if n.starts_with("qp") => 1.0 + change * 0.25,
        n if n.starts_with("qr") => 1.0 - change * 0.2,
        _ => of_system,
    }
}

fn kinds(
    step: &str,
    subject: &'static str,
    rate: f64,
    target: Option<u64>,
    place: usize,
) -> Vec<Kind> {
    let mut kinds = vec![(subject, rate, rate)];
    if matches!(step, "l.i1" | "l.i2") {
        kinds.push(("delete", rate, rate));
    }
    if let Some(target) = target {
        let share = if place == 1 && target > 500 { 0.9 } else { 0.999 };
        let achieved = target as f64 * share;
        kinds
            .extend([("insert", achieved, achieved / 50.0), ("delete", achieved, achieved / 50.0)]);
    }
    kinds
}

impl Making<'_> {
    fn put(&mut self, metric: String, unit: Unit, value: f64) {
        self.data.cells.push(Cell {
            round: self.trial.round,
            position: self.trial.position,
            system: self.trial.system.clone(),
            step: step(self.ordinal).id,
            ordinal: self.ordinal as u32,
            clients: 1,
            metric: MetricId(metric),
            unit,
            value: rounded(value),
        });
    }

    fn kind(&mut self, (kind, rows, ops): &Kind, errors: f64, is_scheduled: bool) {
        self.put(format!("rate.{kind}"), Unit::OpsPerSecond, *ops);
        self.put(format!("rows.{kind}"), Unit::RowsPerSecond, *rows);
        self.put(format!("errors.{kind}"), Unit::Count, errors);
        self.put(format!("retries.{kind}"), Unit::Count, errors * 3.0);
        let service = latencies(&mut self.rng, (1e9 / ops.max(1.0) * 0.9).min(4e6));
        self.latency("service", kind, &service);
        if is_scheduled {
            let mut response = service.clone();
            response.record(Nanos::from_millis(180));
            self.latency("response", kind, &response);
        }
    }

    fn latency(&mut self, clock: &str, kind: &str, latency: &Latency) {
        for (part, q) in PARTS {
            let value = latency.quantile(q).unwrap().as_micros_f64();
            self.put(format!("{clock}.{kind}.{part}"), Unit::Micros, value);
        }
        let mean = latency.mean().unwrap().as_micros_f64();
        self.put(format!("{clock}.{kind}.mean"), Unit::Micros, mean);
        self.data.histograms.push(StepHistogram {
            round: self.trial.round,
            system: self.trial.system.clone(),
            step: step(self.ordinal).id,
            kind: kind.to_owned(),
            is_response: clock == "response",
            latency: latency.clone(),
        });
    }
}

const PARTS: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)];

const COSTS: [(&str, f64, Unit); 17] = [
    ("server.cpu/o", 41.0, Unit::MicrosPerOp),
    ("server.user/o", 30.0, Unit::MicrosPerOp),
    ("server.sys/o", 11.0, Unit::MicrosPerOp),
    ("server.cs/o", 1.9, Unit::PerOp),
    ("server.ics/o", 0.02, Unit::PerOp),
    ("server.minflt/o", 0.31, Unit::PerOp),
    ("server.majflt/o", 0.0, Unit::PerOp),
    ("cpu/o", 61.0, Unit::MicrosPerOp),
    ("cs/o", 4.1, Unit::PerOp),
    ("r/o", 0.0, Unit::PerOp),
    ("rKB/o", 0.0, Unit::KbPerOp),
    ("w/o", 0.012, Unit::PerOp),
    ("wKB/o", 0.71, Unit::KbPerOp),
    ("steal", 0.4, Unit::Percent),
    ("client.cpu/o", 9.0, Unit::MicrosPerOp),
    ("client.cpu", 22.0, Unit::Percent),
    ("client.rss", 0.03, Unit::Gib),
];

fn latencies(rng: &mut Rng, mean: f64) -> Latency {
    let mut latency = Latency::new();
    for _ in 0..400 {
        let u = rng.unit().max(1e-4);
        latency.record(Nanos((mean * (0.6 - 0.4 * u.ln())) as u64));
    }
    latency.record(Nanos((mean * (20.0 + 40.0 * rng.unit())) as u64));
    latency
}

fn series(
    shape: &Shape,
    trial: &TrialRecord,
    step: &str,
    kinds: &[(&str, f64, f64)],
    rng: &mut Rng,
) -> StepSeries {
    let n = shape.seconds;
    let column = |(kind, rows, ops): &(&str, f64, f64), rng: &mut Rng| {
        let wave = |i: usize| 1.0 + 0.05 * (i as f64 * 19.0 / n as f64).sin();
        let stall = |i: usize| if i % 61 == 40 { 0.35 } else { 1.0 };
        let mut values = |of: f64, spread: f64| -> Vec<u64> {
            (0..n).map(|i| (of * wave(i) * stall(i) * noise(rng, spread)) as u64).collect()
        };
        let mean = 1e9 / ops.max(1.0);
        // The last interval is shorter, so it counts less.
        let counts = |mut counts: Vec<u64>| {
            counts.iter_mut().next_back().into_iter().for_each(|last| *last = *last * 2 / 5);
            counts
        };
        KindSeries {
            kind: (*kind).to_owned(),
            ops: counts(values(*ops, 0.02)),
            rows: counts(values(*rows, 0.02)),
            p50: values(mean * 0.7, 0.05).into_iter().map(Nanos).collect(),
            p99: values(mean * 3.0, 0.2).into_iter().map(Nanos).collect(),
            max: values(mean * 22.0, 0.5).into_iter().map(Nanos).collect(),
        }
    };
    StepSeries {
        round: trial.round,
        system: trial.system.clone(),
        step: StepId::new(step),
        spans: (0..n).map(|i| (i as f64, if i + 1 == n { 0.4 } else { 1.0 })).collect(),
        kinds: kinds.iter().map(|k| column(k, rng)).collect(),
    }
}

fn plan(shape: &Shape) -> Plan {
    let systems = shape.systems.iter().map(|(name, _)| system(name)).collect();
    Plan {
        name: "wal-or-rollback".into(),
        steps: WorkloadSpec::Insert(insert(shape)).steps(),
        workload: WorkloadSpec::Insert(insert(shape)),
        rounds: shape.rounds,
        seed: 42,
        base: shape.systems[0].0.clone(),
        systems,
        source: "name = \"wal-or-rollback\"\nworkload = { kind = \"insert\", scale = \"tiny\" }\nrounds = 4\n".into(),
        course: model::Course::default(),
        template: false,
    }
}

fn system(name: &str) -> System {
    let rollback = name.contains("rollback");
    let setting =
        |name: &str, value: &str| Setting { name: name.into(), value: Some(value.into()) };
    System {
        name: name.to_owned(),
        build: Build {
            dbms: Dbms::Sqlite,
            version: "3.46.0".parse().unwrap(),
            source: BuildSource::Embedded,
            version_line: "SQLite 3.46.0".into(),
            name: None,
            facts: model::BuildFacts::default(),
        },
        engine: Engine::Btree,
        config: Config {
            left_out: Vec::new(),
            name: if rollback { "rollback" } else { "wal" }.into(),
            summary: "A journal mode and what is synced.".into(),
            settings: vec![
                setting("journal_mode", if rollback { "delete" } else { "wal" }),
                setting("synchronous", if rollback { "full" } else { "normal" }),
                setting("cache_size", "-65536"),
            ],
        },
        set: [("cache_size".to_owned(), "-65536".to_owned())].into(),
        cpus: Placement::default(),
        connection: model::Connection::default(),
        control: name == "control",
        preload: String::new(),
        huge_pages: false,
        load_hosts: Vec::new(),
        server_host: None,
        under: Vec::new(),
    }
}

fn insert(shape: &Shape) -> InsertSpec {
    InsertSpec {
        scale: InsertScale::Tiny,
        clients: 1,
        tables: Tables::Own,
        rows: 100_000,
        i1_rows: 40_000,
        i2_rows: 10_000,
        i0_rows_per_commit: 100,
        i1_rows_per_commit: 50,
        i2_rows_per_commit: 5,
        query_rows_per_commit: 50,
        rates: vec![100, 500, 1000],
        queries: vec![QueryKind::Range, QueryKind::Point],
        query_seconds: shape.seconds as u32,
        query_sessions: 1,
        rows_per_query: 10,
        max_refresh: 1000,
        secondary_indexes: 3,
        deletes: true,
        queue: 10,
        min_resync: 0,
        data_min: 10,
        data_max: 20,
        data_random_percent: 50,
        writes: Statements::Usual,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        settle: Settle::Formula,
        htap_seconds: 0,
        partitions: 0,
        sequence_cache: 1,
        sla_percent: 95,
        statement_timeout: 60,
        compat: false,
        steps: (0..shape.steps).map(|i| step(i).id).collect(),
    }
}

fn info(plan: Plan) -> RunInfo {
    RunInfo {
        id: RunId("r7".into()),
        plan,
        host: Host {
            name: "ser7".into(),
            cpu_model: "AMD Ryzen 7 7840HS".into(),
            shape: HostShape { cpus: 8, memory: Bytes(32 << 30) },
            threads_per_core: 1,
            kernel: "6.8.0-45-generic".into(),
            os: "Ubuntu 24.04".into(),
            governor: Some("performance".into()),
            clock_source: Some("tsc".into()),
            thp: Some("madvise".into()),
            swap: Bytes(0),
            virtualization: None,
            disk: DiskFacts {
                device: Some("nvme0n1".into()),
                filesystem: "xfs".into(),
                options: "rw,noatime".into(),
                size: Bytes(900 << 30),
                free: Bytes(640 << 30),
            },
        },
        backslide: "0.1.0".into(),
        started: "2026-11-21T10:00:00Z".into(),
        state: RunState::Finished,
        hosts: Vec::new(),
    }
}

/// Every candidate against the base, for every metric: mean log ratio, and twice its standard
/// error for an interval. Enough to make up verdicts with; `stats` does it properly.
pub fn comparisons(data: &RunData) -> Vec<Comparison> {
    let base = &data.info.plan.base;
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let key = |c: &'_ Cell| (c.system.clone(), c.ordinal, c.metric.0.clone(), c.round);
    let values: HashMap<_, f64> = data.cells.iter().map(|c| (key(c), c.value)).collect();
    for cell in data.cells.iter().filter(|c| c.system != *base) {
        if !seen.insert((&cell.system, cell.ordinal, &cell.metric)) {
            continue;
        }
        let pairs: Vec<(u32, f64)> = (1..=data.info.plan.rounds)
            .filter_map(|round| {
                let of = |system: &str| {
                    let key = (system.to_owned(), cell.ordinal, cell.metric.0.clone(), round);
                    values.get(&key).copied()
                };
                Some((round, rounded(of(&cell.system)? / of(base)?)))
            })
            .filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0)
            .collect();
        all.push(comparison(base, cell, pairs));
    }
    all
}

fn comparison(base: &str, cell: &Cell, pairs: Vec<(u32, f64)>) -> Comparison {
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(_, r)| r.ln()).sum::<f64>() / n;
    let spread = pairs.iter().map(|(_, r)| (r.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = 3.2 * (spread / n).sqrt();
    let is = describe(&cell.metric).unwrap();
    let (low, high) = ((mean - half).exp(), (mean + half).exp());
    let worse = match is.direction {
        model::Direction::Higher => mean < 0.0,
        model::Direction::Lower => mean > 0.0,
        model::Direction::Neither => false,
    };
    let is_neither = is.direction == model::Direction::Neither;
    let verdict = if pairs.is_empty() {
        Verdict::Incomparable(Reason::NoRatio { system: base.to_owned() })
    } else if pairs.len() < 2 {
        Verdict::Inconclusive(Reason::TooFewRounds { have: pairs.len() as u32, need: 2 })
    } else if is_neither {
        Verdict::Inconclusive(Reason::NotJudged)
    } else if (low > 1.0 || high < 1.0) && mean.abs() > is.margin {
        if worse { Verdict::Regressed } else { Verdict::Improved }
    } else if low > 1.0 - is.margin && high < 1.0 + is.margin {
        Verdict::Unchanged
    } else {
        Verdict::Inconclusive(Reason::TooNoisy { more_rounds: Some(3) })
    };
    let known = !pairs.is_empty();
    Comparison {
        step: cell.step.clone(),
        ordinal: cell.ordinal,
        clients: cell.clients,
        metric: cell.metric.clone(),
        unit: cell.unit,
        base: base.to_owned(),
        system: cell.system.clone(),
        ratio: known.then(|| rounded(mean.exp())),
        low: (pairs.len() > 1).then_some(rounded(low)),
        high: (pairs.len() > 1).then_some(rounded(high)),
        rounds: pairs.len() as u32,
        q_value: (pairs.len() > 1).then_some(if (0.98..1.02).contains(&mean.exp()) {
            0.41
        } else {
            0.0004
        }),
        magnitude: matches!(verdict, Verdict::Regressed | Verdict::Improved)
            .then_some(Magnitude::Large),
        verdict,
        evidence: None,
        pairs,
    }
}

/// Nothing is left of the throughput of a system in a step.
pub fn fall(comparisons: &mut [Comparison], system: &str, step: &str) {
    let mut rates = comparisons.iter_mut().filter(|c| c.metric.0 == MetricId::RATE);
    let one = rates.find(|c| c.system == system && c.step.0 == step).unwrap();
    one.verdict = Verdict::Incomparable(Reason::FellToZero { rounds: 4 });
    (one.ratio, one.low, one.high, one.q_value) = (None, None, None, None);
    (one.magnitude, one.evidence) = (None, None);
    one.pairs.clear();
}
