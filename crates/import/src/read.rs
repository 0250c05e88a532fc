//! A file, or a directory of files, becomes rows.

use crate::file::Line;
use crate::{
    File, ImportError, Kind, Options, Row, copies, csv, insert, pgbench, sysbench, tables,
};

/// What is read as one: a file, or the files of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is.
    pub kind: Kind,
    /// The system that it is about, where it was said; else the name of the file or directory says it.
    pub system: Option<String>,
    /// Its path.
    pub origin: String,
    /// The files; one, but for a directory.
    pub files: Vec<File>,
}

impl Source {
    /// The system: as it was said, else by the name of the file or directory.
    pub fn system(&self) -> String {
        let named = || {
            let name = self.origin.trim_end_matches('/');
            let name = name.rsplit('/').next().unwrap_or(name);
            match self.kind {
                Kind::SysbenchDirectory => tables::system_of_directory(name).to_owned(),
                Kind::InsertLines => insert::system_of_file(name).to_owned(),
                Kind::Sysbench
                | Kind::QpsTable
                | Kind::MetTable
                | Kind::InsertTable
                | Kind::Pgbench
                | Kind::Csv => name.strip_suffix(".txt").unwrap_or(name).to_owned(),
            }
        };
        self.system.clone().unwrap_or_else(named)
    }
}

/// The rows of all sources, one source after the other.
///
/// # Errors
/// When results are given twice for one system; else as [`read`].
pub fn read_all(sources: &[Source], options: &Options) -> Result<Vec<Row>, ImportError> {
    copies::refuse(sources)?;
    let rows = sources.iter().map(|source| read(source, options));
    let rows: Result<Vec<Vec<Row>>, ImportError> = rows.collect();
    Ok(rows?.concat())
}

/// The rows of a source.
///
/// # Errors
/// At the first line that is not what the kind of file has there.
pub fn read(source: &Source, options: &Options) -> Result<Vec<Row>, ImportError> {
    let system = source.system();
    let rows = match source.kind {
        Kind::SysbenchDirectory => sysbench::directory(&system, &source.files, options),
        Kind::Sysbench => each(source, |file| {
            sysbench::single(&system, file, options).map(|row| vec![row])
        }),
        Kind::QpsTable => each(source, |file| tables::qps::rows(file, options)),
        Kind::MetTable => each(source, |file| tables::met::rows(file, options)),
        Kind::InsertLines => each(source, |file| {
            insert::rows_of_system(&system, file, options)
        }),
        Kind::InsertTable => each(source, |file| insert::rows_of_table(file, options)),
        Kind::Pgbench => each(source, |file| {
            pgbench::row(&system, file).map(|row| vec![row])
        }),
        Kind::Csv => each(source, csv::rows),
    }?;
    if rows.is_empty() {
        let nowhere = Line::at(&source.origin, 1);
        return Err(nowhere.wrong(format!("no result in it, read as {}", source.kind.name())));
    }
    for row in &rows {
        check_names(row)?;
        check_finite(row)?;
    }
    Ok(rows)
}

/// Names come from files of other people, and are printed.
fn check_names(row: &Row) -> Result<(), ImportError> {
    for name in [&row.system, &row.test, &row.group] {
        row.place().check_name(name)?;
    }
    for (measured, line) in row.measurements.iter().zip(&row.lines) {
        Line::at(&row.origin, *line).check_name(&measured.metric.0)?;
    }
    Ok(())
}

/// Absurd files have numbers that are fine by themselves and overflow in a product.
fn check_finite(row: &Row) -> Result<(), ImportError> {
    let mut all = row.measurements.iter();
    let Some(absurd) = all.find(|m| !m.value.is_finite()) else {
        return Ok(());
    };
    let (metric, test) = (&absurd.metric, &row.test);
    Err(row.place().wrong(format!(
        "{metric} of {test} is no finite number: some number is absurdly large or small"
    )))
}

/// The rows of each file, one after the other.
fn each(
    source: &Source,
    read: impl Fn(&File) -> Result<Vec<Row>, ImportError>,
) -> Result<Vec<Row>, ImportError> {
    let rows: Result<Vec<Vec<Row>>, ImportError> = source.files.iter().map(read).collect();
    Ok(rows?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn source(kind: Kind, name: &str, text: &str) -> Source {
        Source {
            kind,
            system: None,
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
            let source = source(Kind::Csv, "a.csv", &format!("{header}{line}\n"));
            let error = read(&source, &Options::default()).unwrap_err();
            assert_eq!(error.line, 3, "{error}");
            assert!(!error.what.contains(char::is_control), "{error}");
        }
        let script =
            "transaction type: a\u{1b}]0;b.sql\ntps = 5.0 (without initial connection time)\n";
        let source = source(Kind::Pgbench, "postgres-18.txt", script);
        assert!(read(&source, &Options::default()).is_err());
    }

    #[test]
    fn all_sources_are_read_in_order_and_copies_refused() {
        let csv = |name: &str, value: u32| {
            let text = format!("system,step,metric,value\nmysql-8,a,rate,{value}\n");
            source(Kind::Csv, name, &text)
        };
        let options = Options::default();
        let rows = read_all(&[csv("a.csv", 2), csv("b.csv", 1)], &options).unwrap();
        let rates: Vec<Option<f64>> = rows.iter().map(|row| row.value("rate")).collect();
        assert_eq!(rates, [Some(2.0), Some(1.0)]);
        assert!(read_all(&[csv("a.csv", 2), csv("a.csv", 2)], &options).is_err());
    }
}
