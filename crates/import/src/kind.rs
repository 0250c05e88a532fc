//! What a file is.

use crate::{File, db_bench, hammerdb};

/// The files that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory of raw output: `sb.o.…`, `sb.vm.…`, `sb.io.…`, `sb.met.…`.
    SysbenchDirectory,
    /// What sysbench prints, on its own.
    Sysbench,
    /// `qps.abs`: queries per second, a column for each directory.
    QpsTable,
    /// `o.met`: cost per operation, a block for each test.
    MetTable,
    /// `o.sum…`: a line for each step of the Insert Benchmark.
    InsertLines,
    /// `mrg.…`: a line for each system, for one step or several.
    InsertTable,
    /// What pgbench prints.
    Pgbench,
    /// What `HammerDB` prints of timed runs.
    HammerDb,
    /// What the `db_bench` of RocksDB prints.
    DbBench,
    /// `report.tsv`: a line for each run of `db_bench`.
    DbBenchTable,
    /// One measurement a line, under a header.
    Csv,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::SysbenchDirectory,
        Self::Sysbench,
        Self::QpsTable,
        Self::MetTable,
        Self::InsertLines,
        Self::InsertTable,
        Self::Pgbench,
        Self::HammerDb,
        Self::DbBench,
        Self::DbBenchTable,
        Self::Csv,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SysbenchDirectory => "sysbench-dir",
            Self::Sysbench => "sysbench",
            Self::QpsTable => "qps",
            Self::MetTable => "met",
            Self::InsertLines => "insert-lines",
            Self::InsertTable => "insert-table",
            Self::Pgbench => "pgbench",
            Self::HammerDb => "hammerdb",
            Self::DbBench => "db-bench",
            Self::DbBenchTable => "db-bench-table",
            Self::Csv => "csv",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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
        let by_name = by_name.map(|(_, kind)| kind);
        by_name.or_else(|| by_text(file))
    }
}

/// Lines that are looked at to find out what a file is.
const LINES_LOOKED_AT: usize = 2_000;

fn by_text(file: &File) -> Option<Kind> {
    let first = file.lines().find(|line| !line.text.trim().is_empty())?.text;
    if first.starts_with("ips\tqps\t") {
        return Some(Kind::InsertTable);
    }
    if first.contains("system") && first.contains(',') && first.contains("metric") {
        return Some(Kind::Csv);
    }
    file.lines().take(LINES_LOOKED_AT).find_map(|line| {
        let text = line.text.trim();
        // What a run that failed printed has its first lines only.
        if text == "SQL statistics:" || is_greeting(text, "sysbench ") {
            Some(Kind::Sysbench)
        } else if text.starts_with("tps = ") || is_greeting(text, "pgbench (") {
            Some(Kind::Pgbench)
        } else if text.contains(hammerdb::RESULT) || is_greeting(text, "HammerDB CLI v") {
            Some(Kind::HammerDb)
        } else if db_bench::is_header(text) {
            Some(Kind::DbBenchTable)
        } else if db_bench::is_result(text) {
            Some(Kind::DbBench)
        } else if text == "--- absolute" {
            Some(Kind::MetTable)
        } else if text.starts_with("col-1 :") {
            Some(Kind::QpsTable)
        } else {
            None
        }
    })
}

/// Is it the line with which a program tells its version: `sysbench 1.0.20 (…)`, `pgbench (18.1)`?
fn is_greeting(text: &str, program: &str) -> bool {
    text.strip_prefix(program)
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    #[test]
    fn files_are_known_by_name_or_by_what_they_hold() {
        let table = [
            ("x/qps.abs.all.tsv", "", Some(Kind::QpsTable)),
            ("o.met.all", "", Some(Kind::MetTable)),
            ("o.sum.t.20m.pg131.cx5", "", Some(Kind::InsertLines)),
            ("mrg.l.i0", "", Some(Kind::InsertTable)),
            ("a.csv", "system,step,metric,value\n", Some(Kind::Csv)),
            ("a.txt", "x\n\nSQL statistics:\n", Some(Kind::Sysbench)),
            ("a.txt", "tps = 5 (x)", Some(Kind::Pgbench)),
            (
                "a.txt",
                "sysbench 1.0.20 (using x)\nFATAL: no",
                Some(Kind::Sysbench),
            ),
            ("a.txt", "pgbench (18.1)\nno", Some(Kind::Pgbench)),
            ("o.qps.abs", "", Some(Kind::QpsTable)),
            (
                "a.log",
                "x\nVuser 1:TEST RESULT : System achieved 9 NOPM from 20 MySQL TPM\n",
                Some(Kind::HammerDb),
            ),
            (
                "a.txt",
                "Keys: 16 bytes\nfillseq : 3.4 micros/op 289351 ops/sec; 32.0 MB/s\n",
                Some(Kind::DbBench),
            ),
            (
                "report.tsv",
                "ops_sec\tmb_sec\ttest\n",
                Some(Kind::DbBenchTable),
            ),
            ("a.csv", "System;Step\n", Some(Kind::Csv)),
            ("a.txt", "sysbench --threads=8 run", None),
            ("a.txt", "hello", None),
            ("a.txt", "", None),
        ];
        for (name, text, kind) in table {
            assert_eq!(Kind::of(&file(name, text)), kind, "{name}");
        }
        let table = file("a.csv", "build,test,rate\n");
        assert_eq!(Kind::of(&table), Some(Kind::Csv));
        assert_eq!(Kind::known(&table), None);
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
    }
}
