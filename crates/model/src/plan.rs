//! A plan, fully expanded: what will run, in which order, with which seed. No defaults are left to fill in.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    BuildSource, InsertSpec, LuaSpec, Margin, MetricId, Nanos, Orders, SqlRun, SqlSpec, Step,
    StepClass, StepTask, System, TpccSpec, mix,
};

/// Systems × workload × rounds. Deterministic from the plan file, the seed and the builds found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    pub workload: WorkloadSpec,
    /// The steps of a trial that loads its own data, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The rounds of the run; at most, where the course says when to look.
    pub rounds: u32,
    #[serde(default)]
    pub course: Course,
    /// The seed of order and data.
    pub seed: u64,
    pub base: String,
    /// What is compared, in the order in which tables list it; the control, if any, is last.
    pub systems: Vec<System>,
    /// Is the data loaded once per system, and each trial begun from a copy of it?
    #[serde(default)]
    pub template: bool,
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    pub round: u32,
    pub position: u32,
    /// Index into the plan's systems.
    pub system: usize,
    /// Seed of the data and keys: the same for all systems of a round.
    pub seed: u64,
}

impl Plan {
    /// One round of these systems, the first of them the base.
    pub fn new(name: &str, workload: WorkloadSpec, systems: Vec<System>) -> Self {
        Self {
            name: name.to_owned(),
            steps: workload.steps(),
            workload,
            rounds: 1,
            course: Course::default(),
            seed: 0,
            base: systems.first().map(|system| system.name.clone()).unwrap_or_default(),
            systems,
            template: false,
            source: String::new(),
        }
    }

    /// The most clients that a step has, those that load a TPC-C-like database aside.
    pub fn clients(&self) -> u32 {
        match &self.workload {
            WorkloadSpec::Insert(spec) => spec.clients,
            WorkloadSpec::Tpcc(spec) => spec.clients,
            WorkloadSpec::Lua(spec) => spec.clients,
            WorkloadSpec::Sql(_) | WorkloadSpec::Imported(_) => {
                self.steps.iter().map(|step| step.clients).max().unwrap_or(1)
            }
        }
    }

    /// Did another tool measure it? Then nothing is known but what its files say.
    pub fn is_imported(&self) -> bool {
        self.systems.iter().any(|system| matches!(system.build.source, BuildSource::Imported(_)))
    }

    pub fn statement_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.workload.statement_timeout()))
    }

    /// All planned trials in the order in which they run; each round holds its systems in the order of [`Orders`].
    pub fn trials(&self) -> Vec<Trial> {
        let cycle = self.cycle() as usize;
        let orders = self.orders().flat_map(|order| std::iter::repeat_n(order, cycle));
        (1..=self.rounds).zip(orders).flat_map(|(round, order)| self.round(round, &order)).collect()
    }

    /// The trials of one round. Those after the planned ones go on with the order, each with a seed of its own.
    pub fn trials_of(&self, round: u32) -> Vec<Trial> {
        let earlier = (round.saturating_sub(1) / self.cycle()) as usize;
        self.round(round, &self.orders().nth(earlier).unwrap_or_default())
    }

    /// The systems of a round, as places in the plan's list.
    pub fn systems_of(&self, round: u32) -> Vec<usize> {
        let all = 0..self.systems.len();
        if !self.course.pairs {
            return all.collect();
        }
        let is_base = |place: &usize| self.systems[*place].name == self.base;
        let (mut pair, others): (Vec<usize>, Vec<usize>) = all.partition(is_base);
        let turn = round.saturating_sub(1) % self.cycle();
        pair.extend(others.get(turn as usize));
        pair
    }

    pub fn trials_a_round(&self) -> u32 {
        self.systems_of(1).len() as u32
    }

    /// After so many rounds each system had one.
    pub fn cycle(&self) -> u32 {
        let others = self.systems.len().saturating_sub(1);
        if self.course.pairs { others.max(1) as u32 } else { 1 }
    }

    /// How often each system is compared with the base, at most.
    pub fn rounds_of_each(&self) -> u32 {
        self.rounds / self.cycle()
    }

    /// The rounds after which the run may end at the earliest; `None` where their number is fixed.
    pub fn fewest_rounds(&self) -> Option<u32> {
        Some(self.course.first_look?.saturating_mul(self.cycle()))
    }

    /// Rounds that may be run again for disturbed ones, at most.
    pub fn rounds_again(&self) -> u32 {
        self.rounds.saturating_mul(self.course.reruns())
    }

    /// The rounds whose trials are profiled, the counted last: after the planned ones; added ones after all others.
    pub fn profiled_rounds(&self) -> impl Iterator<Item = u32> {
        let planned = self.rounds.saturating_add(1)..=self.last_planned_round();
        planned.filter(|round| self.owns(*round)).chain(self.course.added.iter().cloned().flatten())
    }

    /// The last round that is planned, profiled ones among them. What is run again has the numbers after it.
    pub fn last_planned_round(&self) -> u32 {
        self.last_sampled_round() + self.course.counted.saturating_mul(self.cycle())
    }

    fn last_sampled_round(&self) -> u32 {
        self.rounds.saturating_add(self.course.profiled.saturating_mul(self.cycle()))
    }

    /// Are instructions counted in this round, rather than stacks sampled?
    pub fn is_counted(&self, round: u32) -> bool {
        (self.last_sampled_round() + 1..=self.last_planned_round()).contains(&round)
            || self.course.added_counted.iter().any(|rounds| rounds.contains(&round))
    }

    pub fn is_profiled(&self, round: u32) -> bool {
        self.profiled_rounds().any(|profiled| profiled == round)
    }

    /// Trials of the planned rounds and of those that were added.
    pub fn planned_trials(&self) -> u32 {
        let added = self.course.added.iter().cloned().flatten();
        let planned = (1..=self.last_planned_round()).filter(|round| self.owns(*round));
        self.trials_a_round() * planned.chain(added).count() as u32
    }

    /// The planned rounds that may still be judged: none once profiled rounds were added, because the run was finished.
    pub fn judged_rounds(&self) -> RangeInclusive<u32> {
        let last = if self.course.added.is_empty() { self.rounds } else { 0 };
        let mut own = (1..=last).filter(|round| self.owns(*round));
        let first = own.next();
        first.unwrap_or(1)..=own.next_back().or(first).unwrap_or(0)
    }

    /// Is a round measured here? Another part of the run may have it. The planned rounds are shared out in one piece
    /// each, so that a part has whole cycles, and orders beside their mirror images. Those that are run again have
    /// numbers that no other part uses.
    pub fn owns(&self, round: u32) -> bool {
        let Some(RoundsPart { number, of }) = self.course.part else { return true };
        let cycle = u64::from(round.saturating_sub(1) / self.cycle());
        let (of, cycles) = (u64::from(of.max(1)), u64::from(self.planned_cycles()));
        let owner = if cycle < cycles { cycle * of / cycles } else { (cycle - cycles) % of };
        owner + 1 == u64::from(number)
    }

    /// A run may have as many parts at most.
    pub fn planned_cycles(&self) -> u32 {
        self.last_planned_round() / self.cycle()
    }

    /// Adds profiled rounds of each system after the last round of a finished run, which are sampled or counted.
    pub fn add_profiled_rounds(&mut self, last: u32, rounds: u32, counts: bool) {
        let cycle = self.cycle();
        // A cycle of pairs begins with its first pair.
        let last = last.max(self.last_planned_round()).next_multiple_of(cycle);
        let end = last.saturating_add(rounds.saturating_mul(cycle));
        let added = last.saturating_add(1)..=end;
        self.course.added_counted.extend(counts.then(|| added.clone()));
        self.course.added.push(added);
    }

    /// Can further rounds follow the last one? Not where profiled ones have the numbers after it, nor in a part.
    pub fn can_have_more_rounds(&self) -> bool {
        let Course { profiled, counted, added, part, .. } = &self.course;
        profiled + counted == 0 && added.is_empty() && part.is_none()
    }

    fn orders(&self) -> Orders {
        let seed = mix(self.seed, &[u64::from(u32::from_be_bytes(*b"ordr"))]);
        Orders::new(seed, self.trials_a_round() as usize)
    }

    fn round(&self, round: u32, order: &[usize]) -> Vec<Trial> {
        let seed = mix(self.seed, &[u64::from(round)]);
        let systems = self.systems_of(round);
        let systems = order.iter().filter_map(|place| systems.get(*place)).zip(1..);
        systems.map(|(&system, position)| Trial { round, position, system, seed }).collect()
    }

    pub fn control(&self) -> Option<&System> {
        self.systems.iter().find(|system| system.control)
    }

    pub fn is_control(&self, name: &str) -> bool {
        self.system(name).is_some_and(|system| system.control)
    }

    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|s| s.name == name)
    }

    /// The first foreign server, which cannot be frozen: beside it only steps that change no data take turns.
    pub fn never_frozen(&self) -> Option<&System> {
        self.systems.iter().find(|system| system.build.is_foreign())
    }

    /// Sentences about servers that behave differently in turns; `None` if no such server or no step that writes.
    /// `l.i1` and `l.i2` count as writing: they load in small commits.
    pub fn changed_in_turns(&self) -> Option<String> {
        let writes = |step: &Step| step.task == StepTask::Run && step.class != StepClass::Reading;
        // Each pair has the base.
        let beside = |system: &System| !self.course.pairs || system.name == self.base;
        let is_frozen = !self.systems.iter().any(|one| beside(one) && one.build.is_foreign());
        let take_turns = matches!(self.course.interleave, Interleave::Turns(_))
            && is_frozen
            && self.steps.iter().any(|step| step.measured && writes(step));
        let mut told: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let frozen = self.systems.iter().filter(|system| !system.build.is_foreign());
        for system in frozen.filter(|_| take_turns) {
            let facts = &system.build.dbms.product().in_turns;
            if facts.holds(&system.build.version, &system.config) {
                told.entry(&facts.what).or_default().push(&system.name);
            }
        }
        let lines = told.iter().map(|(what, systems)| format!("{} {what}.", systems.join(", ")));
        let text = lines.collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }
}

/// How the rounds of a plan are carried out and judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// Rounds of each system before the first look; one after each later round, until all is decided. `None`: no looks.
    pub first_look: Option<u32>,
    pub interleave: Interleave,
    /// Does a round have the base and one other system, in turn, in place of all systems?
    pub pairs: bool,
    /// The noise that a trial may meet; its round is run again where it meets more. `None`: any.
    pub quarantine: Option<Quarantine>,
    /// Margins that replace the metrics' own. A short form such as `response.p99` means each step's subject.
    pub margins: BTreeMap<MetricId, Margin>,
    /// Rounds of each system besides, in which stacks are sampled. They are never judged.
    pub profiled: u32,
    /// Further ones, in which servers run under Valgrind and instructions are counted.
    pub counted: u32,
    /// Numbers of the profiled rounds that were added when the run was finished.
    pub added: Vec<RangeInclusive<u32>>,
    /// Those among them in which instructions are counted.
    pub added_counted: Vec<RangeInclusive<u32>>,
    /// The part of the rounds that this lab measures; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<RoundsPart>,
}

/// One of the parts of a run that several labs measure: `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsPart {
    /// From 1.
    pub number: u32,
    pub of: u32,
}

impl fmt::Display for RoundsPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for RoundsPart {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let part = text.split_once('/');
        let part = part.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let part = part.filter(|(number, of)| (1..=*of).contains(number));
        let (number, of) = part.ok_or("a part is written I/N with I from 1 to N, such as 2/8")?;
        Ok(Self { number, of })
    }
}

impl Course {
    /// How often a disturbed round may be run again, at most.
    pub fn reruns(&self) -> u32 {
        self.quarantine.map_or(0, |limits| limits.reruns)
    }
}

/// The unit that alternates between the systems of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    /// Whole trials: one system after the other.
    #[default]
    Trials,
    /// Slices of this length, in steps that change no data; all systems of a round are up at once. All other
    /// steps are run one system after the other.
    Slices(Nanos),
    /// Turns of at most this length, in every step; all systems of a round are up at once. Those whose turn it is not
    /// are frozen, where that can be.
    Turns(Nanos),
}

impl Interleave {
    pub const fn is_at_once(self) -> bool {
        match self {
            Self::Trials => false,
            Self::Slices(_) | Self::Turns(_) => true,
        }
    }
}

/// The noise that a trial may meet before its numbers are set aside. Shares are thousandths of a measured step's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// CPU time of the host that went to other guests, as a share of all its CPUs.
    pub steal_permille: u32,
    /// CPU time of processes that are neither server nor client, of one CPU.
    pub foreign_permille: u32,
    /// Time for which the control group was held back, as a share of one CPU.
    pub throttled_permille: u32,
    /// Pages of memory read from the swap device or written to it, each second.
    pub swapped_pages: u32,
    /// Major page faults of the server, each second. Plans of versions that had no such limit allow any number.
    #[serde(default = "any_number")]
    pub major_faults: u32,
    pub reruns: u32,
}

const fn any_number() -> u32 {
    u32::MAX
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WorkloadSpec {
    Insert(InsertSpec),
    /// Tables and statements that a workload file gives: the microbenchmarks, or a user's own.
    Sql(SqlSpec),
    Tpcc(TpccSpec),
    Lua(LuaSpec),
    /// What another tool measured. It cannot be run; its plan brings the steps.
    Imported(ImportedSpec),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSpec {
    pub name: String,
    /// The data of each test, as far as files state it.
    pub scales: Vec<ImportedScale>,
    /// Are the numbers those that the original tools publish?
    pub compat: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedScale {
    pub test: String,
    pub tables: u32,
    pub rows: u64,
}

impl From<TpccSpec> for WorkloadSpec {
    fn from(spec: TpccSpec) -> Self {
        Self::Tpcc(spec)
    }
}

impl WorkloadSpec {
    pub fn name(&self) -> &str {
        match self {
            Self::Insert(_) => "insert",
            Self::Sql(spec) => &spec.name,
            Self::Tpcc(_) => "tpcc",
            Self::Lua(spec) => spec.stem(),
            Self::Imported(spec) => &spec.name,
        }
    }

    pub const fn script(&self) -> Option<&LuaSpec> {
        if let Self::Lua(spec) = self { Some(spec) } else { None }
    }

    /// Seconds after which a statement counts as hung.
    pub const fn statement_timeout(&self) -> u32 {
        match self {
            Self::Insert(spec) => spec.statement_timeout,
            Self::Sql(spec) => spec.statement_timeout,
            Self::Tpcc(spec) => spec.statement_timeout,
            Self::Lua(spec) => spec.statement_timeout,
            // Nothing is sent.
            Self::Imported(_) => 0,
        }
    }

    /// May it have dozens of steps, so that tables have a row for each?
    pub const fn lists_many_steps(&self) -> bool {
        matches!(self, Self::Sql(_) | Self::Imported(_))
    }

    pub const fn insert(&self) -> Option<&InsertSpec> {
        if let Self::Insert(spec) = self { Some(spec) } else { None }
    }

    pub const fn sql(&self) -> Option<&SqlSpec> {
        if let Self::Sql(spec) = self { Some(spec) } else { None }
    }

    pub const fn tpcc(&self) -> Option<&TpccSpec> {
        if let Self::Tpcc(spec) = self { Some(spec) } else { None }
    }

    pub const fn imported(&self) -> Option<&ImportedSpec> {
        if let Self::Imported(spec) = self { Some(spec) } else { None }
    }

    /// The operations of a step that runs statements of a workload file.
    pub fn sql_run(&self, step: &Step) -> Option<&SqlRun> {
        self.sql()?.step_at(step.ordinal, &step.id)?.work.run()
    }
}
