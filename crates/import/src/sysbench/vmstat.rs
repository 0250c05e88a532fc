//! What vmstat printed each second.

use crate::{File, ImportError, Mode};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cpu {
    pub samples: u64,
    pub switches: f64,
    /// User and system time, in per cent of the whole machine.
    pub percent: f64,
}

const COLUMNS: usize = 15;

/// The means of a file.
///
/// The original leaves out the lines that begin with `procs` and the first of the rest, which has the names of the
/// columns. Where vmstat repeats these names, each 21 lines, they are a sample of zeros; the first sample, which is the
/// mean since boot, is one like the others. [`Mode::Exact`] leaves both out.
///
/// # Errors
/// When a line is neither a header nor has the columns, or no sample is there.
pub fn cpu(file: &File, mode: Mode) -> Result<Cpu, ImportError> {
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
                let sample =
                    (line.number("cs", cs)?, line.number("us", us)? + line.number("sy", sy)?);
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
    Ok(Cpu { samples, switches: switches / samples as f64, percent: percent / samples as f64 })
}
