//! What decides which data a template holds, and the templates of a run.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Build, BuildSource, Bytes, Engine, Fact, Outcome, Plan, RunData, Setting, System, mix,
};
use obtain::text_digest;
use serde::Serialize;

use super::Shelf;
use crate::error::{LabError, Result};

/// Counts the changes of what is loaded, kept and remembered that make older templates useless.
pub(crate) const FORMAT: u32 = 1;

/// Everything that decides which data a template holds; the name of the system does not.
#[derive(PartialEq, Serialize)]
struct Identity<'a> {
    format: u32,
    dbms: &'static str,
    version: &'a str,
    build: String,
    engine: Engine,
    settings: &'a [Setting],
    server_cpus: &'a str,
    client_cpus: &'a str,
    preload: &'a str,
    huge_pages: bool,
    workload: &'a str,
    seed: u64,
}

/// The seed of the data that all trials begin with. Rounds, whose seeds decide the rest, count from 1.
pub(crate) fn loading_seed(plan: &Plan) -> u64 {
    mix(plan.seed, &[0])
}

/// The key of the template of each system of a plan.
///
/// A second copy of a system, such as the control, has a template of its own: what is different from one
/// loading to the next shows between the two.
pub(crate) fn keys(plan: &Plan) -> Result<Vec<String>> {
    let workload = workloads::loading(&plan.workload)
        .map_err(|error| LabError::TemplateKey(error.to_string()))?;
    let identities = plan.systems.iter().map(|s| identity(plan, s, &workload));
    let mut seen: Vec<Identity<'_>> = Vec::new();
    let mut keys = Vec::new();
    for identity in identities {
        let copies = seen.iter().filter(|other| **other == identity).count();
        let text = serde_json::to_string(&(&identity, copies))
            .map_err(|error| LabError::TemplateKey(error.to_string()))?;
        keys.push(text_digest(&text));
        seen.push(identity);
    }
    Ok(keys)
}

fn identity<'a>(plan: &Plan, system: &'a System, workload: &'a str) -> Identity<'a> {
    Identity {
        format: FORMAT,
        dbms: system.build.dbms.name(),
        version: &system.build.version_line,
        build: mark(&system.build),
        engine: system.engine,
        settings: &system.config.settings,
        server_cpus: &system.cpus.server,
        client_cpus: &system.cpus.client,
        preload: &system.preload,
        huge_pages: system.huge_pages,
        workload,
        seed: loading_seed(plan),
    }
}

/// What tells a build from others that say the same: the digest of what is installed, or that of the program.
fn mark(build: &Build) -> String {
    match &build.source {
        BuildSource::Obtainable { .. }
        | BuildSource::Embedded
        | BuildSource::Connect(_)
        | BuildSource::Imported(_) => String::new(),
        BuildSource::Installed { digest, .. } => digest.clone(),
        BuildSource::Path(path) => servers::program_digest(build.dbms, path.as_ref()),
    }
}

pub(crate) struct Templates {
    pub(crate) shelf: Shelf,
    /// The key of each system, in the plan's order.
    pub(crate) keys: Vec<String>,
    /// Sizes as they were estimated, in the plan's order.
    pub(crate) estimates: Vec<Bytes>,
    /// Keys that trials of this run still need.
    pub(crate) needed: BTreeSet<String>,
    /// Systems that could not be loaded, and why. Not tried again in this session: it may take hours.
    pub(crate) failed: BTreeMap<usize, Outcome>,
    /// The templates that earlier trials of this run began with, by system.
    pub(crate) before: BTreeMap<String, String>,
    /// The templates that were announced in this session, by system.
    pub(crate) announced: BTreeMap<String, String>,
}

impl Templates {
    /// What the plan needs for the systems `left`, which still have trials. An error where templates take too much.
    pub(crate) fn of(plan: &Plan, left: &[usize], done: &RunData, shelf: Shelf) -> Result<Self> {
        let keys = keys(plan)?;
        let estimates = plan::estimate(plan).templates;
        let estimates: Vec<Bytes> = estimates.into_iter().map(|one| one.disk).collect();
        let needed: BTreeMap<&String, Bytes> = left
            .iter()
            .map(|&system| {
                let key = &keys[system];
                (key, shelf.disk(key).unwrap_or(estimates[system]))
            })
            .collect();
        let need = Bytes(needed.values().map(|size| size.0).sum());
        if need > shelf.budget {
            return Err(LabError::TemplateBudget { need, budget: shelf.budget });
        }
        let needed = needed.into_keys().cloned().collect();
        let before = done.trials.iter().filter_map(|trial| {
            let name = trial.provenance.get(&Fact::Template)?;
            Some((trial.system.clone(), name.to_owned()))
        });
        Ok(Self {
            shelf,
            needed,
            keys,
            estimates,
            failed: BTreeMap::new(),
            before: before.collect(),
            announced: BTreeMap::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Dbms, InsertSpec, QueryKind, Settle, StepId, WorkloadSpec};

    use super::*;

    fn system(name: &str) -> System {
        let source = BuildSource::Installed {
            directory: "/depot/one".to_owned(),
            origin: "somewhere".to_owned(),
            digest: "d1".to_owned(),
        };
        let build = Build {
            version_line: "mysqld  Ver 8.0.33".to_owned(),
            ..Build::new(Dbms::Mysql, "8.0.33".parse().unwrap(), source)
        };
        System::new(name, build)
    }

    fn plan(systems: Vec<System>) -> Plan {
        let spec = InsertSpec {
            rows: 2_000,
            i1_rows: 800,
            i2_rows: 200,
            rates: vec![100],
            queries: vec![QueryKind::Range],
            query_seconds: 1,
            settle: Settle::Seconds(0),
            steps: ["l.i0", "l.x", "qr100"].map(StepId::new).to_vec(),
            ..InsertSpec::usual()
        };
        Plan {
            rounds: 3,
            seed: 7,
            template: true,
            ..Plan::new("p", WorkloadSpec::Insert(spec), systems)
        }
    }

    /// The key of a system that was changed, in a plan that was changed.
    fn key(of_system: impl FnOnce(&mut System), of_plan: impl FnOnce(&mut Plan)) -> String {
        let mut system = system("a");
        of_system(&mut system);
        let mut plan = plan(vec![system]);
        of_plan(&mut plan);
        keys(&plan).unwrap().remove(0)
    }

    fn spec(plan: &mut Plan) -> &mut InsertSpec {
        let WorkloadSpec::Insert(spec) = &mut plan.workload else {
            panic!("another workload");
        };
        spec
    }

    #[test]
    fn what_changes_the_data_changes_the_key() {
        let same = key(|_| (), |_| ());
        assert_eq!(same.len(), 64);
        let others = [
            key(|s| s.build.version_line.push('1'), |_| ()),
            key(|s| s.build.source = BuildSource::Path("/nonexistent".to_owned()), |_| ()),
            key(|s| s.engine = Engine::Myrocks, |_| ()),
            key(
                |s| {
                    s.config.settings.push(Setting { name: "x".to_owned(), value: None });
                },
                |_| (),
            ),
            key(|s| s.preload = "libjemalloc.so.2".to_owned(), |_| ()),
            key(|_| (), |p| p.seed = 8),
            key(|_| (), |p| spec(p).i1_rows = 801),
            key(|_| (), |p| spec(p).partitions = 4),
        ];
        assert!(others.iter().all(|other| *other != same));
    }

    #[test]
    fn what_does_not_change_the_data_does_not_change_the_key() {
        let same = key(|_| (), |_| ());
        let others = [
            key(|s| s.name = "b".to_owned(), |_| ()),
            key(|s| s.config.name = "of the user".to_owned(), |_| ()),
            key(|_| (), |p| p.rounds = 9),
            key(|_| (), |p| p.name = "q".to_owned()),
            key(
                |_| (),
                |p| {
                    let spec = spec(p);
                    spec.rates = vec![500];
                    spec.steps = ["l.i0", "l.x", "qr500"].map(StepId::new).to_vec();
                },
            ),
            key(|_| (), |p| spec(p).query_seconds = 1800),
        ];
        assert!(others.iter().all(|other| *other == same));
        // The bounds of partitions follow from the rows of all steps.
        let partitioned = |seconds| {
            key(
                |_| (),
                |p| {
                    spec(p).partitions = 4;
                    spec(p).query_seconds = seconds;
                },
            )
        };
        assert_ne!(partitioned(1), partitioned(2));
    }

    #[test]
    fn a_copy_of_a_system_has_a_template_of_its_own() {
        let mut control = system("control");
        control.control = true;
        let of = |systems| keys(&plan(systems)).unwrap();
        let both = of(vec![system("a"), control]);
        assert_ne!(both[0], both[1]);
        assert_eq!(both[..1], of(vec![system("a")]));
        assert_eq!(both, of(vec![system("x"), system("y")]));
    }

    #[test]
    fn no_round_has_the_seed_of_the_loading() {
        let plan = plan(vec![system("a")]);
        let seed = loading_seed(&plan);
        assert!(plan.trials().iter().all(|trial| trial.seed != seed));
    }
}
