//! The margins of a plan, against the operations that its workload has.

use std::collections::BTreeSet;

use model::{MetricId, Plan, judged_metrics};
use plan::{Choices, PlanError};

/// Is each margin of a plan that of a metric which its workload can have? One that names an operation kind of no
/// measured step would never be used, and nobody would know.
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
        let find = |request: &plan::BuildRequest| builds.find(request);
        let mut plan = plan::expand(&file, builds.catalog(), &find, host).unwrap();
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
        let begins = "the margins of plan `p`: no metric of a measured step `response.pont-query.p99`; nearest `response.point-query.p99`; there are: ";
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
