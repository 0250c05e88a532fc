//! Expanding: names, base, control, settings and the order of trials.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::{Dbms, Pacing, Plan, Settle, Statements, WorkloadSpec};
use proptest::prelude::*;

use super::{CATALOG, HOST, build, expand};
use crate::BuildRequest;

fn plan(top: &str, systems: &[&str]) -> Plan {
    let systems = systems
        .iter()
        .fold(String::new(), |text, system| format!("{text}\n[[system]]\n{system}\n"));
    expand(&format!(
        "name = \"p\"\nrounds = 3\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n{top}\n{systems}"
    ))
    .unwrap()
}

fn insert(keys: &str) -> model::InsertSpec {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"small\", {keys} }}\n\
         [[system]]\nbuild = \"postgres\""
    );
    match expand(&text).unwrap().workload {
        WorkloadSpec::Insert(spec) => spec,
        _ => panic!("it is another workload"),
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.systems.iter().map(|system| system.name.as_str()).collect()
}

const QUICK: &str = "build = \"mariadb\"\nconfig = \"quick\"";
const Z12A: &str = "build = \"mariadb-10.11\"\nconfig = \"z12a\"";
const WAL: &str = "build = \"sqlite\"\nconfig = \"wal\"";

#[test]
fn names_say_what_is_compared() {
    let plan =
        plan("", &[QUICK, "build = \"postgres-15\"", WAL, "build = \"sqlite\"\nlabel = \"x\""]);
    assert_eq!(
        names(&plan),
        ["mariadb-10.11.18/innodb/quick", "postgres-15.18/default", "sqlite/wal", "x"]
    );
    assert_eq!(plan.base, "mariadb-10.11.18/innodb/quick");
}

#[test]
fn the_base_goes_by_any_name_that_is_its_own() {
    let labelled = &format!("{Z12A}\nlabel = \"new\"");
    for name in
        ["new", "mariadb-10.11.18/innodb/z12a", "mariadb-10.11", "mariadb-10.11/innodb/z12a"]
    {
        let plan = plan(&format!("base = \"{name}\""), &[QUICK, labelled]);
        assert_eq!(plan.base, "new", "{name}");
    }
    assert_eq!(plan("base = \"sqlite-3.51.1bundled\"", &[QUICK, WAL]).base, "sqlite/wal");
}

#[test]
fn a_control_is_added_or_recognised() {
    let added = plan("control = true\nbase = \"sqlite\"", &[WAL, QUICK]);
    assert_eq!(names(&added), ["sqlite/wal", "mariadb-10.11.18/innodb/quick", "control"]);
    let flags: Vec<bool> = added.systems.iter().map(|system| system.control).collect();
    assert_eq!(flags, [false, false, true]);
    assert_eq!(added.systems[2].config, added.systems[0].config);

    let labelled = format!("{WAL}\nlabel = \"control\"");
    let written = plan("base = \"sqlite\"", &[&labelled, WAL, QUICK]);
    assert_eq!(names(&written), ["sqlite/wal", "mariadb-10.11.18/innodb/quick", "control"]);
    assert!(written.systems[2].control);

    // A copy of another system than the base is a system like any other.
    let other = plan("base = \"mariadb\"", &[&labelled, WAL, QUICK]);
    assert_eq!(names(&other), ["control", "sqlite/wal", "mariadb-10.11.18/innodb/quick"]);
    assert!(other.systems.iter().all(|system| !system.control));
}

#[test]
fn set_comes_on_top_of_the_config() {
    let set = "set = { innodb-buffer-pool-size = \"1G\", skip_name_resolve = true, innodb_fast_shutdown = 0 }";
    let plan = plan("", &[&format!("{QUICK}\n{set}")]);
    let system = &plan.systems[0];
    let settings: Vec<String> = system.config.settings.iter().map(ToString::to_string).collect();
    assert_eq!(settings[0], "innodb-buffer-pool-size = 1G");
    assert!(!settings.iter().any(|setting| setting.starts_with("innodb_buffer_pool_size")));
    assert_eq!(settings[settings.len() - 2..], ["skip_name_resolve", "innodb_fast_shutdown = 0"]);
    assert_eq!(system.set.len(), 3);
}

#[test]
fn a_server_that_is_not_ours_keeps_its_settings_and_its_secret() {
    let system = "build = \"mariadb\"\nconnect = \"me:secret@db1:3306\"";
    let plan = plan("placement = { server = \"0\", client = \"1\" }", &[system, QUICK]);
    assert_eq!(names(&plan)[0], "mariadb-10.11.18/innodb/as-is");
    assert!(plan.systems[0].config.settings.is_empty());
    assert!(plan.source.contains("me:***@db1:3306"));
    assert!(!plan.source.contains("secret"));
    let cpus =
        |at: usize| (plan.systems[at].cpus.server.as_str(), plan.systems[at].cpus.client.as_str());
    assert_eq!(cpus(0), ("", "1"));
    assert_eq!(cpus(1), ("0", "1"));
}

#[test]
fn keys_that_stand_for_several() {
    let spec = insert("statements = \"prepared\", reads = \"text\"");
    assert_eq!((spec.writes, spec.reads), (Statements::Prepared, Statements::Text));
    assert_eq!(insert("compat = true").pacing, Pacing::Burst);
    assert_eq!(insert("compat = false").pacing, Pacing::Even);
    assert_eq!(insert("settle = \"formula\"").settle, Settle::Formula);
    assert_eq!(insert("settle = 7").settle, Settle::Seconds(7));
    assert_eq!(insert("").settle, Settle::Seconds(5));
}

#[test]
fn steps_follow_from_rates_and_queries() {
    let steps = |keys: &str| {
        let spec = insert(keys);
        spec.steps.into_iter().map(|step| step.0).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(steps(""), "l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000");
    assert_eq!(steps("rates = [50, 7], queries = [\"point\"]"), "l.i0 l.x l.i1 l.i2 qp50 qp7");
    assert_eq!(steps("steps = [\"l.i0\", \"l.x\", \"qp500\"]"), "l.i0 l.x qp500");
    assert_eq!(steps("steps = [\"l.i0\", \"l.i2\"], secondary_indexes = 0"), "l.i0 l.i2");
}

#[test]
fn the_seed_follows_from_the_name() {
    let one = plan("", &[WAL]);
    assert_eq!(one.seed, plan("", &[QUICK]).seed);
    assert_eq!(plan("seed = 42", &[WAL]).seed, 42);
    let written_back = plan(&format!("seed = {}", one.seed), &[WAL]);
    assert_eq!(one.trials(), written_back.trials());
}

#[test]
fn builds_are_asked_for_once() {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
         [[system]]\n{WAL}\n[[system]]\n{QUICK}\n[[system]]\nbuild = \"sqlite\""
    );
    let file = crate::read(&text, "my.toml").unwrap();
    let names: Vec<String> = file.requests().into_iter().map(|r| r.name).collect();
    assert_eq!(names, ["sqlite", "mariadb"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = crate::read(&text, "my.toml");
    }

    #[test]
    fn any_value_is_read_or_refused(
        key in "(rows|clients|rates|steps|settle|tables|queries|data_max|scale|kind)",
        value in "(-?[0-9]{1,25}|\"[a-z.0-9]{0,6}\"|\\[\\]|\\[1, \"x\"\\]|\\{\\}|true|1e400|1979-05-27)",
    ) {
        let text = "name = \"p\"\nrounds = 1\n[workload]\nkind = \"insert\"\nscale = \"tiny\"\n[[system]]\nbuild = \"sqlite\"";
        let line = format!("{key} = {value}\n");
        let text = match key.as_str() {
            "scale" => text.replace("scale = \"tiny\"\n", &line),
            "kind" => text.replace("kind = \"insert\"\n", &line),
            _ => text.replace("[[system]]", &format!("{line}[[system]]")),
        };
        if let Ok(plan) = expand(&text) {
            let _ = crate::estimate(&plan);
        }
    }

    #[test]
    fn every_system_once_a_round(systems in 1usize..8, rounds in 1u32..30, seed in 0u64..1 << 62) {
        let list = (0..systems).fold(String::new(), |list, i| {
            format!("{list}[[system]]\nbuild = \"sqlite\"\nlabel = \"s{i}\"\n")
        });
        let text = format!(
            "name = \"p\"\nrounds = {rounds}\nseed = {seed}\n\
             workload = {{ kind = \"insert\", scale = \"tiny\" }}\n{list}"
        );
        let plan = expand(&text).unwrap();
        let trials = plan.trials();
        prop_assert_eq!(trials.len(), systems * rounds as usize);
        for round in trials.chunks(systems) {
            let seen: BTreeSet<usize> = round.iter().map(|trial| trial.system).collect();
            prop_assert_eq!(seen.len(), systems);
            prop_assert!(round.iter().all(|t| t.round == round[0].round && t.seed == round[0].seed));
        }
        // Who comes first in one round comes last in the next.
        for pair in trials.chunks_exact(2 * systems) {
            let order: Vec<usize> = pair.iter().map(|trial| trial.system).collect();
            let (one, next) = order.split_at(systems);
            prop_assert!(one.iter().rev().eq(next));
        }
        let single: Vec<_> = (1..=rounds).flat_map(|round| plan.trials_of(round)).collect();
        prop_assert_eq!(&single, &trials);
        prop_assert_eq!(trials, expand(&text).unwrap().trials());
    }
}

#[test]
fn a_library_and_huge_pages_reach_the_system_that_asks_for_them() {
    let text = "name = \"p\"\nrounds = 1\nworkload = { kind = \"insert\", scale = \"tiny\" }\n\
         [[system]]\nbuild = \"mariadb\"\n\
         [[system]]\nbuild = \"mariadb\"\nlabel = \"other\"\npreload = \"jemalloc\"\nhuge_pages = true\n";
    let plan = expand(text).unwrap();
    let asked: Vec<(&str, bool)> =
        plan.systems.iter().map(|system| (system.preload.as_str(), system.huge_pages)).collect();
    assert_eq!(asked, [("", false), ("jemalloc", true)]);
    let sqlite = text.replace("build = \"mariadb\"\nlabel", "build = \"sqlite\"\nlabel");
    let error = expand(&sqlite).unwrap_err().to_string();
    assert!(error.contains("backslide starts no server process for it"), "{error}");
}

#[test]
fn every_whole_plan_of_the_pages_loads() {
    let any = |request: &BuildRequest| {
        let dbms = request.dbms.unwrap_or(Dbms::Postgres);
        let version = request.version.as_ref().map_or("18.6".to_owned(), ToString::to_string);
        Ok(build(&BuildRequest { dbms: Some(dbms), ..request.clone() }, &version))
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut loaded = 0;
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    for page in docs.chain([root.join("README.md")]).filter(is_page) {
        let (name, text) = (page.display().to_string(), fs::read_to_string(&page).unwrap());
        let examples = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let is_whole = |text: &&str| text.contains("name ") && text.contains("\n[[system]]");
        for example in examples.filter(is_whole) {
            let file = crate::read(example, &name).unwrap_or_else(|e| panic!("{e}:\n{example}"));
            let file = file.with_script(String::new(), "a.lua".to_owned(), Vec::new());
            crate::expand(&file, &CATALOG, &any, HOST).unwrap();
            loaded += 1;
        }
    }
    assert!(loaded > 5, "found {loaded} plans");
}
