//! `sb.met`: what the original makes of vmstat, iostat and the rate of a test.

use super::samples::{Cpu, Disk};
use crate::file::quote;
use crate::round::fixed;
use crate::{File, Result};

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
    pub fn parse(file: &File) -> Result<Self> {
        let (samples, numbers, rate) = below(file, DISK)?;
        let [
            reads,
            read_mb,
            writes,
            written_mb,
            reads_per_op,
            read_kb_per_op,
            written_kb_per_op,
            _,
        ] = numbers;
        let (read_kb, written_kb) = (read_mb * 1024.0, written_mb * 1024.0);
        let disk = Disk { samples, reads, writes, read_kb, written_kb };
        let (samples, [switches, percent, switches_per_op, cpu_per_op], _) = below(file, CPU)?;
        Ok(Self {
            disk,
            reads_per_op,
            read_kb_per_op,
            written_kb_per_op,
            rate: rate.to_owned(),
            cpu: Cpu { samples, switches, percent },
            switches_per_op,
            cpu_per_op,
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

/// The line below a header: its samples, the numbers after them, and the last of these as it is printed.
fn below<'a, const N: usize>(file: &'a File, header: &str) -> Result<(u64, [f64; N], &'a str)> {
    let names: Vec<&str> = header.split_whitespace().collect();
    let mut lines =
        file.lines().skip_while(|line| !line.text.split_whitespace().eq(names.iter().copied()));
    if lines.next().is_none() {
        let header = quote(header);
        return Err(file.end().wrong(format!("no line {header}: is this a file sb.met?")));
    }
    let line = lines.next().ok_or_else(|| file.end().wrong("no values below the last header"))?;
    let fields: Vec<&str> = line.text.split_whitespace().collect();
    if fields.len() != names.len() {
        let (need, found) = (names.len(), fields.len());
        return Err(line.wrong(format!("{need} values belong here, not {found}")));
    }
    let samples = line.whole(names[0], fields[0])?;
    let mut numbers = [0.0; N];
    for ((number, name), text) in numbers.iter_mut().zip(&names[1..]).zip(&fields[1..]) {
        *number = line.number(name, text)?;
    }
    Ok((samples, numbers, fields[N]))
}
