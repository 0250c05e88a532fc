//! What vmstat printed each second.

use crate::{File, ImportError, Mode};

/// Means over the samples of vmstat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cpu {
    /// Samples.
    pub samples: u64,
    /// Context switches per second.
    pub switches: f64,
    /// User and system time, in per cent of the whole machine.
    pub percent: f64,
}

/// Columns of a line.
const COLUMNS: usize = 15;

/// The means of a file.
///
/// The original counts every line but those that begin with `procs`: the line of column names, which
/// vmstat repeats each 21 lines, is a sample of zeros, and the first line, which is the mean since
/// boot, is a sample like the others. [`Mode::Exact`] leaves both out.
///
/// # Errors
/// When a line is neither a header nor has the columns, or no sample is there.
pub fn cpu(file: &File, mode: Mode) -> Result<Cpu, ImportError> {
    let (mut samples, mut switches, mut percent) = (0_u64, 0.0, 0.0);
    let mut since_boot = mode == Mode::Exact;
    for line in file.lines() {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        match fields.as_slice() {
            [] => {}
            [first, ..] if first.starts_with("procs") => {}
            ["r", "b", ..] => samples += u64::from(mode == Mode::Compat),
            [_, _, _, _, _, _, _, _, _, _, _, cs, us, sy, _, ..] => {
                let sample = (
                    line.number("cs", cs)?,
                    line.number("us", us)? + line.number("sy", sy)?,
                );
                if since_boot {
                    since_boot = false;
                } else {
                    samples += 1;
                    switches += sample.0;
                    percent += sample.1;
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
    Ok(Cpu {
        samples,
        switches: switches / samples as f64,
        percent: percent / samples as f64,
    })
}
