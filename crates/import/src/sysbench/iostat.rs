//! What iostat printed each second of one disk.

use std::collections::BTreeSet;

use crate::file::{FileLine, quote};
use crate::{File, ImportError, Mode};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    pub samples: u64,
    pub reads: f64,
    pub writes: f64,
    pub read_kb: f64,
    pub written_kb: f64,
}

/// Where the four columns stand; that differs between versions of iostat.
#[derive(Clone, Copy)]
struct Columns([usize; 4]);

const NAMES: [&str; 4] = ["r/s", "w/s", "rkB/s", "wkB/s"];

/// The means of a file, for `device`; it may be left out where the file has one disk only.
///
/// The original looks for the device's name anywhere in a line, and takes the mean where several
/// devices have it in theirs. [`Mode::Exact`] takes the device with exactly that name.
///
/// # Errors
/// When the columns are not there, a number is none, or it is not clear which disk is meant.
pub fn disk(file: &File, device: Option<&str>, mode: Mode) -> Result<Disk, ImportError> {
    let mut columns = None;
    let mut devices: BTreeSet<&str> = BTreeSet::new();
    let mut samples = 0_u64;
    let mut sums = [0.0; 4];
    for line in file.lines() {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        // A table ends with an empty line; the time of the next stands before its header.
        let Some(&first) = fields.first() else {
            columns = None;
            continue;
        };
        if first.starts_with("Device") {
            columns = Some(Columns::of(line, &fields)?);
            continue;
        }
        let Some(at) = columns else {
            continue;
        };
        devices.insert(first);
        let is_meant = match (device, mode) {
            (None, _) => true,
            (Some(name), Mode::Exact) => first == name,
            (Some(name), Mode::Compat) => line.text.contains(name),
        };
        if is_meant {
            samples += 1;
            at.add(line, &fields, &mut sums)?;
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

impl Columns {
    fn of(line: FileLine<'_>, header: &[&str]) -> Result<Self, ImportError> {
        let mut places = [0; 4];
        for (place, name) in places.iter_mut().zip(NAMES) {
            let found = header.iter().position(|column| *column == name);
            *place = found.ok_or_else(|| {
                line.wrong(format!("iostat must have a column {name}: run it with -k -x"))
            })?;
        }
        Ok(Self(places))
    }

    fn add(
        self,
        line: FileLine<'_>,
        fields: &[&str],
        sums: &mut [f64; 4],
    ) -> Result<(), ImportError> {
        for ((sum, place), name) in sums.iter_mut().zip(self.0).zip(NAMES) {
            let field = fields.get(place).copied().unwrap_or_default();
            *sum += line.number(name, field)?;
        }
        Ok(())
    }
}
