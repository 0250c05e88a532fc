//! A file, or a directory of files, becomes rows.

use crate::file::Line;
use crate::{File, ImportError, Kind, Options, Row, csv, insert, pgbench, sysbench, tables};

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
        let nowhere = Line {
            origin: &source.origin,
            number: 1,
            text: "",
        };
        return Err(nowhere.wrong(format!("no result in it, read as {}", source.kind.name())));
    }
    for row in &rows {
        check_finite(row)?;
    }
    Ok(rows)
}

/// Absurd files have numbers that are fine by themselves and overflow in a product.
fn check_finite(row: &Row) -> Result<(), ImportError> {
    let mut all = row.measurements.iter();
    let Some(absurd) = all.find(|m| !m.value.is_finite()) else {
        return Ok(());
    };
    let at = Line {
        origin: &row.origin,
        number: row.line,
        text: "",
    };
    let (metric, test) = (&absurd.metric, &row.test);
    Err(at.wrong(format!(
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
