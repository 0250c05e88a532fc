//! The throughput of a test.

use crate::file::FileLine;
use crate::round::fixed;
use crate::{ImportError, Mode};

use super::met::Met;
use super::output::Output;

/// The throughput of a test: the number, and what the original hands on to its other scripts.
pub(crate) struct Rate {
    /// Per second, in the mode that was asked for.
    pub(crate) value: f64,
    pub(crate) is_rows: bool,
    /// As the original has it: `24515.07`; of a scan thousand rows per second and client, `6553`.
    pub(crate) printed: String,
}

impl Rate {
    pub(super) fn of(
        output: &Output,
        clients: u32,
        at: FileLine<'_>,
        mode: Mode,
    ) -> Result<Self, ImportError> {
        let printed = output.printed_rate(at)?;
        let value = match (mode, output.is_scan) {
            (Mode::Compat, _) => whole_rate(&printed, at)?,
            (Mode::Exact, true) => output.scanned_per_second(clients, at)?,
            (Mode::Exact, false) => output.queries as f64 / output.elapsed,
        };
        Ok(Self { value, is_rows: output.is_scan && mode == Mode::Exact, printed })
    }

    /// Without output of sysbench: the original's rate is all that is known.
    pub(super) fn of_met(
        met: &Met,
        is_scan: bool,
        clients: u32,
        at: FileLine<'_>,
        mode: Mode,
    ) -> Result<Self, ImportError> {
        let is_rows = mode == Mode::Exact && is_scan;
        let value = match mode {
            Mode::Compat => whole_rate(&met.rate, at)?,
            Mode::Exact => at.number("o/s", &met.rate)?,
        };
        Ok(Self {
            // The scan's unit is a thousand rows, for each client.
            value: if is_rows { value * 1000.0 * f64::from(clients) } else { value },
            is_rows,
            printed: met.rate.clone(),
        })
    }
}

/// The original's tables have whole numbers.
fn whole_rate(printed: &str, at: FileLine<'_>) -> Result<f64, ImportError> {
    at.number("queries per second", &fixed(at.number("queries per second", printed)?, 0))
}
