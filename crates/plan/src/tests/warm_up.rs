//! What ends the warm-up of a test, and after how many seconds at most.

use insta::assert_snapshot;
use model::{Settle, SqlSpec, SqlWork, WarmUpEnd};

use super::{expand, sql, with_workload};

const FILE: &str = r#"
name = "mine"
summary = "one table"

[defaults]
DEFAULTS

[[table]]
name = "t"
rows = 100
primary_key = ["id"]

[table.columns]
id = { type = "int", value = "row" }

[operation.get]
draws = { id = { int = [1, 100] } }
sql = "SELECT id FROM {table} WHERE id = :id"

[[step]]
name = "warm"
operation = "get"
measured = false

[[step]]
name = "get"
operation = "get"
"#;

fn plan(workload: &str) -> String {
    format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ {workload} }}\n[[system]]\nbuild = \"sqlite\"\n"
    )
}

/// The warm-up of a test.
fn warmup(spec: &SqlSpec, test: &str) -> (WarmUpEnd, u32) {
    let step = spec.steps.iter().find(|step| step.test == test).unwrap();
    match &step.work {
        SqlWork::Run(run) => (run.warmup_end, run.warmup_seconds),
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => {
            panic!("it runs operations")
        }
    }
}

fn micro(keys: &str) -> (WarmUpEnd, u32) {
    let spec = sql(expand(&plan(&format!("kind = \"micro\"{keys}"))).unwrap());
    warmup(&spec, "point-query")
}

/// The spec of the file above with these defaults, in a plan with these keys.
fn mine(defaults: &str, keys: &str) -> SqlSpec {
    let plan = plan(&format!("kind = \"sql\", file = \"w.toml\"{keys}"));
    sql(with_workload(&plan, &FILE.replace("DEFAULTS", defaults)).unwrap())
}

#[test]
fn a_warm_up_ends_with_its_time_unless_the_plan_says_otherwise() {
    assert_eq!(micro(""), (WarmUpEnd::Fixed, 5));
    assert_eq!(micro(", warmup_seconds = 1"), (WarmUpEnd::Fixed, 1));
    assert_eq!(micro(", warmup = \"fixed\""), (WarmUpEnd::Fixed, 5));
    assert_eq!(micro(", warmup = \"steady\""), (WarmUpEnd::Steady, 60));
    assert_eq!(micro(", warmup_seconds = 20, warmup = \"steady\""), (WarmUpEnd::Steady, 20));
}

#[test]
fn a_test_that_writes_warms_up_until_its_rate_is_steady() {
    let write = |keys: &str| {
        let keys = format!("kind = \"micro\", tests = [\"update-index\"]{keys}");
        warmup(&sql(expand(&plan(&keys)).unwrap()), "update-index")
    };
    assert_eq!(write(""), (WarmUpEnd::Steady, 30));
    assert_eq!(write(", warmup_seconds = 1"), (WarmUpEnd::Steady, 30));
    assert_eq!(write(", warmup_seconds = 90"), (WarmUpEnd::Steady, 90));
    assert_eq!(write(", warmup_seconds = 0"), (WarmUpEnd::Fixed, 0));
    assert_eq!(write(", warmup = \"fixed\""), (WarmUpEnd::Fixed, 5));
    let fixed = ", warmup = \"fixed\", warmup_seconds = 2";
    assert_eq!(write(fixed), (WarmUpEnd::Fixed, 2));
}

#[test]
fn a_workload_file_may_say_it_and_a_plan_has_the_last_word() {
    let steady = "warmup = \"steady\"\nwarmup_seconds = 30";
    let of = |defaults: &str, keys: &str| warmup(&mine(defaults, keys), "get");
    assert_eq!(of(steady, ""), (WarmUpEnd::Steady, 30));
    assert_eq!(of(steady, ", warmup_seconds = 90"), (WarmUpEnd::Steady, 90));
    assert_eq!(of(steady, ", warmup = \"steady\""), (WarmUpEnd::Steady, 30));
    assert_eq!(of(steady, ", warmup = \"fixed\""), (WarmUpEnd::Fixed, 5));
    let fixed = "warmup_seconds = 3";
    assert_eq!(of(fixed, ", warmup = \"fixed\""), (WarmUpEnd::Fixed, 3));
    assert_eq!(of(fixed, ", warmup = \"steady\""), (WarmUpEnd::Steady, 60));
}

#[test]
fn what_only_warms_caches_has_no_warm_up_of_its_own() {
    let spec = mine("warmup = \"steady\"", "");
    assert_eq!(warmup(&spec, "warm"), (WarmUpEnd::Fixed, 0));
    assert_eq!(warmup(&spec, "get"), (WarmUpEnd::Steady, 60));
}

#[test]
fn a_time_in_which_no_rate_can_be_called_steady_is_refused() {
    let error = |keys: &str| {
        let text = plan(&format!("kind = \"micro\"{keys}"));
        expand(&text).unwrap_err().to_string()
    };
    assert_snapshot!(error(", warmup = \"steady\", warmup_seconds = 12"), @r#"my.toml:3: `warmup_seconds` (12) is the most that `warmup = "steady"` may take: it takes 13 seconds at least to see that a rate is steady"#);
    assert_snapshot!(error(", warmup = \"quick\""), @"my.toml:3: no end of a warm-up `quick`; available: fixed, steady");
}

#[test]
fn phases_that_a_plan_does_not_name_are_no_longer_than_the_windows_that_it_names() {
    let phases = |keys: &str| {
        let tests = "kind = \"micro\", tests = [\"update-index\", \"point-query\"]";
        let spec = sql(expand(&plan(&format!("{tests}{keys}"))).unwrap());
        let settle = spec.steps.iter().find_map(|step| match &step.work {
            SqlWork::Settle(settle) => Some(*settle),
            _ => None,
        });
        let scan = spec.steps.iter().find(|step| step.test.starts_with("scan")).unwrap();
        let SqlWork::Run(scan) = &scan.work else { panic!("it runs operations") };
        let (_, write) = warmup(&spec, "update-index");
        (settle.unwrap(), scan.seconds, warmup(&spec, "point-query").1, write)
    };
    let seconds = Settle::Seconds;
    assert_eq!(phases(""), (Settle::Formula, 60, 5, 30));
    assert_eq!(phases(", read_seconds = 2, write_seconds = 2"), (seconds(2), 2, 2, 2));
    assert_eq!(phases(", read_seconds = 2"), (seconds(2), 2, 2, 30));
    assert_eq!(phases(", write_seconds = 20"), (seconds(20), 20, 5, 30));
    assert_eq!(phases(", read_seconds = 60"), (Settle::Formula, 60, 5, 30));
    let named = ", read_seconds = 2, scan_seconds = 9, warmup_seconds = 7, settle = 8";
    assert_eq!(phases(named), (seconds(8), 9, 7, 30));
    assert_eq!(phases(", read_seconds = 2, settle = \"formula\"").0, Settle::Formula);
}
