//! The catalog that backslide brings along: its plans expand, its configs fit the versions.

use std::fmt::Write as _;

use crate::{Catalog, estimate};
use insta::assert_snapshot;
use model::{Dbms, Engine, Plan, WorkloadSpec};

use super::{HOST, expand};

/// A plan with its order and estimate, short enough to be read.
fn shown(plan: &Plan) -> String {
    let WorkloadSpec::Insert(spec) = &plan.workload else { panic!("it is the Insert Benchmark") };
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
        let settings: Vec<String> =
            system.config.settings.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "{}{control}, {time}: {}", system.name, settings.join(", "));
    }
    let order = plan.trials().iter().fold(String::new(), |order, trial| {
        format!("{order} {}:{}", trial.round, plan.systems[trial.system].name)
    });
    let _ = writeln!(text, "order{order}\ntime {}, disk {}", needs.time, needs.disk);
    text
}

fn of_catalog(name: &str) -> String {
    shown(&expand(Catalog::embedded().unwrap().plan(name).unwrap()).unwrap())
}

#[test]
fn plans() {
    assert_eq!(
        Catalog::embedded().unwrap().plan_names(),
        [
            "demo",
            "mariadb-innodb-myrocks",
            "micro-mariadb-10.5-11.8",
            "micro-mysql-5.6-9.7",
            "micro-mysql-5.6-9.7-control",
            "micro-postgres-12-18",
            "micro-smoke",
            "micro-sqlite",
            "micro-sweep",
            "mysql-5.6-to-9.7",
            "mysql-5.6-to-9.7-control",
            "postgres-12-to-19",
            "postgres-history",
            "postgres-mariadb",
            "smoke",
            "sqlite-history",
            "tpcc-isolation",
            "tpcc-mysql-5.6-9.7",
            "tpcc-postgres",
            "tpcc-smoke",
            "why-mariadb-10.11-11.8",
            "why-mysql-5.6-9.7",
            "why-postgres-12-18"
        ]
    );
    assert_snapshot!(of_catalog("demo"), @r"
    demo: seed 7681083602658888420, base sqlite/wal
    rows 20000 4000 1000, 1 s a query step, settle Seconds(0)
    steps l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000
    sqlite/wal, 7.38s: journal_mode = wal, synchronous = normal, cache_size = -65536, temp_store = memory
    sqlite/rollback, 7.38s: journal_mode = delete, synchronous = full, cache_size = -65536, temp_store = memory
    control (control), 7.38s: journal_mode = wal, synchronous = normal, cache_size = -65536, temp_store = memory
    order 1:sqlite/wal 1:control 1:sqlite/rollback 2:sqlite/rollback 2:control 2:sqlite/wal 3:sqlite/wal 3:sqlite/rollback 3:control 4:control 4:sqlite/rollback 4:sqlite/wal
    time 1m28s, disk 87.7 MiB
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
    mariadb-10.11.18/innodb/quick, 2m16s: innodb_buffer_pool_size = 256M, innodb_log_file_size = 256M, innodb_flush_log_at_trx_commit = 2, skip_log_bin, innodb_buffer_pool_dump_at_shutdown = OFF, innodb_buffer_pool_load_at_startup = OFF, transaction_isolation = REPEATABLE-READ, innodb_snapshot_isolation = OFF, performance_schema = OFF, character_set_server = latin1, collation_server = latin1_swedish_ci, skip_ssl
    postgres-15.18/quick, 2m05s: shared_buffers = 256MB, max_wal_size = 1GB, synchronous_commit = off, wal_level = replica, checkpoint_timeout = 15min, max_parallel_workers_per_gather = 0, max_parallel_maintenance_workers = 0, jit = off
    order 1:postgres-15.18/quick 1:mariadb-10.11.18/innodb/quick 2:mariadb-10.11.18/innodb/quick 2:postgres-15.18/quick 3:mariadb-10.11.18/innodb/quick 3:postgres-15.18/quick 4:postgres-15.18/quick 4:mariadb-10.11.18/innodb/quick
    time 17m26s, disk 1.24 GiB
    ");
}

#[test]
fn a_config_of_the_user_joins_and_replaces() {
    let file = |path: &str, summary: &str| (path.to_owned(), format!("summary = \"{summary}\""));
    let catalog = Catalog::with(&[
        file("dbms/mariadb/configs/mine.toml", "mine"),
        file("dbms/mariadb/configs/z12a.toml", "other"),
    ])
    .unwrap();
    assert!(catalog.config_names(Dbms::Mariadb).contains(&"mine"));
    assert_eq!(catalog.config(Dbms::Mariadb, "z12a").unwrap().summary(), "other");
}

#[test]
fn a_setting_can_be_for_one_engine() {
    let text = "summary = \"s\"\n[[setting]]\nname = \"a\"\nvalue = 1\nengine = \"innodb\"\n\
                [[setting]]\nname = \"b\"\nvalue = true\nengine = \"myrocks\"";
    let catalog =
        Catalog::with(&[("dbms/mariadb/configs/e.toml".to_owned(), text.to_owned())]).unwrap();
    let config = catalog.config(Dbms::Mariadb, "e").unwrap();
    let version = "10.11.18".parse().unwrap();
    let names = |engine| {
        let settings = config.render(&version, engine, HOST).unwrap().settings;
        settings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(Engine::Innodb), ["a = 1"]);
    assert_eq!(names(Engine::Myrocks), ["b = ON"]);
}
