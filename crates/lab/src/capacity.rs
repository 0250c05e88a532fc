//! How many sessions a server takes, how many a workload opens, and which limits of a process that meets.

use model::{Plan, Step, StepTask, System};
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use crate::error::{LabError, Result, SystemError};

/// Sessions of ours at the same time as those of a workload's clients.
const OURS: u32 = 1;

/// Files that this process has open beside its sessions: the store, probes, logs.
const OTHER_FILES: u64 = 256;

/// Processes and threads beside those of sessions: ours, the server's own, the user's other programs.
const OTHER_PROCESSES: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    pub max_connections: u32,
    /// Of these, how many it keeps for its administrator.
    pub reserved: u32,
}

impl Capacity {
    /// What a server of ours has by its config or product; `None` for an embedded one and a value that is no number.
    pub(crate) fn of_config(system: &System) -> Option<Self> {
        let limits = &system.build.dbms.product().limits;
        let usual = limits.max_connections?;
        let mut settings = system.config.settings.iter();
        let set = settings.rfind(|setting| servers::is_named(&setting.name, &[SETTING]));
        let max_connections = match set {
            None => usual,
            Some(setting) => setting.value.as_ref()?.trim().parse().ok()?,
        };
        Some(Self { max_connections, reserved: limits.reserved_connections })
    }

    /// Is there room for all sessions of these steps? The error has the numbers and what to do.
    pub(crate) fn check(self, steps: &[Step], is_ours: bool) -> Result<(), SystemError> {
        let Some(most) = most_sessions(steps) else { return Ok(()) };
        let needed = most.sessions.saturating_add(OURS + self.reserved);
        if needed <= self.max_connections {
            return Ok(());
        }
        let reserved = match self.reserved {
            0 => String::new(),
            reserved => format!(", {reserved} of them for its administrator"),
        };
        let remedy = if is_ours {
            format!("add `{SETTING} = {needed}` to the system's `set`")
        } else {
            format!("set its {SETTING} to {needed} or more")
        };
        Err(SystemError::Sessions {
            step: most.id.clone(),
            sessions: most.sessions,
            limit: format!("{}{reserved}", self.max_connections),
            remedy,
        })
    }
}

/// The setting, which every server that has one calls the same.
const SETTING: &str = "max_connections";

/// The first of the steps with the most sessions at the same time.
fn most_sessions(steps: &[Step]) -> Option<&Step> {
    steps.iter().rev().max_by_key(|step| step.sessions)
}

/// A limit of a process that its children inherit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    what: &'static str,
    /// Its option of `ulimit`.
    flag: &'static str,
    resource: Resource,
    /// How much of the resource the option counts as one.
    unit: u64,
}

const OPEN_FILES: Limit =
    Limit { what: "open files", flag: "-n", resource: Resource::Nofile, unit: 1 };

/// Threads count as processes; root has no such limit.
const PROCESSES: Limit =
    Limit { what: "processes and threads", flag: "-u", resource: Resource::Nproc, unit: 1 };

const ADDRESSES: Limit =
    Limit { what: "KiB of addresses", flag: "-v", resource: Resource::As, unit: 1 << 10 };

/// What so many sessions need of each limit. `at_once`: on all systems at the same time.
fn needs(sessions: u32, systems: &[&System], at_once: bool) -> [(Limit, u64); 3] {
    let sessions = u64::from(sessions);
    let ours = systems.iter().map(|system| {
        let files = sessions * system.build.dbms.product().limits.files_of_session;
        // A thread of ours, and a thread or process of the server.
        let threads = sessions * (1 + u64::from(system.has_server()));
        (files, threads)
    });
    let (files, threads) = ours.fold((0, 0), |sum: (u64, u64), system| {
        if at_once {
            (sum.0 + system.0, sum.1 + system.1)
        } else {
            (sum.0.max(system.0), sum.1.max(system.1))
        }
    });
    let servers = systems.iter().filter(|system| system.has_server());
    let server = servers
        .filter_map(|system| system.build.dbms.product().limits.files_of_server)
        .map(|own| sessions + u64::from(OURS) + own)
        .max();
    let clients = sessions * if at_once { systems.len() as u64 } else { 1 };
    let stacks = clients * (load::CLIENT_STACK as u64 / ADDRESSES.unit);
    [
        (OPEN_FILES, (files + OTHER_FILES).max(server.unwrap_or(0))),
        (PROCESSES, threads + OTHER_PROCESSES),
        (ADDRESSES, stacks),
    ]
}

/// As [`raise_limits_of`], for some steps. Limits are raised no further than needed, because servers inherit them.
pub(crate) fn raise_limits(steps: &[Step], systems: &[&System], at_once: bool) -> Result<()> {
    let sessions = most_sessions(steps).map_or(0, |most| most.sessions);
    for (limit, needed) in needs(sessions, systems, at_once) {
        if limit == PROCESSES && geteuid().is_root() {
            continue;
        }
        raise(limit, needed).map_err(|found| LabError::Limit {
            sessions,
            what: limit.what,
            flag: limit.flag,
            needed,
            found,
        })?;
    }
    Ok(())
}

/// Lets this process, and with it its servers, have what a plan's sessions on these systems need.
pub fn raise_limits_of(plan: &Plan, systems: &[&System]) -> Result<()> {
    let here = steps_here(&plan.steps, systems);
    if !plan.course.pairs || systems.len() < 3 {
        return raise_limits(&here, systems, plan.course.interleave.is_at_once());
    }
    pairs(systems, &plan.base).iter().try_for_each(|pair| raise_limits(&here, pair, true))
}

/// The base with each of the other systems.
fn pairs<'a>(systems: &[&'a System], base: &str) -> Vec<Vec<&'a System>> {
    let (base, others): (Vec<&System>, Vec<&System>) =
        systems.iter().copied().partition(|system| system.name == base);
    others.iter().map(|other| [&base[..], &[*other]].concat()).collect()
}

/// The steps with clients in this process: load hosts run those of the others, under limits of their own.
fn steps_here(steps: &[Step], systems: &[&System]) -> Vec<Step> {
    let is_divided = systems.iter().all(|system| !system.load_hosts.is_empty());
    let is_here = |step: &&Step| !is_divided || step.task != StepTask::Run;
    steps.iter().filter(is_here).cloned().collect()
}

/// Raises a soft limit to what is needed. The error is the hard limit, which is less.
fn raise(limit: Limit, needed: u64) -> Result<(), u64> {
    let wanted = needed.saturating_mul(limit.unit);
    let now = getrlimit(limit.resource);
    if now.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(wanted), maximum: now.maximum };
    setrlimit(limit.resource, raised)
        .map_err(|_| now.maximum.or(now.current).unwrap_or(wanted) / limit.unit)
}

#[cfg(test)]
mod tests {
    use model::{Counts, Dbms, Setting, StepId, Subject};

    use super::*;
    use crate::fixture;

    fn system(dbms: Dbms, settings: &[(&str, &str)]) -> System {
        let mut system = fixture::system(dbms);
        let settings = settings.iter().map(|(name, value)| Setting {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
        });
        system.config.settings = settings.collect();
        system
    }

    /// Loaded by 3 sessions, settled by 9, then point queries by so many clients.
    fn steps(clients: u32) -> Vec<Step> {
        let subject = Subject { kind: "query".to_owned(), counts: Counts::Operations };
        let steps = [("load", 3), ("settle", 9), ("point-query@9", clients)];
        let step = |(name, clients)| Step::new(StepId::new(name), 0, clients, subject.clone());
        steps.map(step).to_vec()
    }

    #[test]
    fn what_a_server_takes_is_what_its_config_says_else_what_it_comes_with() {
        let of = |dbms, settings| Capacity::of_config(&system(dbms, settings));
        let takes = |max_connections, reserved| Some(Capacity { max_connections, reserved });
        assert_eq!(of(Dbms::Mysql, &[]), takes(151, 0));
        assert_eq!(of(Dbms::Postgres, &[]), takes(100, 3));
        assert_eq!(of(Dbms::Sqlite, &[]), None);
        let twice = [("max-connections", "500"), ("Max_Connections", "600")];
        assert_eq!(of(Dbms::Mariadb, &twice), takes(600, 0));
        assert_eq!(of(Dbms::Mariadb, &[("extra_max_connections", "9")]), takes(151, 0));
        assert_eq!(of(Dbms::Mysql, &[("loose_max_connections", "many")]), None);
    }

    #[test]
    fn too_many_clients_are_told_with_the_numbers_and_the_line_to_add() {
        let told = |dbms, clients, is_ours| {
            let capacity = Capacity::of_config(&system(dbms, &[])).unwrap();
            capacity.check(&steps(clients), is_ours)
        };
        assert!(told(Dbms::Mysql, 150, true).is_ok());
        assert!(told(Dbms::Postgres, 96, true).is_ok());
        insta::assert_snapshot!(told(Dbms::Mysql, 151, true).unwrap_err(), @"step `point-query@9` opens 151 sessions besides one of backslide's own, and the server takes 151: add `max_connections = 152` to the system's `set`, or use fewer clients");
        insta::assert_snapshot!(told(Dbms::Postgres, 97, false).unwrap_err(), @"step `point-query@9` opens 97 sessions besides one of backslide's own, and the server takes 100, 3 of them for its administrator: set its max_connections to 101 or more, or use fewer clients");
    }

    #[test]
    fn the_first_step_with_the_most_sessions_counts() {
        let most = |clients| most_sessions(&steps(clients)).map(|most| most.id.0.clone());
        assert_eq!(most(3).as_deref(), Some("settle"));
        assert_eq!(most(9).as_deref(), Some("settle"));
        assert_eq!(most(10).as_deref(), Some("point-query@9"));
    }

    #[test]
    fn steps_that_load_hosts_run_raise_no_limits_here() {
        let here = system(Dbms::Mysql, &[]);
        let divided = System { load_hosts: vec!["client1".to_owned()], ..here.clone() };
        let mut steps = steps(1_000);
        steps[0].task = StepTask::Load;
        let most =
            |system: &System| most_sessions(&steps_here(&steps, &[system])).unwrap().sessions;
        assert_eq!((most(&here), most(&divided)), (1_000, 3));
    }

    #[test]
    fn files_for_a_few_sessions_can_be_had_and_for_a_billion_cannot() {
        let system = system(Dbms::Postgres, &[]);
        raise_limits(&steps(1_000), &[&system, &system], true).unwrap();
        let current = getrlimit(Resource::Nofile).current;
        assert!(current.is_none_or(|current| current >= 2_000 + OTHER_FILES));
        let error = raise_limits(&steps(u32::MAX), &[&system], false).unwrap_err().to_string();
        assert!(error.contains("ulimit -n 4294967551"), "{error}");
    }

    #[test]
    fn pairs_need_what_two_systems_need() {
        let named = |name: &str| System { name: name.to_owned(), ..system(Dbms::Postgres, &[]) };
        let systems = ["a", "b", "c"].map(named);
        let all: Vec<&System> = systems.iter().collect();
        let names = |pair: Vec<&System>| pair.iter().map(|s| s.name.as_str()).collect::<String>();
        let pairs: Vec<String> = pairs(&all, "b").into_iter().map(names).collect();
        assert_eq!(pairs, ["ba", "bc"]);
    }

    #[test]
    fn what_sessions_need_of_each_limit() {
        let system = |dbms| system(dbms, &[]);
        let (postgres, mariadb) = (system(Dbms::Postgres), system(Dbms::Mariadb));
        let mut sqlite = system(Dbms::Sqlite);
        sqlite.build.source = model::BuildSource::Embedded;
        let of =
            |systems: &[&System], at_once| needs(2_000, systems, at_once).map(|(_, needed)| needed);
        assert_eq!(of(&[&postgres], false), [2_256, 4_256, 512_000]);
        // What MariaDB keeps for itself is more than what we have open besides sessions.
        assert_eq!(of(&[&mariadb], false), [2_811, 4_256, 512_000]);
        assert_eq!(of(&[&sqlite], false), [6_256, 2_256, 512_000]);
        assert_eq!(of(&[&postgres, &sqlite], false)[0], 6_256);
        assert_eq!(of(&[&postgres, &sqlite], true), [8_256, 6_256, 1_024_000]);
    }
}
