//! Tables of made-up runs, at the widths of two terminals.

use model::MetricId;
use report::tables::Shown;
use report::{Cell, Input, Report};
use stats::{HistoryOptions, Selection};

use super::*;
use testkit::made_up::{self, micro::Micro};

/// The text with all columns.
fn text(table: &Table, width: u16) -> String {
    let all: Vec<usize> = (0..table.headers.len()).collect();
    Texts::of(table, head).text(&all, usize::from(width))
}

/// The text of a table of a run, without colours.
fn shown(micro: &Micro, width: u16, table: impl Fn(&Input<'_>) -> Option<Table>) -> String {
    let data = made_up::micro::run(micro);
    let comparisons = made_up::comparisons(&data);
    let input = Input::new(&data, &comparisons);
    let (coloured, _) = fitted(&table(&input).unwrap(), width);
    anstream::adapter::strip_str(&coloured).to_string()
}

fn verdicts(input: &Input<'_>) -> Table {
    Report::new(input)
        .verdicts(&Shown { system: Some("mysql-9.7.4/z12a".into()), ..Shown::default() })
}

#[test]
fn verdicts_by_group() {
    let wide = shown(&Micro::usual(), 120, |i| Some(verdicts(i)));
    insta::assert_snapshot!("verdicts_120", wide);
    // A line a step below the head, and headings.
    assert_eq!(wide.lines().count(), 1 + 33 + 4);
    let narrow = shown(&Micro::usual(), 80, |i| Some(verdicts(i)));
    insta::assert_snapshot!("verdicts_80", narrow);
    let longest = narrow.lines().map(wrap::length).max();
    assert!(longest <= Some(80), "{longest:?}\n{narrow}");
}

/// Names of systems give way before a table is divided, and not where there is room.
#[test]
fn names_are_shortened_where_there_is_no_room() {
    let mut micro = Micro::usual();
    let names = ["5.6.24", "5.7.22", "8.0.31", "9.7.4"];
    micro.shape.systems = names.map(|n| (format!("mysql-{n}/innodb/z12a_c8r32"), 1.0)).into();
    let data = made_up::micro::run(&micro);
    let input = Input::new(&data, &[]);
    let table = Report::new(&input).absolute();
    for (width, is_whole) in [(80, false), (200, true)] {
        let (text, left_out) = fitted(&table, width);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain.contains("innodb"), is_whole, "{plain}");
        assert!(plain.contains("5.6.24"), "{plain}");
        assert_eq!(plain.matches("9.7.4").count(), 1, "one table: {plain}");
        assert!(left_out.is_empty());
    }
}

/// Of a history there is one table, and what has no room is said.
#[test]
fn a_history_is_one_table_at_both_widths() {
    let mut micro = Micro { tests: 2, ..Micro::usual() };
    let names = (0..12).map(|n| (format!("mysql-8.0.{n}/innodb/z12a"), 1.0 - f64::from(n) / 40.0));
    micro.shape.systems = names.collect();
    let data = made_up::micro::run(&micro);
    let systems = data.info.plan.systems.iter().map(|system| system.name.as_str()).collect();
    let parts = [stats::Part { data: &data, systems }];
    let metrics = Selection::Only(vec![MetricId::new(MetricId::RATE)]);
    let options = HistoryOptions { metrics, ..HistoryOptions::default() };
    let history = stats::history(&parts, &options).unwrap();
    let tables = report::history_tables(&history, false);
    let lines = tables.iter().find(|table| table.title == "Lines").unwrap();
    for width in [80, 140] {
        let (text, left_out) = fitted(lines, width);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain.matches("metric").count(), 1, "{plain}");
        let longest = plain.lines().map(wrap::length).max();
        assert!(longest <= Some(usize::from(width)), "{longest:?}\n{plain}");
        let shown = format!("{plain}\n\nno room for: {}", left_out.join(", "));
        insta::assert_snapshot!(format!("history_{width}"), shown);
    }
}

/// A verdict stands in the line of its ratio, however many metrics there are.
#[test]
fn verdicts_of_all_metrics_are_one_table() {
    let all = |input: &Input<'_>| {
        Report::new(input).verdicts(&Shown {
            system: Some("mysql-9.7.4/z12a".into()),
            all_metrics: true,
            ..Shown::default()
        })
    };
    let data = made_up::micro::run(&Micro::usual());
    let comparisons = made_up::comparisons(&data);
    let table = all(&Input::new(&data, &comparisons));
    for (width, expected) in [(80, vec!["rounds", "q", "why"]), (140, vec![])] {
        let (text, left_out) = fitted(&table, width);
        assert_eq!(left_out, expected, "{width}");
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain.matches("verdict").count(), 1, "{plain}");
        let longest = plain.lines().map(wrap::length).max();
        assert!(longest <= Some(usize::from(width)), "{longest:?}\n{plain}");
    }
}

#[test]
fn a_sweep() {
    let micro = Micro::sweep(&[1, 4, 8, 16, 24, 32, 48]);
    let over = |input: &Input<'_>| Report::new(input).over_clients("mysql-9.7.4/z12a");
    let narrow = shown(&micro, 80, over);
    insta::assert_snapshot!("sweep_80", narrow);
    let longest = narrow.lines().map(wrap::length).max();
    assert!(longest <= Some(80), "{longest:?}\n{narrow}");
    assert_eq!(shown(&micro, 120, over).lines().count(), 1 + 32 + 4);
}

#[test]
fn group_summary() {
    let micro = Micro::usual();
    insta::assert_snapshot!(
        "groups_80",
        shown(&micro, 80, |input| Report::new(input).group_summary())
    );
}

#[test]
fn no_name_is_broken_in_the_middle_of_a_word() {
    let table = Table {
        title: String::new(),
        note: String::new(),
        headers: vec![
            Header::words("system"),
            Header::words("what was seen"),
            Header::numbers("ratio", ""),
        ],
        rows: vec![vec![
            Cell::text("mysql-8.0.31/innodb/z12a_c8r32"),
            Cell::text("a long sentence about that"),
            Cell::text("0.93"),
        ]],
    };
    let plain = |width| anstream::adapter::strip_str(&text(&table, width)).to_string();
    let narrow = plain(40);
    for whole in ["mysql-8.0.31/", "innodb/", "sentence", "0.93"] {
        assert!(narrow.contains(whole), "{narrow}");
    }
    let longest = narrow.lines().map(wrap::length).max();
    assert!(longest <= Some(40), "{longest:?}\n{narrow}");
    assert_eq!(plain(120).lines().count(), 2);
}

#[test]
fn intervals_stand_below_rather_than_on_two_lines() {
    let interval = || Cell::text("0.997 [0.979, 1.016]");
    let table = Table {
        title: String::new(),
        note: String::new(),
        headers: vec![
            Header::words("step"),
            Header::numbers("over the one before", ""),
            Header::numbers("over the first", ""),
        ],
        rows: vec![vec![Cell::text("l.i0"), interval(), interval()]],
    };
    let plain = |width| anstream::adapter::strip_str(&text(&table, width)).to_string();
    insta::assert_snapshot!(plain(45), @"
    step   over the one before 
    l.i0  0.997 [0.979, 1.016]

    step        over the first 
    l.i0  0.997 [0.979, 1.016]
    ");
    assert_eq!(plain(52).lines().count(), 2);
}

#[test]
fn columns_without_room_stand_below_after_the_names() {
    let numbers = (1..=9).map(|n| Header::numbers(format!("number{n}"), ""));
    let row = |name: &str| {
        let cells = (1..=9).map(|n| Cell::text(format!("{n}00,000")));
        std::iter::once(Cell::text(name)).chain(cells).collect()
    };
    let table = Table {
        title: String::new(),
        note: String::new(),
        headers: std::iter::once(Header::words("system")).chain(numbers).collect(),
        rows: vec![row("mysql-8.0.31/z12a"), row("sqlite")],
    };
    let plain = |width| anstream::adapter::strip_str(&text(&table, width)).to_string();
    let narrow = plain(60);
    insta::assert_snapshot!(narrow, @"
    system             number1  number2  number3  number4 
    mysql-8.0.31/z12a  100,000  200,000  300,000  400,000
    sqlite             100,000  200,000  300,000  400,000

    system             number5  number6  number7  number8 
    mysql-8.0.31/z12a  500,000  600,000  700,000  800,000
    sqlite             500,000  600,000  700,000  800,000

    system             number9 
    mysql-8.0.31/z12a  900,000
    sqlite             900,000
    ");
    let longest = narrow.lines().map(wrap::length).max();
    assert!(longest <= Some(60), "{longest:?}\n{narrow}");
    assert_eq!(plain(120).lines().count(), 3);
    // One column stays beside the names, however narrow the terminal is.
    assert_eq!(plain(10).matches("sqlite").count(), 9);
}
