//! The whole of published results, where their files are: the directory in `BACKSLIDE_PUBLISHED`, with
//! the folders that `docs/import.md` names. Elsewhere these tests say that they were skipped, and `facts.rs`
//! has a little of everything.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

mod groups;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use import::insert::{
    Colour, colours, lines_of_system, merged, merged_row, relative, system_of_file, tables_of_file,
    without_size,
};
use import::round::{fixed, relative as ratio};
use import::sysbench::{Met, Output};
use import::tables::{met, qps};
use import::{File, FileKind, Mode, Options, Source, read};

use groups::group_ratios;

type Record = BTreeMap<String, String>;

/// The folder, or `None` and a word about it.
fn folder(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BACKSLIDE_PUBLISHED") else {
        println!("skipped: no BACKSLIDE_PUBLISHED");
        return None;
    };
    let folder = Path::new(&root).join(name);
    if !folder.is_dir() {
        testkit::skipped(&format!("no {name} in BACKSLIDE_PUBLISHED"));
        return None;
    }
    Some(folder)
}

fn file(path: &Path) -> File {
    File { origin: path.display().to_string(), text: std::fs::read_to_string(path).unwrap() }
}

fn records(path: &Path) -> Vec<Record> {
    let text = file(path).text;
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    let records = lines.map(|fields| header.iter().cloned().zip(fields).collect());
    records.collect()
}

fn compat() -> Options {
    Options { mode: Mode::Compat, clients: vec![1], ..Options::default() }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn raw_output_of_sysbench() {
    let Some(folder) = folder("sysbench-raw") else {
        return;
    };
    let expected = records(&folder.join("parser_expected.csv"));
    let mut mets = 0;
    for record in &expected {
        let directory = folder.join(format!("x.{}.pk1", record["build"]));
        let test = record["test"].replace("_range=", ".range");
        let path = |kind: &str| directory.join(format!("sb.{kind}.{test}.pk1.dop1"));
        let output = Output::parse(&file(&path("o"))).unwrap();
        assert_eq!(output.queries_per_second, record["queries_per_sec_in_output"]);
        assert_eq!(output.transactions_per_second, record["transactions_per_sec"]);
        let met = Met::parse(&file(&path("met"))).unwrap();
        assert_eq!(met.rate, record["o_s_in_met"]);
        let source = Source {
            kind: FileKind::SysbenchDirectory,
            system: None,
            clients: Vec::new(),
            origin: directory.display().to_string(),
            files: vec![file(&path("o"))],
        };
        let rows = read(&source, &compat()).unwrap();
        let rate = rows[0].value("rate").unwrap();
        assert_eq!(rows[0].system, record["build"]);
        assert_eq!(fixed(rate, 0), fixed(met.rate.parse().unwrap(), 0), "{test}");
        if !record["qps_in_summary"].is_empty() {
            assert_eq!(fixed(rate, 1), record["qps_in_summary"], "{test}");
        }
    }
    for directory in names(&folder).into_iter().filter(|path| path.is_dir()) {
        for path in names(&directory) {
            if path.file_name().unwrap().to_str().unwrap().starts_with("sb.met.") {
                let file = file(&path);
                assert_eq!(Met::parse(&file).unwrap().print(), file.text, "{}", path.display());
                mets += 1;
            }
        }
    }
    println!("{} rows of parser_expected.csv and {mets} files sb.met are equal", expected.len());
}

/// A table of rates as the original writes it, from records of build, test and rate.
fn table_of(records: &[Record]) -> String {
    let mut systems: Vec<&str> = Vec::new();
    let mut tests: Vec<&str> = Vec::new();
    for record in records {
        for (name, all) in [("build", &mut systems), ("test", &mut tests)] {
            if !all.contains(&record[name].as_str()) {
                all.push(&record[name]);
            }
        }
    }
    let mut text = String::new();
    for (number, system) in (1..).zip(&systems) {
        let _infallible = writeln!(text, "col-{number} : x.{system}.pk1");
    }
    text += "\ncol-1\n";
    for test in tests {
        for system in &systems {
            let mut of_cell = records.iter();
            let cell = of_cell.find(|r| r["build"] == *system && r["test"] == test);
            let _infallible = write!(text, "{}\t", cell.unwrap()["qps_abs"]);
        }
        let _infallible = writeln!(text, "{test}");
    }
    text
}

fn relative_rates(name: &str) {
    let Some(folder) = folder(name) else { return };
    let records = records(&folder.join("long.csv"));
    let table = File { origin: "qps.abs".to_owned(), text: table_of(&records) };
    let rows = qps::rows(&table, None, &compat()).unwrap();
    let printed = qps::print_relative(&rows);
    let mut lines = printed.lines();
    let legend: Vec<&str> = lines
        .by_ref()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(" : ").map(|(_, system)| system))
        .collect();
    let mut cells = 0;
    for line in lines.skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (test, values) = fields.split_last().unwrap();
        for (system, value) in legend.iter().zip(values) {
            let mut of_cell = records.iter();
            let cell = of_cell.find(|r| r["build"] == *system && r["test"] == *test);
            assert_eq!(*value, cell.unwrap()["rel_published"], "{system} {test}");
            cells += 1;
        }
    }
    let bases = records.iter().filter(|r| r["build"] == r["base_build"]).count();
    assert_eq!(cells + bases, records.len());
    println!("{name}: {cells} published ratios are equal");
    let summary = folder.join("group_summary_expected.csv");
    if summary.exists() {
        group_summary(&summary, &rows);
    }
}

fn group_summary(path: &Path, rows: &[import::ImportedStep]) {
    let expected = records(path);
    for record in &expected {
        let is_in = |test: &str| {
            let group = import::tables::group_of(test);
            match record["group"].as_str() {
                "range_all" => group.starts_with("range"),
                "range_agg" => group == "range-aggregate",
                "range_noagg" => group == "range",
                other => group == other,
            }
        };
        let seen = group_ratios(rows, &record["build"], &record["base_build"], is_in).unwrap();
        let seen = [seen.tests.to_string(), seen.least, seen.largest, seen.mean, seen.median];
        let columns = ["n", "min", "max", "average", "median"];
        assert_eq!(seen, columns.map(|column| record[column].clone()), "{record:?}");
    }
    println!("{} lines of the group summary are equal", expected.len());
}

#[test]
fn relative_rates_of_mysql() {
    relative_rates("sysbench-mysql-5.6-to-9.4");
}

#[test]
fn relative_rates_of_gtids() {
    relative_rates("sysbench-gtid-8core");
}

fn costs(record: &Record) -> met::Costs {
    let columns = ["cpu_o", "cs_o", "r_o", "rKB_o", "wKB_o", "o_s"];
    let values = columns.map(|column| Some(record[column].parse().unwrap()));
    met::Costs { values, system: record["build"].clone() }
}

const RELATIVE: [&str; 6] =
    ["rel_cpu_o", "rel_cs_o", "rel_r_o", "rel_rKB_o", "rel_wKB_o", "rel_o_s"];

fn relative_costs(name: &str) {
    let Some(folder) = folder(name) else { return };
    let mut bases: BTreeMap<String, met::Costs> = BTreeMap::new();
    let mut cells = 0;
    for record in records(&folder.join("hw_per_op.csv")) {
        let costs = costs(&record);
        match bases.get(&record["test"]) {
            None => {
                bases.insert(record["test"].clone(), costs);
            }
            Some(base) => {
                let expected = RELATIVE.map(|column| record[column].clone());
                assert_eq!(costs.relative_to(base), expected, "{record:?}");
                cells += expected.len();
            }
        }
    }
    println!("{name}: {cells} published ratios of costs are equal");
}

#[test]
fn relative_costs_of_mysql() {
    relative_costs("sysbench-mysql-5.6-to-9.4");
}

#[test]
fn relative_costs_of_gtids() {
    relative_costs("sysbench-gtid-8core");
}

#[test]
fn claims_about_gtids() {
    let Some(folder) = folder("sysbench-gtid-8core") else {
        return;
    };
    let all = records(&folder.join("hw_per_op.csv"));
    let value = |name: &str, test: &str, metric: &str| -> f64 {
        let (build, gtid) = name.split_once('-').unwrap();
        let record = all.iter().find(|record| {
            record["build"].starts_with(build)
                && record["build"].contains("_gtid_") == (gtid == "gtid")
                && record["test"].starts_with(&format!("sb.met.{test}.range"))
        });
        record.unwrap()[metric].parse().unwrap()
    };
    let claims = records(&folder.join("claims_expected.csv"));
    for claim in &claims {
        let of = |name: &str| value(&claim[name], &claim["test"], &claim["metric"]);
        let ratio = of("me") / of("base");
        assert_eq!(fixed(ratio, 4), claim["computed_from_raw"], "{claim:?}");
        let claimed: f64 = claim["claimed_X"].parse().unwrap();
        assert_eq!(fixed(ratio, 2), fixed(claimed, 2), "{claim:?}");
    }
    println!("{} claims follow from the numbers", claims.len());
}

#[test]
fn merged_tables_of_the_insert_benchmark() {
    let Some(folder) = folder("ibench-2021-20m") else {
        return;
    };
    let raw = folder.join("raw");
    let mut of_system = BTreeMap::new();
    for path in names(&raw).into_iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let system = without_size(system_of_file(name)).to_owned();
        for (step, line) in lines_of_system(&file(&path)).unwrap() {
            let fields = merged_row(&line).fields;
            of_system.insert((system.clone(), step.to_owned()), fields);
        }
    }
    let (mut tables, mut lines) = (0, 0);
    for directory in names(&raw).into_iter().filter(|path| path.is_dir()) {
        for path in names(&directory) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let Some(step) = name.strip_prefix("mrg.").filter(|step| *step != "some") else {
                continue;
            };
            let merged_file = file(&path);
            let all = tables_of_file(&merged_file).unwrap();
            let table = &all[0];
            assert_eq!(merged(table), merged_file.text, "{}", path.display());
            let ratios = file(&directory.join(format!("rel.{step}")));
            assert_eq!(relative(table), ratios.text, "{}", ratios.origin);
            for line in table.lines.iter().flatten() {
                let expected = &of_system[&(line.tag.clone(), step.to_owned())];
                assert_eq!(*expected, line.fields);
                lines += 1;
            }
            tables += 1;
        }
    }
    println!("{tables} merged and as many relative tables are equal, {lines} lines");
    let published = records(&folder.join("long.csv"));
    for record in &published {
        let mut others = published.iter();
        let base = others.find(|other| {
            let same = ["set", "section", "step"];
            other["tag"] == record["base_tag"] && same.iter().all(|c| other[*c] == record[*c])
        });
        let metric = record["metric"].as_str();
        let value = |record: &Record| record[metric].parse().unwrap();
        let seen = ratio(value(record), value(base.unwrap()));
        assert_eq!(seen, record["rel_published"], "{record:?}");
    }
}

#[test]
fn colours_of_the_published_summary() {
    let Some(folder) = folder("ibench-2021-20m") else {
        return;
    };
    let mut columns: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in records(&folder.join("published_summary_colours.csv")) {
        columns.entry(record["step"].clone()).or_default().push(record);
    }
    let mut seen = 0;
    for cells in columns.values() {
        // All writers of that report kept their rate.
        let values = cells.iter().map(|cell| (cell["value"].parse().unwrap(), true));
        let values: Vec<(f64, bool)> = values.collect();
        for (cell, colour) in cells.iter().zip(colours(&values)) {
            let class = match colour {
                Colour::Lowest => "cmin",
                Colour::Highest => "cmax",
                Colour::Plain | Colour::MissedSla => "none",
            };
            assert_eq!(class, cell["colour_class"], "{cell:?}");
            seen += 1;
        }
    }
    println!("{seen} colours are equal");
}
