//! The verdicts of a run, and the verdicts on the controls of a lab's runs.

use std::collections::BTreeMap;

use model::{MetricId, RunData, RunId};
use stats::Options;
use store::Want;

use crate::{Lab, LabError};

/// How a run is judged where nobody asks otherwise: with the margins of its plan. Base and looks are the plan's
/// too, without being told here.
pub fn judging(data: &RunData) -> Options {
    Options { margins: margins(data), ..Options::default() }
}

/// The margins that the plan names. A short form such as `response.p99` means each step's subject; a whole
/// name counts more.
fn margins(data: &RunData) -> BTreeMap<MetricId, f64> {
    let named = &data.info.plan.course.margins;
    let mut margins = BTreeMap::new();
    for (metric, margin) in named {
        let meant = data.steps.iter().filter_map(|step| metric.of_subject(&step.subject.kind));
        margins.extend(meant.map(|meant| (meant, margin.as_fraction())));
    }
    let whole = named.iter();
    margins.extend(whole.map(|(metric, margin)| (metric.clone(), margin.as_fraction())));
    margins
}

impl Lab {
    /// Counts the verdicts on controls of finished runs not counted yet: of the run that just ended,
    /// and of those of earlier versions. It takes as long as comparing them, so that it is done once and kept. What
    /// cannot be counted is reported once: all results are stored by now, and no run fails for a count.
    pub(crate) fn count_false_alarms(&mut self) -> Vec<String> {
        let uncounted = match self.store.uncounted_runs() {
            Ok(uncounted) => uncounted,
            Err(error) => return vec![not_counted("finished runs", &error.into())],
        };
        let mut told = Vec::new();
        for run in uncounted {
            let of_run = format!("run {run}");
            let (cells, changed) = self.count_those_of(&run).unwrap_or_else(|error| {
                told.push(not_counted(&of_run, &error));
                (0, 0)
            });
            if let Err(error) = self.store.keep_control(&run, cells, changed) {
                told.push(not_counted(&of_run, &error.into()));
            }
        }
        told
    }

    /// Cells of the control of a run that were judged, and those that were called different. What another tool
    /// measured says nothing of this lab, whatever its systems are called.
    fn count_those_of(&self, run: &RunId) -> Result<(u32, u32), LabError> {
        let info = self.store.run_info(run)?;
        let Some(control) = info.plan.control() else {
            return Ok((0, 0));
        };
        if info.is_imported() {
            return Ok((0, 0));
        }
        let data = self.store.load(run, Want::default())?;
        let compared = stats::compare(&data, &judging(&data))?;
        let said = stats::rates_of_control(&compared, &control.name);
        Ok((said.cells, said.changed()))
    }
}

fn not_counted(of: &str, error: &LabError) -> String {
    format!("cannot count the verdicts on the control of {of}: {error}")
}
