//! A file, or a directory of files, becomes rows.

use crate::file::FileLine;
use crate::{
    File, FileKind, ImportedStep, Options, Result, Rows, Source, copies, csv, db_bench, hammerdb,
    insert, merge, pgbench, sysbench, tables,
};

/// The rows of all sources, one source after the other; what tables say of the same measurement is one row.
pub fn read_all(sources: &[Source], options: &Options) -> Rows {
    copies::refuse(sources)?;
    let mut all = Vec::with_capacity(sources.len());
    for source in sources {
        all.push((source.kind, read(source, options)?));
    }
    Ok(merge::tables(all))
}

pub fn read(source: &Source, options: &Options) -> Rows {
    let system = source.system();
    let options = &source.options(options);
    let rows = match source.kind {
        FileKind::SysbenchDirectory => sysbench::directory(&system, &source.files, options),
        FileKind::Sysbench => {
            each(source, |file| sysbench::single(&system, file, options).map(|row| vec![row]))
        }
        FileKind::QpsTable => {
            each(source, |file| tables::qps::rows(file, source.system.as_deref(), options))
        }
        FileKind::MetTable => each(source, |file| tables::met::rows(file, options)),
        FileKind::InsertLines => {
            each(source, |file| insert::rows_of_system(&system, file, options))
        }
        FileKind::InsertTable => each(source, |file| insert::rows_of_table(file, options)),
        FileKind::Pgbench => each(source, |file| pgbench::rows(&system, file, options)),
        FileKind::HammerDb => each(source, |file| hammerdb::rows(&system, file, options)),
        FileKind::DbBench => each(source, |file| {
            let ran = db_bench::system(file).filter(|_| source.system.is_none());
            db_bench::rows(ran.as_deref().unwrap_or(&system), file, options)
        }),
        FileKind::DbBenchTable => {
            each(source, |file| db_bench::rows_of_table(source.system.as_deref(), file, options))
        }
        FileKind::Csv => each(source, |file| csv::rows(file, options)),
    }?;
    if rows.is_empty() {
        let nowhere = FileLine::at(&source.origin, 1);
        return Err(nowhere.wrong(format!("no result in it, read as {}", source.kind.name())));
    }
    for row in &rows {
        check_names(row)?;
        check_finite(row)?;
        check_clients(row, &source.clients)?;
    }
    Ok(rows)
}

/// What was said of a file is not what the file says of itself. Of loads no file says it.
fn check_clients(row: &ImportedStep, said: &[u32]) -> Result<()> {
    let is_load = tables::group_of(&row.test).is_empty();
    if said.is_empty() || said.contains(&row.clients) || is_load {
        return Ok(());
    }
    let stated = row.clients;
    Err(row.place().wrong(format!(
        "the file says {stated} clients, and PATH@{} other: leave that out",
        said.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    )))
}

/// Names come from files of other people, and are printed.
fn check_names(row: &ImportedStep) -> Result<()> {
    for name in [&row.system, &row.test, &row.group] {
        row.place().check_name(name)?;
    }
    for (measured, line) in row.measurements.iter().zip(&row.lines) {
        FileLine::at(&row.origin, *line).check_name(&measured.metric.0)?;
    }
    Ok(())
}

/// Absurd files have numbers that are fine by themselves and overflow in a product.
fn check_finite(row: &ImportedStep) -> Result<()> {
    match row.measurements.iter().find(|measured| !measured.value.is_finite()) {
        None => Ok(()),
        Some(absurd) => Err(row.place().wrong(format!(
            "{} of {} is not a finite number: some number is absurdly large or small",
            absurd.metric, row.test
        ))),
    }
}

fn each(source: &Source, read: impl Fn(&File) -> Rows) -> Rows {
    let rows: Result<Vec<Vec<ImportedStep>>> = source.files.iter().map(read).collect();
    Ok(rows?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn source(kind: FileKind, name: &str, text: &str) -> Source {
        Source {
            kind,
            system: None,
            clients: Vec::new(),
            origin: name.to_owned(),
            files: vec![file(name, text)],
        }
    }

    #[test]
    fn names_with_control_characters_are_told_with_their_line() {
        let header = "system,step,metric,value,unit,group\nmysql-8,a,rate,1,,\n";
        let cases = [
            "mysql-\u{1b}[31m8,a,rate,1,,",
            "mysql-8,b\tc,rate,1,,",
            "mysql-8,a,hei\u{7f}ght,1,count,",
            "mysql-8,b,rate,1,,poi\u{0}nt",
        ];
        for line in cases {
            let source = source(FileKind::Csv, "a.csv", &format!("{header}{line}\n"));
            let error = read(&source, &Options::default()).unwrap_err();
            assert_eq!(error.line, 3, "{error}");
            assert!(!error.what.contains(char::is_control), "{error}");
        }
        let script =
            "transaction type: a\u{1b}]0;b.sql\ntps = 5.0 (without initial connection time)\n";
        let source = source(FileKind::Pgbench, "postgres-18.txt", script);
        assert!(read(&source, &Options::default()).is_err());
    }

    const TABLE: &str = "col-1 : my5651.a\n\ncol-1\n100\tscan_range=100\n";

    #[test]
    fn the_path_states_clients_unless_they_are_said_of_the_file() {
        let clients = |name: &str, of_file: &[u32], of_all: &[u32]| {
            let mut source = source(FileKind::QpsTable, name, TABLE);
            source.clients = of_file.to_vec();
            let options = Options { clients: of_all.to_vec(), ..Options::default() };
            read(&source, &options).map(|rows| rows[0].clients).ok()
        };
        assert_eq!(clients("qps.abs", &[], &[]), None);
        assert_eq!(clients("qps.abs", &[], &[4]), Some(4));
        assert_eq!(clients("dop40/qps.abs", &[], &[4]), Some(40));
        assert_eq!(clients("dop40/qps.abs", &[8], &[4]), Some(8));
    }

    #[test]
    fn clients_that_the_file_contradicts_are_refused() {
        let text =
            "sb.met.insert.range100.pk1.dop8\n--- absolute\n1\t1\t0\t0\t0\t9\tx.my8044.a.pk1\n";
        let mut table = source(FileKind::MetTable, "o.met", text);
        table.clients = vec![8];
        assert!(read(&table, &Options::default()).is_ok());
        table.clients = vec![40];
        let error = read(&table, &Options::default()).unwrap_err();
        assert_eq!(error.line, 3, "{error}");
        assert!(error.what.contains("says 8 clients"), "{error}");
    }

    #[test]
    fn tables_of_several_numbers_of_clients_are_no_rounds() {
        let tables = ["dop1/qps.abs", "dop40/qps.abs"];
        let tables = tables.map(|name| source(FileKind::QpsTable, name, TABLE));
        let [first, second] = &tables;
        let other = TABLE.replace("100\tscan", "300\tscan");
        let second = source(FileKind::QpsTable, &second.origin, &other);
        let rows = read_all(&[first.clone(), second], &Options::default()).unwrap();
        assert_eq!(crate::run::rounds(&rows), Ok(vec![1, 1]));
        let clients: Vec<u32> = rows.iter().map(|row| row.clients).collect();
        assert_eq!(clients, [1, 40]);
    }

    #[test]
    fn all_sources_are_read_in_order_and_copies_refused() {
        let csv = |name: &str, value: u32| {
            let text = format!("system,step,metric,value,clients\nmysql-8,a,rate,{value},1\n");
            source(FileKind::Csv, name, &text)
        };
        let options = Options::default();
        let rows = read_all(&[csv("a.csv", 2), csv("b.csv", 1)], &options).unwrap();
        let rates: Vec<Option<f64>> = rows.iter().map(|row| row.value("rate")).collect();
        assert_eq!(rates, [Some(2.0), Some(1.0)]);
        assert!(read_all(&[csv("a.csv", 2), csv("a.csv", 2)], &options).is_err());
    }
}
