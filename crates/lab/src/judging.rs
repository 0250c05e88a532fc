//! The verdicts of a run, and the verdicts on the controls of a lab's runs.

use std::collections::{BTreeMap, BTreeSet};

use model::{MetricId, Plan, RunData, RunId, Step, judged_metrics};
use plan::{Choices, PlanError};
use stats::Options;
use store::Want;

use crate::error::Result;
use crate::{Lab, LabError};

/// How a run is judged where nobody asks otherwise: with the margins of its plan.
pub fn judging(data: &RunData) -> Options {
    Options { margins: margins(&data.info.plan, &data.steps), ..Options::default() }
}

/// The margins that the plan names, for these steps. A whole name counts more than a short form.
pub fn margins(plan: &Plan, steps: &[Step]) -> BTreeMap<MetricId, f64> {
    let named = &plan.course.margins;
    let mut margins = BTreeMap::new();
    for (metric, margin) in named {
        let meant = steps.iter().filter_map(|step| metric.of_subject(&step.subject.kind));
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

    /// Cells of a run's control that were judged, and those called different; none of imported and of disturbed runs.
    fn count_those_of(&self, run: &RunId) -> Result<(u32, u32)> {
        let info = self.store.run_info(run)?;
        let Some(control) = info.plan.control() else { return Ok((0, 0)) };
        if info.is_imported() {
            return Ok((0, 0));
        }
        let data = self.store.load(run, Want::default())?;
        if data.counts_disturbed() {
            return Ok((0, 0));
        }
        let compared = stats::compare(&data, &judging(&data))?;
        let said = stats::rates_of_control(&compared, &control.name);
        Ok((said.cells, said.changed()))
    }
}

fn not_counted(of: &str, error: &LabError) -> String {
    format!("cannot count the verdicts on the control of {of}: {error}")
}

/// Is each margin that of a metric which the workload can have? Any other would never be used, and nobody would know.
pub fn check_margins(plan: &Plan) -> Result<(), PlanError> {
    let usual: BTreeSet<MetricId> = judged_metrics().into_iter().map(MetricId).collect();
    let named = plan.course.margins.keys();
    let of_kinds: Vec<&MetricId> = named.filter(|metric| !usual.contains(metric)).collect();
    if of_kinds.is_empty() {
        return Ok(());
    }
    let measured = plan.steps.iter().filter(|step| step.measured);
    let kinds: BTreeSet<&str> =
        measured.flat_map(|step| &step.kinds).map(|kind| kind.name.as_str()).collect();
    let known = usual.iter().flat_map(|family| {
        let of_family = kinds.iter().filter_map(|kind| family.of_subject(kind));
        of_family.collect::<Vec<MetricId>>()
    });
    let known: BTreeSet<MetricId> = known.collect();
    match of_kinds.into_iter().find(|metric| !known.contains(metric)) {
        None => Ok(()),
        Some(metric) => Err(PlanError::UnknownName {
            place: format!("the margins of plan `{}`", plan.name),
            what: "metric of a measured step".to_owned(),
            name: metric.0.clone(),
            choices: Choices::new(&metric.0, known.into_iter().map(|metric| metric.0)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use model::Margin;

    use super::*;
    use crate::Builds;

    /// What is said of a plan that names a margin for this metric.
    fn said(workload: &str, metric: &str) -> Option<String> {
        let text = format!(
            "name = \"p\"\nrounds = 3\nworkload = {{ {workload} }}\n[[system]]\nbuild = \"sqlite\""
        );
        let file = plan::read(&text, "p.toml").unwrap();
        let depot = obtain::Depot::new("no depot".into());
        let builds = Builds::new(plan::Catalog::embedded().unwrap(), depot);
        let host = model::HostShape { cpus: 2, memory: model::Bytes(8 << 30) };
        let mut plan = builds.expand(&file, host).unwrap();
        let margins = &mut plan.course.margins;
        margins.insert(MetricId::new("rate"), Margin(100));
        margins.insert(MetricId::new(metric), Margin(500));
        check_margins(&plan).err().map(|error| error.to_string())
    }

    #[test]
    fn a_margin_is_that_of_an_operation_of_the_workload() {
        let micro = "kind = \"micro\", tests = [\"point-query\"]";
        assert_eq!(said(micro, "response.p99"), None);
        assert_eq!(said(micro, "server.cpu/o"), None);
        assert_eq!(said(micro, "response.point-query.p99"), None);
        let unknown = said(micro, "response.pont-query.p99").unwrap();
        let begins = "the margins of plan `p`: no metric of a measured step `response.pont-query.p99`; nearest `response.point-query.p99`; available: ";
        assert!(unknown.starts_with(begins), "{unknown}");
        // Those of a test that nobody chose.
        assert!(said(micro, "response.update-index.p99").is_some());
        let insert = "kind = \"insert\", scale = \"tiny\"";
        assert_eq!(said(insert, "response.query.p99"), None);
        assert_eq!(said(insert, "service.insert.p99"), None);
        assert!(said(insert, "service.settle.p99").is_some());
        let tpcc = "kind = \"tpcc\", warehouses = 1";
        assert_eq!(said(tpcc, "response.payment.p99"), None);
        assert!(said(tpcc, "response.paiment.p99").is_some());
    }
}
