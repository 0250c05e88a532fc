//! The lab and the run that a verb is about.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::{Claim, Lab};
use model::{Comparison, MetricId, RunData, RunId, System, Version};
use stats::{Options, Selection};
use store::Want;

use crate::printer::Printer;

/// Is there a lab? An error where there cannot be one.
pub(crate) fn lab_exists(root: &Path) -> Result<bool> {
    if root.is_file() {
        bail!("{} is a file; a lab is a directory", root.display());
    }
    if root.is_symlink() && !root.exists() {
        let root = root.display();
        bail!(
            "{root} is a symbolic link that leads nowhere; repair it, or use another lab (--lab)"
        );
    }
    let found = root.join("lab.sqlite").try_exists();
    found.with_context(|| {
        format!("cannot open {} as a lab; use another directory (--lab)", root.display())
    })
}

/// Opens the lab to look at what is there; one that does not exist is an error, not made.
pub(crate) fn open(root: &Path) -> Result<Lab> {
    if !lab_exists(root)? {
        bail!(
            "no lab in {}: `backslide run` makes one; for another directory use --lab",
            root.display()
        );
    }
    Ok(Lab::open(root)?)
}

/// Claims the lab's instances, and says what was left of others.
pub(crate) fn claim(lab: &Lab, printer: Printer) -> Result<Claim> {
    let claim = lab.claim_instances()?;
    for text in &claim.swept {
        printer.note(text);
    }
    Ok(claim)
}

/// The run that people name: `r7`, or `7` for short.
pub(crate) fn named(name: &str) -> RunId {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    RunId(if is_number { format!("r{name}") } else { name.to_owned() })
}

/// Can only a run have this name?
pub(crate) fn is_id(name: &str) -> bool {
    named(name).0.strip_prefix('r').is_some_and(|number| number.parse::<u64>().is_ok())
}

pub(crate) fn choose(lab: &Lab, named: Option<&str>) -> Result<RunId> {
    match named {
        Some(name) => Ok(self::named(name)),
        None => lab.store.latest_run()?.context("this lab has no runs yet: `backslide run PLAN`"),
    }
}

pub(crate) fn load(lab: &Lab, named: Option<&str>, want: Want) -> Result<RunData> {
    Ok(lab.store.load(&choose(lab, named)?, want)?)
}

/// What a run is loaded with when only its measurements matter.
pub(crate) const NUMBERS: Want = Want { series: false, histograms: false };

pub(crate) const EVERYTHING: Want = Want { series: true, histograms: true };

/// Which systems of a run `name` may mean: that with this name; else those whose names begin with it, up
/// to a slash; else those of this build; else those of this version, or whose versions begin so. The
/// control is meant only where it is named.
pub(crate) fn meant<'a>(data: &'a RunData, name: &str) -> Vec<&'a System> {
    let version = |system: &System| {
        let of_dbms = name.strip_prefix(system.build.dbms.name());
        let number = of_dbms.and_then(|rest| rest.strip_prefix('-')).unwrap_or(name);
        let asked: Option<Version> = number.parse().ok();
        asked.is_some_and(|asked| system.build.version.starts_with(&asked))
    };
    let begins = |system: &System| {
        let rest = system.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let ways: [&dyn Fn(&System) -> bool; 4] =
        [&|system| system.name == name, &begins, &|system| system.build.id() == name, &version];
    let all = &data.info.plan.systems;
    let may_be = |system: &&System| !system.control || system.name == name;
    let mut by_way = ways.iter().map(|way| -> Vec<&System> {
        all.iter().filter(may_be).filter(|system| way(system)).collect()
    });
    by_way.find(|meant| !meant.is_empty()).unwrap_or_default()
}

/// The base that was asked for, by its whole name: what [`meant`] finds, else the only system whose name
/// begins so. A name that no system has is left as it is, for the comparison to say so.
pub(crate) fn base<'a>(data: &'a RunData, named: Option<&'a str>) -> Result<Option<&'a str>> {
    let Some(name) = named else { return Ok(None) };
    let mut systems = meant(data, name);
    if systems.is_empty() {
        let all = data.info.plan.systems.iter();
        systems = all.filter(|system| !system.control && system.name.starts_with(name)).collect();
    }
    match systems.as_slice() {
        [] => Ok(Some(name)),
        [one] => Ok(Some(&one.name)),
        several => {
            bail!("`{name}` is ambiguous: it matches {} in run {}", names(several), data.info.id)
        }
    }
}

pub(crate) fn names(systems: &[&System]) -> String {
    let names: Vec<&str> = systems.iter().map(|s| s.name.as_str()).collect();
    names.join(", ")
}

pub(crate) fn selection(metrics: &[String]) -> Selection {
    if metrics.is_empty() {
        Selection::Deciding
    } else if metrics.iter().any(|metric| metric == "all") {
        Selection::All
    } else {
        Selection::Only(metrics.iter().map(MetricId::new).collect())
    }
}

/// Every system against `base`, as it was named on the command line, in the metrics of `metrics`.
pub(crate) fn compare(
    data: &RunData,
    base: Option<&str>,
    metrics: Selection,
    min_effect: Option<f64>,
) -> Result<Vec<Comparison>> {
    let options = Options {
        base: self::base(data, base)?.map(str::to_owned),
        metrics,
        min_effect,
        ..lab::judging(data)
    };
    Ok(stats::compare(data, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Dbms, Margin, MetricId};
    use testkit::made_up::{self, micro::Micro};

    /// A run of these systems, each of the build that its name begins with.
    fn run_of(names: &[&str]) -> RunData {
        let mut micro = Micro::usual();
        micro.shape.systems = names.iter().map(|n| ((*n).to_owned(), 1.0)).collect();
        micro.tests = 0;
        let mut data = made_up::micro::run(&micro);
        for system in &mut data.info.plan.systems {
            let build = system.name.split('/').next().unwrap_or_default();
            if let Some(version) = build.strip_prefix("mysql-") {
                system.build.dbms = Dbms::Mysql;
                system.build.version = version.parse().unwrap();
            }
        }
        data
    }

    #[test]
    fn a_lab_that_cannot_exist_is_not_merely_missing() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        assert!(!lab_exists(&at("missing")).unwrap());
        for name in ["file", "file/lab", "link", &"x".repeat(300)] {
            assert!(lab_exists(&at(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn the_number_of_a_run_names_it() {
        for (name, run) in [("r1", "r1"), ("1", "r1"), ("12", "r12"), ("", ""), ("x1", "x1")] {
            assert_eq!(named(name).0, run);
        }
    }

    #[test]
    fn a_base_is_meant_by_any_name_that_only_it_has() {
        let data =
            run_of(&["mysql-5.6.24/z12a", "mysql-8.0.31/z12a", "mysql-8.0.31/z13", "control"]);
        let meant = |name| base(&data, Some(name)).map_err(|error| error.to_string());
        for (name, system) in [
            ("mysql-5.6.24/z12a", "mysql-5.6.24/z12a"),
            ("mysql-5.6.24", "mysql-5.6.24/z12a"),
            ("mysql-5", "mysql-5.6.24/z12a"),
            ("5.6", "mysql-5.6.24/z12a"),
            ("mysql-8.0.31/z13", "mysql-8.0.31/z13"),
            ("mysql-8.0.31/z12", "mysql-8.0.31/z12a"),
            ("control", "control"),
        ] {
            assert_eq!(meant(name), Ok(Some(system)), "{name}");
        }
        assert_eq!(base(&data, None).unwrap(), None);
        assert_eq!(meant("postgres"), Ok(Some("postgres")));
        let several =
            "`mysql-8` is ambiguous: it matches mysql-8.0.31/z12a, mysql-8.0.31/z13 in run r7";
        assert_eq!(meant("mysql-8"), Err(several.to_owned()));
    }

    #[test]
    fn a_run_is_judged_by_the_margins_of_its_plan_unless_somebody_asks_otherwise() {
        let mut data = made_up::micro::run(&Micro { tests: 1, ..Micro::usual() });
        let margins = [
            ("rate", 700),
            ("service.p99", 1_200),
            ("service.update-inlist.p99", 1_300),
            ("service.p95", 50),
        ];
        let margins = margins.map(|(metric, m)| (MetricId::new(metric), Margin(m)));
        data.info.plan.course.margins = margins.into();
        let margin = |metric: &str, min_effect| {
            let only = Selection::Only(vec![MetricId::new(metric)]);
            let compared = compare(&data, None, only, min_effect).unwrap();
            let of_test = compared.into_iter().find(|c| c.step.0 == "update-inlist");
            of_test.unwrap().evidence.unwrap().margin
        };
        for (metric, min_effect, expected) in [
            ("rate", None, 0.07),
            ("rate", Some(0.0), 0.0),
            // A whole name counts more than a short form.
            ("service.p99", None, 0.13),
            ("service.p95", None, 0.005),
            ("service.p95", Some(0.03), 0.03),
            // The metric's own.
            ("service.p50", None, 0.02),
        ] {
            let found = margin(metric, min_effect);
            assert!((found - expected).abs() < 1e-12, "{metric}: {found}");
        }
    }
}
