//! What the `db_bench` of RocksDB prints, and the table `report.tsv` that its `benchmark.sh` makes of several runs.

use model::Unit;

use crate::file::{FileLine, labelled};
use crate::{File, ImportedStep, Options, Result, Rows};

/// The labels below `Microseconds per read:`, which `--histogram` prints, and their metrics.
const LABELS: [(&str, &str); 4] =
    [("Max:", "max"), ("P50:", "p50"), ("P99:", "p99"), ("P99.9:", "p999")];
/// Between the name of a benchmark and its result.
const RESULT: &str = " micros/op ";
/// What the version in the greeting or in the table becomes the name of a system with.
const PRODUCT: &str = "rocksdb";

pub(crate) fn is_result(text: &str) -> bool {
    text.contains(RESULT) && text.contains(" ops/sec") && text.contains(" : ")
}

/// The results of a run, one for each benchmark: `fillseq : 3.456 micros/op 289351 ops/sec 3.456 seconds 1000000
/// operations; 32.0 MB/s`. The same benchmark again is the next round.
pub(crate) fn rows(system: &str, file: &File, options: &Options) -> Rows {
    let mut rows: Vec<ImportedStep> = Vec::new();
    let mut threads = None;
    let mut operation: Option<&str> = None;
    for line in file.lines() {
        let text = line.text.trim();
        let mut words = text.split_whitespace();
        if let Some(count) = words.find_map(|word| word.strip_prefix("--threads=")) {
            threads = Some(line.count("threads", count)?);
        }
        if is_result(text) && !text.contains('[') {
            let clients = options.clients_or(threads, line)?;
            rows.push(result(line, system, clients)?);
            operation = None;
        } else if let Some(name) = text.strip_prefix("Microseconds per ") {
            operation = Some(name.trim_end_matches(':'));
        } else if let (Some(operation), Some(row)) = (operation, rows.last_mut()) {
            for (name, what, value) in labelled(text, &LABELS) {
                let id = format!("service.{operation}.{what}");
                if row.value(&id).is_none() {
                    row.put_at(line.number, &id, Unit::Micros, line.number(name, value)?);
                }
            }
        }
    }
    if rows.is_empty() {
        let what = "no line `NAME : … micros/op … ops/sec`: the run of db_bench failed, or this is something else";
        return Err(file.end().wrong(what));
    }
    Ok(rows)
}

/// The system, as the greeting names it: `rocksdb-8.0.0` of `RocksDB:    version 8.0.0`.
pub(crate) fn system(file: &File) -> Option<String> {
    let version = file.lines().find_map(|line| {
        line.text.trim().strip_prefix("RocksDB:")?.trim().strip_prefix("version ")
    });
    version.map(|version| format!("{PRODUCT}-{}", version.trim()))
}

fn result(line: FileLine<'_>, system: &str, clients: u32) -> Result<ImportedStep> {
    let (name, rest) = line.text.split_once(" : ").unwrap_or_default();
    let (micros, rest) = rest.split_once(RESULT).unwrap_or_default();
    let (rate, rest) = rest.split_once(" ops/sec").unwrap_or_default();
    let mut row = row(line, system, name.trim(), clients);
    row.put("rate", Unit::OpsPerSecond, line.number("ops/sec", rate)?);
    row.put("service.operation.mean", Unit::Micros, line.number("micros/op", micros)?);
    let bytes = rest.split_once(" MB/s").map(|(before, _)| before);
    if let Some(megabytes) = bytes.and_then(|before| before.rsplit(';').next()) {
        row.put("compat.mb_sec", Unit::MbPerSecond, line.number("MB/s", megabytes)?);
    }
    Ok(row)
}

fn row(line: FileLine<'_>, system: &str, test: &str, clients: u32) -> ImportedStep {
    let mut row = ImportedStep::new(line, system, test, clients);
    "operation".clone_into(&mut row.subject.kind);
    row
}

/// What becomes of the columns of `report.tsv`; the rest says how the LSM tree did, or repeats these.
const COLUMNS: [(&str, &str, Unit); 8] = [
    ("ops_sec", "rate", Unit::OpsPerSecond),
    ("mb_sec", "compat.mb_sec", Unit::MbPerSecond),
    ("usec_op", "service.operation.mean", Unit::Micros),
    ("p50", "service.operation.p50", Unit::Micros),
    ("p99", "service.operation.p99", Unit::Micros),
    ("p99.9", "service.operation.p999", Unit::Micros),
    ("pmax", "service.operation.max", Unit::Micros),
    ("w_amp", "compat.w_amp", Unit::Count),
];

/// Is it the line that names the columns? In copies a `#` stands before each line.
pub(crate) fn is_header(text: &str) -> bool {
    let text = text.trim_start_matches('#');
    text.starts_with("ops_sec\t") && text.split('\t').any(|column| column == "test")
}

/// The rows of a table. The system is named after the version that ran, where `system` names none; the clients of a test
/// stand in its name, `readrandom.t32`.
pub(crate) fn rows_of_table(system: Option<&str>, file: &File, options: &Options) -> Rows {
    let mut header: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for line in file.lines() {
        let text = line.text.trim_start_matches('#');
        if is_header(text) {
            header = text.split('\t').map(str::trim).collect();
        } else if line.text.contains('\t') {
            if header.is_empty() {
                return Err(
                    line.wrong("no line with the names of the columns (ops_sec … test) above it")
                );
            }
            rows.push(row_of_table(line, text, &header, system, options)?);
        }
    }
    Ok(rows)
}

fn row_of_table(
    line: FileLine<'_>,
    text: &str,
    header: &[&str],
    system: Option<&str>,
    options: &Options,
) -> Result<ImportedStep> {
    let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
    let field = |name: &str| {
        let place = header.iter().position(|column| *column == name)?;
        fields.get(place).copied().filter(|text| !text.is_empty())
    };
    let needed = |name: &str| field(name).ok_or_else(|| line.empty(name));
    let (name, threads) = threads_of(needed("test")?);
    let clients = options.clients_or(threads, line)?;
    let named = match system {
        Some(system) => system.to_owned(),
        None => format!("{PRODUCT}-{}", needed("version")?),
    };
    let mut row = row(line, &named, &name, clients);
    needed("ops_sec")?;
    for (column, metric, unit) in COLUMNS {
        if let Some(text) = field(column).filter(|text| *text != "NA") {
            row.put(metric, unit, line.number(column, text)?);
        }
    }
    Ok(row)
}

/// `readrandom` and 32 of `readrandom.t32`, `overwrite.s0` and 1 of `overwrite.t1.s0`.
fn threads_of(test: &str) -> (String, Option<u32>) {
    let threads = |part: &str| part.strip_prefix('t')?.parse::<u32>().ok().filter(|n| *n > 0);
    let found = test.split('.').find_map(threads);
    let rest: Vec<&str> = test.split('.').filter(|part| threads(part).is_none()).collect();
    (rest.join("."), found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    const PRINTED: &str = "db_bench --benchmarks=fillseq,readrandom --threads=4 --histogram\nRocksDB:    version 8.0.0\n\
        fillseq      :       3.456 micros/op 289351 ops/sec 3.456 seconds 1000000 operations;   32.0 MB/s\n\
        Microseconds per write:\nCount: 1000000 Average: 3.4560  StdDev: 9.02\nMin: 1  Median: 2.9  Max: 4410\n\
        Percentiles: P50: 2.90 P75: 3.71 P99: 8.90 P99.9: 21.00 P99.99: 90.10\n\
        readrandom   :       4.100 micros/op 975609 ops/sec 60.001 seconds 58537000 operations;  107.9 MB/s (58537 of 58537 found)\n\
        readrandom [AVG    2 runs] : 975600 (\u{b1} 900) ops/sec;  107.9 (\u{b1} 0.1) MB/sec\n";

    #[test]
    fn each_benchmark_is_a_step() {
        let rows = rows("rocksdb-8.0.0", &file("a.txt", PRINTED), &Options::default()).unwrap();
        let shape: Vec<_> =
            rows.iter().map(|row| (row.test.as_str(), row.clients, row.value("rate"))).collect();
        let expected = [("fillseq", 4, Some(289_351.0)), ("readrandom", 4, Some(975_609.0))];
        assert_eq!(shape, expected);
        let first = &rows[0];
        for (metric, value) in [
            ("service.operation.mean", 3.456),
            ("service.write.p999", 21.0),
            ("service.write.max", 4410.0),
            ("compat.mb_sec", 32.0),
        ] {
            assert_eq!(first.value(metric), Some(value), "{metric}");
        }
        assert_eq!(rows[1].value("compat.mb_sec"), Some(107.9));
        let ran = system(&file("a.txt", PRINTED));
        assert_eq!(ran.as_deref(), Some("rocksdb-8.0.0"));
    }

    #[test]
    fn threads_are_those_of_the_command_or_given() {
        let bare = PRINTED.split_once('\n').unwrap().1;
        let error = rows("a", &file("a.txt", bare), &Options::default()).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
        assert!(error.what.contains("--clients N"), "{error}");
        let broken = PRINTED.replace("289351", "many");
        let error = rows("a", &file("a.txt", &broken), &Options::default()).unwrap_err();
        assert_eq!(error.line, 3, "{error}");
        assert!(rows("a", &file("a.txt", "hello"), &Options::default()).is_err());
    }

    const TABLE: &str = "# a comment\nops_sec\tmb_sec\tlsm_sz\tw_amp\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\ttest\tdate\tversion\tjob_id\n\
        1536598\t615.5\t18GB\t0.9\t0.7\t0.5\t1\t1\t1139\t41244\tbulkload\t2023-02-11T21:58:57\t8.0.0\t\n\
        1480156\t374.8\t11GB\tNA\t21.6\t2.6\t327\t696\t1563\t414661\treadrandom.t32\t2023-02-11T22:02:17\t8.0.0\t\n";

    #[test]
    fn a_table_names_version_test_and_threads() {
        let of = |clients: &[u32], system| {
            let options = Options { clients: clients.to_vec(), ..Options::default() };
            rows_of_table(system, &file("report.tsv", TABLE), &options)
        };
        let error = of(&[], None).unwrap_err();
        assert_eq!(error.line, 3, "bulkload does not say its threads: {error}");
        let rows = of(&[1], None).unwrap();
        let shape: Vec<_> =
            rows.iter().map(|row| (row.system.as_str(), row.test.as_str(), row.clients)).collect();
        let expected = [("rocksdb-8.0.0", "bulkload", 1), ("rocksdb-8.0.0", "readrandom", 32)];
        assert_eq!(shape, expected);
        assert_eq!(rows[1].value("service.operation.p99"), Some(327.0));
        assert_eq!(rows[1].value("compat.w_amp"), None);
        assert_eq!(of(&[1], Some("mine")).unwrap()[0].system, "mine");
        let headless = file("report.tsv", "1\t2\t3\n");
        assert!(rows_of_table(None, &headless, &Options::default()).is_err());
        assert_eq!(threads_of("overwrite.t1.s0"), ("overwrite.s0".to_owned(), Some(1)));
    }
}
