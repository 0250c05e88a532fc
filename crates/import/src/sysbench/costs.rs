//! Cost per operation, from samples of vmstat and iostat or from what the original made of them.

use model::Unit;

use crate::file::FileLine;
use crate::{File, ImportError, ImportedStep, Mode, Options};

use super::iostat::{Disk, disk};
use super::met::Met;
use super::rate::Rate;
use super::vmstat::{Cpu, cpu};

/// Costs of one operation, in the unit of the rate.
pub(crate) struct Costs {
    switches: Option<f64>,
    /// Per cent of the machine, per operation per second.
    cpu: Option<f64>,
    reads: Option<f64>,
    /// Not in the original's files.
    writes: Option<f64>,
    read_kb: Option<f64>,
    written_kb: Option<f64>,
    /// Are they from the samples, without the original's rounding?
    from_samples: bool,
}

impl Costs {
    /// From vmstat and iostat where they are there, else from the original's file; `None` where
    /// nothing is.
    pub(crate) fn of(
        vm: Option<&File>,
        io: Option<&File>,
        met: Option<&Met>,
        rate: &Rate,
        options: &Options,
    ) -> Result<Option<Self>, ImportError> {
        let device = options.device.as_deref();
        let mode = options.mode;
        let vm_at = vm.or(io).map(File::end);
        let vm = vm.map(|file| cpu(file, mode)).transpose()?;
        let io = io.map(|file| disk(file, device, mode)).transpose()?;
        match (mode, vm, io, met) {
            (Mode::Compat, _, _, Some(met)) | (Mode::Exact, None, None, Some(met)) => {
                Ok(Some(Self::printed(met, rate)))
            }
            (Mode::Compat, Some(vm), Some(io), None) => {
                Self::as_the_original(io, vm, rate, vm_at).map(Some)
            }
            (_, None, None, None) => Ok(None),
            (_, vm, io, _) => Ok((rate.value > 0.0).then(|| Self::sampled(vm, io, rate.value))),
        }
    }

    /// What the original's file has. Its scan is in thousand rows per client, ours in rows.
    fn printed(met: &Met, rate: &Rate) -> Self {
        let printed: f64 = met.rate.parse().unwrap_or(0.0);
        let each = if rate.is_rows && rate.value > 0.0 { printed / rate.value } else { 1.0 };
        Self {
            switches: Some(met.switches_per_op * each),
            cpu: Some(met.cpu_per_op * each),
            reads: Some(met.reads_per_op * each),
            writes: None,
            read_kb: Some(met.read_kb_per_op * each),
            written_kb: Some(met.written_kb_per_op * each),
            from_samples: false,
        }
    }

    /// The original's file, made and read again: its digits.
    fn as_the_original(
        io: Disk,
        vm: Cpu,
        rate: &Rate,
        at: Option<FileLine<'_>>,
    ) -> Result<Self, ImportError> {
        let per_second: f64 = rate.printed.parse().unwrap_or(0.0);
        if let (Some(at), true) = (at, per_second <= 0.0) {
            return Err(at.wrong("nothing was done in a second: there is no cost per operation"));
        }
        let text = Met::of(io, vm, &rate.printed, per_second).print();
        let met = Met::parse(&File {
            origin: at.map_or_else(String::new, |at| at.origin.to_owned()),
            text,
        })?;
        Ok(Self::printed(&met, rate))
    }

    fn sampled(vm: Option<Cpu>, io: Option<Disk>, per_second: f64) -> Self {
        let per_op = |value: f64| value / per_second;
        Self {
            switches: vm.map(|vm| per_op(vm.switches)),
            cpu: vm.map(|vm| per_op(vm.percent)),
            reads: io.map(|io| per_op(io.reads)),
            writes: io.map(|io| per_op(io.writes)),
            read_kb: io.map(|io| per_op(io.read_kb)),
            written_kb: io.map(|io| per_op(io.written_kb)),
            from_samples: true,
        }
    }

    /// Adds them to a row; CPU in microseconds where the number of CPUs is known and the original's
    /// numbers are not asked for.
    pub(crate) fn put(&self, row: &mut ImportedStep, cpus: Option<u32>, mode: Mode) {
        match (mode, cpus) {
            (Mode::Exact, Some(cpus)) => {
                let micros = |percent: f64| percent_to_micros(percent, cpus);
                row.put_some("cpu/o", Unit::MicrosPerOp, self.cpu.map(micros));
            }
            (Mode::Exact, None) | (Mode::Compat, _) => {
                row.put_some("compat.cpu/o", Unit::Percent, self.cpu);
            }
        }
        row.put_some("cs/o", Unit::PerOp, self.switches);
        row.put_some("r/o", Unit::PerOp, self.reads);
        row.put_some("rKB/o", Unit::KbPerOp, self.read_kb);
        row.put_some("w/o", Unit::PerOp, self.writes);
        row.put_some("wKB/o", Unit::KbPerOp, self.written_kb);
        if !self.from_samples && mode == Mode::Exact {
            row.note(
                "costs",
                "Those of sb.met are rounded, and CPU and context switches a few per cent too low, because vmstat's repeated headers count as samples of zero",
            );
        }
    }
}

/// Per cent of a machine with so many CPUs, each second, in microseconds of CPU time.
pub(crate) fn percent_to_micros(percent: f64, cpus: u32) -> f64 {
    percent * f64::from(cpus) * 10_000.0
}
