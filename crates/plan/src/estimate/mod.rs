//! What a plan needs, before anything starts: disk and time, to within a factor of about two.
//!
//! The assumptions are the costs of each product, and the constants here with the comments beside them.

mod insert;
mod sql;
mod system;
mod tpcc;

use model::{
    Bytes, Costs, InsertStage, LuaSpec, Nanos, Plan, Settle, SqlPace, Step, StepId, System,
    TpccStage, WorkloadSpec,
};

use crate::{PlanError, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Peak disk: instances that exist at once (in slices and turns those of a round), all templates, and the results.
    pub disk: Bytes,
    /// The instance of each system, in the plan's order.
    pub systems: Vec<(String, Bytes)>,
    /// Memory of each system with its sessions and of backslide beside it, in the plan's order.
    pub memory: Vec<(String, Bytes)>,
    /// Peak memory of the systems that are up at once.
    pub peak_memory: Bytes,
    pub store: Bytes,
    /// All trials, one after the other, and what comes before them; none of them run again.
    pub time: Nanos,
    /// The same if the run ends at its first look; `None` where nobody looks.
    pub shortest: Option<Nanos>,
    /// The same as `time` if every round is run again as often as the plan allows; `None` where none is.
    pub longest: Option<Nanos>,
    /// One trial of each system, in the plan's order.
    pub parts: Vec<(String, Nanos)>,
    /// The template of each system, in the plan's order; none where the plan asks for none.
    pub templates: Vec<Loading>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loading {
    pub system: String,
    pub disk: Bytes,
    pub time: Nanos,
}

impl Estimate {
    /// Does it fit into the `free` space of `place`, which is the lab directory's name?
    pub fn fits(&self, free: Bytes, place: &str) -> Result<()> {
        if self.disk <= free {
            return Ok(());
        }
        Err(PlanError::TooLarge { need: self.disk, place: place.to_owned(), free })
    }

    /// What to say where the host has less memory. It is no error: caches that may be so large need not fill.
    pub fn lacks_memory(&self, host: Bytes) -> Option<String> {
        let need = self.peak_memory;
        (need > host).then(|| {
            format!(
                "note: the plan may need about {need} of memory, the host has {host}: a server may not start, swap, or \
                 be killed; set smaller caches, or let fewer systems be up at once"
            )
        })
    }
}

/// What the store keeps of a second of a trial: three kinds with compressed histograms, and readings.
const STORE_SECOND: u64 = 4_096;
/// The same with the six kinds of the TPC-C-like workload.
const STORE_TPCC_SECOND: u64 = 8_192;
/// What the store keeps of a step besides: the server's variables and status before and after.
const STORE_STEP: u64 = 256 << 10;

/// To connect, to prepare, and to ask the server for its state before and after a step.
const AROUND_STEP: Nanos = Nanos::from_millis(300);
/// Attempts of a ramp: it doubles the rate some times, then halves the gap some times.
const ATTEMPTS: u64 = 15;
/// Bytes per second that are cloned where blocks cannot be shared.
const CLONE_RATE: u64 = 200 << 20;
/// Rows per second that are read before the queries of a trial on a clone.
const WARM_RATE: u64 = 1_500_000;

pub fn estimate(plan: &Plan) -> Estimate {
    let workload = &plan.workload;
    let sessions = system::sessions(plan);
    let systems = of_each(plan, |system| instance(workload, system, false));
    let memory = of_each(plan, |system| system::memory(sessions, system));
    let loaded = plan.systems.iter().filter(|_| plan.template);
    let templates: Vec<Loading> = loaded.map(|system| loading(plan, system)).collect();
    let part = |system: &System| {
        Nanos(match templates.iter().find(|template| template.system == system.name) {
            None => time(plan, system, |_| true),
            Some(template) => sum([
                time(plan, system, |step| !step.loads),
                at_rate(template.disk.0, CLONE_RATE),
                at_rate(rows_on_clone(workload), WARM_RATE),
            ]),
        })
    };
    let parts = of_each(plan, part);
    let (base, cycle) = (of_base(plan, &parts).0, plan.cycle());
    let all = total(parts.iter().map(|(_, time)| time.0));
    let a_cycle = sum([all, base.saturating_mul(u64::from(cycle - 1))]);
    let loading = total(templates.iter().map(|template| template.time.0));
    let of_rounds = |rounds: u32| {
        Nanos(sum([a_cycle.saturating_mul(u64::from(rounds)) / u64::from(cycle), loading]))
    };
    let profiled = of_rounds(plan.last_planned_round() - plan.rounds).0.saturating_sub(loading);
    let time = Nanos(sum([of_rounds(plan.rounds).0, profiled]));
    let again = plan.rounds_again();
    let store = store(plan, time);
    let kept = total(templates.iter().map(|template| template.disk.0));
    let instances = at_once(plan, &systems);
    Estimate {
        disk: Bytes(sum([instances, kept, store])),
        systems,
        peak_memory: system::peak_memory(plan, &memory),
        memory,
        store: Bytes(store),
        time,
        shortest: plan.fewest_rounds().map(|fewest| Nanos(sum([of_rounds(fewest).0, profiled]))),
        longest: (again > 0)
            .then(|| Nanos(sum([of_rounds(plan.rounds.saturating_add(again)).0, profiled]))),
        parts,
        templates,
    }
}

fn of_each<T>(plan: &Plan, of: impl Fn(&System) -> T) -> Vec<(String, T)> {
    plan.systems.iter().map(|system| (system.name.clone(), of(system))).collect()
}

fn of_base<T: Copy + Default>(plan: &Plan, each: &[(String, T)]) -> T {
    each.iter().find(|(system, _)| *system == plan.base).map_or_else(T::default, |(_, of)| *of)
}

/// The most bytes at the same time, of what each system takes.
fn at_once(plan: &Plan, each: &[(String, Bytes)]) -> u64 {
    let bytes = each.iter().map(|(_, bytes)| bytes.0);
    if plan.course.pairs {
        let others = each.iter().filter(|(system, _)| *system != plan.base);
        sum([of_base(plan, each).0, others.map(|(_, bytes)| bytes.0).max().unwrap_or(0)])
    } else if plan.course.interleave.is_at_once() {
        total(bytes)
    } else {
        bytes.max().unwrap_or(0)
    }
}

/// How long each step of a trial of the base takes, in order; with templates without those that load.
pub fn step_times(plan: &Plan) -> Vec<(StepId, Nanos)> {
    let base = plan.system(&plan.base).or(plan.systems.first());
    let Some(cost) = base.map(|base| &base.build.dbms.product().costs) else { return Vec::new() };
    let taken = steps(plan, cost).filter(|(step, _)| !(step.loads && plan.has_templates()));
    taken.map(|(step, time)| (step.id.clone(), Nanos(time))).collect()
}

/// Seconds of a ramp's attempts.
fn attempts(pace: &SqlPace) -> u64 {
    match pace {
        SqlPace::Ramp { attempt_seconds, .. } => ATTEMPTS * u64::from(*attempt_seconds),
        SqlPace::Unlimited | SqlPace::Rate { .. } => 0,
    }
}

/// The steps of a trial that loads, each with its nanoseconds and what is around it.
fn steps<'a>(plan: &'a Plan, cost: &Costs) -> impl Iterator<Item = (&'a Step, u64)> {
    let times: Vec<u64> = match &plan.workload {
        WorkloadSpec::Insert(spec) => {
            let stages = InsertStage::of_trial(spec);
            stages.iter().map(|stage| insert::step(spec, stage, cost)).collect()
        }
        WorkloadSpec::Sql(spec) => {
            spec.steps.iter().map(|step| sql::step(spec, step, cost)).collect()
        }
        WorkloadSpec::Tpcc(spec) => {
            let stages = TpccStage::of_trial(spec);
            stages.iter().map(|stage| tpcc::step(spec, *stage, cost)).collect()
        }
        WorkloadSpec::Lua(spec) => {
            spec.stages().iter().map(|(command, _)| command_time(spec, command)).collect()
        }
        WorkloadSpec::Imported(_) => Vec::new(),
    };
    plan.steps.iter().zip(times)
}

/// Nanoseconds of a script's command with what is around it, as far as the plan says.
fn command_time(spec: &LuaSpec, command: &str) -> u64 {
    let runs = command == LuaSpec::RUN;
    let measured = u64::from(spec.warmup_seconds) + u64::from(spec.seconds);
    let seconds = if runs { attempts(&spec.pace) + measured } else { 0 };
    sum([Nanos::from_secs(seconds).0, AROUND_STEP.0])
}

/// Bytes of one instance at its largest; with `loads` after the steps that only load.
fn instance(workload: &WorkloadSpec, system: &System, loads: bool) -> Bytes {
    match workload {
        WorkloadSpec::Insert(spec) => insert::instance(spec, system, loads),
        WorkloadSpec::Sql(spec) => sql::instance(spec, system, loads),
        WorkloadSpec::Tpcc(spec) => tpcc::instance(spec, system, loads),
        // The script alone knows how much it loads.
        WorkloadSpec::Lua(_) => Bytes(system.build.dbms.product().costs.empty_mib << 20),
        WorkloadSpec::Imported(_) => Bytes(0),
    }
}

fn loading(plan: &Plan, system: &System) -> Loading {
    Loading {
        system: system.name.clone(),
        disk: instance(&plan.workload, system, true),
        time: Nanos(time(plan, system, |step| step.loads)),
    }
}

/// Nanoseconds of those steps of a trial that count, with what is around them.
fn time(plan: &Plan, system: &System, counts: fn(&Step) -> bool) -> u64 {
    let cost = &system.build.dbms.product().costs;
    let steps = steps(plan, cost).filter(|(step, _)| counts(step));
    sum([total(steps.map(|(_, time)| time)), cost.around().0])
}

/// Rows that a trial on a clone reads first: by each table and by each index.
fn rows_on_clone(workload: &WorkloadSpec) -> u64 {
    match workload {
        WorkloadSpec::Insert(spec) => {
            insert::rows(spec).saturating_mul(u64::from(spec.secondary_indexes) + 1)
        }
        WorkloadSpec::Sql(spec) => sql::rows_and_entries(spec),
        WorkloadSpec::Tpcc(spec) => tpcc::rows_and_entries(spec),
        WorkloadSpec::Lua(_) | WorkloadSpec::Imported(_) => 0,
    }
}

/// Nanoseconds of a settle phase: what the plan says, or min(1200, 60 + loaded rows / 10^6) seconds.
fn settling(settle: Settle, rows: u64) -> u64 {
    let seconds = match settle {
        Settle::Seconds(seconds) => u64::from(seconds),
        Settle::Formula => (60 + rows / 1_000_000).min(1200),
    };
    Nanos::from_secs(seconds).0
}

fn store(plan: &Plan, time: Nanos) -> u64 {
    let second = if plan.workload.tpcc().is_some() { STORE_TPCC_SECOND } else { STORE_SECOND };
    // The settle phase of the Insert Benchmark reads little.
    let steps = plan.workload.insert().map_or(plan.steps.len(), |spec| spec.steps.len()) as u64;
    let trials = u64::from(plan.planned_trials());
    let seconds = time.0 / Nanos::SECOND.0;
    sum([seconds.saturating_mul(second), trials.saturating_mul(steps).saturating_mul(STORE_STEP)])
}

/// The sum, or the largest number: what does not fit into 64 bits fits onto no disk.
fn sum<const N: usize>(parts: [u64; N]) -> u64 {
    total(parts.into_iter())
}

fn total(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

/// Nanoseconds that so much takes at so much per second.
fn at_rate(amount: u64, rate: u64) -> u64 {
    let nanos = u128::from(amount) * u128::from(Nanos::SECOND.0) / u128::from(rate.max(1));
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
