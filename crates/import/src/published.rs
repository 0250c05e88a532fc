//! The tables that the original tools derive from what was imported, as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::insert::{
    Colour, StepLine, Table, colours, lines_of_system, merged, merged_row, rate_of_step, relative,
    tables_of_file,
};
use crate::round::fixed;
use crate::tables::{met, qps};
use crate::{ImportError, Kind, Options, Row, Source};

/// All of them: rates and their ratios, costs and their ratios, the merged and relative tables of the
/// Insert Benchmark, and its summary with colours. `rows` are those of the sources in compat mode; what
/// has no tables in the original (CSV, pgbench) has the tables of rates.
///
/// # Errors
/// When a file cannot be read, as [`crate::read`] has it.
pub fn published(
    sources: &[Source],
    rows: &[Row],
    options: &Options,
) -> Result<String, ImportError> {
    let tables = insert_tables(sources)?;
    let mut text = String::new();
    if tables.is_empty() {
        let parts = [
            ("qps.abs", qps::print_absolute(rows)),
            ("qps.rel", qps::print_relative(rows)),
            ("o.met", met::print(rows)),
        ];
        for (name, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
            let _infallible = writeln!(text, "{name}\n{part}");
        }
        return Ok(text);
    }
    for table in &tables {
        let (step, all, ratios) = (&table.step, merged(table), relative(table));
        let _infallible = writeln!(text, "mrg.{step}\n{all}\nrel.{step}\n{ratios}");
    }
    let _infallible = writeln!(text, "summary\n{}", summary(&tables, options.clients()));
    Ok(text)
}

/// The merged tables of all sources, a table for each step, in the order in which steps first appear.
fn insert_tables(sources: &[Source]) -> Result<Vec<Table>, ImportError> {
    let mut tables: Vec<Table> = Vec::new();
    let mut add = |step: &str, lines: Vec<Option<StepLine>>| {
        let lines = lines.iter().map(|line| line.as_ref().map(merged_row));
        match tables.iter_mut().find(|table| table.step == step) {
            Some(table) => table.lines.extend(lines),
            None => tables.push(Table {
                step: step.to_owned(),
                lines: lines.collect(),
            }),
        }
    };
    for source in sources {
        for file in &source.files {
            match source.kind {
                Kind::InsertLines => {
                    for (step, line) in lines_of_system(file)? {
                        add(step, vec![Some(line)]);
                    }
                }
                Kind::InsertTable => {
                    for table in tables_of_file(file)? {
                        add(&table.step, table.lines);
                    }
                }
                Kind::SysbenchDirectory
                | Kind::Sysbench
                | Kind::QpsTable
                | Kind::MetTable
                | Kind::Pgbench
                | Kind::Csv => {}
            }
        }
    }
    Ok(tables)
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
            let text = format!("{} {}", fixed(*value, 0), word(colour));
            cells.insert(
                (line.tag.as_str(), table.step.as_str()),
                text.trim_end().to_owned(),
            );
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

const fn word(colour: Colour) -> &'static str {
    match colour {
        Colour::Lowest => "red",
        Colour::MissedSla => "grey",
        Colour::Highest => "green",
        Colour::Plain => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    /// A line with these inserts and queries per second.
    fn line(ips: u32, qps: u32, tag: &str) -> String {
        format!(
            "{ips} {qps} 1.8 0 2.5 0.1 0 0 0 1 26428 25.8 3.8 150 8.1 48.6 8 0.017 NA NA {tag}\n"
        )
    }

    fn source(name: &str, text: &str) -> Source {
        let file = file(name, text);
        Source {
            kind: Kind::of(&file).unwrap(),
            system: None,
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
        let text = published(&sources, &[], &Options::default()).unwrap();
        let summary = text.split_once("summary\n").unwrap().1;
        let expected = "dbms\tl.i0\tq100.2\nmy8044.a\t1000 green\t900 green\n\
            my9400.a\t950\t950 grey\npg181.a\t\t300 red\n\n";
        assert_eq!(summary, expected);
        assert!(text.starts_with("mrg.l.i0\nips\t"), "{text}");
    }
}
