//! Plan file + catalog + builds + host → plan.

use model::{
    Build, BuildSource, Bytes, Cause, Config, Connection, Dbms, Engine, HostShape, Plan, Setting,
    Step, System, WorkloadSpec,
};

use crate::catalog::Catalog;
use crate::fields::Mention;
use crate::file::{PlanFile, SystemEntry, as_map};
use crate::kind::WorkloadKind;
use crate::lua::ScriptFile;
use crate::request::BuildRequest;
use crate::sql::WorkloadFile;
use crate::{Place, PlanError, Result, connection, course, insert, load_hosts, lua, sql, tpcc};

/// Finds the build that is asked for; the error says what was looked for and what to do.
pub type FindBuild<'a> = dyn Fn(&BuildRequest) -> Result<Build, Cause> + 'a;

/// The plan with nothing left open.
pub fn expand(
    file: &PlanFile,
    catalog: &Catalog,
    builds: &FindBuild<'_>,
    host: HostShape,
) -> Result<Plan> {
    let workload = match file.kind {
        WorkloadKind::Insert => {
            WorkloadSpec::Insert(insert::resolve(&file.workload, |scale| catalog.scale(scale))?)
        }
        WorkloadKind::Micro | WorkloadKind::Sql => {
            WorkloadSpec::Sql(sql::resolve(workload_file(file, catalog)?, &file.workload, host)?)
        }
        WorkloadKind::Tpcc => {
            WorkloadSpec::Tpcc(tpcc::resolve(&file.workload, sql::load_clients(host))?)
        }
        WorkloadKind::Lua => WorkloadSpec::Lua(lua::resolve(&file.workload, script(file)?)?),
    };
    let share = share(file, host);
    let maker = Maker { catalog, builds, host: share, cpus: file.cpus(host), workload: &workload };
    let named = file.systems.iter().map(|entry| maker.system(entry));
    let named: Vec<Named> = named.collect::<Result<_>>()?;
    check_unique(&named)?;
    let base = find_base(file, &named)?.clone();
    let systems: Vec<System> = named.into_iter().map(|named| named.system).collect();
    let steps = workload.steps();
    let template = template(file, &steps, &systems)?;
    let systems = with_control(file, systems, &base)?;
    let systems = load_hosts::resolve(file.load_hosts.as_ref(), file.kind, &file.course, systems)?;
    let course = course::resolve(&file.course, catalog.noise(), &systems, &steps)?;
    let mut plan = Plan {
        base: base.name.clone(),
        course,
        seed: file.seed,
        source: file.source.clone(),
        template,
        ..Plan::new(&file.name, workload, systems)
    };
    plan.rounds = file.course.rounds.saturating_mul(plan.cycle());
    Ok(plan)
}

/// The host as configs scale with it: systems that are all up at once divide its memory.
fn share(file: &PlanFile, host: HostShape) -> HostShape {
    let all = file.systems.len() + usize::from(file.control.is_some());
    let up = file.course.up(all).max(1) as u64;
    HostShape { memory: Bytes(host.memory.0 / up), ..host }
}

fn workload_file<'a>(file: &'a PlanFile, catalog: &'a Catalog) -> Result<&'a WorkloadFile> {
    let named = sql::named(&file.workload, file.kind);
    let (name, place) = named.unwrap_or((sql::MICRO, file.workload.place.clone()));
    match &file.workload_file {
        Some(workload) => Ok(workload),
        None if sql::is_path(name) => {
            Err(place.conflict(format!("the workload file `{name}` has not been read")))
        }
        None => catalog.workload_file(name, &place.to_string()),
    }
}

fn script(file: &PlanFile) -> Result<&ScriptFile> {
    file.script.as_ref().ok_or_else(|| {
        let found = lua::script(&file.workload);
        let (name, place) = found.unwrap_or(("", file.workload.place.clone()));
        place.conflict(format!("the script `{name}` has not been read"))
    })
}

/// The system that `base` names, by its own name or by another that no other has; without `base` the first.
fn find_base<'a>(file: &PlanFile, named: &'a [Named]) -> Result<&'a System> {
    let Some(Mention { name: wanted, place }) = &file.base else {
        let first = named.first().map(|one| &one.system);
        return first.ok_or_else(|| PlanError::MissingKey {
            place: file.workload.place.clone(),
            key: "system",
            context: "the plan",
        });
    };
    if let Some(one) = named.iter().find(|one| one.system.name == *wanted) {
        return Ok(&one.system);
    }
    // A control is a copy of the base and has all its names but the label; it is never meant.
    let mut found = named
        .iter()
        .map(|one| (&one.system, &one.aliases))
        .filter(|(system, aliases)| system.name != System::CONTROL && aliases.contains(wanted));
    match (found.next(), found.next()) {
        (Some((system, _)), None) => Ok(system),
        (None, _) => {
            let names = named.iter().map(|one| one.system.name.as_str());
            Err(PlanError::unknown(place, "system", wanted, names))
        }
        (Some((first, _)), Some((second, _))) => Err(place.conflict(format!(
            "`base = \"{wanted}\"` fits more than one system, such as `{}` and `{}`: give one \
             of these names",
            first.name, second.name
        ))),
    }
}

/// Is one the other under another name?
fn is_copy(a: &System, b: &System) -> bool {
    let renamed = System { name: b.name.clone(), control: b.control, ..a.clone() };
    a.name != b.name && renamed == *b
}

/// A system of the plan, and what `base` may call it.
struct Named {
    system: System,
    /// Full name, full name with the build as written, build id, build as written.
    aliases: Vec<String>,
    place: Place,
}

struct Maker<'a> {
    catalog: &'a Catalog,
    builds: &'a FindBuild<'a>,
    host: HostShape,
    /// The CPUs that words of placement choose from.
    cpus: Vec<u32>,
    workload: &'a WorkloadSpec,
}

impl Maker<'_> {
    fn system(&self, entry: &SystemEntry) -> Result<Named> {
        let request = &entry.request;
        let build = (self.builds)(request).map_err(|cause| {
            let name = &request.name;
            entry.place.conflict(match request.connect {
                Some(_) => format!("the `{name}` server that `connect` names: {cause}"),
                None => format!("no build `{name}`: {cause}"),
            })
        })?;
        request.check(&build, &entry.place, self.catalog.oldest_supported(build.dbms))?;
        let engine =
            entry.engine.as_ref().map_or(build.dbms.default_engine(), |(engine, _)| *engine);
        match self.workload {
            WorkloadSpec::Insert(spec) => {
                entry.place.refuse(insert::no_partitions(spec.partitions, "range", &build))?;
            }
            WorkloadSpec::Sql(spec) => sql::check_for(spec, build.dbms, &entry.place)?,
            WorkloadSpec::Tpcc(spec) => tpcc::check_for(spec, &build, engine, &entry.place)?,
            WorkloadSpec::Lua(_) | WorkloadSpec::Imported(_) => {}
        }
        let connection = match &entry.connection {
            Some((asked, place)) => connection::resolve(*asked, &build, place)?,
            None => Connection::default(),
        };
        let has_server = !build.dbms.is_embedded();
        if !has_server && (entry.huge_pages || !entry.preload.is_empty()) {
            return Err(entry.place.conflict(format!(
                "`preload`, `huge_pages` and `build = \"{}\"`: backslide starts no server process for it",
                request.name
            )));
        }
        let cpus = entry.cpus.clone();
        let cpus = if has_server { cpus } else { cpus.without_server() };
        let mut system = System {
            engine,
            config: empty_config(),
            set: as_map(&entry.set),
            cpus: cpus.placement(&self.cpus)?,
            connection,
            preload: entry.preload.clone(),
            huge_pages: entry.huge_pages,
            server_host: entry.server_host.clone(),
            ..System::new("", build)
        };
        check_engine(entry, system.build.dbms)?;
        system.config = self.config(entry, &system)?;
        // There is one SQLite in one backslide, so it needs no version.
        let (build, id) = (&system.build, system.build.id());
        let is_bundled = build.source == BuildSource::Embedded;
        let full = full_name(&system, if is_bundled { build.dbms.name() } else { &id });
        let written = full_name(&system, &request.name);
        system.name = entry.label.clone().unwrap_or_else(|| full.clone());
        Ok(Named {
            aliases: vec![full, written, id, request.name.clone()],
            place: entry.place.clone(),
            system,
        })
    }

    fn config(&self, entry: &SystemEntry, system: &System) -> Result<Config> {
        if system.build.is_foreign() {
            return Ok(empty_config());
        }
        let (dbms, version) = (system.build.dbms, &system.build.version);
        let configs = &self.catalog.configs;
        let (name, place) = match &entry.config {
            Some(Mention { name, place }) => (name.as_str(), place),
            None => ("default", &entry.place),
        };
        let file = configs.find(dbms, name, place)?;
        let mut config = file.render(version, system.engine, self.host)?;
        for (setting, place) in &entry.set {
            // What the catalog does not know is for the server to judge.
            if let Some(range) = configs.range_without(dbms, &setting.name, version) {
                return Err(PlanError::UnknownOption {
                    place: place.clone(),
                    option: setting.name.clone(),
                    build: format!("{dbms} {version}"),
                    range,
                    help: "leave it out",
                });
            }
            put(&mut config.settings, setting, dbms);
        }
        Ok(config)
    }
}

/// What is known of the settings of a server that is not ours: nothing before it is asked.
fn empty_config() -> Config {
    Config {
        name: "as-is".to_owned(),
        summary: "a foreign server, with its own settings".to_owned(),
        ..Config::default()
    }
}

/// Replaces the setting of this name, otherwise appends it: the last one wins.
fn put(settings: &mut Vec<Setting>, new: &Setting, dbms: Dbms) {
    match settings.iter_mut().find(|old| dbms.product().is_same_option(&old.name, &new.name)) {
        Some(old) => *old = new.clone(),
        None => settings.push(new.clone()),
    }
}

fn full_name(system: &System, build: &str) -> String {
    let config = &system.config.name;
    if system.build.dbms.has_engines() {
        format!("{build}/{}/{config}", system.engine)
    } else {
        format!("{build}/{config}")
    }
}

fn check_engine(entry: &SystemEntry, dbms: Dbms) -> Result<()> {
    match &entry.engine {
        Some((engine, place)) if !engine.fits(dbms) => {
            let fit = Engine::ALL.into_iter().filter(|engine| engine.fits(dbms));
            let fit: Vec<&str> = fit.map(Engine::name).collect();
            Err(place.conflict(format!(
                "{dbms} has no engine `{engine}`: use {}, or leave it out",
                fit.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

fn check_unique(named: &[Named]) -> Result<()> {
    for (at, Named { system: System { name, .. }, place, .. }) in named.iter().enumerate() {
        if named[..at].iter().any(|other| other.system.name == *name) {
            return Err(place.conflict(if place.is_argument() {
                format!("`{name}` is named twice: name two different systems")
            } else {
                format!("a second system with the name `{name}`: give one of them another `label`")
            }));
        }
    }
    Ok(())
}

/// Marks the control, or adds it where the plan asks for one, and puts it last.
fn with_control(file: &PlanFile, mut systems: Vec<System>, base: &System) -> Result<Vec<System>> {
    let is_control = |system: &System| system.name == System::CONTROL;
    match &file.control {
        Some(place) if systems.iter().any(is_control) => {
            return Err(place.conflict(
                "`control = true` and a system with `label = \"control\"`: leave one of them out",
            ));
        }
        Some(_) => {
            let name = System::CONTROL.to_owned();
            systems.push(System { name, control: true, ..base.clone() });
        }
        None => {
            for system in &mut systems {
                system.control = is_control(system) && is_copy(system, base);
            }
            systems.sort_by_key(|system| system.control);
        }
    }
    Ok(systems)
}

/// Does the plan ask for templates? An error where they cannot be had, or would be of no use.
fn template(file: &PlanFile, steps: &[Step], systems: &[System]) -> Result<bool> {
    let Some(place) = &file.template else { return Ok(false) };
    // Steps load where others follow. Only the Insert Benchmark may have none of these; scripts may load nothing.
    let why = match file.kind {
        WorkloadKind::Lua => {
            "no \"prepare\" at the beginning of `commands`: nothing would be loaded"
        }
        WorkloadKind::Insert | WorkloadKind::Micro | WorkloadKind::Sql | WorkloadKind::Tpcc => {
            "no query step in `steps`: the data would be loaded and nothing measured"
        }
    };
    let nothing_left = (!steps.iter().any(|step| step.loads))
        .then(|| format!("`template = true` and {why}; leave one of them out"));
    place.refuse(nothing_left.or_else(|| systems.iter().find_map(not_clonable)))?;
    Ok(true)
}

fn not_clonable(system: &System) -> Option<String> {
    if system.build.is_foreign() {
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
