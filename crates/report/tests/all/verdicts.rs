//! What tables and sentences conclude, and what they leave open.

use model::{
    Comparison, Counts, Evidence, Group, Interleave, MetricId, Nanos, Reason, RunData, Step,
    StepId, Subject, Unit, Verdict,
};
use report::tables::Shown;
use report::{Report, Table, Tone};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::tpcc::{self, Tpcc};
use testkit::made_up::{self, Shape};

use crate::input;

const CANDIDATE: &str = "sqlite/rollback";

fn different(what: &str) -> Reason {
    Reason::Different { what: what.into(), base: "off".into(), candidate: "on".into() }
}

fn failed(system: &str) -> Verdict {
    Verdict::Incomparable(Reason::FailedTrials { system: system.into(), why: "signal 9".into() })
}

fn noisy() -> Verdict {
    Verdict::Inconclusive(Reason::TooNoisy { more_rounds: Some(3) })
}

/// Nothing of a system could be compared.
fn refuse(comparisons: &mut [Comparison], system: &str, reason: &Reason) {
    for one in comparisons.iter_mut().filter(|c| c.system == system) {
        one.verdict = Verdict::Incomparable(reason.clone());
        (one.ratio, one.low, one.high, one.q_value) = (None, None, None, None);
        one.pairs.clear();
    }
}

/// The verdicts on the throughput of a system, step by step.
fn judge(comparisons: &mut [Comparison], system: &str, verdict: impl Fn(usize) -> Verdict) {
    let of_system = comparisons.iter_mut().filter(|c| c.system == system);
    let rates = of_system.filter(|c| c.metric.0 == MetricId::RATE);
    for (place, one) in rates.enumerate() {
        one.verdict = verdict(place);
    }
}

/// What is read in the rows of this name, without the name.
fn shown(table: &Table, name: &str) -> Vec<String> {
    let rows = table.rows.iter().filter(|row| row[0].text == name);
    rows.flat_map(|row| row[1..].iter().map(report::Cell::shown)).collect()
}

#[test]
fn what_could_not_be_compared_has_no_ratio_of_medians() {
    let data = made_up::run(&Shape::usual());
    let (system, why) = (CANDIDATE.to_owned(), "signal 9".to_owned());
    let reasons = [
        different("TLS"),
        different("unit"),
        Reason::MissingTrials { system: system.clone() },
        Reason::FailedTrials { system: system.clone(), why: why.clone() },
        Reason::QuarantinedTrials { system, why },
    ];
    for reason in reasons {
        let mut comparisons = made_up::comparisons(&data);
        refuse(&mut comparisons, CANDIDATE, &reason);
        let input = input(&data, &comparisons);
        let mut all = vec![Report::new(&input).relative()];
        all.extend(Report::new(&input).costs(Group::Server, true));
        assert!(all.len() > 5);
        for table in &all {
            let cells = shown(table, CANDIDATE);
            assert_eq!(cells, vec!["– incomparable"; 10], "{}", table.title);
            let control = shown(table, "control");
            assert!(control.iter().all(|cell| !cell.contains("incomparable")));
        }
        let markdown = Report::new(&input).markdown();
        let row = format!("| {CANDIDATE} | – incomparable | – incomparable |");
        assert!(markdown.contains(&row), "{markdown}");
        let tsv = Report::new(&input).tsv();
        let (_, relative) = tsv.split_once("# Throughput relative to").unwrap();
        let (relative, _) = relative.split_once("\n\n").unwrap();
        let row = format!("{CANDIDATE}{}", "\t".repeat(10));
        assert!(relative.lines().any(|line| line == row), "{relative}");
    }
}

#[test]
fn medians_stand_in_for_a_zero_and_for_what_was_not_compared() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    let zero = Reason::NoRatio { system: "sqlite/wal".into() };
    refuse(&mut comparisons, CANDIDATE, &zero);
    let of = |comparisons: &[Comparison]| {
        let relative = Report::new(&input(&data, comparisons)).relative();
        shown(&relative, CANDIDATE)
    };
    let ratios = of(&comparisons);
    assert_eq!(ratios, of(&[]));
    assert!(ratios[3].starts_with("0.3"), "{ratios:?}");
}

#[test]
fn a_system_with_another_unit_says_its_own() {
    let mut data = made_up::run(&Shape::usual());
    let switches = data.cells.iter_mut();
    for cell in switches.filter(|cell| cell.metric.0 == "server.cs/o") {
        if cell.system == CANDIDATE || (cell.system == "control" && cell.round > 1) {
            cell.unit = Unit::KbPerOp;
        }
    }
    let costs = Report::new(&input(&data, &[])).costs(Group::Server, false);
    let of_switches = |table: &&Table| table.title.starts_with("server.cs/o");
    let table = costs.iter().find(of_switches).unwrap();
    assert_eq!(table.headers[1].unit, "1/op");
    let mut rows = table.rows.iter();
    let row = rows.find(|row| row[0].text == CANDIDATE).unwrap();
    for cell in &row[1..] {
        assert!(cell.text.ends_with(" KB/op"), "{cell:?}");
        // A spreadsheet must not take it for a number of the others' unit.
        assert_eq!(cell.value, None);
    }
    // Its rounds are in different units.
    assert_eq!(shown(table, "control"), vec!["–"; 10]);
}

#[test]
fn transactions_that_could_not_be_compared_have_no_bars() {
    let system = "mysql-9.7.4/innodb/z12a";
    let data = tpcc::run(&Tpcc::usual());
    let mut comparisons = made_up::comparisons(&data);
    refuse(&mut comparisons, system, &different("TLS"));
    let input = input(&data, &comparisons);
    let table = Report::new(&input).relative_transactions().unwrap();
    assert_eq!(shown(&table, system), vec!["– incomparable"; 8]);
    let page = Report::new(&input).html();
    let said = format!("{system}: h1 – incomparable, h3 – incomparable");
    assert!(page.contains(&said));
}

#[test]
fn a_sweep_has_a_sign_where_nothing_could_be_compared() {
    let system = "mysql-9.7.4/z12a";
    let data = micro::run(&Micro { tests: 3, ..Micro::sweep(&[1, 8]) });
    let mut comparisons = made_up::comparisons(&data);
    refuse(&mut comparisons, system, &different("TLS"));
    let input = input(&data, &comparisons);
    let table = Report::new(&input).over_clients(system).unwrap();
    let rows = table.rows.iter().filter(|row| !Table::is_heading(row));
    let cells: Vec<&str> =
        rows.flat_map(|row| row[1..].iter().map(|cell| cell.text.as_str())).collect();
    assert_eq!(cells, ["–?"; 6]);
    assert!(Report::new(&input).html().contains("title=\"TLS differs: off and on\""));
}

#[test]
fn a_control_is_told_by_the_steps_that_could_be_judged() {
    let data = made_up::run(&Shape::usual());
    let said = |verdict: &dyn Fn(usize) -> Verdict| {
        let mut comparisons = made_up::comparisons(&data);
        judge(&mut comparisons, "control", verdict);
        let said = Report::new(&input(&data, &comparisons)).control();
        let of = "The control, a second copy of sqlite/wal, ";
        said.strip_prefix(of).unwrap().to_owned()
    };
    let few = || Verdict::Inconclusive(Reason::TooFewRounds { have: 2, need: 3 });
    let until = |end: usize| {
        move |step: usize| {
            if step < end { failed("control") } else { noisy() }
        }
    };
    let begins = |said: String, with: &str| assert!(said.starts_with(with), "{said}");
    begins(said(&until(0)), "was flagged as different in 0 of 10 steps; ");
    begins(
        said(&until(4)),
        "was flagged as different in 0 of the 6 steps that could be judged, of 10; ",
    );
    begins(
        said(&until(9)),
        "was flagged as different in 0 of the 1 step that could be judged, of 10; ",
    );
    begins(
        said(&until(10)),
        "could not be judged: no complete round: control failed: signal 9. Its largest",
    );
    begins(
        said(&|step| match step {
            0 => few(),
            _ => failed("control"),
        }),
        "could not be judged: complete rounds: 2, a verdict needs 3; no complete round: control failed: signal 9.",
    );
    begins(said(&|_| few()), "cannot be judged yet: a verdict needs more rounds.");
}

#[test]
fn rounds_that_tell_no_time_are_counted_without_one() {
    let mut data = made_up::run(&Shape::usual());
    data.trials.iter_mut().for_each(|trial| trial.duration = Nanos(0));
    let mut comparisons = made_up::comparisons(&data);
    judge(&mut comparisons, CANDIDATE, |_| noisy());
    let sentences = Report::new(&input(&data, &comparisons)).sentences();
    let text = &sentences[0].text;
    assert!(text.contains("; about 3 more rounds would decide all"), "{text}");
}

#[test]
fn only_a_system_without_an_open_step_performs_like_the_base() {
    let data = made_up::run(&Shape::usual());
    let said = |verdict: &dyn Fn(usize) -> Verdict| {
        let mut comparisons = made_up::comparisons(&data);
        judge(&mut comparisons, CANDIDATE, verdict);
        let sentences = Report::new(&input(&data, &comparisons)).sentences();
        sentences[0].text.clone()
    };
    assert_eq!(
        said(&|_| Verdict::Unchanged),
        "performs like sqlite/wal: unchanged in 10 of 10 steps."
    );
    assert_eq!(
        said(&|step| match step {
            0 => Verdict::Unchanged,
            _ => noisy(),
        }),
        "against sqlite/wal: unchanged in 1 of 10 steps; inconclusive in 9, ratios 0.31–1.08; the interval shows only gains in 3, only losses in 6; a loss of more than 12 % is ruled out in 6; about 3 more rounds (29m06s) would decide all; server.cpu/o certainly rose: 3.22 [3.20, 3.24] in l.i2."
    );
    assert_eq!(
        said(&|step| match step {
            0 => failed("b"),
            _ => Verdict::Unchanged,
        }),
        "performs like sqlite/wal: unchanged in 9 of 10 steps; incomparable in 1 (no complete round: b failed: signal 9)."
    );
}

fn fell() -> Verdict {
    Verdict::Incomparable(Reason::FellToZero { rounds: 4 })
}

#[test]
fn a_sentence_begins_with_what_fell_to_zero() {
    let data = made_up::run(&Shape::usual());
    let said = |verdict: &dyn Fn(usize) -> Verdict| {
        let mut comparisons = made_up::comparisons(&data);
        judge(&mut comparisons, CANDIDATE, verdict);
        let sentence = Report::new(&input(&data, &comparisons)).sentences().remove(0);
        assert_eq!(sentence.tone, Tone::Regressed);
        sentence.text
    };
    assert_eq!(
        said(&|step| match step {
            2 => fell(),
            _ => Verdict::Unchanged,
        }),
        "is at zero, unlike sqlite/wal, in 1 of 10 steps: l.i1 fell to zero in all 4 rounds; unchanged in 9."
    );
    let named = ["l.i0", "l.x", "l.i1"].map(|step| format!("{step} fell to zero in all 4 rounds"));
    assert_eq!(
        said(&|step| if step < 5 { fell() } else { noisy() }),
        format!(
            "is at zero, unlike sqlite/wal, in 5 of 10 steps: {}, and 2 more; inconclusive in 5, ratios 0.90–1.08; the interval shows only gains in 2, only losses in 3; a loss of more than 12 % is ruled out in 4; about 3 more rounds (29m06s) would decide all; server.cpu/o certainly rose: 1.107 [1.096, 1.119] in qp100.",
            named.join(", ")
        )
    );
}

#[test]
fn systems_that_regressed_come_first_then_those_that_improved() {
    let names = ["base", "same", "up", "open", "zero", "down"];
    let data = made_up::run(&Shape {
        systems: names.map(|name| (name.to_owned(), 1.0)).to_vec(),
        ..Shape::usual()
    });
    let mut comparisons = made_up::comparisons(&data);
    let verdicts = [Verdict::Unchanged, Verdict::Improved, noisy(), fell(), Verdict::Regressed];
    for (system, verdict) in names.iter().skip(1).zip(verdicts) {
        judge(&mut comparisons, system, |_| verdict.clone());
    }
    let sentences = Report::new(&input(&data, &comparisons)).sentences();
    let order: Vec<&str> = sentences.iter().map(|one| one.system.as_str()).collect();
    assert_eq!(order, ["zero", "down", "up", "same", "open"]);
}

#[test]
fn what_fell_to_zero_has_a_row_and_a_value_of_zero() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    judge(&mut comparisons, CANDIDATE, |_| Verdict::Unchanged);
    made_up::fall(&mut comparisons, CANDIDATE, "l.i1");
    let input = input(&data, &comparisons);
    let decided = Shown { decided_only: true, ..Shown::default() };
    let each = Report::new(&input).verdicts_by_system(&decided);
    assert_eq!(each.len(), 1);
    let why = "fell to zero in all 4 rounds";
    assert_eq!(shown(&each[0], "l.i1"), ["–", "–", "4", "–", "incomparable", why]);
    assert_eq!(each[0].rows.len(), 1);
    assert_eq!(each[0].rows[0][5].tone, Tone::Regressed);
    let relative = Report::new(&input).relative();
    assert_eq!(shown(&relative, CANDIDATE)[2], "0 fell to zero");
    let page = Report::new(&input).html();
    let mark = r#"<span class="ratio">0</span><svg class="bar""#;
    assert_eq!(page.matches(mark).count(), 1);
    assert_eq!(page.matches(r#"<span class="verdict">fell to zero</span>"#).count(), 1);
}

#[test]
fn a_column_of_reasons_is_there_where_they_differ() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    let heads = |comparisons: &[Comparison]| {
        let input = input(&data, comparisons);
        let each = Report::new(&input).verdicts_by_system(&Shown::default());
        let last = |table: &Table| {
            let columns = table.headers.len();
            assert!(table.rows.iter().all(|row| row.len() == columns));
            table.headers.last().unwrap().text.clone()
        };
        // Programs find it always.
        assert_eq!(last(&Report::new(&input).verdicts(&Shown::default())), "why");
        each.iter().map(last).collect::<Vec<String>>()
    };
    judge(&mut comparisons, CANDIDATE, |_| Verdict::Unchanged);
    assert_eq!(heads(&comparisons), ["verdict", "why"]);
    judge(&mut comparisons, CANDIDATE, |place| match place {
        0 => noisy(),
        _ => Verdict::Unchanged,
    });
    assert_eq!(heads(&comparisons), ["why", "why"]);
    // What is the same in each row stands below.
    judge(&mut comparisons, CANDIDATE, |_| noisy());
    assert_eq!(heads(&comparisons), ["verdict", "why"]);
    let input = input(&data, &comparisons);
    let each = Report::new(&input).verdicts_by_system(&Shown::default());
    assert!(each[0].note.starts_with("Why, in each row: "), "{}", each[0].note);
}

#[test]
fn of_slices_a_note_says_what_the_ratio_is_of() {
    let mut data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let told = "In steps measured in slices the ratio is the mean of pairs of neighbouring slices; absolute values are of whole windows, so their ratio may differ.";
    let has_note = |data: &RunData| {
        let table = Report::new(&input(data, &comparisons)).verdicts(&Shown::default());
        table.note.lines().any(|line| line == told)
    };
    assert!(!has_note(&data));
    data.info.plan.course.interleave = Interleave::Slices(Nanos::from_millis(250));
    assert!(has_note(&data));
}

/// These rounds of a system's throughput in a step are outlying.
fn pull(comparisons: &mut [Comparison], system: &str, step: &str, rounds: &[u32]) {
    let rates = comparisons.iter_mut().filter(|c| c.metric.0 == MetricId::RATE);
    for one in rates.filter(|c| c.system == system && c.step.0 == step) {
        one.evidence = Some(Evidence {
            sd: 0.01,
            sd_of_rounds: 0.01,
            df: 3.0,
            prior_df: 0.0,
            margin: 0.02,
            p_value: 0.001,
            sign_flip: None,
            centre: 0.9,
            outlying: rounds.to_vec(),
            slice_pairs: None,
            within: None,
        });
    }
}

const PULL: &str = "Such rounds pull the ratio away from Hodges and Lehmann's estimate by more than its standard error; none is dropped.";

#[test]
fn outlying_rounds_are_marked_and_told_below() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    pull(&mut comparisons, CANDIDATE, "l.i2", &[3]);
    pull(&mut comparisons, CANDIDATE, "qr100", &[1, 4]);
    let input = input(&data, &comparisons);
    let table = Report::new(&input).verdicts(&Shown::default());
    let verdict = |step: &str| {
        let mut rows = table.rows.iter();
        let row = rows.find(|row| row[0].text == CANDIDATE && row[1].text == step);
        row.unwrap()[6].shown()
    };
    assert_eq!(verdict("l.i0"), "regressed");
    assert_eq!(verdict("l.i2"), "regressed *");
    assert_eq!(verdict("qr100"), "improved *");
    let told = format!(
        "* Outlying: round 3 of {CANDIDATE}, l.i2; rounds 1, 4 of {CANDIDATE}, qr100. {PULL}"
    );
    assert_eq!(table.note.lines().nth(1), Some(told.as_str()));
    let markdown = Report::new(&input).markdown();
    assert!(markdown.contains("| regressed \\* |"), "{markdown}");
    assert!(markdown.contains(&format!(" \\{told}")), "{markdown}");
    let page = Report::new(&input).html();
    let (_, step) = page.split_once("id=\"step-3\"").unwrap();
    let (step, _) = step.split_once("</section>").unwrap();
    let (_, pairs) = step.split_once("Ratio to the base in each round").unwrap();
    assert_eq!(pairs.matches(" <i>*</i>").count(), 1, "{pairs}");
    assert!(pairs.contains("* Outlying. Such rounds"), "{pairs}");
}

#[test]
fn what_a_table_before_said_of_all_is_not_told_again_with_outlying_rounds() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    pull(&mut comparisons, "control", "l.x", &[2]);
    let shown = Shown::default();
    let each = Report::new(&input(&data, &comparisons)).verdicts_by_system(&shown);
    let notes: Vec<&str> = each.iter().map(|table| table.note.as_str()).collect();
    let told = format!("* Outlying in control: round 2 of l.x. {PULL}");
    assert_eq!(
        notes,
        [
            "q is the p-value adjusted for false discoveries over the steps; a change needs 0.01 at most.",
            told.as_str()
        ]
    );
}

#[test]
fn equal_outlying_rounds_of_two_systems_are_told_below_each() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    for system in [CANDIDATE, "control"] {
        pull(&mut comparisons, system, "l.x", &[2]);
    }
    let shown = Shown::default();
    let each = Report::new(&input(&data, &comparisons)).verdicts_by_system(&shown);
    let signs: Vec<String> = each.iter().map(|table| table.note_lines().0.join("\n")).collect();
    let told = |system| format!("* Outlying in {system}: round 2 of l.x. {PULL}");
    assert_eq!(signs, [told(CANDIDATE), told("control")]);
}

#[test]
fn margins_of_a_family_that_differ_are_a_range() {
    let mut data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    comparisons.truncate(3);
    let margins = [("insert", 0.05), ("query", 0.01), ("long", 0.03)];
    let (system, step) = (comparisons[0].system.clone(), comparisons[0].step.0.clone());
    for (one, (kind, margin)) in comparisons.iter_mut().zip(margins) {
        (one.system, one.step.0) = (system.clone(), step.clone());
        one.metric = MetricId::new(MetricId::RATE);
        pull(std::slice::from_mut(one), &system, &step, &[]);
        one.metric = MetricId(format!("service.{kind}.p99"));
        one.evidence.as_mut().unwrap().margin = margin;
        data.cells[0].metric = one.metric.clone();
    }
    let table = Report::new(&input(&data, &comparisons)).metrics();
    let mut rows = table.rows.iter();
    let row = rows.find(|row| row[0].text == "service.<kind>.p99");
    assert_eq!(row.unwrap()[4].text, "1.0 to 5.0");
}

/// Steps and metrics of a run of very many systems.
const STEPS: u32 = 47;
const METRICS: usize = 3;

fn unchanged(system: &str, step: &Step, metric: usize) -> Comparison {
    Comparison {
        step: step.id.clone(),
        ordinal: step.ordinal,
        clients: step.clients,
        metric: match metric {
            0 => MetricId::new(MetricId::RATE),
            other => MetricId(format!("m{other}")),
        },
        unit: Unit::OpsPerSecond,
        base: "v0".into(),
        system: system.into(),
        ratio: Some(1.0),
        low: Some(0.99),
        high: Some(1.01),
        rounds: 4,
        pairs: Vec::new(),
        q_value: Some(1.0),
        verdict: Verdict::Unchanged,
        magnitude: None,
        evidence: None,
    }
}

/// Minutes, where all comparisons are gone through for each system and step.
#[test]
fn two_hundred_systems_are_told_in_every_metric() {
    let names: Vec<String> = (0..200).map(|number| format!("v{number}")).collect();
    let mut data = made_up::run(&Shape {
        systems: names.iter().map(|name| (name.clone(), 1.0)).collect(),
        rounds: 1,
        seconds: 1,
        steps: 0,
        failed: None,
    });
    let subject = Subject { kind: "query".into(), counts: Counts::Operations };
    let step = |ordinal| Step::new(StepId(format!("s{ordinal}")), ordinal, 1, subject.clone());
    data.steps = (0..STEPS).map(step).collect();
    let mut comparisons = Vec::new();
    for system in names.iter().skip(1) {
        for step in &data.steps {
            comparisons.extend((0..METRICS).map(|metric| unchanged(system, step, metric)));
        }
    }
    let input = input(&data, &comparisons);
    let shown = Shown { all_metrics: true, ..Shown::default() };
    let of_one = STEPS as usize * METRICS;
    assert_eq!(Report::new(&input).verdicts(&shown).rows.len(), 199 * of_one);
    let each = Report::new(&input).verdicts_by_system(&shown);
    assert_eq!(each.len(), 199);
    assert!(each.iter().all(|table| table.rows.len() == of_one));
}

/// What other programs do meanwhile grows with the time that a step takes, which is no reason for it.
#[test]
fn costs_of_a_shared_host_are_no_reasons() {
    let mut data = made_up::run(&Shape::usual());
    let rates: Vec<_> = data.cells.iter().filter(|cell| cell.metric.0 == "rate").cloned().collect();
    let add = |data: &mut RunData, metric: &str, unit: Unit, value: fn(&str) -> f64| {
        data.cells.extend(rates.iter().map(|cell| model::Cell {
            metric: MetricId::new(metric),
            unit,
            value: value(&cell.system),
            ..cell.clone()
        }));
    };
    let names_switches = |data: &RunData| {
        let comparisons = made_up::comparisons(data);
        let table = Report::new(&input(data, &comparisons)).verdicts(&Shown::default());
        table.rows.iter().flatten().any(|cell| cell.shown().contains("cs/o ×8"))
    };
    add(&mut data, "cs/o", Unit::PerOp, |system| if system == CANDIDATE { 8.0 } else { 1.0 });
    assert!(names_switches(&data));
    assert_eq!(crate::finding(&data, "Other programs"), None);
    add(&mut data, "foreign", Unit::Percent, |_| 106.0);
    assert!(!names_switches(&data));
    let told = crate::finding(&data, "Other programs").unwrap();
    assert!(told.contains(" took 106.0 % of one CPU ("), "{told}");
}
