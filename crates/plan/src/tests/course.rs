//! How rounds are carried out: how many, in what they alternate, how much noise they may meet.

use insta::assert_snapshot;
use model::{Course, Interleave, Margin, MetricId, Nanos, Plan, Quarantine};

use super::{CATALOG, expand};
use crate::{Catalog, PlanError, estimate, remarks};

const TWO: &str = "[[system]]\nbuild = \"mariadb\"\nlabel = \"a\"\n[[system]]\nbuild = \"mariadb\"\nlabel = \"b\"\n";
const MICRO: &str = "workload = { kind = \"micro\", tests = [\"point-query\"] }";
const INSERT: &str = "workload = { kind = \"insert\", scale = \"tiny\" }";

/// A plan with these lines and this workload.
fn plan_of(workload: &str, lines: &str, systems: &str) -> Result<Plan, PlanError> {
    expand(&format!("name = \"p\"\n{lines}\n{workload}\n{systems}"))
}

fn course(lines: &str) -> Course {
    plan_of(MICRO, lines, TWO).unwrap().course
}

/// The error of a plan that is fine apart from these lines.
fn error(workload: &str, lines: &str) -> String {
    let plan = plan_of(workload, lines, TWO);
    plan.expect_err("the plan is bad").to_string()
}

#[test]
fn a_number_of_rounds_is_fixed_and_a_range_is_looked_at() {
    let plan = |lines| plan_of(INSERT, lines, TWO).unwrap();
    let fixed = plan("rounds = 4");
    assert_eq!((fixed.rounds, fixed.course.first_look), (4, None));
    let looked = plan("rounds = { min = 3, max = 12 }");
    assert_eq!((looked.rounds, looked.course.first_look), (12, Some(3)));
    assert_eq!(looked.trials().len(), 24);
    assert!(remarks(&looked).is_empty());
    assert_snapshot!(remarks(&plan("rounds = { min = 2, max = 5 }")).join("\n"), @"`min` = 2: a verdict needs 3 rounds, so no earlier look can end the run; raise `min`");
}

#[test]
fn rounds_that_cannot_be() {
    assert_snapshot!(error(INSERT, "rounds = 0"), @"my.toml:2: `rounds` must be a whole number from 1 to 1_000, or { min = 3, max = 12 }, not 0");
    assert_snapshot!(error(INSERT, "rounds = 4.0"), @"my.toml:2: `rounds` must be a whole number from 1 to 1_000, or { min = 3, max = 12 }, not 4.0: write 4");
    assert_snapshot!(error(INSERT, "rounds = { min = 3 }"), @"my.toml:2: rounds needs the key `max`");
    assert_snapshot!(error(INSERT, "rounds = { mni = 3, max = 4 }"), @"my.toml:2: unknown key `mni` in rounds, did you mean `min`?");
    assert_snapshot!(error(INSERT, "rounds = { min = 0, max = 4 }"), @"my.toml:2: `min` must be a whole number from 1 to 1_000, not 0");
    assert_snapshot!(error(INSERT, "rounds = { min = 4, max = 4 }"), @"my.toml:2: `min` (4) must be less than `max` (4); for a fixed number, write `rounds = 4`");
}

#[test]
fn whole_trials_alternate_unless_slices_are_asked_for() {
    assert_eq!(course("rounds = 3").interleave, Interleave::Trials);
    assert_eq!(course("rounds = 3\ninterleave = \"trials\"").interleave, Interleave::Trials);
    let slices = |millis| Interleave::Slices(Nanos::from_millis(millis));
    assert_eq!(course("rounds = 3\ninterleave = \"slices\"").interleave, slices(250));
    let turns = |millis| Interleave::Turns(Nanos::from_millis(millis));
    assert_eq!(course("rounds = 3\ninterleave = \"turns\"").interleave, turns(500));
    let short = course("rounds = 3\ninterleave = \"turns\"\nslice_ms = 200");
    assert_eq!(short.interleave, turns(200));
    assert_eq!(
        course("rounds = 3\ninterleave = \"slices\"\nslice_ms = 500").interleave,
        slices(500)
    );
}

#[test]
fn the_usual_turns_are_shorter_in_short_windows() {
    let turns = |seconds: u32| {
        let micro = format!(
            "workload = {{ kind = \"micro\", tests = [\"insert\", \"point-query\"], read_seconds = 30, write_seconds = {seconds} }}"
        );
        let plan = plan_of(&micro, "rounds = 3\ninterleave = \"turns\"", TWO);
        plan.unwrap().course.interleave
    };
    let millis = |millis| Interleave::Turns(Nanos::from_millis(millis));
    assert_eq!([1, 6, 30].map(turns), [250, 375, 500].map(millis));
    let of = |workload, lines| {
        let systems = TWO.replace("mariadb", "sqlite");
        plan_of(workload, lines, &systems).unwrap().course.interleave
    };
    let sqlite = |lines| of(MICRO, lines);
    let clients = "workload = { kind = \"micro\", clients = 4 }";
    assert_eq!(of(clients, "rounds = 3\ninterleave = \"turns\""), millis(500), "clients wait");
    assert_eq!(sqlite("rounds = 3\ninterleave = \"turns\""), millis(20), "nothing is frozen");
    assert_eq!(sqlite("rounds = 3\ninterleave = \"turns\"\nslice_ms = 300"), millis(300));
}

#[test]
fn slices_that_cannot_be() {
    assert_snapshot!(error(MICRO, "rounds = 3\ninterleave = \"slice\""), @"my.toml:3: no way to interleave `slice`; nearest `slices`; available: trials, slices, turns");
    assert_snapshot!(error(MICRO, "rounds = 3\nslice_ms = 500"), @r#"my.toml:3: `slice_ms` without `interleave = "slices"` or `"turns"`: whole trials have no slices; leave it out, or add `interleave`"#);
    assert_snapshot!(error(MICRO, "rounds = 3\ninterleave = \"slices\"\nslice_ms = 5"), @"my.toml:4: `slice_ms` must be a whole number from 10 to 2_000, not 5");
    assert_snapshot!(error(INSERT, "rounds = 3\ninterleave = \"slices\""), @r#"my.toml:3: `interleave = "slices"` and `kind = "insert"`: its steps change data, so that no slice would be like the one before it; turns (`"turns"`) suit every step"#);
    let tpcc = "workload = { kind = \"tpcc\", warehouses = 1 }";
    assert_snapshot!(error(tpcc, "rounds = 3\ninterleave = \"slices\""), @r#"my.toml:3: `interleave = "slices"` and `kind = "tpcc"`: its steps change data, so that no slice would be like the one before it; turns (`"turns"`) suit every step"#);
    let of_workload = "workload = { kind = \"micro\", interleave = \"slices\" }";
    assert_snapshot!(error(of_workload, "rounds = 3"), @"my.toml:3: `interleave` is not a key of the workload: it belongs to the plan, above its first table");
}

#[test]
fn slices_need_a_server_for_each_system_that_is_connected_to() {
    let one = "[[system]]\nbuild = \"mariadb\"\nconnect = \"db1\"\nlabel = \"a\"\n";
    let lines = "rounds = 3\ninterleave = \"slices\"";
    assert!(plan_of(MICRO, lines, one).is_ok());
    let both = format!("{one}{}", one.replace("\"a\"", "\"b\""));
    assert!(plan_of(MICRO, "rounds = 3", &both).is_ok());
    let error =
        |lines: &str, systems: &str| plan_of(MICRO, lines, systems).unwrap_err().to_string();
    assert_snapshot!(error(lines, &both), @r#"my.toml:3: `interleave = "slices"` and two systems on the server at db1, the control counted: both would be measured at once in one database; leave `interleave` out, or give each a server"#);
    assert_eq!(error(&format!("{lines}\ncontrol = true"), one), error(lines, &both));
}

#[test]
fn the_limits_of_noise_are_the_catalogs_unless_the_plan_names_others() {
    let usual = course("rounds = 3").quarantine.unwrap();
    assert_eq!(Some(usual), CATALOG.noise());
    assert_eq!(usual.reruns, 2);
    assert_eq!(course("rounds = 3\nquarantine = false").quarantine, None);
    assert_eq!(course("rounds = 3\nquarantine = {}").quarantine, Some(usual));
    let one = "quarantine = { foreign_percent = 50, reruns = 0 }";
    assert_eq!(
        course(&format!("rounds = 3\n{one}")).quarantine,
        Some(Quarantine { foreign_permille: 500, reruns: 0, ..usual })
    );
    let all = "quarantine = { steal_percent = 0.5, foreign_percent = 250, throttled_percent = 0, \
               swapped_pages = 1_000, major_faults = 4_294_967_295, reruns = 10 }";
    assert_eq!(
        course(&format!("rounds = 3\n{all}")).quarantine,
        Some(Quarantine {
            steal_permille: 5,
            foreign_permille: 2_500,
            throttled_permille: 0,
            swapped_pages: 1_000,
            major_faults: u32::MAX,
            reruns: 10,
        })
    );
}

#[test]
fn limits_that_cannot_be() {
    let quarantine = |value: &str| error(MICRO, &format!("rounds = 3\nquarantine = {value}"));
    assert_snapshot!(quarantine("true"), @"my.toml:3: `quarantine` must be false, or a table such as { foreign_percent = 50, reruns = 1 }, not true");
    assert_snapshot!(quarantine("{ stael_percent = 3 }"), @"my.toml:3: unknown key `stael_percent` in quarantine, did you mean `steal_percent`?");
    assert_snapshot!(quarantine("{ steal_percent = 101 }"), @"my.toml:3: `steal_percent` must be a number of per cent from 0 to 100, with one decimal at most, not 101");
    assert_snapshot!(quarantine("{ steal_percent = 0.25 }"), @"my.toml:3: `steal_percent` must be a number of per cent from 0 to 100, with one decimal at most, not 0.25");
    assert_snapshot!(quarantine("{ foreign_percent = -1 }"), @"my.toml:3: `foreign_percent` must be a number of per cent from 0 to 100_000, with one decimal at most, not -1");
    assert_snapshot!(quarantine("{ reruns = 11 }"), @"my.toml:3: `reruns` must be a whole number from 0 to 10, not 11");
}

#[test]
fn the_catalog_has_all_limits() {
    let text = "steal_percent = 1\nforeign_percent = 2\nthrottled_percent = 3.5\nswapped_pages = 4\nmajor_faults = 5\nreruns = 1\n";
    let catalog = |text: &str| Catalog::with(&[("noise.toml".to_owned(), text.to_owned())]);
    assert_eq!(
        catalog(text).unwrap().noise(),
        Some(Quarantine {
            steal_permille: 10,
            foreign_permille: 20,
            throttled_permille: 35,
            swapped_pages: 4,
            major_faults: 5,
            reruns: 1,
        })
    );
    let error = catalog(&text.replace("swapped_pages = 4\n", "")).unwrap_err();
    assert_snapshot!(error, @"catalog/noise.toml:1: noise needs the key `swapped_pages`");
}

#[test]
fn a_plan_may_name_margins() {
    assert!(course("rounds = 3").margins.is_empty());
    let named =
        "margins = { rate = 1, \"server.cpu/o\" = 0.5, \"response.p99\" = 12.25, errors = 0 }";
    let margins = course(&format!("rounds = 3\n{named}")).margins;
    let margins: Vec<(MetricId, Margin)> = margins.into_iter().collect();
    let expected = [("errors", 0), ("rate", 100), ("response.p99", 1_225), ("server.cpu/o", 50)];
    assert_eq!(
        margins,
        expected.map(|(metric, hundredths)| (MetricId::new(metric), Margin(hundredths)))
    );
    // Metrics of one kind of operation by their whole name.
    let of_kind = course("rounds = 3\nmargins = { \"service.point.p95\" = 100 }").margins;
    assert_eq!(of_kind.len(), 1);
}

#[test]
fn a_margin_of_a_metric_that_no_system_has_is_told() {
    let told = |systems: &str| {
        let named = "rounds = 3\nmargins = { rate = 1, \"server.cpu/o\" = 0.5, \"size.data\" = 1 }";
        remarks(&plan_of(MICRO, named, systems).unwrap()).join("\n")
    };
    let sqlite = "[[system]]\nbuild = \"sqlite\"\n";
    assert_snapshot!(told(sqlite), @"`server.cpu/o` in margins: no system of the plan has it, because SQLite has no server");
    assert_eq!(told(&format!("{sqlite}{TWO}")), "");
}

#[test]
fn margins_that_cannot_be() {
    let margins = |value: &str| error(MICRO, &format!("rounds = 3\nmargins = {value}"));
    assert_snapshot!(margins("2"), @r#"my.toml:3: `margins` must be a table such as { rate = 1, "server.cpu/o" = 0.5 }, not 2"#);
    assert_snapshot!(margins("{ rate = -1 }"), @"my.toml:3: `rate` must be a number of per cent from 0 to 100, with two decimals at most, not -1");
    assert_snapshot!(margins("{ rate = -0.001 }"), @"my.toml:3: `rate` must be a number of per cent from 0 to 100, with two decimals at most, not -0.001");
    assert_snapshot!(margins("{ rate = nan }"), @"my.toml:3: `rate` must be a number of per cent from 0 to 100, with two decimals at most, not NaN");
    assert_snapshot!(margins("{ rate = 1e3 }"), @"my.toml:3: `rate` must be a number of per cent from 0 to 100, with two decimals at most, not 1000");
    assert_snapshot!(margins("{ rate = \"1 %\" }"), @r#"my.toml:3: `rate` must be a number of per cent from 0 to 100, with two decimals at most, not "1 %""#);
    assert_snapshot!(margins("{ tpmc = 1 }"), @"my.toml:3: `tpmc` in margins: backslide does not judge it, because neither direction is better; leave it out");
    assert_snapshot!(margins("{ response.p99 = 1 }"), @r#"my.toml:3: `response` in margins is a table: the name of a metric with a dot or a slash is written in quotes, such as "response.p99" = 5"#);
    let unknown = margins("{ \"server.cpu\" = 1 }");
    assert!(
        unknown
            .starts_with("my.toml:3: no metric `server.cpu`; nearest `server.cpu/o`; available: "),
        "{unknown}"
    );
}

#[test]
fn rounds_one_by_one_are_those_of_the_whole_and_go_on() {
    let plan = plan_of(MICRO, "rounds = 5\ncontrol = true", TWO).unwrap();
    let rounds = 1..=plan.rounds;
    let one_by_one: Vec<_> = rounds.flat_map(|round| plan.trials_of(round)).collect();
    assert_eq!(plan.trials(), one_by_one);
    let further = plan.trials_of(9);
    let mut systems: Vec<usize> = further.iter().map(|trial| trial.system).collect();
    systems.sort_unstable();
    assert_eq!(systems, [0, 1, 2]);
    for trial in &further {
        assert_eq!((trial.round, trial.seed), (9, further[0].seed));
        assert!(one_by_one.iter().all(|planned| planned.seed != trial.seed));
    }
    assert_eq!(further, plan.trials_of(9));
}

#[test]
fn time_is_told_for_the_most_rounds_and_for_the_fewest() {
    let needs = |lines| estimate(&plan_of(INSERT, lines, TWO).unwrap());
    let (three, twelve) = (needs("rounds = 3"), needs("rounds = 12"));
    let looked = needs("rounds = { min = 3, max = 12 }");
    assert_eq!((three.shortest, twelve.shortest), (None, None));
    assert_eq!((looked.time, looked.shortest), (twelve.time, Some(three.time)));
    assert_eq!(looked.disk, twelve.disk);
}

#[test]
fn time_is_told_with_every_round_run_again() {
    let needs = |lines: &str| estimate(&plan_of(INSERT, lines, TWO).unwrap());
    // Twice each, as the catalog allows.
    assert_eq!(needs("rounds = 3").longest, Some(needs("rounds = 9").time));
    let once = needs("rounds = { min = 3, max = 4 }\nquarantine = { reruns = 1 }");
    assert_eq!(once.longest, Some(needs("rounds = 8").time));
    for never in ["quarantine = false", "quarantine = { reruns = 0 }"] {
        assert_eq!(needs(&format!("rounds = 3\n{never}")).longest, None);
    }
}

#[test]
fn in_slices_all_systems_are_there_at_once() {
    let needs = |lines| estimate(&plan_of(MICRO, lines, TWO).unwrap());
    let trials = needs("rounds = 3");
    let slices = needs("rounds = 3\ninterleave = \"slices\"");
    assert_eq!(trials.memory, slices.memory);
    let (one, both) = (trials.peak_memory.0, slices.peak_memory.0);
    assert_eq!(one, trials.memory[0].1.0);
    // Backslide is there once.
    assert!(both > one && both < 2 * one, "{both} {one}");
    let instance = trials.systems[0].1.0;
    assert_eq!(trials.disk.0 - trials.store.0, instance);
    assert_eq!(slices.disk.0 - slices.store.0, 2 * instance);
}

const THREE: &str = "[[system]]\nbuild = \"mariadb\"\nlabel = \"c\"\n";

#[test]
fn pairs_are_rounds_of_the_base_and_one_other_system() {
    let systems = &format!("{TWO}{THREE}");
    let lines = "rounds = 4\ninterleave = \"turns\"\nat_once = \"pairs\"\nseed = 5\nbase = \"b\"";
    let plan = plan_of(INSERT, lines, systems).unwrap();
    assert_eq!((plan.rounds, plan.rounds_of_each(), plan.trials_a_round()), (8, 4, 2));
    let trials = plan.trials();
    assert_eq!(trials.len(), 16);
    for (round, of_round) in (1..).zip(trials.chunks(2)) {
        assert_eq!(of_round, plan.trials_of(round));
        let other = if round % 2 == 1 { "a" } else { "c" };
        let names = of_round.iter().map(|trial| plan.systems[trial.system].name.as_str());
        let mut names: Vec<&str> = names.collect();
        // The second round of a pair has the order of the first the other way around.
        if round <= 4 {
            let first = plan.systems[trials[0].system].name == "b";
            assert_eq!(names[0] == "b", first == (round <= 2), "{round}");
        }
        names.sort_unstable_by_key(|name| *name != "b");
        assert_eq!(names, ["b", other]);
        assert!(of_round.iter().all(|trial| trial.seed == of_round[0].seed));
    }
    assert_ne!(trials[0].seed, trials[2].seed);
    assert_eq!(plan_of(INSERT, &lines.replace("pairs", "all"), systems).unwrap().rounds, 4);
}

#[test]
fn pairs_need_the_time_and_the_memory_of_two() {
    let systems = format!("{TWO}{THREE}");
    let needs = |lines: &str| estimate(&plan_of(MICRO, lines, &systems).unwrap());
    let slices = "rounds = { min = 3, max = 5 }\ninterleave = \"slices\"\n";
    let all = needs(slices);
    let pairs = needs(&format!("{slices}at_once = \"pairs\""));
    let three = all.peak_memory.0;
    assert!(pairs.peak_memory.0 < three && pairs.peak_memory.0 > three / 2, "{pairs:?} {three}");
    let instance = all.systems[0].1.0;
    assert_eq!(pairs.disk.0 - pairs.store.0, 2 * instance);
    // Two rounds of two for each round of three.
    assert_eq!(pairs.time.0, all.time.0 / 3 * 4);
    assert_eq!(pairs.shortest.unwrap().0, all.shortest.unwrap().0 / 3 * 4);
}

#[test]
fn whole_trials_are_in_no_pairs() {
    assert_snapshot!(error(MICRO, "rounds = 3\nat_once = \"pairs\""), @r#"my.toml:3: `at_once = "pairs"` without `interleave = "slices"` or `"turns"`: whole trials run one at a time; leave it out, or add `interleave`"#);
    assert_snapshot!(error(MICRO, "rounds = 3\nat_once = \"two\""), @"my.toml:3: no number of systems `two`; available: all, pairs");
}
