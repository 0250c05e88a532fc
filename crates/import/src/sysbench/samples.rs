//! What vmstat and iostat printed each second: the means of a file.

use std::collections::BTreeSet;

use crate::file::quote;
use crate::{File, Mode, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cpu {
    pub samples: u64,
    pub switches: f64,
    /// User and system time, in per cent of the whole machine.
    pub percent: f64,
}

const COLUMNS: usize = 15;

/// The means of vmstat.
///
/// The original leaves out the lines that begin with `procs` and the first of the rest, which has the names of the
/// columns. Where vmstat repeats these names, each 21 lines, they are a sample of zeros; the first sample, which is the
/// mean since boot, is one like the others. [`Mode::Exact`] leaves both out.
pub fn cpu(file: &File, mode: Mode) -> Result<Cpu> {
    let (mut samples, mut switches, mut percent) = (0_u64, 0.0, 0.0);
    let mut since_boot = mode == Mode::Exact;
    let mut is_first = mode == Mode::Compat;
    for line in file.lines() {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        match fields.as_slice() {
            [] => {}
            [first, ..] if first.starts_with("procs") => {}
            _ if std::mem::take(&mut is_first) => {}
            ["r", "b", ..] => samples += u64::from(mode == Mode::Compat),
            [_, _, _, _, _, _, _, _, _, _, _, cs, us, sy, _, ..] => {
                let cs = line.number("cs", cs)?;
                let busy = line.number("us", us)? + line.number("sy", sy)?;
                if !std::mem::take(&mut since_boot) {
                    samples += 1;
                    switches += cs;
                    percent += busy;
                }
            }
            fewer => {
                let found = fewer.len();
                return Err(line.wrong(format!(
                    "a line of vmstat has {COLUMNS} columns or more, not {found}"
                )));
            }
        }
    }
    if samples == 0 {
        return Err(file.end().wrong("no sample of vmstat"));
    }
    Ok(Cpu { samples, switches: switches / samples as f64, percent: percent / samples as f64 })
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    pub samples: u64,
    pub reads: f64,
    pub writes: f64,
    pub read_kb: f64,
    pub written_kb: f64,
}

/// The columns that are read; where they stand differs between versions of iostat.
const NAMES: [&str; 4] = ["r/s", "w/s", "rkB/s", "wkB/s"];

/// The means of iostat for `device`; it may be left out where the file has one disk only.
///
/// The original looks for the device's name anywhere in a line, and takes the mean where several
/// devices have it in theirs. [`Mode::Exact`] takes the device with exactly that name.
pub fn disk(file: &File, device: Option<&str>, mode: Mode) -> Result<Disk> {
    let mut places: Option<[usize; 4]> = None;
    let mut devices: BTreeSet<&str> = BTreeSet::new();
    let mut samples = 0_u64;
    let mut sums = [0.0; 4];
    for line in file.lines() {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        // A table ends with an empty line; the time of the next stands before its header.
        let Some(&first) = fields.first() else {
            places = None;
            continue;
        };
        if first.starts_with("Device") {
            let of_header = places.insert([0; 4]);
            for (place, name) in of_header.iter_mut().zip(NAMES) {
                let found = fields.iter().position(|column| *column == name);
                *place = found.ok_or_else(|| {
                    line.wrong(format!("iostat must have a column {name}: run it with -k -x"))
                })?;
            }
            continue;
        }
        let Some(places) = places else { continue };
        devices.insert(first);
        let is_meant = match (device, mode) {
            (None, _) => true,
            (Some(name), Mode::Exact) => first == name,
            (Some(name), Mode::Compat) => line.text.contains(name),
        };
        if is_meant {
            samples += 1;
            for ((sum, place), name) in sums.iter_mut().zip(places).zip(NAMES) {
                *sum += line.number(name, fields.get(place).copied().unwrap_or_default())?;
            }
        }
    }
    if device.is_none() && devices.len() > 1 {
        let devices: Vec<String> = devices.into_iter().take(20).map(quote).collect();
        let all = devices.join(", ");
        return Err(file.end().wrong(format!("several disks: say which with --device: {all}")));
    }
    if samples == 0 {
        let what = device.map_or(String::new(), |d| format!(" of {}", quote(d)));
        return Err(file.end().wrong(format!("no sample of iostat{what}")));
    }
    let [reads, writes, read_kb, written_kb] = sums.map(|sum| sum / samples as f64);
    Ok(Disk { samples, reads, writes, read_kb, written_kb })
}
