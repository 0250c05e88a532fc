//! Plan file + catalog + builds + host → plan.

use model::{
    Build, BuildSource, Config, Connection, Dbms, Engine, HostShape, InsertSpec, Plan, Setting,
    System, WorkloadSpec,
};

use crate::base::{self, Named};
use crate::catalog::Catalog;
use crate::file::{PlanFile, SystemEntry, as_map};
use crate::kind::WorkloadKind;
use crate::request::BuildRequest;
use crate::sql::WorkloadFile;
use crate::{Place, PlanError, Result, connection, course, insert, sql, template, tpcc};

/// Finds the build that is asked for; the error says what was looked for and what to do.
pub type FindBuild<'a> = dyn Fn(&BuildRequest) -> Result<Build, String> + 'a;

/// The plan with nothing left open: every system with its build, engine and settings, every
/// parameter of the workload.
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
    };
    let maker = Maker { catalog, builds, host, cpus: file.cpus(host), workload: &workload };
    let named = file.systems.iter().map(|entry| maker.system(entry));
    let named: Vec<Named> = named.collect::<Result<_, _>>()?;
    check_unique(&named)?;
    let base = base::find(file, &named)?.clone();
    let systems: Vec<System> = named.into_iter().map(|named| named.system).collect();
    let template = template::resolve(file, &workload.steps(), &systems)?;
    let systems = with_control(file, systems, &base)?;
    let course = course::resolve(&file.course, catalog.noise(), &systems)?;
    Ok(Plan {
        base: base.name.clone(),
        rounds: file.course.rounds,
        course,
        seed: file.seed,
        source: file.source.clone(),
        template,
        ..Plan::new(&file.name, workload, systems)
    })
}

/// The workload file that the plan runs: its user's own, or one of the catalog.
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
            WorkloadSpec::Insert(spec) => check_partitions(spec, &build, &entry.place)?,
            WorkloadSpec::Sql(spec) => sql::check_for(spec, build.dbms, &entry.place)?,
            WorkloadSpec::Tpcc(spec) => tpcc::check_for(spec, &build, engine, &entry.place)?,
            WorkloadSpec::Imported(_) => {}
        }
        let connection = match &entry.connection {
            Some((asked, place)) => connection::resolve(*asked, &build, place)?,
            None => Connection::default(),
        };
        let mut system = System {
            engine,
            config: empty_config(),
            set: as_map(&entry.set),
            cpus: entry.cpus.placement(&self.cpus)?,
            connection,
            preload: entry.preload.clone(),
            huge_pages: entry.huge_pages,
            ..System::new("", build)
        };
        check_engine(entry, &system)?;
        system.config = self.config(entry, &system)?;
        let full = full_name(&system, &build_name(&system.build));
        let written = full_name(&system, &request.name);
        system.name = entry.label.clone().unwrap_or_else(|| full.clone());
        Ok(Named {
            aliases: vec![full, written, system.build.id(), request.name.clone()],
            place: entry.place.clone(),
            system,
        })
    }

    fn config(&self, entry: &SystemEntry, system: &System) -> Result<Config> {
        if let BuildSource::Connect(_) = system.build.source {
            return Ok(empty_config());
        }
        let dbms = system.build.dbms;
        let (name, place) = match &entry.config {
            Some((name, place)) => (name.as_str(), place),
            None => ("default", &entry.place),
        };
        let file = self.catalog.configs.find(dbms, name, place)?;
        let mut config = file.render(&system.build.version, system.engine, self.host)?;
        for (setting, place) in &entry.set {
            self.check_option(setting, place, system)?;
            put(&mut config.settings, setting, dbms);
        }
        Ok(config)
    }

    /// An option that the catalog knows, and knows this version not to have, is refused before anything
    /// starts; what it does not know is for the server to judge.
    fn check_option(&self, setting: &Setting, place: &Place, system: &System) -> Result<()> {
        let (dbms, version) = (system.build.dbms, &system.build.version);
        match self.catalog.configs.range_without(dbms, &setting.name, version) {
            None => Ok(()),
            Some(range) => Err(PlanError::UnknownOption {
                place: place.clone(),
                option: setting.name.clone(),
                build: format!("{dbms} {version}"),
                range,
                help: "leave it out",
            }),
        }
    }
}

/// What is known of the settings of a server that is not ours: nothing before it is asked.
fn empty_config() -> Config {
    Config {
        name: "as-is".to_owned(),
        summary: "a server that is not ours, with the settings that it has".to_owned(),
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

/// The build's part of a system's name. There is one SQLite in one backslide, so it needs no version.
fn build_name(build: &Build) -> String {
    if build.dbms.is_embedded() { build.dbms.to_string() } else { build.id() }
}

fn full_name(system: &System, build: &str) -> String {
    let config = &system.config.name;
    if system.build.dbms.has_engines() {
        format!("{build}/{}/{config}", system.engine)
    } else {
        format!("{build}/{config}")
    }
}

fn check_engine(entry: &SystemEntry, system: &System) -> Result<()> {
    let dbms = system.build.dbms;
    let fit = || Engine::ALL.into_iter().filter(|engine| engine.fits(dbms)).map(Engine::name);
    match &entry.engine {
        Some((engine, place)) if !engine.fits(dbms) => Err(place.conflict(format!(
            "{dbms} has no engine `{engine}`, but {}: name one of these, or none",
            fit().collect::<Vec<_>>().join(", ")
        ))),
        _ => Ok(()),
    }
}

fn check_partitions(spec: &InsertSpec, build: &Build, place: &Place) -> Result<()> {
    let partitions = &build.dbms.product().features.partitions;
    if spec.partitions == 0 || partitions.holds(&build.version) {
        return Ok(());
    }
    Err(place.conflict(format!(
        "`partitions` = {} and `build`: {} has no range partitions; leave one of them out",
        spec.partitions,
        build.id()
    )))
}

fn check_unique(named: &[Named]) -> Result<()> {
    let has_before = |(at, one): &(usize, &Named)| {
        named[..*at].iter().any(|other| other.system.name == one.system.name)
    };
    match named.iter().enumerate().find(has_before) {
        Some((_, one)) => Err(one.place.conflict(named_twice(one))),
        None => Ok(()),
    }
}

fn named_twice(one: &Named) -> String {
    let name = &one.system.name;
    if one.place.is_argument() {
        format!("`{name}` twice: name two systems that differ")
    } else {
        format!("a second system with the name `{name}`: give one of them another `label`")
    }
}

/// Marks the control, or adds it where the plan asks for one, and puts it last.
fn with_control(file: &PlanFile, mut systems: Vec<System>, base: &System) -> Result<Vec<System>> {
    let labelled = systems.iter().any(|system| system.name == System::CONTROL);
    match &file.control {
        Some(place) if labelled => Err(place.conflict(
            "`control = true` and a system with `label = \"control\"`: leave one of them out",
        )),
        Some(_) => {
            systems.push(System {
                name: System::CONTROL.to_owned(),
                control: true,
                ..base.clone()
            });
            Ok(systems)
        }
        None => {
            for system in &mut systems {
                system.control = system.name == System::CONTROL && base::is_copy(system, base);
            }
            systems.sort_by_key(|system| system.control);
            Ok(systems)
        }
    }
}
