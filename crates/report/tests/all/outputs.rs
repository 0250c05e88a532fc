//! What programs, spreadsheets and blog posts get.

use model::{Clock, Comparison, Evidence, Outcome, Reason, RunData, Verdict};
use report::tables;
use report::{Align, Input, Report, Table};
use testkit::made_up::{self, Shape};

fn small() -> Shape {
    Shape { rounds: 2, seconds: 5, steps: 5, failed: Some((1, 2)), ..Shape::usual() }
}

fn input<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> Input<'a> {
    Input {
        differing: Some(crate::differing()),
        generated: "2026-11-21 12:00 UTC",
        ..Input::new(data, comparisons)
    }
}

/// Columns of equal width, as a terminal sets them.
fn text(table: &Table) -> String {
    let head = table.headers.iter().map(|h| format!("{} {}", h.text, h.unit).trim().to_owned());
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    lines.extend(table.rows.iter().map(|row| row.iter().map(report::Cell::shown).collect()));
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.headers.len()).map(width).collect();
    let set = |line: &Vec<String>| {
        let cells = line.iter().enumerate().map(|(i, cell)| match table.headers[i].align {
            Align::Left => format!("{cell:<w$}", w = widths[i]),
            Align::Right => format!("{cell:>w$}", w = widths[i]),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let body: Vec<String> = lines.iter().map(set).collect();
    format!("{}\n{}\n{}\n", table.title, table.note, body.join("\n"))
}

#[test]
fn the_tables() {
    let data = made_up::run(&Shape { failed: Some((1, 3)), ..Shape::usual() });
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    let step = &data.steps[4];
    let mut all = vec![
        Report::new(&input).absolute(),
        Report::new(&input).relative(),
        Report::new(&input).background().unwrap(),
        Report::new(&input).verdicts(&tables::Shown::default()),
    ];
    all.extend(Report::new(&input).costs(model::Group::Server, false).into_iter().take(1));
    all.extend(Report::new(&input).costs(model::Group::Server, true).into_iter().take(1));
    all.extend(Report::new(&input).step_costs(step, true));
    all.extend(Report::new(&input).percentiles(step, "query", Clock::Service));
    all.extend(Report::new(&input).percentiles(step, "insert", Clock::Response));
    all.extend(Report::new(&input).buckets(step, "query", Clock::Service));
    all.extend(Report::new(&input).sizes());
    all.extend(Report::new(&input).errors());
    all.extend(Report::new(&input).settings());
    all.extend(Report::new(&input).differing());
    all.push(Report::new(&input).trials());
    all.push(Report::new(&input).metrics());
    for table in &all {
        assert!(table.rows.iter().all(|r| r.len() == table.headers.len()), "{}", table.title);
    }
    let text: Vec<String> = all.iter().map(text).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn the_sentences() {
    let data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    let sentences: Vec<String> = Report::new(&input)
        .sentences()
        .into_iter()
        .map(|s| format!("{} {}", s.system, s.text))
        .chain([Report::new(&input).control()])
        .collect();
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn what_the_tables_of_all_systems_say_is_told_once() {
    let data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let shown = tables::Shown::default();
    let each = Report::new(&input(&data, &comparisons)).verdicts_by_system(&shown);
    let notes: Vec<&str> = each.iter().map(|table| table.note.as_str()).collect();
    let told = "q is the p-value adjusted for false discoveries over the steps; a change needs 0.01 at most.";
    assert_eq!(notes, [told, ""]);
}

#[test]
fn markdown() {
    let data = made_up::run(&small());
    let comparisons = made_up::comparisons(&data);
    insta::assert_snapshot!(Report::new(&input(&data, &comparisons)).markdown());
}

#[test]
fn tsv_has_as_many_fields_in_every_line_of_a_table() {
    let data = made_up::run(&small());
    let comparisons = made_up::comparisons(&data);
    let tsv = Report::new(&input(&data, &comparisons)).tsv();
    for table in tsv.split_terminator("\n\n") {
        let fields: Vec<usize> = table.lines().skip(1).map(|l| l.split('\t').count()).collect();
        assert!(fields.len() > 1 && fields.windows(2).all(|w| w[0] == w[1]), "{table}");
    }
    let without_verdicts = tsv.split_once("\n\n").unwrap().1;
    insta::assert_snapshot!(without_verdicts);
}

#[test]
fn json_keeps_its_contract() {
    let data = made_up::run(&small());
    let mut comparisons = made_up::comparisons(&data);
    comparisons[1].ratio = Some(f64::NAN);
    comparisons[1].evidence = Some(Evidence {
        sd: 0.011,
        sd_of_rounds: 0.011,
        df: 5.5,
        prior_df: 2.5,
        margin: 0.01,
        p_value: 0.25,
        sign_flip: None,
        centre: 1.002,
        outlying: vec![3],
        slice_pairs: Some(f64::INFINITY),
        within: None,
    });
    insta::assert_snapshot!(Report::new(&input(&data, &comparisons[..2])).json());
    assert_eq!(Report::new(&input(&data, &[])).json(), "[]\n");
}

#[test]
fn markup_in_names_stays_text_in_markdown() {
    let mut shape = small();
    shape.systems[1].0 = "<b>x|y</b>".into();
    let data = made_up::run(&shape);
    let comparisons = made_up::comparisons(&data);
    let markdown = Report::new(&input(&data, &comparisons)).markdown();
    assert!(markdown.contains("&lt;b&gt;x\\|y&lt;/b&gt;"));
    assert!(!markdown.contains("<b>"));
}

#[test]
fn no_table_and_no_file_has_a_control_character_of_a_name_or_reason() {
    let mut shape = small();
    shape.systems[1].0 = "b\u{1b}[31mred\u{7}".into();
    let mut data = made_up::run(&shape);
    let why = "died\u{9b}2J\nat once".to_owned();
    for trial in &mut data.trials {
        if let Outcome::Failed { reason, .. } = &mut trial.outcome {
            reason.clone_from(&why);
        }
    }
    let mut comparisons = made_up::comparisons(&data);
    let system = data.info.plan.systems[1].name.clone();
    for one in comparisons.iter_mut().filter(|c| c.system == system) {
        one.verdict = Verdict::Incomparable(Reason::FailedTrials {
            system: system.clone(),
            why: why.clone(),
        });
    }
    let compared: Vec<&Comparison> = comparisons.iter().collect();
    let input = input(&data, &comparisons);
    let markdown = Report::new(&input).markdown();
    assert!(markdown.contains("**b\u{fffd}\\[31mred\u{fffd}**"), "{markdown}");
    assert!(markdown.contains(": died\u{fffd}2J at once"), "{markdown}");
    let mut texts = vec![
        markdown,
        Report::new(&input).comment(&compared),
        Report::new(&input).junit(&compared),
        // Its fields are separated by tabs.
        Report::new(&input).tsv().replace('\t', " "),
    ];
    for table in [
        Report::new(&input).verdicts(&tables::Shown::default()),
        Report::new(&input).relative(),
        Report::new(&input).trials(),
    ] {
        texts.extend(table.rows.iter().flatten().map(report::Cell::shown));
    }
    let is_order = |c: char| c.is_control() && c != '\n';
    for text in texts {
        assert!(!text.chars().any(is_order), "{text:?}");
    }
}
