//! What is said of a made-up history.

use model::{Made, MetricId, RunId, StepId, Unit};
use stats::Replicate;

use super::*;

/// Five builds of two runs; the rate of one step falls at the fourth, the third is an outlier, the second is
/// missing.
fn made_up() -> History {
    let at = |run: &str, system: &str| At {
        of: vec![(RunId(run.into()), system.into())],
        build: format!("build of {system}"),
        made: Made::default(),
    };
    let point = |value: f64, standing: Standing| {
        Some(HistoryPoint {
            rounds: [1, 2]
                .map(|round| Replicate { run: RunId("r1".into()), round, value })
                .to_vec(),
            value,
            error: Some(0.004),
            to_previous: Some(Ratio {
                ratio: value / 100.0,
                ends: Some((value / 101.0, value / 99.0)),
            }),
            to_base: None,
            standing,
        })
    };
    let line = |metric: &str, changes: Vec<Change>| HistoryLine {
        step: StepId::new("<b>"),
        ordinal: 0,
        clients: 1,
        metric: MetricId::new(metric),
        unit: Unit::OpsPerSecond,
        points: vec![
            point(100.0, Standing::Level),
            None,
            point(150.0, Standing::Outlier),
            point(90.0, Standing::Level),
            point(90.0, Standing::Level),
        ],
        zeros: Vec::new(),
        changes,
        days: Vec::new(),
    };
    let change = Change {
        at: 3,
        ratio: 0.9,
        low: 0.88,
        high: 0.92,
        p_value: 0.0001,
        q_value: 0.002,
        may_be_day: false,
    };
    History {
        builds: vec![at("r1", "a"), at("r1", "b"), at("r1", "c"), at("r2", "a"), at("r2", "b")],
        base: 0,
        lines: vec![
            line("rate", vec![change]),
            line("cpu/o", vec![change]),
            line("steal", Vec::new()),
        ],
        copies: Vec::new(),
    }
}

#[test]
fn the_sentence_counts_by_what_is_better() {
    assert_eq!(
        history_sentence(&made_up()),
        "3 lines tested: 1 change for the worse, 1 for the better."
    );
    let mut untested = made_up();
    for point in untested.lines[2].points.iter_mut().flatten() {
        point.error = None;
    }
    let said = history_sentence(&untested);
    assert!(said.contains("2 lines tested") && said.contains("1 could not be tested"), "{said}");
}

#[test]
fn builds_are_named_by_what_tells_them_apart() {
    let mut history = made_up();
    assert_eq!(name(&history, 3), "r2 a");
    assert_eq!(name(&history, 2), "c");
    for (at, build) in history.builds.iter_mut().zip(["1", "2", "3", "4", "4"]) {
        at.of[0].1 = "trunk".into();
        at.build = build.into();
    }
    assert_eq!(name(&history, 2), "3");
    history.builds[3].of.push((RunId("r5".into()), "trunk".into()));
    assert_eq!(name(&history, 3), "r2, r5 trunk");
    assert_eq!(name(&history, 4), "r2 trunk");
    assert_eq!(name(&history, 99), "");
}

#[test]
fn the_tables_say_what_changed_and_what_stands_apart() {
    let history = made_up();
    let tables = history_tables(&history, true);
    let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Changes", "Builds outside the levels", "Lines", "<b>, rate", "<b>, cpu/o", "<b>, steal"]
    );
    let shown = |table: &crate::Table, row: usize| -> Vec<String> {
        table.rows[row].iter().map(crate::Cell::shown).collect()
    };
    assert_eq!(
        shown(&tables[0], 0),
        ["<b>", "rate", "r2 a", "0.900 [0.880, 0.920] regressed", "99.8 %"]
    );
    assert_eq!(shown(&tables[0], 1)[3], "0.900 [0.880, 0.920] improved");
    assert_eq!(shown(&tables[1], 0)[4], "outlier");
    for table in &tables {
        assert!(table.rows.iter().all(|row| row.len() == table.headers.len()), "{}", table.title);
    }
}

#[test]
fn a_change_where_the_compiler_changes_too_is_marked() {
    let mut history = made_up();
    let made = |compiler: &str| Made { compiler: Some(compiler.into()), ..Made::default() };
    history.builds[2].made = made("gcc 4.4");
    history.builds[3].made = made("gcc 7.5");
    let said = history_sentence(&history);
    assert!(said.contains(" 2 of these may come from the compiler"), "{said}");
    let changes = &history_tables(&history, false)[0];
    assert_eq!(changes.rows[0][4].shown(), "99.8 % ‡");
    assert!(changes.note.ends_with(": r2 a (compiler gcc 4.4, then gcc 7.5)."), "{}", changes.note);
    assert!(history_json(&history).contains(r#""compiler": "gcc 4.4""#));
    // Of a build that is not known to differ, nothing is said.
    history.builds[2].made = Made::default();
    assert!(!history_sentence(&history).contains("compiler"));
}

/// The rows of the table of lines.
fn lines(history: &History) -> Vec<Vec<String>> {
    let tables = history_tables(history, false);
    let table = tables.iter().find(|table| table.title == "Lines").unwrap();
    let rows = table.rows.iter();
    rows.map(|row| row.iter().map(crate::Cell::shown).collect()).collect()
}

#[test]
fn the_last_build_is_shown_with_its_own_value() {
    let mut history = made_up();
    assert_eq!(lines(&history)[0][3], "90.0 ± 0.4 %");
    for (line, metric) in history.lines.iter_mut().zip(["rate", "rate", "cpu/o"]) {
        line.metric = MetricId::new(metric);
        line.points[4] = None;
        line.changes.clear();
    }
    history.lines[0].zeros = vec![4];
    history.lines[2].zeros = vec![4];
    let rows = lines(&history);
    assert_eq!(rows[0][3..6], ["0 fell to zero", "–", "–"]);
    // Not measured; and less is better, so that nothing is lost.
    assert_eq!(rows[1][3..6], ["–", "–", "–"]);
    assert_eq!(rows[2][3..6], ["0", "–", "–"]);
    assert_eq!(
        history_sentence(&history),
        "3 lines tested: 0 changes for the worse, 0 for the better. The last build fell to zero in <b>, rate."
    );
    let detail = history_tables(&history, true);
    let by_build = detail.iter().find(|table| table.title == "<b>, rate");
    assert_eq!(by_build.unwrap().rows[4][1].shown(), "0");
    assert!(history_html(&history, "now", &[]).contains("last build: fell to zero"));
}

#[test]
fn of_many_builds_the_newest_have_bars() {
    let mut history = made_up();
    assert_eq!(lines(&history)[0][2].chars().count(), 5);
    let build = history.builds[0].clone();
    let point = history.lines[0].points[0].clone();
    history.builds.resize(57, build);
    for line in &mut history.lines {
        line.points.resize(57, point.clone());
    }
    assert_eq!(lines(&history)[0][2].chars().count(), 40);
    let tables = history_tables(&history, false);
    let table = tables.iter().find(|table| table.title == "Lines").unwrap();
    assert_eq!(table.headers[2].text, "last 40 of 57 builds");
}

#[test]
fn names_are_escaped_and_nothing_is_fetched() {
    let history = made_up();
    let page = history_html(&history, "now", &[]);
    assert!(!page.contains("<b>, rate") && page.contains("&lt;b&gt;, rate"), "{page}");
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(page.contains("class=\"change regressed\"") && page.contains("outlier"));
    let text = history_markdown(&history);
    assert!(text.contains("&lt;b&gt;") && text.contains("# History of 5 builds"), "{text}");
}

#[test]
fn json_has_a_point_for_each_build() {
    let text = history_json(&made_up());
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    let line = &read["lines"][0];
    assert_eq!(line["points"].as_array().unwrap().len(), 5);
    assert!(line["points"][1].is_null());
    assert_eq!(line["points"][2]["standing"], "outlier");
    assert_eq!(line["points"][0]["rounds"][1][0], 2);
    assert_eq!(line["changes"][0]["build"], 3);
    assert_eq!(line["changes"][0]["verdict"], "regressed");
    assert_eq!(read["builds"][3]["run"], "r2");
    assert!(line["points"][0]["base"].is_null());
}

#[test]
fn a_change_between_days_and_a_copy_are_told() {
    let mut history = made_up();
    history.lines[0].changes[0].may_be_day = true;
    history.lines[0].days = vec![(RunId("r1".into()), 1.0), (RunId("r2".into()), 0.97)];
    history.copies = vec![Copied {
        run: RunId("r2".into()),
        of: RunId("r1".into()),
        system: "a".into(),
        rounds: 3,
    }];
    let said = history_sentence(&history);
    let expected = "1 of these may come from the day: no run links the builds before and after. Measure one version in both runs. r2 repeats 3 rounds of a of r1 to the last digit: counted once.";
    assert!(said.ends_with(expected), "{said}");
    let tables = history_tables(&history, true);
    assert_eq!(tables[0].rows[0][4].shown(), "99.8 % †");
    let (signs, _) = tables[0].note_lines();
    assert_eq!(signs.len(), 1);
    let detail = tables.iter().find(|table| table.title == "<b>, rate").unwrap();
    assert!(detail.note.contains("r2 × 0.970"), "{}", detail.note);
    let read: serde_json::Value = serde_json::from_str(&history_json(&history)).unwrap();
    assert_eq!(read["lines"][0]["changes"][0]["may_be_day"], true);
    assert_eq!(read["lines"][0]["days"][1]["factor"], 0.97);
    assert_eq!(read["copies"][0]["of"], "r1");
    assert_eq!(read["builds"][3]["runs"][0], "r2");
    assert_eq!(read["lines"][0]["points"][0]["runs"][1], "r1");
}

#[test]
fn the_picture_marks_levels_and_shows_the_intervals_of_a_line_alone() {
    let mut history = made_up();
    for point in history.lines.iter_mut().flat_map(|line| line.points.iter_mut().flatten()) {
        let (ratio, ends) = (point.value / 100.0, (point.value / 103.0, point.value / 97.0));
        point.to_base = Some(Ratio { ratio, ends: Some(ends) });
    }
    let second = HistoryLine { step: StepId::new("second"), ..history.lines[0].clone() };
    history.lines.insert(1, second);
    let several = history_svg(&history, "today");
    assert!(several.contains("today") && several.contains("&lt;b&gt;"), "{several}");
    assert!(several.contains("second") && !several.contains("path class=\"band"), "{several}");
    history.lines.truncate(1);
    let alone = history_svg(&history, "today");
    assert!(alone.contains("path class=\"band"), "{alone}");
    assert_eq!(alone.matches("<circle").count(), history.lines[0].changes.len());
    history.lines.clear();
    assert!(history_svg(&history, "today").contains("</svg>"));
}
