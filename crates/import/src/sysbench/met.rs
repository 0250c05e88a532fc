//! `sb.met`: what the original makes of vmstat, iostat and the rate of a test.

use crate::file::{FileLine, quote};
use crate::round::fixed;
use crate::{File, ImportError};

use super::iostat::Disk;
use super::vmstat::Cpu;

/// The numbers of a file `sb.met`, as they are printed there.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    pub disk: Disk,
    pub reads_per_op: f64,
    pub read_kb_per_op: f64,
    pub written_kb_per_op: f64,
    pub rate: String,
    pub cpu: Cpu,
    pub switches_per_op: f64,
    /// Per cent of the machine, per operation per second.
    pub cpu_per_op: f64,
}

const TITLE: &str = "iostat, vmstat normalized by operation rate";
const DISK: &str = "samp\tr/s\trMB/s\tw/s\twMB/s\tr/o\trKB/o\twKB/o\to/s";
const CPU: &str = "samp\tcs/s\tcpu/s\tcs/o\tcpu/o";

impl Met {
    /// Reads a file.
    ///
    /// # Errors
    /// When a header or a number is not there.
    pub fn parse(file: &File) -> Result<Self, ImportError> {
        let (at, disk) = below(file, DISK)?;
        let [samples, reads, read_mb, writes, written_mb, read_op, read_kb_op, written_kb_op, rate] =
            fields(at, disk)?;
        let number = |name: &str, text: &str| at.number(name, text);
        let disk = Disk {
            samples: at.whole("samp", samples)?,
            reads: number("r/s", reads)?,
            writes: number("w/s", writes)?,
            read_kb: number("rMB/s", read_mb)? * 1024.0,
            written_kb: number("wMB/s", written_mb)? * 1024.0,
        };
        number("o/s", rate)?;
        let (reads_per_op, read_kb_per_op) =
            (number("r/o", read_op)?, number("rKB/o", read_kb_op)?);
        let written_kb_per_op = number("wKB/o", written_kb_op)?;
        let (at, cpu) = below(file, CPU)?;
        let [samples, switches, percent, switches_op, cpu_op] = fields(at, cpu)?;
        Ok(Self {
            disk,
            reads_per_op,
            read_kb_per_op,
            written_kb_per_op,
            rate: rate.to_owned(),
            cpu: Cpu {
                samples: at.whole("samp", samples)?,
                switches: at.number("cs/s", switches)?,
                percent: at.number("cpu/s", percent)?,
            },
            switches_per_op: at.number("cs/o", switches_op)?,
            cpu_per_op: at.number("cpu/o", cpu_op)?,
        })
    }

    /// What the original computes for an operation rate, which is not zero.
    pub fn of(disk: Disk, cpu: Cpu, rate: &str, per_second: f64) -> Self {
        Self {
            reads_per_op: disk.reads / per_second,
            read_kb_per_op: disk.read_kb / per_second,
            written_kb_per_op: disk.written_kb / per_second,
            switches_per_op: cpu.switches / per_second,
            cpu_per_op: cpu.percent / per_second,
            disk,
            rate: rate.to_owned(),
            cpu,
        }
    }

    /// The file as the original writes it, to the last digit.
    pub fn print(&self) -> String {
        let (disk, cpu) = (&self.disk, &self.cpu);
        let first = [
            disk.samples.to_string(),
            fixed(disk.reads, 1),
            fixed(disk.read_kb / 1024.0, 1),
            fixed(disk.writes, 1),
            fixed(disk.written_kb / 1024.0, 1),
            fixed(self.reads_per_op, 3),
            fixed(self.read_kb_per_op, 3),
            fixed(self.written_kb_per_op, 3),
            self.rate.clone(),
        ];
        let second = [
            cpu.samples.to_string(),
            fixed(cpu.switches, 0),
            fixed(cpu.percent, 1),
            fixed(self.switches_per_op, 3),
            fixed(self.cpu_per_op, 6),
        ];
        let (first, second) = (first.join("\t"), second.join("\t"));
        format!("{TITLE}\n{DISK}\n{first}\n\n{CPU}\n{second}\n")
    }
}

fn below<'a>(file: &'a File, header: &str) -> Result<(FileLine<'a>, &'a str), ImportError> {
    let same = |line: &FileLine<'_>| line.text.split_whitespace().eq(header.split_whitespace());
    let mut lines = file.lines().skip_while(|line| !same(line));
    if lines.next().is_none() {
        let header = quote(header);
        return Err(file.end().wrong(format!("no line {header}: is this a file sb.met?")));
    }
    let values = lines.next().ok_or_else(|| file.end().wrong("no values below the last header"))?;
    Ok((values, values.text))
}

fn fields<'a, const N: usize>(
    at: FileLine<'_>,
    text: &'a str,
) -> Result<[&'a str; N], ImportError> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let found = fields.len();
    fields.try_into().map_err(|_| at.wrong(format!("{N} values belong here, not {found}")))
}
