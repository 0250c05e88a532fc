//! How many sessions a server takes, how many a workload opens, and which limits of a process that meets.

use model::{
    Dbms, InsertSpec, Interleave, Plan, SqlSpec, SqlWork, System, Tables, TpccSpec, WorkloadSpec,
};
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use crate::LabError;

/// Sessions of ours at the same time as those of a workload's clients.
const OURS: u32 = 1;

/// Files that this process has open beside its sessions: the store, probes, logs.
const OTHER_FILES: u64 = 256;

/// Processes and threads beside those of sessions: ours, the server's own, the user's other programs.
const OTHER_PROCESSES: u64 = 256;

/// How many sessions a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Its setting of that name.
    pub max_connections: u32,
    /// Of these, how many it keeps for its administrator.
    pub reserved: u32,
}

impl Capacity {
    /// What a server of ours has: what its config says, else what its family comes with; `None` for an
    /// embedded database and for a value that is no plain number.
    pub(crate) fn of_config(system: &System) -> Option<Self> {
        let dbms = system.build.dbms;
        let usual = match dbms {
            Dbms::Mysql | Dbms::Mariadb => 151,
            Dbms::Postgres => 100,
            Dbms::Sqlite | Dbms::Other => return None,
        };
        let is_it = |name: &str| {
            let name = name.to_lowercase().replace('-', "_");
            name.strip_prefix("loose_").unwrap_or(&name) == SETTING
        };
        let settings = &system.config.settings;
        let max_connections = match settings.iter().rfind(|setting| is_it(&setting.name)) {
            None => usual,
            Some(setting) => setting.value.as_ref()?.trim().parse().ok()?,
        };
        Some(Self {
            max_connections,
            reserved: reserved(dbms),
        })
    }

    /// Is there room for all sessions of a workload? The error has the numbers and what to do.
    pub(crate) fn check(self, workload: &WorkloadSpec, is_ours: bool) -> Result<(), String> {
        let most = most_sessions(workload);
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
        Err(format!(
            "{} opens {} sessions besides one of ours, and the server takes {}{reserved}: {remedy}, \
             or use fewer clients",
            most.what, most.sessions, self.max_connections
        ))
    }
}

/// The setting, which every server that has one calls the same.
const SETTING: &str = "max_connections";

/// PostgreSQL keeps 3 of its sessions for the superuser; MySQL and MariaDB have one more for theirs.
pub(crate) const fn reserved(dbms: Dbms) -> u32 {
    match dbms {
        Dbms::Postgres => 3,
        Dbms::Mysql | Dbms::Mariadb | Dbms::Sqlite | Dbms::Other => 0,
    }
}

/// Tables of the TPC-C-like workload.
const TPCC_TABLES: u32 = 9;

/// What has the most sessions at the same time.
struct Most {
    what: String,
    sessions: u32,
}

fn most_sessions(workload: &WorkloadSpec) -> Most {
    match workload {
        WorkloadSpec::Insert(spec) => of_insert(spec),
        WorkloadSpec::Sql(spec) => of_sql(spec),
        WorkloadSpec::Tpcc(spec) => of_tpcc(spec),
    }
}

/// Beside each client's queries run its inserts, its deletes with the search for the lowest row, and its
/// long transaction, each over a session of their own.
fn of_insert(spec: &InsertSpec) -> Most {
    let deletes = spec.deletes && spec.tables == Tables::Own;
    let writers = 1 + 2 * u32::from(deletes);
    let long = u32::from(spec.htap_seconds > 0);
    let each = spec.query_sessions.saturating_add(writers + long);
    Most {
        what: "a query step".to_owned(),
        sessions: spec.clients.saturating_mul(each),
    }
}

fn of_sql(spec: &SqlSpec) -> Most {
    let tables: u32 = spec.tables.iter().map(|table| table.copies).sum();
    let sessions = |work: &SqlWork, clients: u32| match work {
        SqlWork::Run(_) => clients,
        SqlWork::Load | SqlWork::Reset => spec.load.clients.saturating_add(1),
        SqlWork::Index => tables,
        SqlWork::Settle(_) => tables + 1,
    };
    largest(spec.steps.iter().map(|step| Most {
        what: format!("step `{}`", step.id),
        sessions: sessions(&step.work, step.clients),
    }))
}

/// Beside the terminals of a step, and beside the loaders, one session looks after the whole; the settle
/// phase has one a table.
fn of_tpcc(spec: &TpccSpec) -> Most {
    let steps = [
        ("settle", TPCC_TABLES),
        ("load", spec.load.clients),
        ("h1", spec.clients),
    ];
    largest(steps.into_iter().map(|(step, clients)| Most {
        what: format!("step `{step}`"),
        sessions: clients.saturating_add(1),
    }))
}

fn largest(steps: impl Iterator<Item = Most>) -> Most {
    steps.max_by_key(|most| most.sessions).unwrap_or(Most {
        what: "no step".to_owned(),
        sessions: 0,
    })
}

/// A limit of a process that its children inherit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    /// What it counts.
    what: &'static str,
    /// Its option of `ulimit`.
    flag: &'static str,
    resource: Resource,
    /// How much of the resource the option counts as one.
    unit: u64,
}

const OPEN_FILES: Limit = Limit {
    what: "open files",
    flag: "-n",
    resource: Resource::Nofile,
    unit: 1,
};

/// Threads count as processes; root has no such limit.
const PROCESSES: Limit = Limit {
    what: "processes and threads",
    flag: "-u",
    resource: Resource::Nproc,
    unit: 1,
};

const ADDRESSES: Limit = Limit {
    what: "KiB of addresses",
    flag: "-v",
    resource: Resource::As,
    unit: 1 << 10,
};

/// Files that a session of ours has open: SQLite has the database, its log and the log's index.
const fn files_of_session(dbms: Dbms) -> u64 {
    match dbms {
        Dbms::Sqlite => 3,
        Dbms::Mysql | Dbms::Mariadb | Dbms::Postgres | Dbms::Other => 1,
    }
}

/// Files that a server keeps for itself before it counts sessions. With less, MySQL and MariaDB lower their
/// own `max_connections` and say so in their log only: MySQL keeps 10 and twice 400 tables. A process of
/// PostgreSQL has one session.
const fn files_of_server(dbms: Dbms) -> Option<u64> {
    match dbms {
        Dbms::Mysql | Dbms::Mariadb => Some(810),
        Dbms::Postgres | Dbms::Sqlite | Dbms::Other => None,
    }
}

/// What the most sessions of a workload need of each limit. `at_once`: on all systems at the same time.
fn needs(workload: &WorkloadSpec, systems: &[&System], at_once: bool) -> [(Limit, u64); 3] {
    let sessions = u64::from(most_sessions(workload).sessions);
    let ours = systems.iter().map(|system| {
        let files = sessions * files_of_session(system.build.dbms);
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
        .filter_map(|system| files_of_server(system.build.dbms))
        .map(|own| sessions + u64::from(OURS) + own)
        .max();
    // Clients of one system have threads at a time, also in slices.
    let stacks = sessions * (load::CLIENT_STACK as u64 / ADDRESSES.unit);
    [
        (OPEN_FILES, (files + OTHER_FILES).max(server.unwrap_or(0))),
        (PROCESSES, threads + OTHER_PROCESSES),
        (ADDRESSES, stacks),
    ]
}

/// As [`raise_limits_of`], for one workload; `at_once`: on all systems at the same time. Limits are raised
/// no further than needed, because servers inherit them.
pub(crate) fn raise_limits(
    workload: &WorkloadSpec,
    systems: &[&System],
    at_once: bool,
) -> Result<(), LabError> {
    for (limit, needed) in needs(workload, systems, at_once) {
        if limit == PROCESSES && geteuid().is_root() {
            continue;
        }
        raise(limit, needed).map_err(|found| LabError::Limit {
            sessions: most_sessions(workload).sessions,
            what: limit.what,
            flag: limit.flag,
            needed,
            found,
        })?;
    }
    Ok(())
}

/// Lets this process, and with it the servers that it starts, have what a plan's sessions on these systems
/// need. The error names the limit, how much is needed and what was found.
pub fn raise_limits_of(plan: &Plan, systems: &[&System]) -> Result<(), LabError> {
    let at_once = match plan.course.interleave {
        Interleave::Trials => false,
        Interleave::Slices(_) => true,
    };
    raise_limits(&plan.workload, systems, at_once)
}

/// Raises a soft limit to what is needed. The error is the hard limit, which is less.
fn raise(limit: Limit, needed: u64) -> Result<(), u64> {
    let wanted = needed.saturating_mul(limit.unit);
    let now = getrlimit(limit.resource);
    if now.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: now.maximum,
    };
    setrlimit(limit.resource, raised)
        .map_err(|_| now.maximum.or(now.current).unwrap_or(wanted) / limit.unit)
}

#[cfg(test)]
mod tests {
    use model::{
        ErrorRules, InsertScale, LoadMethod, LoadSpec, Pacing, QueryKind, Setting, Settle, SqlPace,
        SqlRun, SqlStep, SqlTable, Statements, StepId, WarmUpEnd,
    };

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

    fn step(name: &str, clients: u32, work: SqlWork) -> SqlStep {
        SqlStep {
            id: StepId::new(name),
            test: name.to_owned(),
            group: String::new(),
            clients,
            work,
        }
    }

    /// Loaded by 2 clients into 8 tables, then point queries by so many clients.
    fn workload(clients: u32) -> WorkloadSpec {
        let run = SqlRun {
            measured: true,
            seconds: 1,
            warmup_seconds: 0,
            warmup_end: WarmUpEnd::Fixed,
            writes: false,
            whole: false,
            pace: SqlPace::Unlimited,
            operations: Vec::new(),
        };
        WorkloadSpec::Sql(SqlSpec {
            name: "micro".to_owned(),
            tables: vec![SqlTable {
                name: "sbtest".to_owned(),
                numbered: true,
                copies: 8,
                rows: 10,
                columns: Vec::new(),
                primary_key: Vec::new(),
                indexes: Vec::new(),
            }],
            load: by_two(),
            steps: vec![
                step("load", 2, SqlWork::Load),
                step("settle", 2, SqlWork::Settle(Settle::Seconds(0))),
                step("point-query@9", clients, SqlWork::Run(run)),
            ],
            statements: Statements::Usual,
            errors: one_try(),
            statement_timeout: 1,
            compat: false,
        })
    }

    /// One warehouse, loaded by 2 clients, then so many terminals.
    fn terminals(clients: u32) -> WorkloadSpec {
        WorkloadSpec::Tpcc(TpccSpec {
            clients,
            settle: Settle::Seconds(0),
            steps: 1,
            ..TpccSpec::usual(1, by_two()).with_few_indexes()
        })
    }

    fn by_two() -> LoadSpec {
        LoadSpec {
            clients: 2,
            method: LoadMethod::Fastest,
            rows_per_commit: 1,
            indexes_first: false,
        }
    }

    fn one_try() -> ErrorRules {
        ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1,
            reconnect_seconds: 0,
        }
    }

    #[test]
    fn what_a_server_takes_is_what_its_config_says_else_what_it_comes_with() {
        let of = |dbms, settings| Capacity::of_config(&system(dbms, settings));
        let takes = |max_connections, reserved| {
            Some(Capacity {
                max_connections,
                reserved,
            })
        };
        assert_eq!(of(Dbms::Mysql, &[]), takes(151, 0));
        assert_eq!(of(Dbms::Postgres, &[]), takes(100, 3));
        assert_eq!(of(Dbms::Sqlite, &[]), None);
        let twice = [("max-connections", "500"), ("Max_Connections", "600")];
        assert_eq!(of(Dbms::Mariadb, &twice), takes(600, 0));
        assert_eq!(
            of(Dbms::Mariadb, &[("extra_max_connections", "9")]),
            takes(151, 0)
        );
        assert_eq!(of(Dbms::Mysql, &[("loose_max_connections", "many")]), None);
    }

    #[test]
    fn too_many_clients_are_told_with_the_numbers_and_the_line_to_add() {
        let told = |dbms, clients, is_ours| {
            let capacity = Capacity::of_config(&system(dbms, &[])).unwrap();
            capacity.check(&workload(clients), is_ours)
        };
        assert_eq!(told(Dbms::Mysql, 150, true), Ok(()));
        assert_eq!(told(Dbms::Postgres, 96, true), Ok(()));
        insta::assert_snapshot!(told(Dbms::Mysql, 151, true).unwrap_err(), @"step `point-query@9` opens 151 sessions besides one of ours, and the server takes 151: add `max_connections = 152` to the system's `set`, or use fewer clients");
        insta::assert_snapshot!(told(Dbms::Postgres, 97, false).unwrap_err(), @"step `point-query@9` opens 97 sessions besides one of ours, and the server takes 100, 3 of them for its administrator: set its max_connections to 101 or more, or use fewer clients");
    }

    #[test]
    fn steps_without_clients_of_their_own_count_too() {
        let most = most_sessions(&workload(3));
        assert_eq!((most.what.as_str(), most.sessions), ("step `settle`", 9));
        let most = most_sessions(&workload(10));
        assert_eq!(most.sessions, 10);
    }

    /// The Insert Benchmark by two clients with three query sessions each.
    fn insert(tables: Tables, deletes: bool, htap_seconds: u32) -> WorkloadSpec {
        WorkloadSpec::Insert(InsertSpec {
            scale: InsertScale::Tiny,
            clients: 2,
            tables,
            rows: 1,
            i1_rows: 1,
            i2_rows: 1,
            i0_rows_per_commit: 1,
            i1_rows_per_commit: 1,
            i2_rows_per_commit: 1,
            query_rows_per_commit: 1,
            rates: vec![1],
            queries: vec![QueryKind::Range],
            query_seconds: 1,
            query_sessions: 3,
            rows_per_query: 1,
            max_refresh: 1,
            secondary_indexes: 0,
            deletes,
            queue: 1,
            min_resync: 1,
            data_min: 1,
            data_max: 1,
            data_random_percent: 1,
            writes: Statements::Usual,
            reads: Statements::Usual,
            pacing: Pacing::Even,
            settle: Settle::Seconds(0),
            htap_seconds,
            partitions: 0,
            sequence_cache: 1,
            sla_percent: 1,
            statement_timeout: 1,
            compat: false,
            steps: Vec::new(),
        })
    }

    #[test]
    fn every_session_of_the_insert_benchmark_counts() {
        let sessions =
            |tables, deletes, htap| most_sessions(&insert(tables, deletes, htap)).sessions;
        assert_eq!(sessions(Tables::Own, false, 0), 2 * 4);
        // One deletes, one looks for the lowest row.
        assert_eq!(sessions(Tables::Own, true, 0), 2 * 6);
        assert_eq!(sessions(Tables::Own, true, 5), 2 * 7);
        // Nobody deletes from a table that is shared.
        assert_eq!(sessions(Tables::Shared, true, 0), 2 * 4);
    }

    #[test]
    fn terminals_have_a_session_each_and_the_step_one_more() {
        let most = most_sessions(&terminals(3));
        assert_eq!((most.what.as_str(), most.sessions), ("step `settle`", 10));
        let most = most_sessions(&terminals(64));
        assert_eq!((most.what.as_str(), most.sessions), ("step `h1`", 65));
    }

    #[test]
    fn files_for_a_few_sessions_can_be_had_and_for_a_billion_cannot() {
        let system = system(Dbms::Postgres, &[]);
        raise_limits(&workload(1_000), &[&system, &system], true).unwrap();
        let current = getrlimit(Resource::Nofile).current;
        assert!(current.is_none_or(|current| current >= 2_000 + OTHER_FILES));
        let error = raise_limits(&workload(u32::MAX), &[&system], false)
            .unwrap_err()
            .to_string();
        assert!(error.contains("ulimit -n 4294967551"), "{error}");
    }

    #[test]
    fn what_sessions_need_of_each_limit() {
        let system = |dbms| system(dbms, &[]);
        let (postgres, mariadb) = (system(Dbms::Postgres), system(Dbms::Mariadb));
        let mut sqlite = system(Dbms::Sqlite);
        sqlite.build.source = model::BuildSource::Embedded;
        let of = |systems: &[&System], at_once| {
            needs(&workload(2_000), systems, at_once).map(|(_, needed)| needed)
        };
        assert_eq!(of(&[&postgres], false), [2_256, 4_256, 512_000]);
        // What MariaDB keeps for itself is more than what we have open besides sessions.
        assert_eq!(of(&[&mariadb], false), [2_811, 4_256, 512_000]);
        assert_eq!(of(&[&sqlite], false), [6_256, 2_256, 512_000]);
        assert_eq!(of(&[&postgres, &sqlite], false)[0], 6_256);
        assert_eq!(of(&[&postgres, &sqlite], true)[0], 8_256);
    }
}
