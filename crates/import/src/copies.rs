//! Results that are given twice: as two rounds they would be equal to the last digit, and certain of
//! anything.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::file::FileLine;
use crate::insert::{merged_row, tables_of_file};
use crate::sysbench::Name;
use crate::{File, FileKind, Result, Source};

/// Refuses what two files say of one system in the same words.
pub(crate) fn refuse(sources: &[Source]) -> Result<()> {
    let mut known: HashMap<Results<'_>, &File> = HashMap::new();
    for source in sources {
        for file in &source.files {
            for results in results(source, file) {
                let first = *known.entry(results).or_insert(file);
                if !std::ptr::eq(first, file) {
                    let first = &first.origin;
                    return Err(FileLine::at(&file.origin, 1).wrong(format!(
                        "the same results are in {first}, to the last digit; as another round they would make any verdict look certain: give each round once, in a file of its own"
                    )));
                }
            }
        }
    }
    Ok(())
}

type Results<'a> = (String, Cow<'a, str>);

/// What no other file may have: all of the file, or each line where files overlap.
fn results<'a>(source: &Source, file: &'a File) -> Vec<Results<'a>> {
    let whole = |of: String| vec![(of, Cow::Borrowed(file.text.as_str()))];
    // An empty file is reported when it is read.
    if file.text.trim().is_empty() {
        return Vec::new();
    }
    match source.kind {
        // Samples may be equal: those of an idle disk are all zero.
        FileKind::SysbenchDirectory => match Name::of(file.name()) {
            Some(("o" | "met", _)) => whole(format!("{}/{}", source.system(), file.name())),
            Some(_) | None => Vec::new(),
        },
        FileKind::Sysbench
        | FileKind::Pgbench
        | FileKind::InsertLines
        | FileKind::HammerDb
        | FileKind::DbBench => whole(source.system()),
        // These name their systems, or get them as options.
        FileKind::QpsTable | FileKind::MetTable | FileKind::Csv | FileKind::DbBenchTable => {
            whole(source.system.clone().unwrap_or_default())
        }
        FileKind::InsertTable => lines(file),
    }
}

/// The lines of merged tables: a system may be in several selections of the same results. Files that
/// cannot be read have none; reading reports that.
fn lines(file: &File) -> Vec<Results<'static>> {
    let tables = tables_of_file(file).unwrap_or_default();
    let mut all = Vec::new();
    for table in &tables {
        for line in table.lines.iter().flatten().map(merged_row) {
            let of = format!("{} of {}", table.step, line.tag);
            all.push((of, Cow::Owned(line.fields.join("\t"))));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn source(kind: FileKind, system: &str, files: &[(&str, &str)]) -> Source {
        let files = files.iter().map(|(name, text)| file(name, text));
        Source {
            kind,
            system: Some(system.to_owned()),
            clients: Vec::new(),
            origin: "x".to_owned(),
            files: files.collect(),
        }
    }

    fn one(kind: FileKind, system: &str, name: &str, text: &str) -> Source {
        source(kind, system, &[(name, text)])
    }

    #[test]
    fn a_file_is_no_round_of_its_own_copy() {
        let first = one(FileKind::Sysbench, "mysql-8", "a.txt", "80 queries");
        for (name, text, is_copy) in [
            ("a.txt", "80 queries", true),
            ("b.txt", "80 queries", true),
            ("b.txt", "81 queries", false),
        ] {
            let second = one(FileKind::Sysbench, "mysql-8", name, text);
            let refused = refuse(&[first.clone(), second]);
            assert_eq!(refused.is_err(), is_copy, "{name} {text}");
            if let Err(error) = refused {
                let start = format!("{name}:1: the same results are in a.txt");
                assert!(error.to_string().starts_with(&start), "{error}");
            }
        }
        let of_another = one(FileKind::Sysbench, "mysql-9", "a.txt", "80 queries");
        assert_eq!(refuse(&[first, of_another]), Ok(()));
        let empty = one(FileKind::Sysbench, "mysql-8", "a.txt", " \n");
        assert_eq!(refuse(&[empty.clone(), empty]), Ok(()));
    }

    #[test]
    fn a_table_is_a_copy_whatever_its_file_is_called() {
        let table = |name| one(FileKind::QpsTable, "", name, "col-1 : a");
        assert!(refuse(&[table("qps.abs"), table("b/qps.abs")]).is_err());
    }

    #[test]
    fn of_raw_output_results_are_compared_and_samples_are_not() {
        let output = ("sb.o.scan.range100.pk1.dop1", "80 queries");
        let disk = ("sb.io.scan.range100.pk1.dop1", "0 0 0");
        let load = ("sb.prepare.o.scan.range100.pk1", "Creating table");
        let other = ("sb.o.scan.range100.pk1.dop1", "81 queries");
        let round = |files: &[(&str, &str)]| source(FileKind::SysbenchDirectory, "mysql-8", files);
        let first = round(&[output, disk, load]);
        assert_eq!(refuse(&[first.clone(), round(&[other, disk, load])]), Ok(()));
        assert!(refuse(&[first, round(&[output])]).is_err());
    }

    #[test]
    fn merged_tables_that_share_a_system_are_told() {
        let line = |tag: &str| format!("1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 {tag}\n");
        let of = |name: &str, text: &str| one(FileKind::InsertTable, "", name, text);
        let latest = of("mrg.l.i0", &(line("my8021.cx6d") + &line("pg131.cx5")));
        let some = of("mrg.some", &format!("l.i0\n{}", line("20m.pg131.cx5")));
        let error = refuse(&[latest.clone(), some]).unwrap_err().to_string();
        assert!(error.starts_with("mrg.some:1: "), "{error}");
        let other_step = of("mrg.l.i1", &line("pg131.cx5"));
        // Within a table the base of several parts is there several times.
        let parts = of("mrg.l.x", &(line("pg131.cx5") + "-\n" + &line("pg131.cx5")));
        let broken = of("mrg.l.i2", "1 2 3");
        assert_eq!(refuse(&[latest, other_step, parts, broken]), Ok(()));
    }
}
