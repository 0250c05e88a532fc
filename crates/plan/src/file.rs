//! A plan file, read and checked as far as that needs neither builds nor a host.

use std::collections::BTreeMap;

use model::{Dbms, Engine, HostShape, Setting, mix};

use crate::config::{engine, scalar};
use crate::course::{self, CourseEntry};
use crate::cpus::{self, Cpus};
use crate::document::{self, Node, Value};
use crate::fields::{Fields, Item, Mention};
use crate::keys::Takes::{Count, Later, Other, Switch};
use crate::keys::{self, Key};
use crate::kind::{WORDS, WorkloadKind};
use crate::load_hosts::{self, LoadHosts};
use crate::lua::ScriptFile;
use crate::request::{BuildRequest, without_password};
use crate::sql::{self, WorkloadFile};
use crate::{Place, PlanError, Result, connection, insert, lua, tpcc};

/// The keys of a plan besides those of its course.
pub(crate) static KEYS: &[Key<PlanFile>] = &[
    Key("name", Other(|p, v| name(v).map(|it| p.name = it))),
    Key("workload", Other(workload)),
    Key("base", Other(|p, v| v.mention().map(|it| p.base = Some(it)))),
    Key("seed", Count(0..=i64::MAX as u64, |p, n| p.seed = n)),
    Key("control", Other(|p, v| switched_on(v).map(|it| p.control = it))),
    Key("template", Other(|p, v| switched_on(v).map(|it| p.template = it))),
    Key("load_hosts", Other(|p, v| load_hosts::read(v).map(|it| p.load_hosts = Some(it)))),
    Key("placement", Later),
    Key("connection", Later),
    Key("system", Later),
];

pub(crate) static SYSTEM_KEYS: &[Key<SystemEntry>] = &[
    Key("build", Later),
    Key("path", Later),
    Key("connect", Later),
    Key("config", Other(|s, v| v.mention().map(|it| s.config = Some(it)))),
    Key("engine", Other(|s, v| engine(v).map(|it| s.engine = Some((it, v.place()))))),
    Key("set", Other(|s, v| settings(v).map(|it| s.set = it))),
    Key("cpus", Later),
    Key("preload", Other(|s, v| v.text().map(|it| it.clone_into(&mut s.preload)))),
    Key("huge_pages", Switch(|s, on| s.huge_pages = on)),
    Key("connection", Later),
    Key("server_host", Other(|s, v| load_hosts::one(v).map(|it| s.server_host = Some(it)))),
    Key("label", Other(|s, v| name(v).map(|it| s.label = Some(it)))),
];

const MAX_NAME: usize = 100;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanFile {
    pub(crate) name: String,
    pub(crate) course: CourseEntry,
    pub(crate) seed: u64,
    pub(crate) base: Option<Mention>,
    /// Where `true` stands, if it does; so of `template`.
    pub(crate) control: Option<Place>,
    pub(crate) template: Option<Place>,
    pub(crate) load_hosts: Option<LoadHosts>,
    pub(crate) systems: Vec<SystemEntry>,
    pub(crate) kind: WorkloadKind,
    pub(crate) workload: Node,
    pub(crate) workload_file: Option<WorkloadFile>,
    pub(crate) script: Option<ScriptFile>,
    /// The CPUs that words of placement choose from; empty where nobody said which.
    cpus: Vec<u32>,
    pub(crate) source: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SystemEntry {
    pub(crate) place: Place,
    pub(crate) request: BuildRequest,
    pub(crate) engine: Option<(Engine, Place)>,
    pub(crate) config: Option<Mention>,
    pub(crate) label: Option<String>,
    pub(crate) set: Vec<(Setting, Place)>,
    pub(crate) cpus: Cpus,
    pub(crate) connection: Option<(connection::Asked, Place)>,
    pub(crate) preload: String,
    pub(crate) huge_pages: bool,
    pub(crate) server_host: Option<String>,
}

/// Reads a plan. `origin` is what people know the text as, its file name: errors begin with it.
pub fn read(text: &str, origin: &str) -> Result<PlanFile> {
    from_document(&document::parse(text, origin)?, text)
}

pub(crate) fn from_document(root: &Node, source: &str) -> Result<PlanFile> {
    refuse_misplaced(Item { key: "the plan", node: root }, Home::Plan)?;
    let fields = Fields::new(root, "the plan", &key_names())?;
    fields.need("name")?;
    fields.need("workload")?;
    let mut plan = PlanFile::default();
    keys::apply(KEYS, &fields, &mut plan)?;
    let placement = fields.maybe("placement", cpus::read)?.unwrap_or_default();
    let connection = fields.get("connection");
    let systems = fields.need("system")?.list()?.into_iter();
    plan.systems = PlanError::collected(systems.map(|item| system(item, &placement, connection)))?;
    if plan.load_hosts.is_some() {
        plan.systems.iter().try_for_each(|system| load_hosts::check_cpus(&system.cpus))?;
    }
    fields.need("rounds")?;
    keys::apply(course::KEYS, &fields, &mut plan.course)?;
    plan.course.check(plan.kind)?;
    if fields.get("seed").is_none() {
        plan.seed = seed_of(&plan.name);
    }
    plan.source = without_passwords(source, &plan.systems);
    Ok(plan)
}

fn key_names() -> Vec<&'static str> {
    [keys::names(KEYS), keys::names(course::KEYS)].concat()
}

fn switched_on(item: Item<'_>) -> Result<Option<Place>> {
    Ok(item.switch()?.then(|| item.place()))
}

impl PlanFile {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of the workload file that it runs, as the plan gives it: relative to the plan. `None`
    /// where its workload is of the catalog. The caller reads it for [`PlanFile::with_workload_file`].
    pub fn workload_file(&self) -> Option<&str> {
        let (named, _) = sql::named(&self.workload, self.kind)?;
        sql::is_path(named).then_some(named)
    }

    /// The plan with the text of its workload file, which people know as `origin`.
    pub fn with_workload_file(self, text: &str, origin: &str) -> Result<Self> {
        Ok(Self { workload_file: Some(WorkloadFile::parse(text, origin)?), ..self })
    }

    /// The script that it runs, and where its `path` says to look. The caller reads it for [`PlanFile::with_script`].
    pub fn script(&self) -> Option<(&str, Vec<String>)> {
        if self.kind != WorkloadKind::Lua {
            return None;
        }
        let (name, _) = lua::script(&self.workload)?;
        Some((name, lua::path(&self.workload)))
    }

    /// The plan with the text of its script, found at `path`; it may have what it requires in `directories`.
    #[must_use]
    pub fn with_script(self, text: String, path: String, directories: Vec<String>) -> Self {
        Self { script: Some(ScriptFile { text, path, directories }), ..self }
    }

    /// The error for an option that the script refuses, at the line that sets it.
    pub fn refuse_option(&self, option: &str, message: String) -> PlanError {
        lua::option_place(&self.workload, option).conflict(message)
    }

    /// The plan for a process that may use these CPUs, in rising order: words of placement choose from them.
    #[must_use]
    pub fn with_cpus(self, cpus: Vec<u32>) -> Self {
        Self { cpus, ..self }
    }

    /// Asks `problem` about each list of CPUs of this host; the error names the line that gives the list.
    pub fn check_cpus(&self, problem: impl Fn(&str) -> Option<String>) -> Result<()> {
        for system in &self.systems {
            let Cpus::Lists(lists, place) = &system.cpus else { continue };
            place.refuse(problem(&lists.server))?;
            // Load hosts have CPUs of their own.
            if self.load_hosts.is_none() {
                place.refuse(problem(&lists.client))?;
            }
        }
        Ok(())
    }

    /// The CPUs that words of placement choose from: the given ones, otherwise as many as the host has.
    pub(crate) fn cpus(&self, host: HostShape) -> Vec<u32> {
        if self.cpus.is_empty() { (0..host.cpus).collect() } else { self.cpus.clone() }
    }

    pub fn requests(&self) -> Vec<BuildRequest> {
        let mut requests = Vec::new();
        for system in &self.systems {
            if !requests.contains(&system.request) {
                requests.push(system.request.clone());
            }
        }
        requests
    }
}

/// Names are printed in tables and used in paths: short, one line.
fn name(item: Item<'_>) -> Result<String> {
    item.fitting(&format!("one line of at most {MAX_NAME} visible characters"), |text| {
        text.chars().count() <= MAX_NAME && !text.chars().any(model::is_unseen)
    })
}

fn workload(plan: &mut PlanFile, item: Item<'_>) -> Result<()> {
    item.table("a table such as { kind = \"insert\", scale = \"small\" }")?;
    refuse_misplaced(item, Home::Workload)?;
    // The kind decides which keys there are, so it is looked at before they are.
    let kind = Fields::named(item)?.maybe("kind", |kind| kind.word("workload", &WORDS))?;
    plan.kind = kind.unwrap_or_default();
    plan.workload = item.node.clone();
    match plan.kind {
        WorkloadKind::Insert => insert::check_table(item.node),
        WorkloadKind::Micro | WorkloadKind::Sql => sql::check_table(item.node, plan.kind),
        WorkloadKind::Tpcc => tpcc::check_table(item.node),
        WorkloadKind::Lua => lua::check_table(item.node),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Plan,
    Workload,
    System,
}

impl Home {
    fn has(self, key: &str) -> bool {
        match self {
            Self::Plan => key_names().contains(&key),
            Self::System => keys::names(SYSTEM_KEYS).contains(&key),
            Self::Workload => {
                let kinds = [
                    keys::names(insert::KEYS),
                    sql::options::names(),
                    tpcc::key_names(),
                    lua::key_names(),
                ];
                kinds.iter().any(|names| names.contains(&key))
            }
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Plan => ("the plan", "the plan, above its first table"),
            Self::Workload => ("the workload", "the workload"),
            Self::System => ("a system", "a `[[system]]`"),
        }
    }

    /// The key that has the meaning here that `key` has in another table.
    fn means(self, key: &str) -> Option<&'static str> {
        (self == Self::System && key == "name").then_some("label")
    }
}

/// A key of another table of the plan is not a misspelt one.
fn refuse_misplaced(table: Item<'_>, home: Home) -> Result<()> {
    for entry in table.table("a table")?.iter().filter(|entry| !home.has(&entry.key)) {
        let others = [Home::Plan, Home::Workload, Home::System].into_iter();
        let others = others.filter(|other| *other != home && other.has(&entry.key));
        let homes: Vec<&str> = others.map(|other| other.words().1).collect();
        if !homes.is_empty() {
            let meant = home.means(&entry.key).map(|key| format!("; here it is called `{key}`"));
            return Err(entry.place.conflict(format!(
                "`{}` is not a key of {}: it belongs to {}{}",
                entry.key,
                home.words().0,
                homes.join(", or to "),
                meant.unwrap_or_default()
            )));
        }
    }
    Ok(())
}

/// The name's FNV-1a hash, mixed. Of 63 bits, so that it can be written back into a plan file.
fn seed_of(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mix(hash, &[]) >> 1
}

fn without_passwords(text: &str, systems: &[SystemEntry]) -> String {
    let connects = systems.iter().filter_map(|s| s.request.connect.as_deref());
    connects
        .fold(text.to_owned(), |text, connect| text.replace(connect, &without_password(connect)))
}

fn system(item: Item<'_>, placement: &Cpus, connection: Option<Item<'_>>) -> Result<SystemEntry> {
    refuse_misplaced(item, Home::System)?;
    let fields = Fields::new(item.node, "system", &keys::names(SYSTEM_KEYS))?;
    let request = BuildRequest::read(&fields)?;
    let connection = fields.get("connection").or(connection).map(|item| {
        let connection = connection::connection(item, request.connect.is_some())?;
        Ok((connection, item.place()))
    });
    let mut entry = SystemEntry {
        place: fields.place_of(&["build"]),
        cpus: system_cpus(&fields, &request, placement)?,
        connection: connection.transpose()?,
        request,
        ..SystemEntry::default()
    };
    keys::apply(SYSTEM_KEYS, &fields, &mut entry)?;
    // Only a server that we start can be given a library or huge pages.
    if let (Some(item), None) = (fields.get("server_host"), &entry.request.connect) {
        return Err(item.conflict(
            "`server_host` without `connect`: backslide starts this server here and watches it; leave it out",
        ));
    }
    match (fields.first(&["preload", "huge_pages"]), fields.first(&["config", "set"])) {
        (Some(item), _) if !has_server(&entry.request) => Err(item.conflict(format!(
            "`{}` and `build = \"{}\"`: backslide starts no server process for it",
            item.key, entry.request.name
        ))),
        (_, Some(item)) if entry.request.connect.is_some() => Err(item.conflict(format!(
            "`connect` and `{}`: a foreign server keeps its own settings",
            item.key
        ))),
        _ => Ok(entry),
    }
}

fn has_server(request: &BuildRequest) -> bool {
    request.connect.is_none() && !request.dbms.is_some_and(Dbms::is_embedded)
}

/// The system's own `cpus`, otherwise the plan's. Only a server process that we start can be placed.
fn system_cpus(fields: &Fields<'_>, request: &BuildRequest, default: &Cpus) -> Result<Cpus> {
    let own = fields.get("cpus");
    let cpus = own.map_or_else(|| Ok(default.clone()), cpus::read)?;
    if has_server(request) {
        return Ok(cpus);
    }
    if let (Some(item), Cpus::Lists(lists, _)) = (own, &cpus)
        && !lists.server.is_empty()
    {
        return Err(item.conflict(format!(
            "`cpus.server` and `build = \"{}\"`: backslide starts no server process to place",
            request.name
        )));
    }
    Ok(cpus.without_server())
}

/// `set = { option = value }`. Options that take no value are written `skip-log-bin = true`.
fn settings(item: Item<'_>) -> Result<Vec<(Setting, Place)>> {
    let entries = item.table("a table such as { option = \"value\" }")?;
    let settings = entries.iter().map(|entry| {
        let value = Item { key: &entry.key, node: &entry.node };
        let is_bare = ["skip", "disable"].iter().any(|word| entry.key.starts_with(word));
        let value = match (is_bare, &entry.node.value) {
            (true, Value::Switch(true)) => None,
            (true, Value::Switch(false)) => return Err(value.wrong("true, or left out")),
            _ => Some(scalar(value)?),
        };
        let setting = Setting { name: entry.key.clone(), value };
        Ok((setting, entry.place.clone()))
    });
    settings.collect()
}

pub(crate) fn as_map(set: &[(Setting, Place)]) -> BTreeMap<String, String> {
    set.iter().map(|(s, _)| (s.name.clone(), s.value.clone().unwrap_or_default())).collect()
}
