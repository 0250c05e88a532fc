use super::*;
use crate::file::file;

fn one() -> Options {
    Options { clients: vec![1], ..Options::default() }
}

const HEADER: &str = "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\tdbgb1\tdbgb2\trss\tmaxop\tp50\tp99\ttag";
const BASE: &str = "100\t6886\t1.8\t0.0\t2.5\t0.1\t0.000\t0.001\t0.025\t1.058\t26428\t25.8\t3.838\t150\t8.1\t48.6\t8.0\t0.017\t8439\t2541\t20m.my5649.cx6d";
const OTHER: &str = "100\t7238\t0.0\t0.0\t6.0\t0.2\t0.000\t0.000\t0.061\t1.884\t27789\t27.0\t3.839\t149\t8.1\t48.6\t8.3\t0.019\t7240\t7144\t20m.my5731.cx6d";
const RATIOS: &str = "1.00\t1.05\t0.00\t1\t2.40\t2.00\t1\t0.00\t2.44\t1.78\t1.05\t1.05\t1.00\t0.99\t1.00\t1.00\t1.04\t1.12\t0.86\t2.81\tmy5731.cx6d";

#[test]
fn lines_of_systems_become_the_published_tables() {
    let text = format!("{HEADER}\n{BASE}\n{OTHER}\n-\n{BASE}\n");
    let tables = tables_of_file(&file("mrg.q100.2", &text)).unwrap();
    let table = tables.first().unwrap();
    let text = merged(table);
    assert!(text.contains("\n100\t6886\t2\t0.0\t2.5\t"), "{text}");
    assert!(text.contains("\tmy5731.cx6d\n-\n100\t"), "{text}");
    let again = tables_of_file(&file("mrg.q100.2", &text)).unwrap();
    let ratios = relative(again.first().unwrap());
    assert_eq!(ratios, format!("{HEADER}\n{RATIOS}\n-\n"));
}

#[test]
fn sections_name_their_steps() {
    let text = format!("\nl.i0\n{HEADER}\n{BASE}\n\nqr100\n{HEADER}\n{BASE}\n{OTHER}\n");
    let tables = tables_of_file(&file("mrg.some", &text)).unwrap();
    let shape: Vec<(&str, usize)> =
        tables.iter().map(|table| (table.step.as_str(), table.lines.len())).collect();
    assert_eq!(shape, [("l.i0", 1), ("qr100", 2)]);
}

#[test]
fn writes_are_divided_by_queries_unless_the_originals_numbers_are_wanted() {
    let file = file("mrg.q100.2", BASE);
    let value = |options: &Options, metric| {
        let rows = rows_of_table(&file, options).unwrap();
        rows.first().and_then(|row| row.value(metric))
    };
    let near = |seen: Option<f64>, value: f64| seen.is_some_and(|v| (v - value).abs() < 1e-9);
    let exact = Options { cpus: Some(4), ..one() };
    let compat = exact.in_mode(Mode::Compat);
    assert_eq!(value(&compat, "wKB/o"), Some(1.058));
    assert!(near(value(&exact, "wKB/o"), 1.058 * 100.0 / 6886.0));
    assert_eq!(value(&compat, "cpu/o"), Some(150.0));
    assert!(near(value(&exact, "cpu/o"), 25.8 * 4.0 * 1e4 / 6886.0));
    assert_eq!(value(&exact, "sla.insert"), Some(100.0));
}

#[test]
fn damage_is_told_with_its_line() {
    let short = format!("{HEADER}\n1\t2\t3\n");
    let cases = [
        ("mrg.q100.2", short.as_str(), 2),
        ("table", BASE, 1),
        ("mrg.l.i0", &BASE.replace("8439", "8,439"), 1),
    ];
    for (name, text, line) in cases {
        let error = tables_of_file(&file(name, text)).unwrap_err();
        assert_eq!(error.line, line, "{error}");
    }
    let error = tables_of_file(&file("rel.l.i0", RATIOS)).unwrap_err();
    assert!(error.to_string().contains("import mrg.l.i0"), "{error}");
    let error = lines_of_system(&file("o.sum.t.a", BASE)).unwrap_err();
    assert!(error.to_string().contains("10 steps"), "{error}");
}

#[test]
fn the_tags_of_a_system_say_its_scale() {
    let lines = format!("{BASE}\n").repeat(10);
    let file = file("o.sum.t.20m.my5649.cx6d", &lines);
    let rows = rows_of_system("20m.my5649.cx6d", &file, &one()).unwrap();
    let scales = rows.iter().filter_map(|row| row.scale.as_ref());
    let rows: Vec<Scale> = scales.map(|scale| scale.value).collect();
    assert_eq!(rows, [Scale::Rows(20_000_000); 10]);
}

#[test]
fn a_merged_table_of_two_scales_is_no_one_run() {
    let small = BASE;
    let large = OTHER.replace("20m.my5731", "100m.my5649");
    let text = format!("{HEADER}\n{small}\n{large}\n");
    let rows = rows_of_table(&file("mrg.q100.2", &text), &one()).unwrap();
    let scales = rows.iter().filter_map(|row| row.scale.as_ref());
    let rows_of: Vec<Scale> = scales.map(|scale| scale.value).collect();
    assert_eq!(rows_of, [Scale::Rows(20_000_000), Scale::Rows(100_000_000)]);
    let error = crate::conditions::scales(&rows).unwrap_err().to_string();
    assert_eq!(
        error,
        "mrg.q100.2:3: `q100.2` has 100000000 rows here, 20000000 rows in mrg.q100.2:2: import the results of each as a separate run"
    );
}

#[test]
fn the_base_of_several_parts_is_one_round() {
    let text = format!("{HEADER}\n{BASE}\n{OTHER}\n-\n{BASE}\n");
    let of = |text: &str| {
        let rows = rows_of_table(&file("mrg.some", text), &one()).unwrap();
        crate::run::rounds(&rows).unwrap()
    };
    assert_eq!(of(&format!("q100.2\n{text}")), [1, 1]);
    // Another step with the same numbers is another result, and other numbers are another round.
    assert_eq!(of(&format!("q100.1\n{BASE}\nq100.2\n{BASE}\n")), [1, 1]);
    let again = BASE.replace("6886", "6887");
    assert_eq!(of(&format!("q100.2\n{BASE}\n{again}\n")), [1, 2]);
}

#[test]
fn names_say_sizes_and_rates() {
    assert_eq!(without_size("20m.my5649.cx6d"), "my5649.cx6d");
    assert_eq!(without_size("my5649.cx6d"), "my5649.cx6d");
    let absurd = format!("{}m.a", "9".repeat(30));
    assert_eq!((without_size(&absurd), rows_of_tag(&absurd)), ("a", None));
    assert_eq!(rows_of_tag("20m.my5649.cx6d"), Some(20_000_000));
    assert_eq!(rows_of_tag("my5649.cx6d"), None);
    assert_eq!(system_of_file("o.sum.t.20m.pg131.cx5"), "20m.pg131.cx5");
    assert_eq!(rate_of_step("q1000.2"), Some(1000));
    assert_eq!(rate_of_step("qp500"), Some(500));
    assert_eq!(rate_of_step("l.i0"), None);
}

#[test]
fn steps_stand_in_the_order_of_their_rates_whatever_the_order_of_the_files() {
    let source = |name: &str| crate::Source {
        kind: crate::FileKind::InsertTable,
        system: None,
        clients: Vec::new(),
        origin: name.to_owned(),
        files: vec![file(name, BASE)],
    };
    let sorted_by_name = [
        "mrg.l.i0",
        "mrg.l.i1",
        "mrg.l.x",
        "mrg.q100.1",
        "mrg.q100.2",
        "mrg.q1000.1",
        "mrg.q200.1",
        "mrg.qp100",
        "mrg.qr100",
    ];
    let sources = sorted_by_name.map(source);
    let rows = crate::read_all(&sources, &one()).unwrap();
    let about = crate::About {
        name: "imported".into(),
        base: None,
        source: "mrg".into(),
        by_version: false,
    };
    let run = crate::run(&rows, &about, &one()).unwrap();
    let steps = run.trials[0].steps.iter();
    let steps: Vec<&str> = steps.map(|(record, _)| record.step.0.as_str()).collect();
    let expected =
        ["l.i0", "l.x", "l.i1", "qr100", "q100.1", "q100.2", "qp100", "q200.1", "q1000.1"];
    assert_eq!(steps, expected);
    let text = crate::published(&sources, &rows, &one()).unwrap();
    let tables = text.lines().filter_map(|line| line.strip_prefix("mrg."));
    assert_eq!(tables.collect::<Vec<_>>(), expected);
}

#[test]
fn merged_tables_of_several_numbers_of_clients_are_no_rounds() {
    let source = |clients: u32, text: String| crate::Source {
        kind: crate::FileKind::InsertTable,
        system: None,
        clients: vec![clients],
        origin: "mrg.q100.2".to_owned(),
        files: vec![file("mrg.q100.2", &text)],
    };
    let sources = [source(1, BASE.to_owned()), source(8, BASE.replace("6886", "60000"))];
    let rows = crate::read_all(&sources, &Options::default()).unwrap();
    assert_eq!(crate::run::rounds(&rows), Ok(vec![1, 1]));
    let text = crate::published(&sources, &rows, &Options::default()).unwrap();
    let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("mrg.")).collect();
    assert_eq!(titles, ["mrg.q100.2, 1 client", "mrg.q100.2, 8 clients"]);
    // The rate that the writers were asked for is that of all clients.
    let targets: Vec<Option<u64>> = rows.iter().map(|row| row.target_rate).collect();
    assert_eq!(targets, [Some(100), Some(800)]);
}
