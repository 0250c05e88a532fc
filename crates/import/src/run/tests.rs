use model::{Nanos, Unit};

use super::*;
use crate::file::file;
use crate::{Scale, Stated};

fn row(system: &str, test: &str, clients: u32, rate: f64) -> ImportedStep {
    let file = file("x.csv", "a\nb");
    let mut row = ImportedStep::new(file.end(), system, test, clients);
    row.put("rate", Unit::OpsPerSecond, rate);
    row
}

fn about() -> About {
    About { name: "imported".into(), base: None, source: "x.csv".into(), by_version: false }
}

#[test]
fn the_same_step_again_is_the_next_round() {
    let rows = [
        row("mysql-8.0.31", "point", 1, 100.0),
        row("mysql-8.0.31", "scan", 1, 5.0),
        row("mysql-9.7.4", "point", 1, 90.0),
        row("mysql-8.0.31", "point", 1, 101.0),
        row("mysql-9.7.4", "point", 8, 700.0),
    ];
    let run = run(&rows, &about(), &Options::default()).unwrap();
    assert_eq!((run.plan.rounds, run.plan.base.as_str()), (2, "mysql-8.0.31"));
    let shape: Vec<String> = run
        .trials
        .iter()
        .map(|trial| {
            let steps = trial.steps.iter();
            let steps: Vec<&str> = steps.map(|(record, _)| record.step.0.as_str()).collect();
            format!("{} {}: {}", trial.key.round, trial.key.system, steps.join(" "))
        })
        .collect();
    let expected = [
        "1 mysql-8.0.31: point@1 scan",
        "1 mysql-9.7.4: point@1 point@8",
        "2 mysql-8.0.31: point@1",
    ];
    assert_eq!(shape, expected);
}

#[test]
fn a_control_is_of_the_product_of_the_base() {
    let rows = [row("control", "p", 1, 1.0), row("postgres-18.1/z13a", "p", 1, 1.0)];
    let about = About { base: Some("postgres-18.1/z13a".into()), ..about() };
    let run = run(&rows, &about, &Options::default()).unwrap();
    let control = run.plan.system("control").unwrap();
    assert!(control.control);
    assert_eq!(control.build.dbms, model::Dbms::Postgres);
}

#[test]
fn what_does_not_make_a_run_is_told() {
    let mut twice = [row("mysql-8", "p", 1, 1.0), row("mysql-8", "p", 1, 2.0)];
    for row in &mut twice {
        row.round = Some(3);
    }
    let absurd = ImportedStep { round: Some(u32::MAX), ..row("mysql-8", "p", 1, 1.0) };
    let cases: [(&[ImportedStep], &str); 4] = [
        (&[], "nothing to import"),
        (&twice, "twice in round 3"),
        (&[absurd], "at most 10000 rounds"),
        (&[row("", "p", 1, 1.0)], "has no name"),
    ];
    for (rows, what) in cases {
        let error = run(rows, &about(), &Options::default()).unwrap_err();
        assert!(error.what.contains(what), "{error}");
    }
    let no_base = About { base: Some("other".into()), ..about() };
    assert!(run(&twice[..1], &no_base, &Options::default()).is_err());
}

#[test]
fn a_little_more_time_is_no_other_workload() {
    let of = |seconds| {
        let mut row = row("mysql-8", "p", 1, 1.0);
        row.window = Nanos::from_secs(seconds);
        run(&[row], &about(), &Options::default()).unwrap()
    };
    let (short, long) = (of(600), of(605));
    assert_eq!(short.plan.workload, long.plan.workload);
    let window = |run: &ImportedRun| run.trials[0].steps[0].0.window;
    assert_eq!([window(&short), window(&long)], [600, 605].map(Nanos::from_secs));
}

/// A row of a file that states its scale.
fn sized(system: &str, rows: u64) -> ImportedStep {
    let mut row = row(system, "p", 1, 1.0);
    row.scale = Some(Stated {
        value: Scale::Tables { tables: 4, rows },
        origin: "x.csv".to_owned(),
        line: 1,
    });
    row
}

#[test]
fn another_scale_is_another_workload() {
    let of = |rows: &[ImportedStep]| {
        let run = run(rows, &about(), &Options::default()).unwrap();
        run.plan.workload
    };
    let small = of(&[sized("mysql-8", 1_000_000)]);
    assert_eq!(small, of(&[sized("mysql-9", 1_000_000)]));
    assert_ne!(small, of(&[sized("mysql-9", 10_000_000)]));
    assert_ne!(small, of(&[row("mysql-9", "p", 1, 1.0)]));
}

#[test]
fn what_was_measured_differently_is_no_run() {
    let mut in_rows = row("mysql-9", "p", 1, 1.0);
    in_rows.measurements[0].unit = Unit::RowsPerSecond;
    let of_host = |system: &str, cpus: u32| {
        let mut row = row(system, "p", 1, 1.0);
        row.cpus = Some(Stated { value: cpus, origin: "x.csv".to_owned(), line: 2 });
        row
    };
    let cases = [
        (
            [sized("mysql-8", 1_000_000), sized("mysql-9", 10_000_000)],
            "4 tables of 10000000 rows here",
        ),
        ([row("mysql-8", "p", 1, 1.0), in_rows], "in rows/s here"),
        ([of_host("mysql-8", 8), of_host("mysql-9", 40)], "CPUs is 40 here"),
    ];
    for (rows, what) in cases {
        let error = run(&rows, &about(), &Options::default()).unwrap_err();
        assert!(error.what.contains(what), "{error}");
    }
    let same = [of_host("mysql-8", 8), of_host("mysql-9", 8)];
    let run = run(&same, &about(), &Options::default()).unwrap();
    assert_eq!(run.host.shape.cpus, 8);
}

#[test]
fn the_name_of_a_run_has_no_control_characters() {
    let about = About {
        name: "a\u{1b}b".to_owned(),
        source: "imported from x.csv\n".to_owned(),
        ..about()
    };
    let rows = [row("mysql-8", "p", 1, 1.0)];
    let error = run(&rows, &about, &Options::default()).unwrap_err();
    assert_eq!((error.origin.as_str(), error.line), ("imported from x.csv", 1));
    assert!(error.what.contains("`a\\u{1b}b`"), "{error}");
}

#[test]
fn systems_of_a_folder_stand_in_the_order_of_their_versions() {
    let names = ["my9400.z", "pg18beta1.x", "my8406v2.z", "my_patched", "pg17.x", "my5651.z"];
    let rows = names.map(|name| row(name, "p", 1, 1.0));
    let about = About { by_version: true, ..about() };
    let run = run(&rows, &about, &Options::default()).unwrap();
    let systems: Vec<&str> = run.plan.systems.iter().map(|s| s.name.as_str()).collect();
    let expected = ["my5651.z", "my8406v2.z", "my9400.z", "pg17.x", "pg18beta1.x", "my_patched"];
    assert_eq!((systems.as_slice(), run.plan.base.as_str()), (&expected[..], "my5651.z"));
}

#[test]
fn the_product_that_a_file_states_is_that_of_a_name_that_says_none() {
    let stated = ImportedStep { dbms: Some(model::Dbms::Postgres), ..row("tuned", "p", 1, 1.0) };
    let named =
        ImportedStep { dbms: Some(model::Dbms::Postgres), ..row("mariadb-11.8.9", "p", 1, 1.0) };
    let rows = [stated, named, row("rocksdb-8.0.0", "p", 1, 1.0)];
    let run = run(&rows, &about(), &Options::default()).unwrap();
    let products: Vec<model::Dbms> = run.plan.systems.iter().map(|s| s.build.dbms).collect();
    let expected = [model::Dbms::Postgres, model::Dbms::Mariadb, model::Dbms::Other];
    assert_eq!(products, expected);
}
