//! What sysbench 1.0 and 1.1 print at the end of a run.

use std::collections::HashMap;

use crate::file::{FileLine, quote};
use crate::round::fixed;
use crate::{File, ImportError, Result, Scale, Stated};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    pub threads: Option<u32>,
    /// Was a rate asked for (`--rate`)? Then a latency counts from the time at which the event was queued.
    pub is_throttled: bool,
    /// CPUs of the host, where the harness wrote them down (`8 CPUs`).
    pub cpus: Option<Stated<u32>>,
    /// The script, without its directory and `.lua`, where the command line is there.
    pub script: Option<String>,
    /// Tables and their rows, where the command line is there.
    pub scale: Option<Stated<Scale>>,
    pub queries: u64,
    /// Statements per second as printed: `24515.07`.
    pub queries_per_second: String,
    pub transactions: u64,
    pub transactions_per_second: String,
    /// What sysbench prints once more; the same number as transactions.
    pub events: Option<u64>,
    /// Errors after which a transaction was done again.
    pub ignored_errors: u64,
    pub reconnects: u64,
    /// Seconds that were measured; never zero.
    pub elapsed: f64,
    /// Latency of transactions, where there is any.
    pub latency: Option<LatencyMillis>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyMillis {
    pub min: Option<f64>,
    pub mean: f64,
    pub max: f64,
    pub percentile: Option<(u32, f64)>,
    /// Of all transactions of all threads together.
    pub sum: f64,
}

const BEGINNING: &str = "SQL statistics:";

impl Output {
    /// Reads what sysbench printed, with whatever stands before it.
    pub fn parse(file: &File) -> Result<Self> {
        let fields = Fields::of(file)?;
        let (queries, queries_per_second) = fields.rate("queries")?;
        let (transactions, transactions_per_second) = fields.rate("transactions")?;
        let before = Self::before_result(file)?;
        let elapsed = fields.seconds("time elapsed").or_else(|| fields.seconds("total time"));
        let cut = || {
            fields.end.wrong(
                "no line `total time:`, in sysbench 1.1 `time elapsed:`: the file is truncated",
            )
        };
        Ok(Self {
            queries,
            queries_per_second,
            transactions,
            transactions_per_second,
            events: fields.events()?,
            elapsed: elapsed.unwrap_or_else(|| Err(cut()))?,
            ignored_errors: fields.count_if_any("ignored errors")?,
            reconnects: fields.count_if_any("reconnects")?,
            latency: fields.latency()?,
            ..before
        })
    }

    fn before_result(file: &File) -> Result<Self> {
        /// What tells the command line from what else is printed.
        const OF_COMMAND: [&str; 3] = [".lua", "--table-size=", "--table_size="];
        let mut before = Self::default();
        for line in file.lines().take_while(|line| line.text.trim() != BEGINNING) {
            let text = line.text.trim();
            let has_command = before.script.is_some() || before.scale.is_some();
            if let Some(threads) = text.strip_prefix("Number of threads:") {
                before.threads = Some(line.count("threads", threads)?);
            } else if text.starts_with("Target transaction rate:") {
                before.is_throttled = true;
            } else if let Some(cpus) = text.strip_suffix(" CPUs") {
                let cpus = cpus.parse::<u32>().ok().filter(|cpus| *cpus > 0);
                before.cpus = cpus.map(|cpus| Stated::at(line, cpus));
            } else if !has_command && OF_COMMAND.iter().any(|part| text.contains(part)) {
                before.read_command(line);
            }
        }
        Ok(before)
    }

    /// Where the command does not say how many tables there are, sysbench has one.
    fn read_command(&mut self, line: FileLine<'_>) {
        let (mut tables, mut rows) = (Some(1), None);
        for word in line.text.split_whitespace() {
            let option = word.replace('_', "-");
            if let Some(text) = option.strip_prefix("--table-size=") {
                rows = rows_of(text);
            } else if let Some(text) = option.strip_prefix("--tables=") {
                tables = text.parse::<u32>().ok().filter(|tables| *tables > 0);
            } else if let Some(script) = word.strip_suffix(".lua") {
                self.script = Some(script.rsplit('/').next().unwrap_or(script).to_owned());
            }
        }
        let scale = tables.zip(rows).map(|(tables, rows)| Scale::Tables { tables, rows });
        self.scale = scale.map(|scale| Stated::at(line, scale));
    }

    /// Is it a full scan, whose rate is in rows?
    pub(crate) fn is_scan(&self) -> bool {
        self.script.as_deref().is_some_and(|script| script.contains("scan"))
    }

    /// Where the rate that is printed is not the count divided by the time: what both are. Such a file was put together
    /// or changed.
    pub(crate) fn disagreement(&self) -> Option<String> {
        /// How much longer or shorter sysbench's own time for the rate is than the time that it prints: it reads the
        /// clock again. Measured are 1 to 4 ms.
        const CLOCKS_APART: f64 = 0.05;
        /// And the part of the time.
        const MOST: f64 = 0.01;
        /// Half of the last digit of the rate.
        const ROUNDED: f64 = 0.005;
        let (count, elapsed) = (self.queries, self.elapsed);
        let printed = self.queries_per_second.parse::<f64>().ok()?;
        let computed = count as f64 / elapsed;
        let seconds = |rate: f64| count as f64 / rate.max(f64::MIN_POSITIVE);
        let allowed = CLOCKS_APART + MOST * elapsed;
        let (shortest, longest) = (seconds(printed + ROUNDED), seconds(printed - ROUNDED));
        let agrees = elapsed >= shortest - allowed && elapsed <= longest + allowed;
        (!agrees).then(|| {
            format!(
                "the file says {printed} queries per second, and {count} in {elapsed} s, which are {computed:.2}: no run of sysbench printed both"
            )
        })
    }

    /// Latencies whose mean is not between the least and the greatest, or two numbers of transactions.
    pub(crate) fn impossible(&self) -> Option<String> {
        let transactions = self.transactions;
        if let Some(events) = self.events.filter(|events| *events != transactions) {
            return Some(format!(
                "the file says {transactions} transactions, and {events} events: no run of sysbench printed both"
            ));
        }
        let LatencyMillis { min, mean, max, .. } = self.latency?;
        let min = min.unwrap_or(0.0);
        (min > mean || mean > max).then(|| {
            format!(
                "the file says {min} ms minimum, {mean} ms average and {max} ms maximum latency: no run of sysbench printed these"
            )
        })
    }

    /// What the original takes for the rate of the test: statements per second; of a scan thousand rows
    /// per second and client, from the mean latency.
    pub(crate) fn printed_rate(&self, at: FileLine<'_>) -> Result<String> {
        if !self.is_scan() {
            return Ok(self.queries_per_second.clone());
        }
        let (rows, latency) = self.of_scan(at)?;
        Ok(fixed(rows as f64 / 1000.0 / (latency.mean / 1000.0), 0))
    }

    /// Rows per second of all clients of a scan, from the time that the clients were busy: the scan
    /// that was under way at the end counts whole, and so does its time.
    pub(crate) fn scanned_per_second(&self, clients: u32, at: FileLine<'_>) -> Result<f64> {
        let (rows, latency) = self.of_scan(at)?;
        let busy = latency.sum / 1000.0 / f64::from(clients);
        Ok(rows as f64 * self.transactions as f64 / busy)
    }

    fn of_scan(&self, at: FileLine<'_>) -> Result<(u64, LatencyMillis)> {
        let scale = self.scale.as_ref().ok_or_else(|| {
            at.wrong("a scan without --table-size on its command line has no rate")
        })?;
        let (_, rows) = scale.value.tables();
        let latency = self.latency.filter(|l| l.mean > 0.0 && l.sum > 0.0);
        let latency = latency.ok_or_else(|| at.wrong("a scan without a latency has no rate"))?;
        Ok((rows, latency))
    }
}

/// A number of rows as sysbench takes it: `50000000`, `50M`. What it does not take is absent, and missed
/// only where the rate depends on it.
fn rows_of(text: &str) -> Option<u64> {
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1_u64 << 40)];
    let sized = units.iter().find_map(|(unit, each)| Some((text.strip_suffix(*unit)?, *each)));
    let (number, each) = sized.unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(each)
}

/// The lines `name: value` of the result.
struct Fields<'a> {
    all: HashMap<&'a str, (FileLine<'a>, &'a str)>,
    end: FileLine<'a>,
}

impl<'a> Fields<'a> {
    fn of(file: &'a File) -> Result<Self> {
        let mut begun = false;
        let mut all = HashMap::new();
        for line in file.lines() {
            let text = line.text.trim();
            if text == BEGINNING {
                if begun {
                    let what = "a second result: give each run of sysbench a file of its own";
                    return Err(line.wrong(what));
                }
                begun = true;
            } else if let (true, Some((name, value))) = (begun, text.split_once(':')) {
                all.entry(name.trim()).or_insert((line, value.trim()));
            }
        }
        let end = file.end();
        if begun {
            Ok(Self { all, end })
        } else if let Some(line) = file.lines().find(|line| line.text.starts_with("sysbench 0.")) {
            Err(line.wrong(
                "only what sysbench 1.0 and later print is read: bring the numbers of older ones as CSV (docs/import.md)",
            ))
        } else {
            Err(end.wrong(format!(
                "no line {}: the run of sysbench failed, or this is something else",
                quote(BEGINNING)
            )))
        }
    }

    fn get(&self, name: &str) -> Option<(FileLine<'a>, &'a str)> {
        self.all.get(name).copied()
    }

    fn missing(&self, name: &str) -> ImportError {
        self.end.wrong(format!("no line {}", quote(&format!("{name}:"))))
    }

    /// `14709046 (24515.07 per sec.)`: the count, and the rate as it is printed.
    fn rate(&self, name: &str) -> Result<(u64, String)> {
        let (line, text) = self.get(name).ok_or_else(|| self.missing(name))?;
        let (count, rest) = text.split_once('(').unwrap_or((text, ""));
        let rate = rest.split_whitespace().next().unwrap_or_default();
        line.number(&format!("{name} per second"), rate)?;
        Ok((line.whole(name, count)?, rate.to_owned()))
    }

    /// The count of a line that old versions do not print; zero where it is not there.
    fn count_if_any(&self, name: &str) -> Result<u64> {
        if self.get(name).is_some() { Ok(self.rate(name)?.0) } else { Ok(0) }
    }

    fn events(&self) -> Result<Option<u64>> {
        let name = "total number of events";
        self.get(name).map(|(line, text)| line.whole(name, text)).transpose()
    }

    /// A time that is not zero: `605.3845s`.
    fn seconds(&self, name: &str) -> Option<Result<f64>> {
        self.get(name).map(|(line, text)| {
            let text = text.strip_suffix('s').ok_or_else(|| {
                line.wrong(format!("{name} has no `s` at its end: the file is truncated"))
            })?;
            let value = line.number(name, text)?;
            let is_zero = || line.wrong(format!("{name} is zero: nothing was measured"));
            (value > 0.0).then_some(value).ok_or_else(is_zero)
        })
    }

    fn latency(&self) -> Result<Option<LatencyMillis>> {
        let number = |name: &str| -> Result<Option<f64>> {
            self.get(name).map(|(line, text)| line.number(name, text)).transpose()
        };
        let (mean, max, sum) = (number("avg")?, number("max")?, number("sum")?);
        let (Some(mean), Some(max), Some(sum)) = (mean, max, sum) else {
            if self.get("Latency (ms)").is_some() {
                let what = "mean, maximum and sum of the latencies are not all there: the file is truncated";
                return Err(self.end.wrong(what));
            }
            return Ok(None);
        };
        let mut percentile = None;
        for (name, (line, text)) in &self.all {
            if let Some(percent) = percent_of(name) {
                percentile = Some((percent, line.number(name, text)?));
            }
        }
        Ok(Some(LatencyMillis { min: number("min")?, mean, max, percentile, sum }))
    }
}

/// 95 of `95th percentile`.
fn percent_of(name: &str) -> Option<u32> {
    let number = name.strip_suffix(" percentile")?;
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok().filter(|p| (1..=100).contains(p))
}
