//! The tables that the original tools derive from what was imported, as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::insert::{
    Colour, StepLine, Table, colours, lines_of_system, merged, merged_row, order_of_step,
    rate_of_step, relative, tables_of_file,
};
use crate::round::fixed;
use crate::tables::{group_of, met, qps};
use crate::{File, FileKind, ImportedStep, Options, Result, Source};

/// All of them: rates and their ratios, costs and their ratios, the merged and relative tables of the
/// Insert Benchmark, and its summary with colours. `rows` are those of the sources in compat mode; what
/// has no tables in the original (CSV, pgbench) has the tables of rates. Each number of clients and each
/// round has tables of its own, which say so.
pub fn published(sources: &[Source], rows: &[ImportedStep], options: &Options) -> Result<String> {
    let all = insert_rounds(sources, options)?;
    if all.is_empty() {
        return of_sysbench(rows);
    }
    let mut text = String::new();
    for (clients, rounds) in &all {
        let title = match all.len() {
            1 => String::new(),
            _ => format!(", {}", clients_in_words(*clients)),
        };
        text += &of_insert(rounds, *clients, &title);
    }
    Ok(text)
}

fn of_sysbench(rows: &[ImportedStep]) -> Result<String> {
    let mut text = String::new();
    for Set { title, rows } in sets(rows)? {
        let parts = [
            ("qps.abs", qps::print_absolute(&rows)),
            ("qps.rel", qps::print_relative(&rows)),
            ("o.met", met::print(&rows)),
        ];
        for (name, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
            let _infallible = writeln!(text, "{name}{title}\n{part}");
        }
    }
    Ok(text)
}

struct Set {
    /// What tells its tables from those of other sets: `, 40 clients, round 2`; empty where there is one.
    title: String,
    rows: Vec<ImportedStep>,
}

/// The sets by their number of clients, and by their rounds.
fn sets(rows: &[ImportedStep]) -> Result<Vec<Set>> {
    let is_load = |row: &ImportedStep| group_of(&row.test).is_empty();
    let fewest = rows.iter().filter(|row| !is_load(row)).map(|row| row.clients).min();
    let mut sets: BTreeMap<(u32, u32), Vec<ImportedStep>> = BTreeMap::new();
    for (row, round) in rows.iter().zip(crate::run::rounds(rows)?) {
        // No name says with how many clients it was loaded: the load stands with the fewest.
        let of_load = fewest.filter(|_| is_load(row));
        let key = (of_load.unwrap_or(row.clients), round);
        sets.entry(key).or_default().push(row.clone());
    }
    let clients: BTreeSet<u32> = sets.keys().map(|(clients, _)| *clients).collect();
    let rounds: BTreeSet<u32> = sets.keys().map(|(_, round)| *round).collect();
    let named = sets.into_iter().map(|(key, rows)| {
        let mut title = String::new();
        if clients.len() > 1 {
            let _infallible = write!(title, ", {}", clients_in_words(key.0));
        }
        if rounds.len() > 1 {
            let _infallible = write!(title, ", round {}", key.1);
        }
        Set { title, rows }
    });
    Ok(named.collect())
}

/// `1 client`, `40 clients`.
fn clients_in_words(clients: u32) -> String {
    let ending = if clients == 1 { "" } else { "s" };
    format!("{clients} client{ending}")
}

/// The tables of one number of clients, which the beginning of each title says where there are several.
fn of_insert(rounds: &[Vec<Table>], clients: u32, of_clients: &str) -> String {
    let mut text = String::new();
    for (number, tables) in (1..).zip(rounds) {
        let title = match rounds.len() {
            1 => of_clients.to_owned(),
            _ => format!("{of_clients}, round {number}"),
        };
        for table in tables {
            let (step, all, ratios) = (&table.step, merged(table), relative(table));
            let _infallible =
                writeln!(text, "mrg.{step}{title}\n{all}\nrel.{step}{title}\n{ratios}");
        }
        let summary = summary(tables, clients);
        let _infallible = writeln!(text, "summary{title}\n{summary}");
    }
    text
}

/// The merged tables of all sources: of each number of clients and each round a table for each step.
fn insert_rounds(sources: &[Source], options: &Options) -> Result<BTreeMap<u32, Vec<Vec<Table>>>> {
    let mut all: BTreeMap<u32, Vec<Vec<Table>>> = BTreeMap::new();
    for source in sources {
        for file in &source.files {
            for table in insert_tables(source.kind, file)? {
                add(all.entry(source.options(options).clients(file.end())?).or_default(), &table);
            }
        }
    }
    for tables in all.values_mut().flatten() {
        tables.sort_by_key(|table| order_of_step(&table.step));
    }
    Ok(all)
}

/// The tables of a file; those of a system have a line each. None in files that are not of the Insert
/// Benchmark.
fn insert_tables(kind: FileKind, file: &File) -> Result<Vec<Table>> {
    let table = |(step, line): (&str, _)| Table { step: step.to_owned(), lines: vec![Some(line)] };
    match kind {
        FileKind::InsertTable => tables_of_file(file),
        FileKind::InsertLines => Ok(lines_of_system(file)?.into_iter().map(table).collect()),
        _ => Ok(Vec::new()),
    }
}

/// Adds the lines of a table to the first round that has none of its systems in this step.
fn add(rounds: &mut Vec<Vec<Table>>, table: &Table) {
    let lines = table.lines.iter();
    let lines: Vec<Option<StepLine>> = lines.map(|line| line.as_ref().map(merged_row)).collect();
    let is_new = |known: &StepLine| lines.iter().flatten().all(|line| line.tag != known.tag);
    let takes = |round: &[Table]| {
        let mut of_step = round.iter().filter(|known| known.step == table.step);
        of_step.all(|known| known.lines.iter().flatten().all(is_new))
    };
    let place = rounds.iter().position(|round| takes(round)).unwrap_or(rounds.len());
    if place == rounds.len() {
        rounds.push(Vec::new());
    }
    let round = &mut rounds[place];
    match round.iter_mut().find(|known| known.step == table.step) {
        Some(known) => known.lines.extend(lines),
        None => round.push(Table { step: table.step.clone(), lines }),
    }
}

/// Throughput of all systems and steps, each cell with the colour that the original gives it.
fn summary(tables: &[Table], clients: u32) -> String {
    let mut systems: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for table in tables {
        let lines: Vec<&StepLine> = table.lines.iter().flatten().collect();
        let target = rate_of_step(&table.step).map(|rate| rate * u64::from(clients));
        let values: Vec<(f64, bool)> = lines
            .iter()
            .map(|line| match target {
                Some(target) => (line.qps(), line.ips() >= (0.95 * target as f64).round()),
                None => (line.ips(), true),
            })
            .collect();
        for ((line, (value, _)), colour) in lines.iter().zip(&values).zip(colours(&values)) {
            let colour = match colour {
                Colour::Lowest => " red",
                Colour::MissedSla => " grey",
                Colour::Highest => " green",
                Colour::Plain => "",
            };
            let text = format!("{}{colour}", fixed(*value, 0));
            cells.insert((line.tag.as_str(), table.step.as_str()), text);
            if !systems.contains(&line.tag.as_str()) {
                systems.push(&line.tag);
            }
        }
    }
    let steps: Vec<&str> = tables.iter().map(|table| table.step.as_str()).collect();
    let mut text = format!("dbms\t{}\n", steps.join("\t"));
    for system in systems {
        let line: Vec<&str> = steps
            .iter()
            .map(|step| cells.get(&(system, *step)).map_or("", String::as_str))
            .collect();
        let _infallible = writeln!(text, "{system}\t{}", line.join("\t"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn one() -> Options {
        Options { clients: vec![1], ..Options::default() }
    }

    /// A line with these inserts and queries per second.
    fn line(ips: u32, qps: u32, tag: &str) -> String {
        format!(
            "{ips} {qps} 1.8 0 2.5 0.1 0 0 0 1 26428 25.8 3.8 150 8.1 48.6 8 0.017 NA NA {tag}\n"
        )
    }

    fn source(name: &str, text: &str) -> Source {
        let file = file(name, text);
        Source {
            kind: FileKind::of(&file).unwrap(),
            system: None,
            clients: Vec::new(),
            origin: name.to_owned(),
            files: vec![file],
        }
    }

    #[test]
    fn the_summary_has_the_originals_colours() {
        let query =
            line(100, 900, "my8044.a") + &line(90, 950, "my9400.a") + &line(100, 300, "pg181.a");
        let load = line(1000, 0, "my8044.a") + &line(950, 0, "my9400.a");
        let sources = [source("mrg.l.i0", &load), source("mrg.q100.2", &query)];
        let text = published(&sources, &[], &one()).unwrap();
        let summary = text.split_once("summary\n").unwrap().1;
        let expected = "dbms\tl.i0\tq100.2\nmy8044.a\t1000 green\t900 green\n\
            my9400.a\t950\t950 grey\npg181.a\t\t300 red\n\n";
        assert_eq!(summary, expected);
        assert!(text.starts_with("mrg.l.i0\nips\t"), "{text}");
    }

    #[test]
    fn a_second_round_of_merged_tables_has_tables_of_its_own() {
        let first = line(1000, 0, "my8044.a") + &line(950, 0, "my9400.a");
        let second = line(990, 0, "my8044.a");
        let sources = [source("mrg.l.i0", &first), source("b/mrg.l.i0", &second)];
        let text = published(&sources, &[], &one()).unwrap();
        let titles: Vec<&str> = text.lines().filter(|line| line.contains("round")).collect();
        let expected = [1, 2].map(|number| {
            ["mrg.l.i0", "rel.l.i0", "summary"].map(|name| format!("{name}, round {number}"))
        });
        assert_eq!(titles, expected.concat());
        let (one, two) = text.split_once("mrg.l.i0, round 2\n").unwrap();
        assert!(one.ends_with("my8044.a\t1000 green\nmy9400.a\t950\n\n"), "{one}");
        assert!(two.contains("\n990\t0\t"), "{two}");
        assert!(!two.contains("my9400"), "{two}");
    }

    const COSTS: &str = "sb.met.insert.range100.pk1.dop1\n--- absolute\n\
        0.001593\t3.950\t0\t0\t4.307\t8201\tx.my8044.a.pk1\n\
        0.001755\t5.715\t0\t0\t5.015\t7779\tx.my9500.a.pk1\n\n";

    fn of_costs(texts: &[&str]) -> String {
        let options = one().in_mode(crate::Mode::Compat);
        let sources: Vec<Source> = texts.iter().map(|text| source("o.met", text)).collect();
        let rows = crate::read_all(&sources, &options).unwrap();
        published(&sources, &rows, &options).unwrap()
    }

    #[test]
    fn each_number_of_clients_has_tables_of_its_own() {
        let forty = COSTS.replace("dop1", "dop40").replace("8201", "9000").replace("7779", "9900");
        let text = of_costs(&[COSTS, &forty]);
        let alone = [of_costs(&[COSTS]), of_costs(&[&forty])];
        // But for their titles they are those that each has by itself.
        let mut titled = String::new();
        for (tables, clients) in alone.iter().zip(["1 client", "40 clients"]) {
            for line in tables.lines() {
                let is_title = ["qps.abs", "qps.rel", "o.met"].contains(&line);
                let title = if is_title { format!(", {clients}") } else { String::new() };
                let _infallible = writeln!(titled, "{line}{title}");
            }
        }
        assert_eq!(text, titled);
        assert!(text.contains("\n0.95\tinsert_range=100\n"), "{text}");
        assert!(text.contains("\n1.10\tinsert_range=100\n"), "{text}");
        assert!(text.contains("qps.rel, 40 clients\nRelative to: my8044.a\n"), "{text}");
    }

    #[test]
    fn a_second_round_is_no_further_system() {
        let again = COSTS.replace("8201", "8202").replace("7779", "7780");
        let text = of_costs(&[COSTS, &again]);
        let (one, two) = text.split_once("qps.abs, round 2\n").unwrap();
        assert!(one.starts_with("qps.abs, round 1\n"), "{one}");
        for part in [one, two] {
            // A line of absolute costs and, but for the first system, one of ratios.
            let lines = part.lines().filter(|line| line.ends_with("\tmy9500.a"));
            assert_eq!(lines.count(), 2, "{part}");
            let lines = part.lines().filter(|line| line.ends_with("\tmy8044.a"));
            assert_eq!(lines.count(), 1, "{part}");
        }
    }

    fn row(system: &str, test: &str, clients: u32) -> ImportedStep {
        ImportedStep::new(file("x", "").end(), system, test, clients)
    }

    /// Titles, and of the rows systems and tests.
    fn shape(rows: &[ImportedStep]) -> Vec<(String, Vec<String>)> {
        let sets = sets(rows).unwrap().into_iter();
        let named = |row: &ImportedStep| format!("{} {}", row.system, row.test);
        let shape = sets.map(|set| (set.title, set.rows.iter().map(named).collect()));
        shape.collect()
    }

    fn is(title: &str, rows: &[&str]) -> (String, Vec<String>) {
        let rows = rows.iter().map(|row| (*row).to_owned());
        (title.to_owned(), rows.collect())
    }

    #[test]
    fn one_number_of_clients_and_one_round_are_one_set_without_a_title() {
        let rows = [row("a", "prepare", 1), row("a", "p", 40), row("b", "p", 40)];
        assert_eq!(shape(&rows), [is("", &["a prepare", "a p", "b p"])]);
        let load = [row("a", "prepare", 1)];
        assert_eq!(shape(&load), [is("", &["a prepare"])]);
        assert!(shape(&[]).is_empty());
    }

    #[test]
    fn numbers_of_clients_and_rounds_are_told_apart() {
        let rows = [
            row("a", "p", 40),
            row("a", "p", 1),
            row("b", "p", 1),
            row("b", "p", 40),
            row("a", "p", 1),
        ];
        let expected = [
            is(", 1 client, round 1", &["a p", "b p"]),
            is(", 1 client, round 2", &["a p"]),
            is(", 40 clients, round 1", &["a p", "b p"]),
        ];
        assert_eq!(shape(&rows), expected);
        assert_eq!(
            shape(&rows[..4]),
            [is(", 1 client", &["a p", "b p"]), is(", 40 clients", &["a p", "b p"])]
        );
    }
}
