//! The throughput of a test, and its cost per operation: from samples of vmstat and iostat, or from what the original
//! made of them.

use model::{Counts, Unit};

use super::met::Met;
use super::output::Output;
use super::samples::{Cpu, Disk};
use crate::file::FileLine;
use crate::round::fixed;
use crate::{File, ImportedStep, Mode, Options, Result};

/// The throughput of a test: the number, and what the original hands on to its other scripts.
pub(super) struct Rate {
    /// Per second, in the mode that was asked for.
    pub(super) value: f64,
    is_rows: bool,
    /// As the original has it: `24515.07`; of a scan thousand rows per second and client, `6553`.
    pub(super) printed: String,
}

impl Rate {
    pub(super) fn of(output: &Output, clients: u32, at: FileLine<'_>, mode: Mode) -> Result<Self> {
        let printed = output.printed_rate(at)?;
        let value = match (mode, output.is_scan()) {
            (Mode::Compat, _) => whole_rate(&printed, at)?,
            (Mode::Exact, true) => output.scanned_per_second(clients, at)?,
            (Mode::Exact, false) => output.queries as f64 / output.elapsed,
        };
        Ok(Self { value, is_rows: output.is_scan() && mode == Mode::Exact, printed })
    }

    /// Without output of sysbench: the original's rate is all that is known. Of a scan its unit is a thousand rows, for
    /// each client.
    pub(super) fn of_met(
        met: &Met,
        is_scan: bool,
        clients: u32,
        at: FileLine<'_>,
        mode: Mode,
    ) -> Result<Self> {
        let is_rows = mode == Mode::Exact && is_scan;
        let value = match mode {
            Mode::Compat => whole_rate(&met.rate, at)?,
            Mode::Exact if is_scan => at.number("o/s", &met.rate)? * 1000.0 * f64::from(clients),
            Mode::Exact => at.number("o/s", &met.rate)?,
        };
        Ok(Self { value, is_rows, printed: met.rate.clone() })
    }

    pub(super) fn put(&self, row: &mut ImportedStep) {
        if self.is_rows {
            row.subject.counts = Counts::Rows;
        }
        let unit = if self.is_rows { Unit::RowsPerSecond } else { Unit::OpsPerSecond };
        row.put("rate", unit, self.value);
    }
}

/// The original's tables have whole numbers.
fn whole_rate(printed: &str, at: FileLine<'_>) -> Result<f64> {
    at.number("queries per second", &fixed(at.number("queries per second", printed)?, 0))
}

/// Costs of one operation, in the unit of the rate.
#[derive(Default)]
pub(crate) struct Costs {
    /// Per cent of the machine, per operation per second.
    pub(crate) cpu: Option<f64>,
    pub(crate) switches: Option<f64>,
    pub(crate) reads: Option<f64>,
    pub(crate) read_kb: Option<f64>,
    /// Not in the original's files.
    pub(crate) writes: Option<f64>,
    pub(crate) written_kb: Option<f64>,
}

impl Costs {
    pub(super) fn sampled(vm: Option<Cpu>, io: Option<Disk>, per_second: f64) -> Self {
        Self {
            cpu: vm.map(|vm| vm.percent / per_second),
            switches: vm.map(|vm| vm.switches / per_second),
            reads: io.map(|io| io.reads / per_second),
            read_kb: io.map(|io| io.read_kb / per_second),
            writes: io.map(|io| io.writes / per_second),
            written_kb: io.map(|io| io.written_kb / per_second),
        }
    }

    /// What the original's file has. Its scan is in thousand rows per client, ours in rows.
    pub(super) fn printed(met: &Met, rate: &Rate) -> Self {
        let printed: f64 = met.rate.parse().unwrap_or(0.0);
        let each = if rate.is_rows && rate.value > 0.0 { printed / rate.value } else { 1.0 };
        Self {
            cpu: Some(met.cpu_per_op * each),
            switches: Some(met.switches_per_op * each),
            reads: Some(met.reads_per_op * each),
            read_kb: Some(met.read_kb_per_op * each),
            writes: None,
            written_kb: Some(met.written_kb_per_op * each),
        }
    }

    /// Adds them to a row; CPU in microseconds where the number of CPUs is known and the original's
    /// numbers are not asked for.
    pub(crate) fn put(&self, row: &mut ImportedStep, options: &Options) {
        let stated = row.cpus.as_ref().map(|cpus| cpus.value);
        match stated.or(options.cpus).filter(|_| options.mode == Mode::Exact) {
            Some(cpus) => {
                let micros = self.cpu.map(|percent| percent_to_micros(percent, cpus));
                row.put_some("cpu/o", Unit::MicrosPerOp, micros);
            }
            None => row.put_some("compat.cpu/o", Unit::Percent, self.cpu),
        }
        row.put_some("cs/o", Unit::PerOp, self.switches);
        row.put_some("r/o", Unit::PerOp, self.reads);
        row.put_some("rKB/o", Unit::KbPerOp, self.read_kb);
        row.put_some("w/o", Unit::PerOp, self.writes);
        row.put_some("wKB/o", Unit::KbPerOp, self.written_kb);
    }
}

/// The original's file, made and read again: its digits.
pub(super) fn as_the_original(io: Disk, vm: Cpu, rate: &Rate, at: FileLine<'_>) -> Result<Met> {
    let per_second: f64 = rate.printed.parse().unwrap_or(0.0);
    if per_second <= 0.0 {
        return Err(at.wrong("zero operations per second: the cost per operation is undefined"));
    }
    let text = Met::of(io, vm, &rate.printed, per_second).print();
    Met::parse(&File { origin: at.origin.to_owned(), text })
}

/// Per cent of a machine with so many CPUs, each second, in microseconds of CPU time.
pub(crate) fn percent_to_micros(percent: f64, cpus: u32) -> f64 {
    percent * f64::from(cpus) * 10_000.0
}
