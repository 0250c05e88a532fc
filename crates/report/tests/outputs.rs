//! What programs, spreadsheets and blog posts get.

mod common;

use common::Shape;
use model::{Comparison, Evidence, Outcome, Reason, RunData, Verdict};
use report::tables::{self, Clock};
use report::{Align, Input, Table};

fn small() -> Shape {
    Shape {
        rounds: 2,
        seconds: 5,
        steps: 5,
        failed: Some((1, 2)),
        ..Shape::usual()
    }
}

fn input<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> Input<'a> {
    Input {
        differing: Some(common::differing()),
        generated: "2026-11-21 12:00 UTC",
        ..Input::new(data, comparisons)
    }
}

/// Columns of equal width, as a terminal sets them.
fn text(table: &Table) -> String {
    let head = table
        .headers
        .iter()
        .map(|h| format!("{} {}", h.text, h.unit).trim().to_owned());
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    lines.extend(
        table
            .rows
            .iter()
            .map(|row| row.iter().map(report::Cell::shown).collect()),
    );
    let width = |column: usize| {
        lines
            .iter()
            .map(|l| l[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.headers.len()).map(width).collect();
    let set = |line: &Vec<String>| {
        let cells = line
            .iter()
            .enumerate()
            .map(|(i, cell)| match table.headers[i].align {
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
    let data = common::run(&Shape {
        failed: Some((1, 3)),
        ..Shape::usual()
    });
    let comparisons = common::comparisons(&data);
    let input = input(&data, &comparisons);
    let step = &data.steps[4];
    let mut all = vec![
        tables::absolute(&input),
        tables::relative(&input),
        tables::background(&input).unwrap(),
        tables::verdicts(&input, &tables::Shown::default()),
    ];
    all.extend(
        tables::costs(&input, model::Group::Server, false)
            .into_iter()
            .take(1),
    );
    all.extend(
        tables::costs(&input, model::Group::Server, true)
            .into_iter()
            .take(1),
    );
    all.extend(tables::step_costs(&input, step, true));
    all.extend(tables::percentiles(&input, step, "query", Clock::Service));
    all.extend(tables::percentiles(&input, step, "insert", Clock::Response));
    all.extend(tables::buckets(&input, step, "query", Clock::Service));
    all.extend(tables::sizes(&input));
    all.extend(tables::errors(&input));
    all.extend(tables::settings(&input));
    all.extend(tables::differing(&input));
    all.push(tables::trials(&input));
    all.push(tables::metrics(&input));
    for table in &all {
        assert!(
            table.rows.iter().all(|r| r.len() == table.headers.len()),
            "{}",
            table.title
        );
    }
    let text: Vec<String> = all.iter().map(text).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn the_sentences() {
    let data = common::run(&Shape::usual());
    let comparisons = common::comparisons(&data);
    let input = input(&data, &comparisons);
    let sentences: Vec<String> = report::sentences(&input)
        .into_iter()
        .map(|s| format!("{} {}", s.system, s.text))
        .chain([report::control(&input)])
        .collect();
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn what_the_tables_of_all_systems_say_is_told_once() {
    let data = common::run(&Shape::usual());
    let comparisons = common::comparisons(&data);
    let shown = tables::Shown::default();
    let each = tables::verdicts_by_system(&input(&data, &comparisons), &shown);
    let notes: Vec<&str> = each.iter().map(|table| table.note.as_str()).collect();
    let told = "q is the p-value adjusted for false discoveries over the steps.";
    assert_eq!(notes, [told, ""]);
}

#[test]
fn markdown() {
    let data = common::run(&small());
    let comparisons = common::comparisons(&data);
    insta::assert_snapshot!(report::markdown(&input(&data, &comparisons)));
}

#[test]
fn tsv_has_as_many_fields_in_every_line_of_a_table() {
    let data = common::run(&small());
    let comparisons = common::comparisons(&data);
    let tsv = report::tsv(&input(&data, &comparisons));
    for table in tsv.split_terminator("\n\n") {
        let fields: Vec<usize> = table
            .lines()
            .skip(1)
            .map(|l| l.split('\t').count())
            .collect();
        assert!(
            fields.len() > 1 && fields.windows(2).all(|w| w[0] == w[1]),
            "{table}"
        );
    }
    let without_verdicts = tsv.split_once("\n\n").unwrap().1;
    insta::assert_snapshot!(without_verdicts);
}

#[test]
fn json_keeps_its_contract() {
    let data = common::run(&small());
    let mut comparisons = common::comparisons(&data);
    comparisons[1].ratio = Some(f64::NAN);
    comparisons[1].evidence = Some(Evidence {
        sd: 0.011,
        df: 5.5,
        prior_df: 2.5,
        margin: 0.01,
        p_value: 0.25,
        sign_flip: None,
        centre: 1.002,
        outlying: vec![3],
        slice_pairs: Some(f64::INFINITY),
    });
    insta::assert_snapshot!(report::json(&comparisons[..2]));
    assert_eq!(report::json(&[]), "[]\n");
}

#[test]
fn markup_in_names_stays_text_in_markdown() {
    let mut shape = small();
    shape.systems[1].0 = "<b>x|y</b>".into();
    let data = common::run(&shape);
    let comparisons = common::comparisons(&data);
    let markdown = report::markdown(&input(&data, &comparisons));
    assert!(markdown.contains("&lt;b&gt;x\\|y&lt;/b&gt;"));
    assert!(!markdown.contains("<b>"));
}

#[test]
fn no_table_and_no_file_has_a_control_character_of_a_name_or_reason() {
    let mut shape = small();
    shape.systems[1].0 = "b\u{1b}[31mred\u{7}".into();
    let mut data = common::run(&shape);
    let why = "died\u{9b}2J\nat once".to_owned();
    for trial in &mut data.trials {
        if let Outcome::Failed { reason, .. } = &mut trial.outcome {
            reason.clone_from(&why);
        }
    }
    let mut comparisons = common::comparisons(&data);
    let system = data.info.plan.systems[1].name.clone();
    for one in comparisons.iter_mut().filter(|c| c.system == system) {
        one.verdict = Verdict::Incomparable(Reason::FailedTrials {
            system: system.clone(),
            why: why.clone(),
        });
    }
    let compared: Vec<&Comparison> = comparisons.iter().collect();
    let input = input(&data, &comparisons);
    let markdown = report::markdown(&input);
    assert!(
        markdown.contains("**b\u{fffd}\\[31mred\u{fffd}**"),
        "{markdown}"
    );
    assert!(markdown.contains(": died\u{fffd}2J at once"), "{markdown}");
    let mut texts = vec![
        markdown,
        report::comment(&input, &compared),
        report::junit(&input, &compared),
        // Its fields are separated by tabs.
        report::tsv(&input).replace('\t', " "),
    ];
    for table in [
        tables::verdicts(&input, &tables::Shown::default()),
        tables::relative(&input),
        tables::trials(&input),
    ] {
        texts.extend(table.rows.iter().flatten().map(report::Cell::shown));
    }
    let is_order = |c: char| c.is_control() && c != '\n';
    for text in texts {
        assert!(!text.chars().any(is_order), "{text:?}");
    }
}
