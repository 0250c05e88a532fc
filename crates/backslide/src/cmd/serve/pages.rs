//! Which address has which page.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use lab::Lab;
use model::{RunId, RunInfo, RunState};
use report::{Input, Report};
use serve::{Address, Kind, Page, Pages, Refusal};
use stats::Selection;
use store::{StoreError, Want};

use super::frame::{encoded, generated, site};
use super::{changes, lists, live, pair};
use crate::cmd::{export, history};
use crate::{input, runs};

/// The pages of one lab. It is opened anew for each page, only to read it.
pub(super) struct LabPages {
    root: PathBuf,
    /// The regressions of runs that are finished, which stay.
    regressions: HashMap<RunId, Vec<changes::Regression>>,
}

impl LabPages {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, regressions: HashMap::new() }
    }

    fn lab(&self) -> Result<Lab> {
        Ok(Lab::open_to_read(&self.root)?)
    }
}

impl Pages for LabPages {
    fn state(&mut self, address: &Address) -> Result<Option<String>, Refusal> {
        match parts(address).as_slice() {
            // Other runs do not change them, so that they are kept while one is measured.
            ["runs", run] => self.state_of(run).map_err(|error| refusal(&error)),
            ["builds"] | ["runs", _, "live"] => Ok(None),
            _ => Ok(written(&self.root.join("lab.sqlite"))),
        }
    }

    fn page(&mut self, address: &Address) -> Result<Page, Refusal> {
        let page = match parts(address).as_slice() {
            [] => self.lab().and_then(|lab| lists::runs(&lab, address)),
            ["runs", run] => {
                let (base, brief) = (address.asked("base"), address.asked("brief").is_some());
                self.lab().and_then(|lab| of_run(&lab, &runs::named(run), base, brief))
            }
            ["runs", run, "live"] => self.lab().and_then(|lab| live::page(&lab, run)),
            ["history"] => self.lab().and_then(|lab| of_history(&lab, address)),
            ["compare"] => self.lab().and_then(|lab| match pair::within_one_run(&lab, address)? {
                Some((run, base)) => of_run(&lab, &run, Some(base), false),
                None => pair::page(&lab, address),
            }),
            ["changes"] => {
                self.lab().and_then(|lab| changes::page(&lab, address, &mut self.regressions))
            }
            ["controls"] => self.lab().and_then(|lab| lists::controls(&lab)),
            ["builds"] => lists::builds(),
            ["metrics"] => {
                let text = self
                    .lab()
                    .and_then(|lab| metrics(&lab, address))
                    .map_err(|error| refusal(&error))?;
                return Ok(Page { kind: Kind::OpenMetrics, text });
            }
            _ => {
                let path = address.path.join("/");
                let text = format!("no page /{path}; / lists the runs");
                return Err(Refusal::Missing(text));
            }
        };
        page.map(|text| Page { kind: Kind::Html, text }).map_err(|error| refusal(&error))
    }

    fn live(&mut self, run: &str) -> Result<(String, bool), Refusal> {
        self.lab().and_then(|lab| live::part(&lab, run)).map_err(|error| refusal(&error))
    }
}

impl LabPages {
    /// What a finished run's page depends on; `None` of one that changes.
    fn state_of(&self, run: &str) -> Result<Option<String>> {
        let lab = self.lab()?;
        let info = lab.store.run_info(&runs::named(run))?;
        let alarms = lab.store.false_alarms()?;
        Ok((info.state == RunState::Finished).then(|| format!("{} {alarms:?}", info.started)))
    }
}

fn parts(address: &Address) -> Vec<&str> {
    address.path.iter().map(String::as_str).collect()
}

fn refusal(error: &Error) -> Refusal {
    let text = format!("{error:#}");
    let of_lab = error.chain().any(|cause| cause.is::<StoreError>() || cause.is::<io::Error>());
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::UnknownRun { .. }) => Refusal::Missing(text),
        _ if of_lab => Refusal::Failed(text),
        _ => Refusal::Wrong(text),
    }
}

/// When the store was last written, and how long it is: another value after each change.
fn written(store: &Path) -> Option<String> {
    let mut log = store.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| {
        let file = path.metadata().ok()?;
        Some(format!("{} {} {} ", file.len(), file.mtime(), file.mtime_nsec()))
    };
    Some(of(store)? + &of(Path::new(&log)).unwrap_or_default())
}

/// The report of a run, with this base or the plan's.
fn of_run(lab: &Lab, run: &RunId, base: Option<&str>, brief: bool) -> Result<String> {
    let want = if brief { Want { series: true, histograms: false } } else { runs::EVERYTHING };
    let data = lab.store.load(run, want)?;
    let comparisons = runs::compare(&data, base, Selection::All, None)?;
    let base = comparisons.first().map_or(&data.info.plan.base, |c| &c.base);
    let input = Input {
        generated: &input::now(),
        links: links(&data.info, base),
        ..input::of(lab, &data, base, &comparisons)?
    };
    let report = Report::new(&input);
    Ok(if brief { report.html_brief() } else { report.html() })
}

/// Links of a run's page: those of all pages, its history, and itself with every other base.
fn links(info: &RunInfo, base: &str) -> Vec<(String, String)> {
    let mut links = site();
    links.push((format!("/history?runs={}", info.id), "History".to_owned()));
    links.push((format!("/runs/{}/live", info.id), "Progress".to_owned()));
    let others = info.plan.systems.iter().filter(|system| system.name != base && !system.control);
    links.extend(others.map(|system| {
        let address = format!("/runs/{}?base={}", info.id, encoded(&system.name));
        (address, format!("Base: {}", system.name))
    }));
    links
}

/// The histories of `runs=r1,r2`, of all runs of `plan=NAME`, or of the latest run.
fn of_history(lab: &Lab, address: &Address) -> Result<String> {
    let named: Vec<RunId> = match (address.asked("runs"), address.asked("plan")) {
        (Some(list), _) => list.split(',').map(runs::named).collect(),
        (None, Some(plan)) => {
            let all = lab.store.runs()?.into_iter();
            let of_plan =
                all.filter(|run| run.info.plan.name == plan && run.completed + run.quarantined > 0);
            of_plan.map(|run| run.info.id).collect()
        }
        (None, None) => vec![runs::choose(lab, None)?],
    };
    let metric = address.asked("metric").unwrap_or(model::MetricId::RATE);
    let history = history::of_runs(lab, &named, metric, address.asked("step"), None)?;
    Ok(report::history_html(&history, &generated(), &site()))
}

/// The measurements of a run, or of the latest.
fn metrics(lab: &Lab, address: &Address) -> Result<String> {
    let run = runs::choose(lab, address.asked("run"))?;
    let mut text = Vec::new();
    export::open_measurements(&lab.store, &run, &mut text)?;
    Ok(String::from_utf8(text)?)
}
