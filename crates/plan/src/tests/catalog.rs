//! The catalog that backslide brings along: its plans expand, its configs fit the versions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::{Catalog, PlanError, estimate};
use insta::assert_snapshot;
use model::{Dbms, Engine, Plan, WorkloadSpec};

use super::{HOST, expand};

/// A plan with its order and estimate, short enough to be read.
fn shown(plan: &Plan) -> String {
    let WorkloadSpec::Insert(spec) = &plan.workload;
    let steps: Vec<&str> = spec.steps.iter().map(|step| step.0.as_str()).collect();
    let needs = estimate(plan);
    let mut text = format!("{}: seed {}, base {}\n", plan.name, plan.seed, plan.base);
    let _ = writeln!(
        text,
        "rows {} {} {}, {} s a query step, settle {:?}\nsteps {}",
        spec.rows,
        spec.i1_rows,
        spec.i2_rows,
        spec.query_seconds,
        spec.settle,
        steps.join(" ")
    );
    for (system, (_, time)) in plan.systems.iter().zip(&needs.parts) {
        let control = if system.control { " (control)" } else { "" };
        let settings: Vec<String> = system
            .config
            .settings
            .iter()
            .map(ToString::to_string)
            .collect();
        let _ = writeln!(
            text,
            "{}{control}, {time}: {}",
            system.name,
            settings.join(", ")
        );
    }
    let order = plan.trials().iter().fold(String::new(), |order, trial| {
        format!(
            "{order} {}:{}",
            trial.round, plan.systems[trial.system].name
        )
    });
    let _ = writeln!(
        text,
        "order{order}\ntime {}, disk {}",
        needs.time, needs.disk
    );
    text
}

fn of_catalog(name: &str) -> String {
    shown(&expand(Catalog::embedded().unwrap().plan(name).unwrap()).unwrap())
}

#[test]
fn plans() {
    assert_eq!(
        Catalog::embedded().unwrap().plan_names(),
        ["demo", "postgres-mariadb", "smoke"]
    );
    assert_snapshot!(of_catalog("demo"), @r"
    demo: seed 7681083602658888420, base sqlite/wal
    rows 20000 4000 1000, 1 s a query step, settle Seconds(0)
    steps l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000
    sqlite/wal, 7.38s: journal_mode = wal, synchronous = normal, cache_size = -65536, temp_store = memory
    sqlite/rollback, 7.38s: journal_mode = delete, synchronous = full, cache_size = -65536, temp_store = memory
    control (control), 7.38s: journal_mode = wal, synchronous = normal, cache_size = -65536, temp_store = memory
    order 1:sqlite/wal 1:control 1:sqlite/rollback 2:control 2:sqlite/wal 2:sqlite/rollback 3:sqlite/rollback 3:sqlite/wal 3:control 4:control 4:sqlite/rollback 4:sqlite/wal
    time 1m28s, disk 49.5 MiB
    ");
    assert_snapshot!(of_catalog("smoke"), @r"
    smoke: seed 9213854418429048128, base sqlite/wal
    rows 2000 1000 200, 1 s a query step, settle Seconds(0)
    steps l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000
    sqlite/wal, 6.35s: journal_mode = wal, synchronous = normal, cache_size = -65536, temp_store = memory
    order 1:sqlite/wal
    time 6.35s, disk 18.8 MiB
    ");
    assert_snapshot!(of_catalog("postgres-mariadb"), @r"
    postgres-mariadb: seed 8361702791324000917, base mariadb-10.11.18/innodb/quick
    rows 400000 160000 40000, 15 s a query step, settle Seconds(5)
    steps l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000
    mariadb-10.11.18/innodb/quick, 2m16s: innodb_buffer_pool_size = 256M, innodb_log_file_size = 256M, innodb_flush_log_at_trx_commit = 2, skip_log_bin, innodb_buffer_pool_dump_at_shutdown = OFF, innodb_buffer_pool_load_at_startup = OFF, character_set_server = latin1, skip_ssl
    postgres-15.18/quick, 2m05s: shared_buffers = 256MB, max_wal_size = 1GB, synchronous_commit = off, checkpoint_timeout = 15min, max_parallel_workers_per_gather = 0, max_parallel_maintenance_workers = 0, jit = off
    order 1:postgres-15.18/quick 1:mariadb-10.11.18/innodb/quick 2:mariadb-10.11.18/innodb/quick 2:postgres-15.18/quick 3:postgres-15.18/quick 3:mariadb-10.11.18/innodb/quick
    time 13m04s, disk 761 MiB
    ");
}

fn render(dbms: Dbms, name: &str, version: &str) -> Result<String, PlanError> {
    let catalog = Catalog::embedded()?;
    let config = catalog.config(dbms, name)?;
    let config = config.render(&version.parse().unwrap(), dbms.default_engine(), HOST)?;
    let lines: Vec<String> = config.settings.iter().map(ToString::to_string).collect();
    Ok(lines.join("\n"))
}

/// The lines that two versions do not share.
fn difference(dbms: Dbms, name: &str, old: &str, new: &str) -> String {
    let (old, new) = (
        render(dbms, name, old).unwrap(),
        render(dbms, name, new).unwrap(),
    );
    let only = |a: &str, b: &str, sign: &str| {
        let lines = a
            .lines()
            .filter(|line| !b.lines().any(|other| other == *line));
        lines.fold(String::new(), |text, line| format!("{text}{sign}{line}\n"))
    };
    only(&old, &new, "-") + &only(&new, &old, "+")
}

#[test]
fn z12a_for_mariadb() {
    assert_snapshot!(render(Dbms::Mariadb, "z12a", "10.11.18").unwrap(), @r"
    innodb_buffer_pool_size = 3276M
    innodb_log_file_size = 1966M
    innodb_log_buffer_size = 64M
    innodb_purge_threads = 1
    innodb_read_io_threads = 1
    innodb_write_io_threads = 2
    innodb_io_capacity = 10000
    innodb_io_capacity_max = 20000
    innodb_max_dirty_pages_pct = 90
    innodb_max_dirty_pages_pct_lwm = 80
    innodb_flush_neighbors = 0
    innodb_flush_method = O_DIRECT_NO_FSYNC
    innodb_doublewrite = ON
    innodb_change_buffering = none
    innodb_adaptive_hash_index = OFF
    innodb_buffer_pool_dump_at_shutdown = OFF
    innodb_buffer_pool_load_at_startup = OFF
    innodb_flush_log_at_trx_commit = 2
    log_bin = binlog
    server_id = 1
    binlog_format = ROW
    sync_binlog = 0
    max_binlog_size = 256M
    innodb_max_purge_lag = 500000
    innodb_max_purge_lag_delay = 1000000
    performance_schema = ON
    slow_query_log = ON
    character_set_server = latin1
    collation_server = latin1_swedish_ci
    skip_ssl
    ");
    assert_snapshot!(difference(Dbms::Mariadb, "z12a", "10.1.23", "10.2.11"), @r"
    -innodb_idle_flush_pct = 1
    +innodb_page_cleaners = 1
    ");
    assert_snapshot!(difference(Dbms::Mariadb, "z12a", "10.2.11", "10.5.23"), @r"
    -innodb_buffer_pool_instances = 1
    -innodb_log_file_size = 983M
    -innodb_page_cleaners = 1
    +innodb_log_file_size = 1966M
    ");
    assert_snapshot!(difference(Dbms::Mariadb, "z12a", "10.5.23", "10.11.18"), @"");
    assert_snapshot!(difference(Dbms::Mariadb, "z12a", "10.11.18", "11.4.5"), @r"
    -innodb_flush_method = O_DIRECT_NO_FSYNC
    -innodb_change_buffering = none
    +innodb_data_file_buffering = OFF
    +innodb_data_file_write_through = OFF
    +innodb_log_file_buffering = OFF
    +innodb_log_file_write_through = OFF
    ");
    assert_snapshot!(difference(Dbms::Mariadb, "z12a", "11.4.5", "11.8.9"), @"+innodb_snapshot_isolation = OFF");
}

#[test]
fn z12a_for_mysql() {
    assert_snapshot!(render(Dbms::Mysql, "z12a", "8.0.33").unwrap(), @r"
    innodb_buffer_pool_size = 3276M
    innodb_buffer_pool_instances = 1
    innodb_redo_log_capacity = 1966M
    innodb_log_buffer_size = 64M
    innodb_purge_threads = 1
    innodb_page_cleaners = 1
    innodb_read_io_threads = 1
    innodb_write_io_threads = 2
    innodb_io_capacity = 10000
    innodb_io_capacity_max = 20000
    innodb_max_dirty_pages_pct = 90
    innodb_max_dirty_pages_pct_lwm = 80
    innodb_idle_flush_pct = 1
    innodb_flush_neighbors = 0
    innodb_flush_method = O_DIRECT_NO_FSYNC
    innodb_use_fdatasync = ON
    innodb_doublewrite = ON
    innodb_doublewrite_pages = 128
    innodb_numa_interleave = ON
    innodb_change_buffering = all
    innodb_change_buffer_max_size = 25
    innodb_adaptive_hash_index = OFF
    innodb_buffer_pool_dump_at_shutdown = OFF
    innodb_buffer_pool_load_at_startup = OFF
    innodb_flush_log_at_trx_commit = 2
    log_bin = binlog
    server_id = 1
    binlog_format = ROW
    sync_binlog = 0
    max_binlog_size = 256M
    gtid_mode = OFF
    enforce_gtid_consistency = OFF
    innodb_max_purge_lag = 500000
    innodb_max_purge_lag_delay = 1000000
    performance_schema = ON
    slow_query_log = ON
    character_set_server = latin1
    collation_server = latin1_swedish_ci
    skip_ssl
    ");
    assert_snapshot!(difference(Dbms::Mysql, "z12a", "5.6.24", "8.0.33"), @r"
    -innodb_log_file_size = 983M
    -performance_schema = OFF
    +innodb_redo_log_capacity = 1966M
    +innodb_page_cleaners = 1
    +innodb_idle_flush_pct = 1
    +innodb_use_fdatasync = ON
    +innodb_doublewrite_pages = 128
    +innodb_numa_interleave = ON
    +performance_schema = ON
    ");
    assert_snapshot!(difference(Dbms::Mysql, "z12a", "8.0.33", "9.7.4"), @r"
    -skip_ssl
    +tls_version =
    ");
    assert_snapshot!(render(Dbms::Mysql, "z12a", "5.5.34").unwrap_err(), @"catalog/configs/mysql/z12a.toml:69: mysql 5.5.34 does not know `innodb_io_capacity_max`: it is there since 5.6; use another config, add an alternative for this version, or mark the setting `optional = true`");
}

#[test]
fn x10a_for_postgres() {
    assert_snapshot!(render(Dbms::Postgres, "x10a", "15.18").unwrap(), @r"
    shared_buffers = 3276MB
    huge_pages = off
    max_wal_size = 2621MB
    wal_sync_method = fdatasync
    full_page_writes = on
    synchronous_commit = off
    checkpoint_timeout = 1800s
    checkpoint_completion_target = 0.9
    max_parallel_workers = 0
    max_parallel_workers_per_gather = 0
    max_parallel_maintenance_workers = 0
    jit = off
    autovacuum_max_workers = 4
    autovacuum_naptime = 10s
    autovacuum_vacuum_scale_factor = 0.05
    autovacuum_vacuum_insert_scale_factor = 0.05
    autovacuum_vacuum_cost_delay = 1ms
    autovacuum_vacuum_cost_limit = 4000
    ");
    assert_snapshot!(difference(Dbms::Postgres, "x10a", "9.6.24", "18.6"), @r"
    +max_parallel_workers = 0
    +max_parallel_maintenance_workers = 0
    +jit = off
    +autovacuum_vacuum_insert_scale_factor = 0.05
    ");
}

/// One version of each generation, the oldest that is supported first.
fn versions(dbms: Dbms) -> &'static [&'static str] {
    match dbms {
        Dbms::Mysql => &[
            "5.5.9", "5.6.14", "5.7.22", "8.0.12", "8.0.33", "8.4.6", "9.7.4",
        ],
        Dbms::Mariadb => &[
            "10.1.8", "10.2.11", "10.4.34", "10.5.23", "10.6.20", "10.11.5", "10.11.18", "11.0.6",
            "11.4.5", "11.8.9",
        ],
        Dbms::Postgres => &[
            "9.6.24", "10.23", "11.22", "12.22", "13.23", "14.24", "15.18", "16.15", "17.11",
            "18.6", "19rc1",
        ],
        Dbms::Sqlite => &["3.51.1"],
    }
}

#[test]
fn every_config_fits_every_generation() {
    let catalog = Catalog::embedded().unwrap();
    let systems = Dbms::ALL.into_iter().flat_map(|dbms| {
        let names = catalog.config_names(dbms);
        assert!(names.contains(&"default"), "{dbms}");
        names.into_iter().map(move |name| (dbms, name))
    });
    let mut gaps = Vec::new();
    for (dbms, name) in systems {
        for version in versions(dbms) {
            let Ok(text) = render(dbms, name, version) else {
                gaps.push(format!("{dbms}-{version}/{name}"));
                continue;
            };
            let names: Vec<&str> = text
                .lines()
                .map(|l| l.split(" = ").next().unwrap())
                .collect();
            let once: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(
                names.len(),
                once.len(),
                "an option twice: {dbms}-{version}/{name}"
            );
        }
    }
    // The oldest MySQL lacks what z12a is made of; nothing else is refused.
    assert_eq!(gaps, ["mysql-5.5.9/z12a"]);
}

#[test]
fn a_config_of_the_user_joins_and_replaces() {
    let file = |path: &str, summary: &str| (path.to_owned(), format!("summary = \"{summary}\""));
    let catalog = Catalog::with(&[
        file("configs/mariadb/mine.toml", "mine"),
        file("configs/mariadb/z12a.toml", "other"),
    ])
    .unwrap();
    assert_eq!(
        catalog.config_names(Dbms::Mariadb),
        ["default", "mine", "quick", "z12a"]
    );
    assert_eq!(
        catalog.config(Dbms::Mariadb, "z12a").unwrap().summary(),
        "other"
    );
}

#[test]
fn a_setting_can_be_for_one_engine() {
    let text = "summary = \"s\"\n[[setting]]\nname = \"a\"\nvalue = 1\nengine = \"innodb\"\n\
                [[setting]]\nname = \"b\"\nvalue = true\nengine = \"myrocks\"";
    let catalog = Catalog::with(&[("configs/mariadb/e.toml".to_owned(), text.to_owned())]).unwrap();
    let config = catalog.config(Dbms::Mariadb, "e").unwrap();
    let version = "10.11.18".parse().unwrap();
    let names = |engine| {
        let settings = config.render(&version, engine, HOST).unwrap().settings;
        settings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(Engine::Innodb), ["a = 1"]);
    assert_eq!(names(Engine::Myrocks), ["b = ON"]);
}

#[test]
fn configs_can_be_shown() {
    let catalog = Catalog::embedded().unwrap();
    assert_snapshot!(catalog.config(Dbms::Postgres, "x10a").unwrap().show(), @r"
    x10a for postgres: the published x10a, scaled to this host: relaxed commits, long checkpoints, busy autovacuum
      shared_buffers = 40 % of memory, at least 128 MiB
      huge_pages = off
      max_wal_size = 32 % of memory, at least 1.00 GiB, at most 40.0 GiB
      wal_sync_method = fdatasync
      full_page_writes = on
      synchronous_commit = off
      checkpoint_timeout = 1800s
      checkpoint_completion_target = 0.9
      max_parallel_workers = 0    # since 10
      max_parallel_workers_per_gather = 0
      max_parallel_maintenance_workers = 0    # since 11
      jit = off    # since 11
      autovacuum_max_workers = 4
      autovacuum_naptime = 10s
      autovacuum_vacuum_scale_factor = 0.05
      autovacuum_vacuum_insert_scale_factor = 0.05    # since 13
      autovacuum_vacuum_cost_delay = 1ms
      autovacuum_vacuum_cost_limit = 4000
    ");
    assert_snapshot!(catalog.config(Dbms::Sqlite, "default").unwrap().show(), @r"
    default for sqlite: SQLite with its own defaults, which differ between versions
      (the server's own defaults)
    ");
}
