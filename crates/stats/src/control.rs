//! False alarms of a run, from its A/A control.

use model::{Comparison, Reason, Verdict};

/// Verdicts of a second copy of the base. Every change that it shows is a false alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlSummary {
    /// Cells that were judged: regressed, improved, unchanged, or too noisy to say.
    pub cells: u32,
    pub regressed: u32,
    pub improved: u32,
}

impl ControlSummary {
    /// How many of them said that something changed.
    pub const fn changed(&self) -> u32 {
        self.regressed + self.improved
    }

    /// The share of false alarms, either way; `None` when nothing was judged.
    pub fn false_alarms(&self) -> Option<f64> {
        (self.cells > 0).then(|| f64::from(self.changed()) / f64::from(self.cells))
    }
}

/// Could a cell of the control have been called different? One that is inconclusive by noise was looked at and not
/// called, which is what a control shall show. With too few rounds nothing is ever called, and what is incomparable
/// or better in neither direction was not looked at: none of these says anything of false alarms. What fell to zero
/// is incomparable by its word only.
pub const fn is_judged(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Regressed | Verdict::Improved | Verdict::Unchanged => true,
        Verdict::Inconclusive(reason) => {
            matches!(reason, Reason::TooNoisy { .. } | Reason::FewSlices | Reason::Drifting { .. })
        }
        Verdict::Incomparable(_) => verdict.is_regression(),
    }
}

/// Counts the verdicts of the system `control` that [were judged](is_judged).
pub fn rates_of_control(comparisons: &[Comparison], control: &str) -> ControlSummary {
    let mut summary = ControlSummary::default();
    for comparison in comparisons.iter().filter(|c| c.system == control) {
        let verdict = &comparison.verdict;
        summary.cells += u32::from(is_judged(verdict));
        summary.regressed += u32::from(verdict.is_regression());
        summary.improved += u32::from(*verdict == Verdict::Improved);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::run_of;
    use crate::{Options, compare};

    #[test]
    fn only_judged_cells_of_the_control_count() {
        let quiet = [100.0, 80.0, 100.0];
        let alarm = [100.0, 80.0, 120.0];
        let data = run_of(&["base", "other", "control"], "rate", &[quiet, quiet, alarm]);
        let found = compare(&data, &Options::default()).unwrap();
        let few = rates_of_control(&found, "control");
        assert_eq!(few.cells, 1);

        let data = run_of(&["base", "other", "control"], "rate", &[alarm; 3]);
        let found = compare(&data, &Options::default()).unwrap();
        let alarmed = rates_of_control(&found, "control");
        let expected = ControlSummary { cells: 1, regressed: 0, improved: 1 };
        assert_eq!(alarmed, expected);
        assert_eq!(alarmed.false_alarms(), Some(1.0));

        let data = run_of(&["base", "control"], "rate", &[[1.0, 1.0], [1.0, 1.0]]);
        let found = compare(&data, &Options::default()).unwrap();
        let none = rates_of_control(&found, "control");
        assert_eq!((none.cells, none.false_alarms()), (0, None));

        let data = run_of(&["base", "control"], "rate", &[[1.0, 0.0]; 3]);
        let found = compare(&data, &Options::default()).unwrap();
        let fallen = rates_of_control(&found, "control");
        assert_eq!((fallen.cells, fallen.regressed), (1, 1));
    }
}
