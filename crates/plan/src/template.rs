//! `template = true`: what must hold so that data can be loaded once and cloned for each trial.

use model::{BuildSource, Step, System};

use crate::Result;
use crate::file::PlanFile;

/// Does the plan ask for templates? An error where they cannot be had, or would be of no use.
pub(crate) fn resolve(file: &PlanFile, steps: &[Step], systems: &[System]) -> Result<bool> {
    let Some(place) = &file.template else {
        return Ok(false);
    };
    let message = nothing_left(steps).or_else(|| systems.iter().find_map(not_clonable));
    place.refuse(message).map(|()| true)
}

/// Steps load where others follow. Only the Insert Benchmark may have none of these.
fn nothing_left(steps: &[Step]) -> Option<String> {
    (!steps.iter().any(|step| step.loads)).then(|| {
        "`template = true` and no query step in `steps`: the data would be loaded and nothing \
         measured; leave one of them out"
            .to_owned()
    })
}

fn not_clonable(system: &System) -> Option<String> {
    if let BuildSource::Connect(_) = system.build.source {
        return Some(format!(
            "`template = true` and `connect` of `{}`: a foreign server cannot start on a clone of its \
             data; leave one of them out",
            system.name
        ));
    }
    let outside = &system.build.dbms.product().options.outside;
    let is_apart = |name: &str, value: Option<&str>| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        outside.contains(&name) && value.is_some_and(|value| value.starts_with('/'))
    };
    let mut settings = system.config.settings.iter();
    let apart = settings.find(|setting| is_apart(&setting.name, setting.value.as_deref()))?;
    Some(format!(
        "`template = true` and `{apart}` of `{}`: what is outside of the data directory is not cloned; \
         leave one of them out",
        system.name
    ))
}

#[cfg(test)]
mod tests {
    use model::{Nanos, Plan};

    use crate::tests::expand;
    use crate::{Result, estimate};

    fn plan(template: bool, workload: &str, systems: &str) -> Result<Plan> {
        expand(&format!(
            "name = \"p\"\nrounds = 4\ntemplate = {template}\n\
             workload = {{ kind = \"insert\", scale = \"small\"{workload} }}\n{systems}"
        ))
    }

    const TWO: &str = "[[system]]\nbuild = \"mariadb\"\n[[system]]\nbuild = \"sqlite\"";

    #[test]
    fn only_where_it_is_asked_for() {
        assert!(plan(true, "", TWO).unwrap().template);
        assert!(!plan(false, "", TWO).unwrap().template);
    }

    #[test]
    fn what_cannot_be_cloned_or_is_of_no_use_is_refused() {
        let error = |workload, system: &str| {
            let error = plan(true, workload, &format!("[[system]]\n{system}"));
            error.unwrap_err().to_string()
        };
        insta::assert_snapshot!(error(", steps = [\"l.i0\"]", "build = \"sqlite\""), @"my.toml:3: `template = true` and no query step in `steps`: the data would be loaded and nothing measured; leave one of them out");
        insta::assert_snapshot!(error("", "build = \"mariadb\"\nconnect = \"db1\"\nlabel = \"x\""), @"my.toml:3: `template = true` and `connect` of `x`: a foreign server cannot start on a clone of its data; leave one of them out");
        insta::assert_snapshot!(error("", "build = \"mariadb\"\nlabel = \"x\"\nset = { innodb-log-group-home-dir = \"/fast\" }"), @"my.toml:3: `template = true` and `innodb-log-group-home-dir = /fast` of `x`: what is outside of the data directory is not cloned; leave one of them out");
        let within =
            "[[system]]\nbuild = \"mariadb\"\nset = { log_bin = \"binlog\", tmpdir = \"/t\" }";
        assert!(plan(true, "", within).is_ok());
    }

    #[test]
    fn the_estimate_counts_one_loading_and_short_trials() {
        let (with, without) = (plan(true, "", TWO).unwrap(), plan(false, "", TWO).unwrap());
        let (with, without) = (estimate(&with), estimate(&without));
        assert!(without.templates.is_empty());
        assert_eq!(with.systems, without.systems);
        let kept: u64 = with.templates.iter().map(|template| template.disk.0).sum();
        assert_eq!(with.disk.0 - with.store.0, without.disk.0 - without.store.0 + kept);
        for (template, (system, instance)) in with.templates.iter().zip(&with.systems) {
            assert!(template.system == *system && template.disk <= *instance);
            assert!(template.time > Nanos::from_secs(1));
        }
        let parts = with.parts.iter().zip(&without.parts);
        assert!(parts.clone().all(|((_, short), (_, long))| short < long));
        let loading: u64 = with.templates.iter().map(|template| template.time.0).sum();
        let trials: u64 = with.parts.iter().map(|(_, time)| time.0 * 4).sum();
        assert_eq!(with.time, Nanos(loading + trials));
        assert!(with.time < without.time);
    }
}
