//! What a file is, and what is read as one: a file, or the files of a directory.

use crate::{File, Options, db_bench, hammerdb, insert, tables};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A directory of raw output: `sb.o.…`, `sb.vm.…`, `sb.io.…`, `sb.met.…`.
    SysbenchDirectory,
    Sysbench,
    /// `qps.abs`: queries per second, a column for each directory.
    QpsTable,
    /// `o.met`: cost per operation, a block for each test.
    MetTable,
    /// `o.sum…`: a line for each step of the Insert Benchmark.
    InsertLines,
    /// `mrg.…`: a line for each system, for one step or several.
    InsertTable,
    Pgbench,
    HammerDb,
    DbBench,
    /// `report.tsv`: a line for each run of `db_bench`.
    DbBenchTable,
    /// One measurement a line, under a header.
    Csv,
}

impl FileKind {
    pub const ALL: [(Self, &str); 11] = [
        (Self::SysbenchDirectory, "sysbench-dir"),
        (Self::Sysbench, "sysbench"),
        (Self::QpsTable, "qps"),
        (Self::MetTable, "met"),
        (Self::InsertLines, "insert-lines"),
        (Self::InsertTable, "insert-table"),
        (Self::Pgbench, "pgbench"),
        (Self::HammerDb, "hammerdb"),
        (Self::DbBench, "db-bench"),
        (Self::DbBenchTable, "db-bench-table"),
        (Self::Csv, "csv"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }

    /// What a single file is, by its name where that says it, else by what it holds. A file of any columns with commas
    /// is taken for CSV by its ending.
    pub fn of(file: &File) -> Option<Self> {
        let end = std::path::Path::new(file.name()).extension();
        let is_csv = end.is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        Self::known(file).or_else(|| is_csv.then_some(Self::Csv))
    }

    /// The same, for a file that nobody named: its ending says nothing.
    pub fn known(file: &File) -> Option<Self> {
        let name = file.name();
        let named = [
            ("qps.", Self::QpsTable),
            ("o.qps.", Self::QpsTable),
            ("o.met", Self::MetTable),
            ("o.sum", Self::InsertLines),
            ("mrg.", Self::InsertTable),
        ];
        let by_name = named.into_iter().find(|(start, _)| name.starts_with(start));
        by_name.map(|(_, kind)| kind).or_else(|| by_text(file))
    }
}

/// Lines that are looked at to find out what a file is.
const LINES_LOOKED_AT: usize = 2_000;

fn by_text(file: &File) -> Option<FileKind> {
    let first = file.lines().find(|line| !line.text.trim().is_empty())?.text;
    if first.starts_with("ips\tqps\t") {
        return Some(FileKind::InsertTable);
    }
    if first.contains("system") && first.contains(',') && first.contains("metric") {
        return Some(FileKind::Csv);
    }
    file.lines().take(LINES_LOOKED_AT).find_map(|line| {
        let text = line.text.trim();
        // What a run that failed printed has its first lines only.
        if text == "SQL statistics:" || is_greeting(text, "sysbench ") {
            Some(FileKind::Sysbench)
        } else if text.starts_with("tps = ") || is_greeting(text, "pgbench (") {
            Some(FileKind::Pgbench)
        } else if text.contains(hammerdb::RESULT) || is_greeting(text, "HammerDB CLI v") {
            Some(FileKind::HammerDb)
        } else if db_bench::is_header(text) {
            Some(FileKind::DbBenchTable)
        } else if db_bench::is_result(text) {
            Some(FileKind::DbBench)
        } else if text == "--- absolute" {
            Some(FileKind::MetTable)
        } else if text.starts_with("col-1 :") {
            Some(FileKind::QpsTable)
        } else {
            None
        }
    })
}

/// Is it the line with which a program tells its version: `sysbench 1.0.20 (…)`, `pgbench (18.1)`?
fn is_greeting(text: &str, program: &str) -> bool {
    text.strip_prefix(program).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub kind: FileKind,
    /// The system that it is about, where it was said; else the name of the file or directory says it. Of a table of
    /// rates the systems of its columns, with commas between them.
    pub system: Option<String>,
    /// The clients of it, where they were said of it alone; several for a file with a column for each.
    pub clients: Vec<u32>,
    pub origin: String,
    pub files: Vec<File>,
}

impl Source {
    /// The system: as given, otherwise by the name of the file or directory.
    pub fn system(&self) -> String {
        let name = File::name_of(&self.origin);
        let named = if self.kind == FileKind::SysbenchDirectory {
            tables::system_of_directory(name)
        } else if self.kind == FileKind::InsertLines {
            insert::system_of_file(name)
        } else {
            let mut ends = [".txt", ".log", ".out"].iter();
            ends.find_map(|end| name.strip_suffix(end)).unwrap_or(name)
        };
        self.system.as_deref().unwrap_or(named).to_owned()
    }

    /// The options for it: clients that were said of it alone or that its path states are those of its files.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let mut own = options.clone();
        if !self.clients.is_empty() {
            own.clients.clone_from(&self.clients);
        } else if let Some(clients) = File::clients_of_path(&self.origin) {
            own.clients = vec![clients];
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    #[test]
    fn files_are_known_by_name_or_by_what_they_hold() {
        let table = [
            ("x/qps.abs.all.tsv", "", Some(FileKind::QpsTable)),
            ("o.met.all", "", Some(FileKind::MetTable)),
            ("o.sum.t.20m.pg131.cx5", "", Some(FileKind::InsertLines)),
            ("mrg.l.i0", "", Some(FileKind::InsertTable)),
            ("a.csv", "system,step,metric,value\n", Some(FileKind::Csv)),
            ("a.txt", "x\n\nSQL statistics:\n", Some(FileKind::Sysbench)),
            ("a.txt", "tps = 5 (x)", Some(FileKind::Pgbench)),
            ("a.txt", "sysbench 1.0.20 (using x)\nFATAL: no", Some(FileKind::Sysbench)),
            ("a.txt", "pgbench (18.1)\nno", Some(FileKind::Pgbench)),
            ("o.qps.abs", "", Some(FileKind::QpsTable)),
            (
                "a.log",
                "x\nVuser 1:TEST RESULT : System achieved 9 NOPM from 20 MySQL TPM\n",
                Some(FileKind::HammerDb),
            ),
            (
                "a.txt",
                "Keys: 16 bytes\nfillseq : 3.4 micros/op 289351 ops/sec; 32.0 MB/s\n",
                Some(FileKind::DbBench),
            ),
            ("report.tsv", "ops_sec\tmb_sec\ttest\n", Some(FileKind::DbBenchTable)),
            ("a.csv", "System;Step\n", Some(FileKind::Csv)),
            ("a.txt", "sysbench --threads=8 run", None),
            ("a.txt", "hello", None),
            ("a.txt", "", None),
        ];
        for (name, text, kind) in table {
            assert_eq!(FileKind::of(&file(name, text)), kind, "{name}");
        }
        let table = file("a.csv", "build,test,rate\n");
        assert_eq!(FileKind::of(&table), Some(FileKind::Csv));
        assert_eq!(FileKind::known(&table), None);
        for (kind, _) in FileKind::ALL {
            assert_eq!(FileKind::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn the_fuzzer_has_a_seed_of_each_kind() {
        let script = include_str!("../../../fuzz/run.sh");
        let seeds = script.split_once("\nkinds=(").and_then(|(_, rest)| rest.split_once(')'));
        let names = FileKind::ALL.map(|(_, name)| name);
        assert_eq!(seeds.map(|(seeds, _)| seeds), Some(names.join(" ").as_str()));
    }
}
