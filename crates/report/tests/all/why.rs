//! Why a system is slower, from profiled rounds.

use explain::{StepWhy, stack_costs, why};
use model::{
    Counts, KindInterval, KindSpec, KindTotals, Nanos, Plan, Profile, ProfiledStep, Resource, Step,
    StepId, StepRecord, Subject, TrialKey,
};
use report::{ChartFile, Input, Report, Tone, tables};
use testkit::made_up::{self, Shape};

use crate::with_copies;

/// A step of 1,000 queries of one client in so many seconds.
fn record(seconds: u64) -> StepRecord {
    let subject = Subject { kind: "query".to_owned(), counts: Counts::Operations };
    let step = Step::new(StepId::new("qr100"), 3, 1, subject);
    let sums = KindInterval { ops: 1_000, ..KindInterval::default() };
    let query = KindTotals { spec: KindSpec::unscheduled("query"), sums, late: 0 };
    StepRecord { kinds: vec![query], ..StepRecord::of(&step, Nanos::from_secs(seconds)) }
}

fn trial(system: &str, round: u32) -> TrialKey {
    TrialKey { round, position: 1, system: system.to_owned() }
}

/// With 100 samples a second of CPU, so that a sample is 10 µs of each operation.
fn profiled(system: &str, round: u32, seconds: u64, samples: [u64; 3]) -> ProfiledStep {
    let stacks = [
        "load::client;sqlite3_step;sqlite3VdbeExec;sqlite3BtreeNext",
        "load::client;sqlite3_step;sqlite3VdbeExec;fold.isra",
        "[cut];nobody_knows",
    ];
    let stacks = stacks.into_iter().zip(samples).map(|(stack, n)| (stack.to_owned(), n)).collect();
    let profile = Profile { hertz: 100, stacks, ..Profile::default() };
    ProfiledStep { trial: trial(system, round), record: record(seconds), profile }
}

fn example(plan: &Plan) -> Vec<StepWhy> {
    let judged = [(trial("sqlite/wal", 1), record(9)), (trial("sqlite/rollback", 1), record(12))];
    why(plan, &judged, &rounds())
}

fn rounds() -> Vec<ProfiledStep> {
    vec![
        profiled("sqlite/wal", 5, 10, [200, 100, 10]),
        profiled("sqlite/rollback", 5, 12, [350, 100, 10]),
        profiled("sqlite/wal", 6, 10, [201, 110, 10]),
        profiled("sqlite/rollback", 6, 12, [352, 90, 10]),
        profiled("sqlite/wal", 7, 10, [199, 100, 10]),
        profiled("sqlite/rollback", 7, 12, [351, 95, 10]),
        profiled("sqlite/wal", 8, 10, [200, 105, 10]),
        profiled("sqlite/rollback", 8, 12, [349, 105, 10]),
        // Its base is missing.
        profiled("sqlite/rollback", 9, 12, [900, 100, 10]),
    ]
}

#[test]
fn all_lines_together_are_the_change() {
    let data = made_up::run(&Shape::usual());
    let [one] = example(&data.info.plan).try_into().unwrap();
    assert_eq!((one.rounds, one.system.as_str()), (4, "sqlite/rollback"));
    assert_eq!((one.time.base, one.time.change), (10_000.0, 2_000.0));
    let names: Vec<&str> = one.layers.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["b-tree", "unclassified", "executor"]);
    assert_eq!((one.spent.base, one.spent.change), (3_137.5, 1_442.5));
    let [tree, unclassified, executor] = &*one.layers else { panic!("{names:?}") };
    assert_eq!((tree.base, tree.change), (2_000.0, 1_505.0));
    assert!(tree.is_certain() && !executor.is_certain() && unclassified.change == 0.0);
    let parts = one.layers.iter().chain([&one.rest]);
    let sum: f64 = parts.clone().map(|line| line.change).sum();
    assert!((sum - one.time.change).abs() < 1e-6, "{sum}");
    let shares: f64 = parts.filter_map(|line| line.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert_eq!(one.functions[0].name, "sqlite3BtreeNext");
    let quality = one.of_base;
    assert_eq!(quality.samples, 1_255);
    assert!((quality.slowdown.unwrap() - 0.1).abs() < 1e-9);
    for share in [quality.rooted, quality.classified] {
        assert!((share - 1_215.0 / 1_255.0).abs() < 1e-9, "{quality:?}");
    }
}

#[test]
fn a_page_says_why_only_where_rounds_were_profiled() {
    let data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let why = example(&data.info.plan);
    let table = tables::why(&why[0]);
    let worse = table.rows.iter().find(|row| row[0].text == "b-tree").unwrap();
    assert_eq!((worse[3].shown().as_str(), worse[3].tone), ("+1,505 worse", Tone::Regressed));
    assert_eq!(worse[5].text, "75.2");
    insta::assert_snapshot!(table.note, @r"
    From 4 profiled rounds, which are never judged.
    sqlite/wal: 1,255 samples, 96.8 % with a whole stack, 96.8 % of CPU in a layer; throughput 10.0 % lower than in judged rounds.
    sqlite/rollback: 2,842 samples, 98.2 % with a whole stack, 98.2 % of CPU in a layer; throughput 0.0 % lower than in judged rounds.
    ");
    let page = |why| Report::new(&Input { why, ..Input::new(&data, &comparisons) }).html();
    let with = page(why);
    assert!(with.contains("id=\"why\"") && with.contains("sqlite3BtreeNext"));
    assert!(!page(Vec::new()).contains("id=\"why\""));
}

#[test]
fn a_change_that_may_be_none_is_not_shared_out() {
    let data = made_up::run(&Shape::usual());
    let seconds = [(5, 12), (6, 8), (7, 11), (8, 9)];
    let all: Vec<ProfiledStep> = seconds
        .into_iter()
        .flat_map(|(round, seconds)| {
            let of = |system, seconds| profiled(system, round, seconds, [200, 100, 10]);
            [of("sqlite/wal", 10), of("sqlite/rollback", seconds)]
        })
        .collect();
    let [one] = why(&data.info.plan, &[], &all).try_into().unwrap();
    let mut lines = one.layers.iter().chain([&one.time, &one.spent, &one.rest]);
    assert!(lines.all(|line| line.share.is_none()), "{one:?}");
}

#[test]
fn counted_rounds_have_lines_of_their_own_in_instructions() {
    let data = made_up::run(&Shape::usual());
    let all = [5, 6, 7].into_iter().flat_map(|round| {
        let of = |system, seconds, numbers| {
            let mut one = profiled(system, round, seconds, numbers);
            let sampled = one.clone();
            // The time says nothing, nor does what was in the background.
            one.record.window = Nanos::from_secs(u64::from(round));
            (one.profile.of, one.profile.lost) = (Resource::Instructions, u64::from(round));
            [one, sampled]
        };
        let base = of("sqlite/wal", 10, [200_000, 100_000, 1_000]);
        [base, of("sqlite/rollback", 10, [260_000, 100_000, 1_000])].concat()
    });
    let all: Vec<ProfiledStep> = all.collect();
    let [sampled, counted] = why(&data.info.plan, &[], &all).try_into().unwrap();
    assert_eq!((sampled.of, counted.of), (Resource::Cpu, Resource::Instructions));
    let time = &counted.time;
    assert_eq!((time.base, time.change, time.share), (301.0, 60.0, Some(1.0)));
    assert!(counted.layers[0].name == "b-tree" && counted.layers[0].is_certain());
    let table = tables::instructions(&[sampled.clone(), counted.clone()]).unwrap();
    let cells: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_ref()).collect();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(
        cells,
        ["qr100", "sqlite/rollback", "sqlite/wal", "301", "361", "1.20", "1.20", "1.20"]
    );
    assert!(tables::instructions(std::slice::from_ref(&sampled)).is_none());
    let table = tables::why(&counted);
    assert_eq!(table.rows.len() + 3, tables::why(&sampled).rows.len() + 1);
    insta::assert_snapshot!(table.note, @r"
    From 3 counted rounds, which are never judged.
    sqlite/wal: 903,000 instructions for clients, 99.7 % in a layer; 18 more in background threads, which no line includes.
    sqlite/rollback: 1,083,000 instructions for clients, 99.7 % in a layer; 18 more in background threads, which no line includes.
    ");
}

#[test]
fn a_step_with_several_numbers_of_clients_has_an_answer_for_each() {
    let data = made_up::run(&Shape::usual());
    let more = |mut one: ProfiledStep| {
        (one.record.ordinal, one.record.clients) = (4, 8);
        one
    };
    let all: Vec<ProfiledStep> =
        rounds().into_iter().flat_map(|one| [one.clone(), more(one)]).collect();
    let steps: Vec<String> =
        why(&data.info.plan, &[], &all).iter().map(|one| one.step.0.clone()).collect();
    assert_eq!(steps, ["qr100 ×1", "qr100 ×8"]);
    let names = charts(&all).into_iter().map(|file| file.name);
    let of_base: Vec<String> = names.filter(|name| name.ends_with("sqlite-wal")).collect();
    assert_eq!(of_base, ["flame-qr100-1-sqlite-wal", "flame-qr100-8-sqlite-wal"]);
}

/// Both graphs of the difference, then those of the systems.
fn charts(all: &[ProfiledStep]) -> Vec<ChartFile> {
    let data = made_up::run(&Shape::usual());
    let input = Input {
        why: why(&data.info.plan, &[], all),
        stack_costs: stack_costs(all),
        ..Input::new(&data, &[])
    };
    let mut files = Report::new(&input).charts();
    files.retain(|file| file.name.starts_with("flame"));
    files
}

/// The lines of a picture that say what a frame is, without its place.
fn frames(file: &ChartFile) -> Vec<String> {
    let all = file.svg.split("<svg").filter(|frame| frame.contains("<rect width=\"100%\""));
    let frames = all.map(|frame| {
        let tag = frame.split_once('>').unwrap().0;
        let class = tag.split_once("class=\"").and_then(|(_, rest)| rest.split_once('"'));
        let class = class.map_or("", |(class, _)| class);
        let title = frame.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
        format!("[{class}] {title}")
    });
    frames.collect()
}

#[test]
fn flame_graphs_say_what_changed_beyond_noise() {
    let files = charts(&rounds());
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "flame-difference-qr100-sqlite-rollback-candidate",
            "flame-difference-qr100-sqlite-rollback-base",
            "flame-qr100-sqlite-rollback",
            "flame-qr100-sqlite-wal",
        ]
    );
    insta::assert_snapshot!(frames(&files[0]).join("\n"));
    insta::assert_snapshot!(frames(&files[1]).join("\n"));
    insta::assert_snapshot!(frames(&files[3]).join("\n"));
}

#[test]
fn flame_graphs_of_counted_rounds_are_of_instructions() {
    let counted = |mut one: ProfiledStep| {
        one.profile.of = Resource::Instructions;
        one
    };
    let files = charts(&rounds().into_iter().map(counted).collect::<Vec<_>>());
    assert_eq!(files[3].name, "flame-qr100-sqlite-wal-instructions");
    for file in files {
        let has = |text: &str| file.svg.contains(text);
        assert!(
            has("Instructions of a function") && has("instr/op") && !has("µs/op"),
            "{}",
            file.svg
        );
    }
}

#[test]
fn sleep_has_lines_of_its_own_in_time() {
    let data = made_up::run(&Shape::usual());
    let all = [5, 6, 7].into_iter().flat_map(|round| {
        let of = |system, synced: u64| {
            let mut one = profiled(system, round, 10, [0; 3]);
            let stacks = [
                ("load::client;sqlite3_step;sqlite3PagerSync;unixSync;fsync;schedule_[k]", synced),
                ("[preempted]", 500_000_000 + u64::from(round)),
            ];
            one.profile = Profile {
                of: Resource::Sleep,
                lost: 9_000_000_000,
                stacks: stacks.map(|(stack, slept)| (stack.to_owned(), slept)).to_vec(),
                taken: 2_000,
                ..Profile::default()
            };
            one
        };
        [of("sqlite/wal", 1_000_000_000), of("sqlite/rollback", 4_000_000_000)]
    });
    let all: Vec<ProfiledStep> = all.collect();
    let [one] = why(&data.info.plan, &[], &all).try_into().unwrap();
    assert_eq!((one.of, one.rounds), (Resource::Sleep, 3));
    // A thousand operations.
    let line = &one.layers[0];
    assert_eq!((line.name.as_str(), line.base, line.change), ("files", 1_000.0, 3_000.0));
    assert!(line.is_certain() && one.functions[0].name == "unixSync");
    assert_eq!(one.layers[1].name, "waiting for a CPU");
    assert!((one.rest.base - 8_500.0).abs() < 0.1, "{:?}", one.rest);
    insta::assert_snapshot!(tables::why(&one).note);
    let files = charts(&all);
    assert_eq!(files[3].name, "flame-qr100-sqlite-wal-sleep");
    assert!(files[3].svg.contains("Sleep of a function") && files[3].svg.contains("µs/op"));
}

#[test]
fn a_function_of_one_system_is_marked() {
    let only = |system: &str, round, function: &str| {
        let of = profiled(system, round, 10, [200, 100, 10]);
        let stacks = vec![(format!("main;{function}"), 100), ("main;a<b>_[k]".to_owned(), 40)];
        ProfiledStep { profile: Profile { stacks, ..of.profile.clone() }, ..of }
    };
    let all = [only("sqlite/wal", 5, "old"), only("sqlite/rollback", 5, "new")];
    let files = charts(&all);
    insta::assert_snapshot!(frames(&files[0]).join("\n"));
    assert!(frames(&files[3]).iter().any(|frame| frame.starts_with("[kernel] a&lt;b&gt;")));
    // One round proves nothing.
    assert!(!files[0].svg.contains("class=\"worse") && files[0].svg.contains("class=\"alone\""));
}

#[test]
fn one_system_has_flame_graphs_without_a_comparison() {
    let data = made_up::run(&Shape::usual());
    let all = rounds();
    let page =
        Report::new(&Input { stack_costs: stack_costs(&all), ..Input::new(&data, &[]) }).html();
    assert!(page.contains("id=\"why\"") && page.matches("chart flame").count() == 2);
    assert!(page.contains("qr100: flame graphs of each system"));
}

/// 250 stacks of 4 to 24 functions, with names as long as those of servers.
fn deep(system: &str, round: u32, step: &StepRecord) -> ProfiledStep {
    let function = |n: usize| format!("row_search_index_entry_{}", n % 97);
    let stacks = (0..250usize).map(|n| {
        let calls = (0..4 + n % 20).map(|depth| function(n / (25 - depth) + 13 * depth));
        let stack: Vec<String> =
            ["main", "handle_connection"].map(str::to_owned).into_iter().chain(calls).collect();
        (stack.join(";"), 1 + (n as u64 * 7 + u64::from(round)) % 40)
    });
    let profile = Profile { hertz: 199, stacks: stacks.collect(), ..Profile::default() };
    ProfiledStep { trial: trial(system, round), record: step.clone(), profile }
}

#[test]
fn a_page_with_flame_graphs_of_four_systems_and_ten_steps_stays_below_four_megabytes() {
    let names = ["x1", "x2"].map(str::to_owned);
    let data = with_copies(made_up::run(&Shape::usual()), &names);
    let comparisons = made_up::comparisons(&data);
    let steps = (1..=10).map(|n| StepRecord {
        step: StepId::new(format!("s{n}")),
        ordinal: n,
        ..record(10)
    });
    let steps: Vec<StepRecord> = steps.collect();
    let systems = data.info.plan.systems.iter();
    let all = systems.flat_map(|system| {
        let rounds = steps.iter().flat_map(|step| (5..8).map(move |round| (step, round)));
        rounds.map(|(step, round)| deep(&system.name, round, step))
    });
    let asleep = |mut one: ProfiledStep| {
        (one.profile.of, one.profile.taken) = (Resource::Sleep, 500);
        one
    };
    let all: Vec<ProfiledStep> = all.flat_map(|one| [one.clone(), asleep(one)]).collect();
    let whole = Input {
        why: why(&data.info.plan, &[], &all),
        stack_costs: stack_costs(&all),
        ..Input::new(&data, &comparisons)
    };
    let page = Report::new(&whole).html();
    let graphs = page.matches("<svg class=\"chart flame").count();
    // Of CPU and of sleep: each system, and two of each difference.
    assert_eq!(graphs, 20 * (data.info.plan.systems.len() + 2 * whole.why.len() / 20));
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
    assert!(!Report::new(&whole).html_brief().contains("chart flame"));
}
