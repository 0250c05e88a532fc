//! How the verdicts of a run are given, and what is said of the controls of a lab's runs.

use std::collections::BTreeMap;

use model::{MetricId, RunData, RunId};
use stats::Options;
use store::Want;

use crate::{Lab, LabError};

/// How a run is judged where nobody asks otherwise: with the margins of its plan. Base and looks are the plan's
/// too, without being told here.
pub fn judging(data: &RunData) -> Options {
    Options {
        margins: margins(data),
        ..Options::default()
    }
}

/// The margins that the plan names. A short form such as `response.p99` is that of what each step is about; a whole
/// name counts more.
fn margins(data: &RunData) -> BTreeMap<MetricId, f64> {
    let named = &data.info.plan.course.margins;
    let mut margins = BTreeMap::new();
    for (metric, margin) in named {
        let meant = data
            .steps
            .iter()
            .filter_map(|step| metric.of_subject(&step.subject));
        margins.extend(meant.map(|meant| (meant, margin.as_fraction())));
    }
    let whole = named.iter();
    margins.extend(whole.map(|(metric, margin)| (metric.clone(), margin.as_fraction())));
    margins
}

impl Lab {
    /// Counts what is said of the controls of finished runs where that was not done yet: of the run that just ended,
    /// and of those of earlier versions. It takes as long as comparing them, so that it is done once and kept. What
    /// cannot be counted is told in words.
    pub(crate) fn count_false_alarms(&mut self) -> Result<Vec<String>, LabError> {
        let mut told = Vec::new();
        for run in self.store.uncounted_controls()? {
            if let Err(error) = self.count_those_of(&run) {
                told.push(format!(
                    "what is said of the control of run {run} could not be counted: {error}"
                ));
            }
        }
        Ok(told)
    }

    fn count_those_of(&mut self, run: &RunId) -> Result<(), LabError> {
        let data = self.store.load(run, Want::default())?;
        let mut systems = data.info.plan.systems.iter();
        if let Some(control) = systems.find(|system| system.control) {
            let compared = stats::compare(&data, &judging(&data))?;
            let said = stats::rates_of_control(&compared, &control.name);
            let changed = said.regressed + said.improved;
            self.store.keep_control(run, said.cells, changed)?;
        }
        Ok(())
    }
}
