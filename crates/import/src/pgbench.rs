//! What pgbench prints at the end of a run.

use std::iter;

use model::{Nanos, Unit};

use crate::file::FileLine;
use crate::{File, ImportedStep, Options, Result, Rows, Scale, Stated};

#[derive(Default)]
struct PgbenchOutput<'a> {
    all: ScriptResult<'a>,
    scale: Option<Stated<Scale>>,
    clients: Option<u32>,
    seconds: u64,
    transactions: Option<u64>,
    /// Seconds until all clients were connected.
    connecting: f64,
    /// Up to PostgreSQL 13: the rate with the time of connecting.
    slower_tps: Option<f64>,
    /// Is the time in it in which each transaction connected?
    reconnects: bool,
    /// Was a rate asked for? Then latency counts from the time at which a transaction was due.
    is_throttled: bool,
    /// Of a run of several: what each did.
    scripts: Vec<ScriptResult<'a>>,
}

#[derive(Default)]
struct ScriptResult<'a> {
    name: Option<&'a str>,
    tps: Option<f64>,
    /// Microseconds.
    latency: Option<f64>,
    failed: Option<u64>,
}

/// The result of one run; the step is named after the script. The rate is that without the time in which
/// connections were made, where there is one. A run of several scripts has a row for all together and one for each.
pub(crate) fn rows(system: &str, file: &File, options: &Options) -> Rows {
    let mut found = PgbenchOutput::default();
    for line in file.lines() {
        found.read(line)?;
    }
    if found.all.tps.is_none() {
        let what = "no line `tps = …`: the run of pgbench failed, or this is something else";
        return Err(file.end().wrong(what));
    }
    let clients = options.clients_or(found.clients, file.end())?;
    let time = if found.is_throttled { "response" } else { "service" };
    let mut rows = Vec::new();
    for (place, script) in iter::once(&found.all).chain(&found.scripts).enumerate() {
        // A script without a rate did nothing, as one of weight zero.
        let Some(tps) = script.tps else { continue };
        let before = found.scripts[..place.saturating_sub(1)].iter();
        let name = script.name.unwrap_or("pgbench");
        let test = match before.filter(|other| other.name == script.name).count() {
            0 => name.to_owned(),
            same => format!("{name} #{}", same + 1),
        };
        let mut row = ImportedStep::new(file.end(), system, &test, clients);
        "transaction".clone_into(&mut row.subject.kind);
        row.scale.clone_from(&found.scale);
        row.window = Nanos::from_secs(found.seconds);
        if found.reconnects {
            let text = "pgbench -C: the rate includes the time each transaction took to connect";
            row.note("connections", text);
        }
        if let Some(words) = found.disagreement(clients).filter(|_| place == 0) {
            row.note("rate", words);
        }
        row.put("rate", Unit::OpsPerSecond, tps);
        row.put_some(&format!("{time}.transaction.mean"), Unit::Micros, script.latency);
        row.put_some("errors.transaction", Unit::Count, script.failed.map(|failed| failed as f64));
        rows.push(row);
    }
    Ok(rows)
}

impl<'a> PgbenchOutput<'a> {
    fn read(&mut self, line: FileLine<'a>) -> Result<()> {
        /// Longer windows than a year are nonsense.
        const LONGEST: u64 = 366 * 24 * 3600;
        let text = line.text.trim();
        let after = |name: &str| text.strip_prefix(name).map(str::trim);
        if let Some((_, script)) = after("SQL script ").and_then(|rest| rest.split_once(": ")) {
            let name = Some(name_of(script));
            self.scripts.push(ScriptResult { name, ..ScriptResult::default() });
        } else if let (Some(script), Some(of_script)) =
            (self.scripts.last_mut(), text.strip_prefix("- "))
        {
            match of_script.split_once(" transactions (") {
                Some((count, rest)) => script.read_count(line, count, rest)?,
                None => script.read(line, of_script)?,
            }
        } else if let Some(script) = after("transaction type:") {
            self.all.name = Some(name_of(script));
        } else if let Some(factor) = after("scaling factor:") {
            let factor = Scale::Factor(line.whole("scaling factor", factor)?);
            self.scale = Some(Stated::at(line, factor));
        } else if let Some(clients) = after("number of clients:") {
            self.clients = Some(line.count("clients", clients)?);
        } else if let Some(duration) = after("duration:") {
            self.seconds = line.whole("duration", duration.trim_end_matches(" s"))?.min(LONGEST);
        } else if let Some(count) = after("number of transactions actually processed:") {
            // With `-t` it is `4000/4000`.
            let count = count.split('/').next().unwrap_or_default();
            let count = line.whole("transactions actually processed", count)?;
            if count == 0 {
                return Err(line.wrong("no transaction was processed: nothing was measured"));
            }
            self.transactions = Some(count);
        } else if let Some(time) = after("initial connection time =") {
            let millis = time.trim_end_matches(" ms");
            self.connecting = line.number("initial connection time", millis)? / 1e3;
        } else if text.contains("the above results are incomplete") {
            return Err(
                line.wrong("pgbench says that a client of this run was aborted: run it again")
            );
        } else if text.starts_with("rate limit schedule lag:") {
            self.is_throttled = true;
        } else if let Some(tps) = after("tps =") {
            self.read_rate(line, tps)?;
        } else {
            self.all.read(line, text)?;
        }
        Ok(())
    }

    /// What contradicts the rate: the count and the time, or a latency that needs more clients. Such a file was put
    /// together or changed.
    fn disagreement(&self, clients: u32) -> Option<String> {
        /// How many seconds the time of the rate may differ from the duration, and which part of it.
        const APART: f64 = 1.0;
        const MOST: f64 = 0.1;
        /// The last transactions end after the duration: how much longer than the mean they may take.
        const LONG: f64 = 10.0;
        let tps = self.slower_tps.or(self.all.tps)?;
        let latency = self.all.latency.unwrap_or(0.0) / 1e6;
        if let Some(count) = self.transactions.filter(|_| self.seconds > 0) {
            let duration = self.seconds as f64;
            let allowed = APART + MOST * duration;
            let (shortest, longest) = (self.connecting + allowed, LONG * latency + allowed);
            let longer = count as f64 / tps.max(f64::MIN_POSITIVE) - duration;
            if longer < -shortest || longer > longest {
                let computed = count as f64 / duration;
                return Some(format!(
                    "the file says {tps} transactions per second, and {count} in {duration} s, which are {computed:.2}: no run of pgbench printed both"
                ));
            }
        }
        // A transaction that was due earlier than a client was free has its wait in its latency.
        let busy = tps * latency;
        let is_too_busy = !self.is_throttled && busy > f64::from(clients) * (1.0 + MOST);
        is_too_busy.then(|| {
            format!(
                "the file says {tps} transactions per second that take {} ms each, which need {busy:.0} clients, not {clients}: no run of pgbench printed both",
                latency * 1e3
            )
        })
    }

    /// `896.967014 (without initial connection time)`. Up to PostgreSQL 13 there are two lines; that with
    /// the time of connecting is passed over.
    fn read_rate(&mut self, line: FileLine<'_>, text: &str) -> Result<()> {
        let whole = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (rate, of_what) = whole.ok_or_else(|| {
            line.wrong("no `(…)` after the rate says what it is of: the file is truncated")
        })?;
        if of_what == "including connections establishing" {
            self.slower_tps = Some(line.number("tps", rate)?);
            return Ok(());
        }
        if self.all.tps.is_some() {
            return Err(line.wrong("a second result: give each run of pgbench a file of its own"));
        }
        self.all.tps = Some(line.number("tps", rate)?);
        self.reconnects = of_what == "including reconnection times";
        Ok(())
    }
}

impl ScriptResult<'_> {
    /// The line below the name of a script: `- 10937 transactions (50.1% of total, tps = 5529.199553)`.
    fn read_count(&mut self, line: FileLine<'_>, count: &str, rest: &str) -> Result<()> {
        let rate = rest.split_once("tps = ").and_then(|(_, rate)| rate.strip_suffix(')'));
        let rate =
            rate.ok_or_else(|| line.wrong("no `tps = …)` of this script: the file is truncated"))?;
        let tps = line.number("tps of a script", rate)?;
        let count = line.whole("transactions of a script", count)?;
        self.tps = (count > 0).then_some(tps);
        Ok(())
    }

    fn read(&mut self, line: FileLine<'_>, text: &str) -> Result<()> {
        if let Some(failed) = text.strip_prefix("number of failed transactions:") {
            // `12 (0.113%)`, without the share.
            let failed = failed.split_whitespace().next().unwrap_or_default();
            self.failed = Some(line.whole("failed transactions", failed)?);
        } else if let Some(latency) = text.strip_prefix("latency average") {
            // `= 1.5 ms`, or with a colon, as it was up to PostgreSQL 9.6.
            let value = latency.trim_start().trim_start_matches(['=', ':']);
            // `1.5 ms (including failures)`.
            let millis = value.split(" ms").next().unwrap_or(value);
            self.latency = Some(line.number("latency average", millis)? * 1e3);
        }
        Ok(())
    }
}

/// `tpcb-like` of `<builtin: TPC-B (sort of)>` and of what stood there up to PostgreSQL 9.5, `mine` of `dir/mine.sql`.
fn name_of(script: &str) -> &str {
    match script {
        "<builtin: TPC-B (sort of)>" | "TPC-B (sort of)" => "tpcb-like",
        "<builtin: simple update>" | "Update only pgbench_accounts" | "Simple update" => {
            "simple-update"
        }
        "<builtin: select only>" | "SELECT only" => "select-only",
        other => {
            let name = other.rsplit('/').next().unwrap_or(other);
            name.strip_suffix(".sql").unwrap_or(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn row(system: &str, file: &File) -> Result<ImportedStep> {
        let rows = rows(system, file, &Options::default())?;
        assert_eq!(rows.len(), 1);
        Ok(rows.into_iter().next().unwrap())
    }

    const NEW: &str = "pgbench (18.1)\ntransaction type: <builtin: select only>\nscaling factor: 10\n\
        number of clients: 8\nduration: 60 s\nnumber of transactions actually processed: 53818\n\
        number of failed transactions: 2 (0.200%)\nlatency average = 1.250 ms\n\
        initial connection time = 4.1 ms\ntps = 896.967014 (without initial connection time)\n";
    const OLD: &str = "transaction type: mine/a.sql\nnumber of clients: 1\n\
        latency average = 11.7 ms\ntps = 85.18 (including connections establishing)\n\
        tps = 85.29 (excluding connections establishing)\n";

    #[test]
    fn both_shapes_of_the_result_are_read() {
        let new = row("postgres-18.1", &file("a.txt", NEW)).unwrap();
        assert_eq!((new.test.as_str(), new.clients), ("select-only", 8));
        assert_eq!(new.value("rate"), Some(896.967_014));
        assert_eq!(new.value("service.transaction.mean"), Some(1250.0));
        assert_eq!(new.value("errors.transaction"), Some(2.0));
        let old = row("postgres-9.6", &file("b.txt", OLD)).unwrap();
        assert_eq!((old.test.as_str(), old.value("rate")), ("a", Some(85.29)));
    }

    #[test]
    fn the_scaling_factor_is_that_of_the_file() {
        let new = row("postgres-18.1", &file("a.txt", NEW)).unwrap();
        let scale = new.scale.map(|scale| (scale.value, scale.line));
        assert_eq!(scale, Some((Scale::Factor(10), 3)));
        let old = row("postgres-9.6", &file("b.txt", OLD)).unwrap();
        assert_eq!(old.scale, None);
    }

    #[test]
    fn transactions_that_connect_have_one_rate_and_a_remark() {
        let text = NEW
            .replace("initial connection time = 4.1", "average connection time = 0.9")
            .replace("without initial connection time", "including reconnection times");
        let connecting = row("postgres-18.1", &file("a.txt", &text)).unwrap();
        assert_eq!(connecting.value("rate"), Some(896.967_014));
        assert_eq!(connecting.notes.len(), 1);
        let new = row("postgres-18.1", &file("a.txt", NEW)).unwrap();
        assert!(new.notes.is_empty());
    }

    #[test]
    fn a_result_that_contradicts_itself_has_a_remark() {
        let throttled =
            NEW.replace("latency", "rate limit schedule lag: avg 5.0 (max 9.0) ms\nlatency");
        for (text, changes, told) in [
            (NEW, ["average = 1.250 ms", "average = 1.250 ms (including failures)"], ""),
            (NEW, ["896.967014", "0.000000"], "says 0 transactions per second, and 53818 in 60 s"),
            (NEW, ["896.967014", "9999.0"], "which are 896.97"),
            // It had 50 s, and says so.
            (NEW, ["time = 4.1 ms\ntps = 896.9", "time = 10000 ms\ntps = 1076.9"], ""),
            (NEW, ["= 1.250", "= 10.250"], "take 10.25 ms each, which need 9 clients, not 8"),
            (&throttled, ["= 1.250", "= 400"], ""),
            (OLD, ["= 11.7", "= 11.8"], ""),
        ] {
            let changed = text.replace(changes[0], changes[1]);
            assert_ne!(changed, text);
            let notes = row("pg", &file("a.txt", &changed)).unwrap().notes;
            let words = notes.first().map_or("", |note| &note.text);
            assert!(words.contains(told) && words.is_empty() == told.is_empty(), "{words}");
        }
    }

    #[test]
    fn latencies_of_a_throttled_run_count_from_the_time_that_was_due() {
        let text = NEW.replace(
            "latency average",
            "rate limit schedule lag: avg 0.5 (max 3.1) ms\nlatency average",
        );
        let throttled = row("postgres-18.1", &file("a.txt", &text)).unwrap();
        assert_eq!(throttled.value("response.transaction.mean"), Some(1250.0));
        assert_eq!(throttled.value("service.transaction.mean"), None);
    }

    #[test]
    fn scripts_have_one_name_in_all_versions() {
        for (old, new) in [
            ("TPC-B (sort of)", "<builtin: TPC-B (sort of)>"),
            ("SELECT only", "<builtin: select only>"),
        ] {
            assert_eq!(name_of(old), name_of(new));
        }
    }

    /// What stands before these words.
    fn cut(text: &str, at: &str) -> String {
        text.split_once(at).unwrap().0.to_owned()
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, line) in [
            ("pgbench (18.1)\nconnection failed\n".to_owned(), 2),
            (NEW.replace("896.967014", "many"), 10),
            (format!("{NEW}{NEW}"), 20),
            (NEW.replace("factor: 10", "factor: ten"), 3),
            // Cut: `tps = 89`, `tps = 896.967014 (without in`.
            (cut(NEW, "6.967"), 10),
            (cut(NEW, "itial connection time)"), 10),
            (cut(OLD, "establishing)"), 4),
            // Of both rates of old versions only the first.
            (cut(OLD, "tps = 85.29"), 4),
            (NEW.replace("processed: 53818", "processed: 0"), 6),
            (format!("Run was aborted; the above results are incomplete.\n{NEW}"), 1),
        ] {
            let error = row("p", &file("a.txt", &text)).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
    }

    /// Two builtin scripts, a file twice, and one of weight zero.
    const SCRIPTS: &str = "pgbench (15.18)\ntransaction type: multiple scripts\nscaling factor: 1\n\
        number of clients: 2\nduration: 2 s\nnumber of transactions actually processed: 21817\n\
        number of failed transactions: 0 (0.000%)\nlatency average = 0.181 ms\n\
        tps = 11029.582760 (without initial connection time)\nSQL script 1: <builtin: select only>\n\
         - weight: 3 (targets 50.0% of total)\n - 10937 transactions (50.1% of total, tps = 5529.199553)\n\
         - number of failed transactions: 4 (0.010%)\n - latency average = 0.109 ms\n - latency stddev = 0.527 ms\n\
        SQL script 2: d/a.sql\n - weight: 1 (targets 16.7% of total)\n\
         - 3621 transactions (16.6% of total, tps = 1830.596286)\n - latency average = 0.097 ms\n\
        SQL script 3: d/a.sql\n - weight: 1 (targets 16.7% of total)\n\
         - 3569 transactions (16.4% of total, tps = 1804.307690)\n - latency average = 0.087 ms\n\
        SQL script 4: none.sql\n - weight: 0 (targets 0.0% of total)\n - 0 transactions (0.0% of total, tps = 0.000000)\n\
         - number of failed transactions: 0 (NaN%)\n";

    #[test]
    fn each_of_several_scripts_is_a_step() {
        let all = rows("pg15", &file("a.txt", SCRIPTS), &Options::default()).unwrap();
        let shape: Vec<_> = all
            .iter()
            .map(|row| {
                let millis = row.value("service.transaction.mean").unwrap() / 1e3;
                (row.test.as_str(), row.clients, row.value("rate").unwrap(), millis)
            })
            .collect();
        let expected = [
            ("multiple scripts", 2, 11_029.582_760, 0.181),
            ("select-only", 2, 5_529.199_553, 0.109),
            ("a", 2, 1_830.596_286, 0.097),
            ("a #2", 2, 1_804.307_690, 0.087),
        ];
        assert_eq!(shape, expected);
        assert_eq!(all[1].value("errors.transaction"), Some(4.0));
        let throttled = SCRIPTS
            .replace("tps = 11029", "rate limit schedule lag: avg 0.9 (max 2) ms\ntps = 11029");
        let all = rows("pg15", &file("a.txt", &throttled), &Options::default()).unwrap();
        assert!(all.iter().all(|row| row.value("response.transaction.mean").is_some()));
        let cut = SCRIPTS.replace("tps = 5529.199553)", "tps = 55");
        let error = rows("pg15", &file("a.txt", &cut), &Options::default()).unwrap_err();
        assert_eq!(error.line, 12, "{error}");
    }
}
