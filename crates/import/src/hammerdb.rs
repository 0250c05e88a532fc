//! What `HammerDB` prints at the end of a timed TPROC-C run, with the times of its transactions where they were profiled.

use model::{Dbms, Unit};

use crate::file::{FileLine, labelled, quote};
use crate::{File, ImportedStep, Options, Result, Rows};

pub(crate) const RESULT: &str = "TEST RESULT : System achieved ";

/// The rows of a log: one for each result, so that a log of several runs has several rounds or numbers of clients. The
/// times are those over all virtual users; a summary that stands before the first result belongs to it.
pub(crate) fn rows(system: &str, file: &File, options: &Options) -> Rows {
    let mut log = Log::default();
    let mut rows: Vec<ImportedStep> = Vec::new();
    for line in file.lines() {
        let text = message(line.text);
        if let Some(count) = text.strip_suffix(" Active Virtual Users configured") {
            log.users = Some(line.count("virtual users", count)?);
        } else if text == "FINISHED FAILED" {
            return Err(line.wrong(
                "a virtual user failed, so that fewer than were configured did the work: run it again",
            ));
        } else if let Some(result) = text.strip_prefix(RESULT) {
            let clients = log.users.take();
            rows.push(row(line, system, options.clients_or(clients, line)?, result)?);
            log.procedure = None;
        } else {
            log.read(line, text)?;
        }
        if let Some(row) = rows.last_mut() {
            for (at, id, micros) in log.times.drain(..) {
                row.put_at(at, &id, Unit::Micros, micros);
            }
        }
    }
    if rows.is_empty() {
        let what = format!(
            "no line {}: the run failed or was not timed, or this is something else",
            quote(RESULT.trim())
        );
        return Err(file.end().wrong(what));
    }
    Ok(rows)
}

/// A result: `12345 NOPM from 67890 MySQL TPM`.
fn row(line: FileLine<'_>, system: &str, clients: u32, result: &str) -> Result<ImportedStep> {
    let words: Vec<&str> = result.split_whitespace().collect();
    let [nopm, "NOPM", "from", tpm, product @ .., "TPM"] = words.as_slice() else {
        return Err(line.wrong(
            "expected `N NOPM from N PRODUCT TPM`: the file is truncated, or from HammerDB before 3.3",
        ));
    };
    let mut row = ImportedStep::new(line, system, "tproc-c", clients);
    "new-order".clone_into(&mut row.subject.kind);
    row.dbms = Dbms::from_alias(&product.join(" ").to_lowercase());
    row.put("rate", Unit::PerMinute, line.number("NOPM", nopm)?);
    row.put("compat.tpm", Unit::PerMinute, line.number("TPM", tpm)?);
    Ok(row)
}

#[derive(Default)]
struct Log {
    users: Option<u32>,
    /// Are the times below those over all virtual users?
    is_summary: bool,
    procedure: Option<&'static str>,
    /// Line, metric and microseconds.
    times: Vec<(usize, String, f64)>,
}

/// How the lines of a procedure's times begin, and the metric of each.
const LABELS: [(&str, &str); 5] =
    [("AVG:", "mean"), ("MAX:", "max"), ("P99:", "p99"), ("P95:", "p95"), ("P50:", "p50")];

/// The names of the procedures, and of the transactions that they are.
const PROCEDURES: [(&str, &str); 5] = [
    ("NEWORD", "new-order"),
    ("PAYMENT", "payment"),
    ("OSTAT", "order-status"),
    ("DELIVERY", "delivery"),
    ("SLEV", "stock-level"),
];

impl Log {
    /// A line of the times: a heading, or `CALLS: 46285 MIN: 0.5ms AVG: 1.9ms MAX: 90ms TOTAL: 88000ms`, and below it
    /// `P99: 4.1ms P95: 2.9ms P50: 1.8ms`.
    fn read(&mut self, line: FileLine<'_>, text: &str) -> Result<()> {
        if let Some(heading) = text.strip_prefix(">>>>> ") {
            let name = heading.strip_prefix("PROC: ").map(str::trim);
            let known = |(procedure, _): &&(&str, &str)| name == Some(*procedure);
            self.procedure = PROCEDURES.iter().find(known).map(|(_, kind)| *kind);
            if name.is_none() {
                let of_all = ["SUMMARY OF ", "COMBINED METRICS"];
                self.is_summary = of_all.iter().any(|start| heading.starts_with(start));
            }
            return Ok(());
        }
        let Some(kind) = self.procedure.filter(|_| self.is_summary) else { return Ok(()) };
        for (name, what, value) in labelled(text, &LABELS) {
            let millis = value
                .strip_suffix("ms")
                .ok_or_else(|| line.wrong(format!("{name} is not in ms: the file is truncated")))?;
            let micros = line.number(name, millis)? * 1e3;
            self.times.push((line.number, format!("service.{kind}.{what}"), micros));
        }
        Ok(())
    }
}

/// What a virtual user says: `RUNNING` of `Vuser 1:RUNNING`. In the JSON of a job it stands in quotes.
fn message(text: &str) -> &str {
    let text = text.trim().trim_matches([',', '"']);
    let after = text.strip_prefix("Vuser ").and_then(|text| text.split_once(':'));
    after.map_or(text, |(_, said)| said.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    /// Two runs of one log, and the times of the second.
    const LOG: &str = "HammerDB CLI v4.7\nVuser 1:Beginning rampup time of 2 minutes\n\
        Vuser 1:1 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 35576 NOPM from 81705 MySQL TPM\n\
        Vuser 1:FINISHED SUCCESS\nVuser 1:4 Active Virtual Users configured\n\
        Vuser 1:TEST RESULT : System achieved 101005 NOPM from 232149 MySQL TPM\nALL VIRTUAL USERS COMPLETE\n\
        >>>>> VIRTUAL USER 2 : ELAPSED TIME : 120522ms\n>>>>> PROC: NEWORD\nCALLS: 9\tMIN: 1.0ms\tAVG: 7.0ms\tMAX: 9.0ms\n\
        >>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 127146ms\n>>>>> PROC: NEWORD\n\
        CALLS: 3427\tMIN: 1.730ms\tAVG: 36.332ms\tMAX: 1220.165ms\tTOTAL: 124508.229ms\n\
        P99: 210.118ms\tP95: 104.921ms\tP75: 50.942ms\tP50: 19.126ms\tSD: 49.663ms\tRATIO: 48.963%\n\
        >>>>> PROC: OSTAT\nCALLS: 332\tMIN: 0.485ms\tAVG: 15.077ms\tMAX: 225.815ms\tTOTAL: 5005.542ms\n";

    fn of(text: &str) -> Rows {
        rows("mine", &file("hammerdb.log", text), &Options::default())
    }

    #[test]
    fn each_result_of_a_log_has_its_virtual_users() {
        let rows = of(LOG).unwrap();
        let shape: Vec<_> = rows
            .iter()
            .map(|row| (row.clients, row.value("rate"), row.value("compat.tpm")))
            .collect();
        let expected = [(1, Some(35_576.0), Some(81_705.0)), (4, Some(101_005.0), Some(232_149.0))];
        assert_eq!(shape, expected);
        assert!(rows.iter().all(|row| row.dbms == Some(Dbms::Mysql)));
        assert!(rows.iter().all(|row| row.measurements[0].unit == Unit::PerMinute));
    }

    #[test]
    fn times_are_those_over_all_virtual_users() {
        let rows = of(LOG).unwrap();
        let last = rows.last().unwrap();
        let near = |metric: &str, micros: f64| {
            let seen = last.value(metric).unwrap();
            assert!((seen - micros).abs() < 1e-6, "{metric} {seen}");
        };
        near("service.new-order.mean", 36_332.0);
        near("service.new-order.p95", 104_921.0);
        near("service.order-status.max", 225_815.0);
        assert_eq!(rows[0].value("service.new-order.mean"), None);
    }

    #[test]
    fn a_job_names_a_product_that_is_none_of_ours() {
        let job = "[\n  \"6A7E2CDBC7F603E293439383\",\n  \"2026-08-13 20:45:15\",\n  \
            \"1 Active Virtual Users configured\",\n  \
            \"TEST RESULT : System achieved 26018 NOPM from 60408 SQL Server TPM\"\n]\n";
        let rows = of(job).unwrap();
        assert_eq!((rows[0].clients, rows[0].dbms), (1, None));
        assert_eq!(rows[0].value("rate"), Some(26_018.0));
        let of_postgres = of(&job.replace("SQL Server", "PostgreSQL")).unwrap();
        assert_eq!(of_postgres[0].dbms, Some(Dbms::Postgres));
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, line) in [
            (LOG.replace("35576", "many"), 4),
            (LOG.replace(" TPM\nALL", "\nALL"), 7),
            (LOG.replace("FINISHED SUCCESS", "FINISHED FAILED"), 5),
            (LOG.replace("Vuser 1:1 Active", "Vuser 1:x"), 4),
            (LOG.replace("AVG: 36.332ms", "AVG: 36.3"), 14),
            ("Vuser 1:RUNNING\n".to_owned(), 1),
        ] {
            let error = of(&text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
    }
}
