//! The microbenchmarks and sweeps: order, groups, crossovers, arrivals.

use model::{NoteKind, RunData, StepId, StepNote};
use report::tables::Shown;
use report::{Input, Report, Table};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::{self, Shape};

use crate::input;

/// Columns of equal width, headings as they are.
fn text(table: &Table) -> String {
    let head = table.headers.iter().map(|h| format!("{} {}", h.text, h.unit).trim().to_owned());
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    lines.extend(table.rows.iter().map(|row| {
        assert_eq!(row.len(), table.headers.len(), "{}", table.title);
        row.iter().map(report::Cell::shown).collect()
    }));
    let widths: Vec<usize> = (0..table.headers.len())
        .map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    let set = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths);
        let cells: Vec<String> = cells.map(|(cell, w)| format!("{cell:<w$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let body: Vec<String> = lines.iter().map(set).collect();
    format!("{}\n{}\n{}\n", table.title, table.note, body.join("\n"))
}

fn with<T>(micro: &Micro, ask: impl Fn(&Input<'_>) -> T) -> T {
    let data = micro::run(micro);
    let comparisons = made_up::comparisons(&data);
    ask(&input(&data, &comparisons))
}

#[test]
fn steps_are_listed_by_group_as_the_published_tables_have_them() {
    let table = with(&Micro::usual(), |input| Report::new(input).relative());
    let rows: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    load
    Points
    hot-points_range=100
    point-query
    points-covered-pk_range=100
    points-covered-si_range=100
    points-notcovered-pk_range=100
    points-notcovered-si_range=100
    random-points_range=1000
    random-points_range=100
    random-points_range=10
    Ranges
    range-covered-pk_range=100
    range-covered-si_range=100
    range-notcovered-pk_range=100
    range-notcovered-si_range=100
    scan
    Ranges with aggregation
    read-only-count_range=1000
    read-only-distinct_range=1000
    read-only-order_range=1000
    read-only_range=10000
    read-only_range=100
    read-only_range=10
    read-only-simple_range=1000
    read-only-sum_range=1000
    Writes
    delete
    insert
    read-write_range=100
    read-write_range=10
    update-index
    update-inlist
    update-nonindex
    update-one
    update-zipf
    write-only_range=10000
    ");
}

#[test]
fn the_tables_of_the_microbenchmarks() {
    let text = with(&Micro::usual(), |input| {
        let shown = Shown {
            system: Some("mysql-9.7.4/z12a".into()),
            decided_only: true,
            ..Shown::default()
        };
        let mut all = vec![
            Report::new(input).absolute(),
            Report::new(input).relative(),
            Report::new(input).group_summary().unwrap(),
            Report::new(input).verdicts(&shown),
        ];
        all.extend(Report::new(input).costs(model::Group::Host, false).into_iter().take(1));
        let all: Vec<String> = all.iter().map(text).collect();
        all.join("\n")
    });
    insta::assert_snapshot!(text);
}

/// Few tests, one of each group, at three client counts.
fn small_sweep() -> Micro {
    Micro { tests: 18, ..Micro::sweep(&[1, 8, 40]) }
}

#[test]
fn the_tables_of_a_sweep() {
    let text = with(&small_sweep(), |input| {
        let mut all = Report::new(input).throughput();
        all.extend(Report::new(input).over_clients("mysql-9.7.4/z12a"));
        all.extend(Report::new(input).group_summary());
        all.extend(Report::new(input).crossover_table());
        all.extend(Report::new(input).scale_up());
        let all: Vec<String> = all.iter().map(text).collect();
        all.join("\n")
    });
    insta::assert_snapshot!(text);
    let of_base = |input: &Input<'_>| Report::new(input).over_clients("mysql-5.6.24/z12a");
    assert!(with(&small_sweep(), |input| of_base(input).is_none()));
    assert!(with(&Micro::usual(), |input| Report::new(input).scale_up()).is_none());
}

#[test]
fn how_to_read_the_tables_of_a_sweep_is_told_once() {
    let each = with(&small_sweep(), |input| Report::new(input).all_over_clients());
    let told: Vec<bool> = each.iter().map(|table| !table.note.is_empty()).collect();
    assert_eq!(told, [true, false]);
}

#[test]
fn crossovers_are_told_in_sentences() {
    let found = with(&small_sweep(), |input| Report::new(input).crossovers());
    let lines: Vec<String> =
        found.iter().map(|one| format!("{}: {}", one.test, one.text)).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    point-query: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 40 clients (at about 7.0, 95 %: 5.8 to 8.4)
    read-only-count_range=1000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.6, 95 %: 3.1 to 4.2)
    read-only-distinct_range=1000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.1, 95 %: 2.5 to 3.9)
    read-only-order_range=1000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.4, 95 %: 2.5 to 4.6)
    read-only_range=10000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.7, 95 %: 3.4 to 4.0)
    read-only_range=100: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.6, 95 %: 2.6 to 5.1)
    read-only_range=10: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.1, 95 %: 2.1 to 4.5)
    read-only-simple_range=1000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.5, 95 %: 2.6 to 4.6)
    read-only-sum_range=1000: mysql-9.7.4/z12a passes mysql-5.6.24/z12a between 1 and 8 clients (at about 3.5, 95 %: 3.0 to 4.0)
    ");
    assert!(with(&Micro::usual(), |input| Report::new(input).crossovers()).is_empty());
}

#[test]
fn rates_that_were_not_sustained_are_told() {
    let micro = Micro { arrivals: true, tests: 18, ..Micro::usual() };
    let text = with(&micro, |input| {
        let table = text(&Report::new(input).open_loop().unwrap());
        let findings = Report::new(input).findings();
        let finding = findings.iter().find(|f| f.title.starts_with("An offered rate")).unwrap();
        let rates = Report::new(input).absolute();
        let marked = rates.rows.iter().flatten();
        let marked = marked.filter(|cell| cell.mark == "not sustained").count();
        format!("{table}\n{}\n{marked} cells marked\n", finding.text)
    });
    insta::assert_snapshot!(text);
    assert!(with(&Micro::usual(), |input| Report::new(input).open_loop()).is_none());
}

/// Few tests, one with a ramp and some at a rate.
fn open_loops() -> Micro {
    Micro { arrivals: true, tests: 18, ..Micro::usual() }
}

#[test]
fn a_step_is_judged_by_what_decides_it() {
    let shown = Shown { system: Some("mysql-9.7.4/z12a".into()), ..Shown::default() };
    let (verdicts, relative) = with(&open_loops(), |input| {
        (Report::new(input).verdicts(&shown), Report::new(input).relative())
    });
    let labels: Vec<&str> = verdicts.rows.iter().map(|r| r[0].text.as_str()).collect();
    let has = |label: &str| labels.contains(&label);
    assert!(has("point-query, highest rate"), "{labels:?}");
    assert!(has("update-index, p99 response time"), "{labels:?}");
    assert!(has("scan") && has("load"), "{labels:?}");
    assert!(!has("point-query") && !has("update-index"), "{labels:?}");
    // The plan says the rate of these: it is no merit of a system.
    let steps: Vec<&str> = relative.rows.iter().map(|r| r[0].text.as_str()).collect();
    assert!(steps.contains(&"scan"), "{steps:?}");
    assert!(!steps.contains(&"update-index"), "{steps:?}");
    assert!(!steps.contains(&"point-query"), "{steps:?}");
}

#[test]
fn programs_get_the_metric_that_decides_each_step() {
    let data = micro::run(&open_loops());
    let asked = |metrics| {
        let options = stats::Options { metrics, ..stats::Options::default() };
        stats::compare(&data, &options).unwrap()
    };
    let deciding = asked(stats::Selection::Deciding);
    let all = asked(stats::Selection::All);
    for one in &deciding {
        assert!(all.contains(one), "judged in another way: {one:?}");
    }
    let of = |step: &str| -> Vec<&str> {
        let of_step = deciding.iter().filter(|c| c.step.0 == step);
        let of_step = of_step.filter(|c| c.system != "control");
        of_step.map(|c| c.metric.0.as_str()).collect()
    };
    assert_eq!(of("scan"), ["rate"]);
    assert_eq!(of("point-query"), ["highest_rate"]);
    assert_eq!(of("update-index"), ["response.update-index.p99"]);
    let short = vec![model::MetricId::new("response.p99")];
    let short = asked(stats::Selection::Only(short));
    assert!(short.iter().any(|c| c.metric.0 == "response.update-index.p99"));
    assert!(short.iter().all(|c| c.metric.0.starts_with("response.")));
}

#[test]
fn sentences_tell_which_rates_were_not_sustained_and_of_whom() {
    let mut data = micro::run(&open_loops());
    let said = |data: &RunData| {
        let comparisons = made_up::comparisons(data);
        let input = input(data, &comparisons);
        let sentences = Report::new(&input).sentences();
        let lines = sentences.iter().map(|s| format!("{} {}", s.system, s.text));
        (lines.collect::<Vec<_>>(), Report::new(&input).unsustained())
    };
    let (lines, unsustained) = said(&data);
    insta::assert_snapshot!(lines.join("\n"), @"mysql-9.7.4/z12a is slower than mysql-5.6.24/z12a in 18 of 19 steps, worst update-index, p99 response time: 420 [412, 428]; inconclusive in 1, scan: 1.003 [0.984, 1.022]; about 3 more rounds (29m06s) would decide it. It did 8,935 of 10,080 operations/s in update-nonindex: the rate was not sustained in 4 of 4 rounds; nor in 7 other steps.");
    assert_eq!(unsustained.len(), 1);
    assert!(lines[0].ends_with(&unsustained[0].replace("mysql-9.7.4/z12a", "It")));
    // A base that does not keep up is told too, though it is compared with nothing.
    for cell in &mut data.cells {
        let is_base = cell.system == "mysql-5.6.24/z12a" && cell.step.0 == "update-index";
        match cell.metric.0.as_str() {
            "shed" if is_base && cell.round > 1 => cell.value = 9_000.0,
            "rate.update-index" if is_base => cell.value = 48.0,
            _ => {}
        }
    }
    let (lines, _) = said(&data);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(
        lines[0],
        "mysql-5.6.24/z12a did 48.0 of 7,020 operations/s in update-index: the rate was not sustained in 3 of 4 rounds."
    );
}

#[test]
fn all_formats_have_response_times_and_attempts_of_open_loops() {
    let micro = Micro { tests: 18, ..open_loops() };
    let [markdown, tsv, html] = with(&micro, |input| {
        [Report::new(input).markdown(), Report::new(input).tsv(), Report::new(input).html()]
    });
    assert!(markdown.contains("| achieved (ops/s) |"), "{markdown}");
    assert!(markdown.contains("| p50 | p99 | limit |"), "{markdown}");
    assert!(markdown.contains("## Rates tried"), "{markdown}");
    assert!(markdown.contains("; 99999/s: p99 61ms, over 5ms |"), "{markdown}");
    assert!(tsv.contains("\tsustained\tp50\tp99\tlimit\t"), "{tsv}");
    assert!(html.contains("p99 response time"));
    assert!(html.contains("over 5.00ms in 2 of 4"));
    assert!(html.contains("Relative to the base"));
}

#[test]
fn all_formats_have_what_scripts_printed_bounded_and_escaped() {
    let mut data = micro::run(&small_sweep());
    let trial = data.trials[0].clone();
    let texts = (0..12).map(|n| format!("line {n}")).chain(["never shown".to_owned()]);
    let texts =
        ["<b>\u{1b}[31m\t".to_owned(), "x".repeat(300), " ".to_owned()].into_iter().chain(texts);
    let step = StepId("prepare".to_owned());
    data.notes.extend(texts.map(|text| StepNote {
        round: trial.round,
        system: trial.system.clone(),
        step: step.clone(),
        what: NoteKind::Script,
        text,
    }));
    let (input, long) = (input(&data, &[]), format!("{}…", "x".repeat(200)));
    let report = Report::new(&input);
    let [markdown, tsv, html] = [report.markdown(), report.tsv(), report.html()];
    let escaped = ["&lt;b&gt;\u{fffd}\\[31m ", "<b>\u{fffd}[31m ", "&lt;b&gt;\u{fffd}[31m "];
    for (text, escaped) in [&markdown, &tsv, &html].into_iter().zip(escaped) {
        assert!(text.contains(escaped), "{text}");
        assert!(text.contains(&long) && !text.contains(&format!("{long}x")), "{text}");
        assert!(text.contains("line 7") && !text.contains("line 8"), "{text}");
    }
    assert!(markdown.contains("10 of 15 lines"), "{markdown}");
    assert!(!with(&small_sweep(), |input| Report::new(input).html()).contains("Printed by"));
}

#[test]
fn programs_get_steps_in_the_order_of_the_workload() {
    let data = micro::run(&small_sweep());
    let comparisons = made_up::comparisons(&data);
    let json = Report::new(&input(&data, &comparisons[..1])).json();
    assert!(json.contains("\"step\": \"load\""), "{json}");
    let first = comparisons.iter().find(|c| c.ordinal == 2).unwrap();
    assert_eq!(first.step.0, "update-inlist@8");
}

#[test]
fn markdown_and_tsv_of_a_sweep() {
    let micro = Micro { tests: 2, ..small_sweep() };
    let (markdown, tsv) =
        with(&micro, |input| (Report::new(input).markdown(), Report::new(input).tsv()));
    assert!(markdown.contains("| **Writes** |  |  |"), "{markdown}");
    for table in tsv.split_terminator("\n\n") {
        let fields: Vec<usize> = table.lines().skip(1).map(|l| l.split('\t').count()).collect();
        assert!(fields.windows(2).all(|w| w[0] == w[1]), "{table}");
    }
    let scale_up = tsv.split("\n\n").find(|t| t.starts_with("# Scale-up")).unwrap();
    assert!(scale_up.contains("\ngroup\tsystem\t1\t8\t40\n"), "{scale_up}");
    assert!(scale_up.contains("\nupdate-inlist\tmysql-5.6.24/z12a\t1\t"), "{scale_up}");
}

#[test]
fn a_workload_without_groups_keeps_its_order() {
    let mut data = micro::run(&Micro::usual());
    data.steps.iter_mut().for_each(|step| step.group.clear());
    let comparisons = made_up::comparisons(&data);
    let table = Report::new(&input(&data, &comparisons)).relative();
    let rows: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
    assert_eq!(rows[..3], ["load", "update-inlist", "update-index"]);
    assert!(Report::new(&input(&data, &comparisons)).group_summary().is_none());
}

#[test]
fn one_system_alone() {
    let micro = Micro {
        shape: Shape { systems: vec![("only".into(), 1.0)], ..Micro::usual().shape },
        ..small_sweep()
    };
    with(&micro, |input| {
        assert!(Report::new(input).crossovers().is_empty());
        assert_eq!(Report::new(input).throughput().len(), 2);
        assert!(Report::new(input).html_brief().contains("No details below"));
    });
}
