//! The lab and the run that a verb is about.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::Lab;
use model::{Comparison, RunData, RunId};
use stats::{Options, Selection};
use store::Want;

/// Opens the lab to look at what is there; one that does not exist is an error, not made.
pub(crate) fn open(root: &Path) -> Result<Lab> {
    if !root.join("lab.sqlite").exists() {
        bail!(
            "no lab in {}: `backslide run` makes one; for another directory use --lab",
            root.display()
        );
    }
    Ok(Lab::open(root)?)
}

/// The run that was named, or the latest.
pub(crate) fn choose(lab: &Lab, named: Option<&str>) -> Result<RunId> {
    match named {
        Some(name) => Ok(RunId(name.to_owned())),
        None => lab
            .store
            .latest_run()?
            .context("this lab has no runs yet: `backslide run PLAN`"),
    }
}

/// A run with what `want` asks for.
pub(crate) fn load(lab: &Lab, named: Option<&str>, want: Want) -> Result<RunData> {
    Ok(lab.store.load(&choose(lab, named)?, want)?)
}

/// What a run is loaded with when only its measurements matter.
pub(crate) const NUMBERS: Want = Want {
    series: false,
    histograms: false,
};

/// Everything that a report shows.
pub(crate) const EVERYTHING: Want = Want {
    series: true,
    histograms: true,
};

/// Every system against `base`, in every metric.
pub(crate) fn compare_all(data: &RunData, base: Option<&str>) -> Result<Vec<Comparison>> {
    compare(data, base, Selection::All, None)
}

/// Every system against `base`, in the metrics of `metrics`.
pub(crate) fn compare(
    data: &RunData,
    base: Option<&str>,
    metrics: Selection,
    min_effect: Option<f64>,
) -> Result<Vec<Comparison>> {
    let options = Options {
        base: base.map(str::to_owned),
        metrics,
        min_effect,
        ..Options::default()
    };
    Ok(stats::compare(data, &options)?)
}
