//! A plan file, read and checked as far as that needs neither builds nor a host.

use std::collections::BTreeMap;

use model::{Dbms, Engine, HostShape, Setting, mix};

use crate::config::{engine, scalar};
use crate::course::{self, CourseEntry};
use crate::cpus::{self, Cpus};
use crate::document::{self, Node, Value};
use crate::fields::{Fields, Item};
use crate::request::{BuildRequest, without_password};
use crate::sql::{self, WorkloadFile};
use crate::{Place, PlanError, connection, insert, tpcc};

const KEYS: [&str; 14] = [
    "name",
    "workload",
    "rounds",
    "interleave",
    "slice_ms",
    "quarantine",
    "margins",
    "base",
    "seed",
    "control",
    "placement",
    "connection",
    "template",
    "system",
];
const SYSTEM_KEYS: [&str; 11] = [
    "build",
    "path",
    "connect",
    "config",
    "engine",
    "label",
    "set",
    "cpus",
    "connection",
    "preload",
    "huge_pages",
];
/// Keys of the plan that are easily taken for the workload's, which has none of these names.
const NOT_OF_WORKLOADS: [&str; 11] = [
    "rounds",
    "interleave",
    "slice_ms",
    "quarantine",
    "margins",
    "base",
    "seed",
    "control",
    "placement",
    "connection",
    "template",
];
const MAX_NAME: usize = 100;

/// Kinds of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The Insert Benchmark.
    Insert,
    /// The microbenchmarks.
    Micro,
    /// A workload file.
    Sql,
    /// The TPC-C-like workload.
    Tpcc,
}

/// What a plan file says.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    pub(crate) name: String,
    pub(crate) course: CourseEntry,
    pub(crate) seed: u64,
    pub(crate) base: Option<(String, Place)>,
    /// Where `control = true` stands, if it does.
    pub(crate) control: Option<Place>,
    /// Where `template = true` stands, if it does.
    pub(crate) template: Option<Place>,
    pub(crate) systems: Vec<SystemEntry>,
    pub(crate) kind: Kind,
    pub(crate) workload: Node,
    /// The user's own workload file, once it has been read.
    pub(crate) workload_file: Option<WorkloadFile>,
    /// The CPUs that words of placement choose from; empty where nobody said which.
    cpus: Vec<u32>,
    pub(crate) source: String,
}

/// One `[[system]]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SystemEntry {
    pub(crate) place: Place,
    pub(crate) request: BuildRequest,
    pub(crate) engine: Option<(Engine, Place)>,
    pub(crate) config: Option<(String, Place)>,
    pub(crate) label: Option<String>,
    /// Settings on top of the config, and where each stands.
    pub(crate) set: Vec<(Setting, Place)>,
    pub(crate) cpus: Cpus,
    /// How clients talk to it, and where the plan says so.
    pub(crate) connection: Option<(connection::Asked, Place)>,
    pub(crate) preload: String,
    pub(crate) huge_pages: bool,
}

/// Reads a plan. `origin` is what people know the text as, its file name: errors begin with it.
pub fn read(text: &str, origin: &str) -> Result<PlanFile, PlanError> {
    from_document(&document::parse(text, origin)?, text)
}

/// Reads the plan that a document holds, which was made from the text `source`.
pub(crate) fn from_document(root: &Node, source: &str) -> Result<PlanFile, PlanError> {
    let fields = Fields::new(root, "the plan", &KEYS)?;
    let name = name(&fields.need("name")?)?;
    let workload = fields.need("workload")?;
    let kind = check_workload(&workload)?;
    let placement = fields.get("placement").map(|item| cpus::read(&item));
    let placement = placement.transpose()?.unwrap_or_default();
    let systems = fields.need("system")?.list()?;
    let connection = fields.get("connection");
    let systems = systems
        .iter()
        .map(|item| system(item, &placement, connection));
    let seed = fields
        .get("seed")
        .map(|item| item.count(0..=i64::MAX as u64));
    let base = fields
        .get("base")
        .map(|item| with_place(&item))
        .transpose()?;
    let switched_on = |key| match fields.get(key) {
        Some(item) if item.switch()? => Ok(Some(item.place())),
        _ => Ok(None),
    };
    let control = switched_on("control")?;
    let template = switched_on("template")?;
    let systems: Vec<SystemEntry> = systems.collect::<Result<_, _>>()?;
    Ok(PlanFile {
        course: course::course(&fields, kind)?,
        seed: seed.transpose()?.unwrap_or_else(|| seed_of(&name)),
        name,
        base,
        control,
        template,
        source: without_passwords(source, &systems),
        systems,
        kind,
        workload: workload.node.clone(),
        workload_file: None,
        cpus: Vec::new(),
    })
}

impl PlanFile {
    /// The plan's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of the workload file that it runs, as the plan gives it: relative to the plan. `None`
    /// where its workload is of the catalog. The caller reads it for [`PlanFile::with_workload_file`].
    pub fn workload_file(&self) -> Option<&str> {
        let (named, _) = sql::named(&self.workload, self.kind)?;
        sql::is_path(named).then_some(named)
    }

    /// The plan with the text of its workload file, which people know as `origin`. An error says what is
    /// wrong in the file, with its line.
    pub fn with_workload_file(self, text: &str, origin: &str) -> Result<Self, PlanError> {
        Ok(Self {
            workload_file: Some(WorkloadFile::parse(text, origin)?),
            ..self
        })
    }

    /// The plan for a process that may use these CPUs, in rising order: words of placement choose from them.
    #[must_use]
    pub fn with_cpus(self, cpus: Vec<u32>) -> Self {
        Self { cpus, ..self }
    }

    /// The CPUs that words of placement choose from: those that were given, else as many as the host has.
    pub(crate) fn cpus(&self, host: HostShape) -> Vec<u32> {
        if self.cpus.is_empty() {
            (0..host.cpus).collect()
        } else {
            self.cpus.clone()
        }
    }

    /// The builds that it needs, each once, in the order of the file.
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
fn name(item: &Item<'_>) -> Result<String, PlanError> {
    let text = item.text()?;
    if text.chars().count() > MAX_NAME || text.chars().any(char::is_control) {
        return Err(item.wrong(&format!("one line of at most {MAX_NAME} characters")));
    }
    Ok(text.to_owned())
}

fn with_place(item: &Item<'_>) -> Result<(String, Place), PlanError> {
    Ok((item.text()?.to_owned(), item.place()))
}

/// The kind of workload, once its table has been checked.
fn check_workload(item: &Item<'_>) -> Result<Kind, PlanError> {
    let Value::Table(entries) = &item.node.value else {
        return Err(item.wrong("a table such as { kind = \"insert\", scale = \"small\" }"));
    };
    if let Some(entry) = entries
        .iter()
        .find(|e| NOT_OF_WORKLOADS.contains(&e.key.as_str()))
    {
        let or_system = if SYSTEM_KEYS.contains(&entry.key.as_str()) {
            ", or to a `[[system]]`"
        } else {
            ""
        };
        return Err(PlanError::Conflict {
            place: entry.place.clone(),
            message: format!(
                "`{}` is no key of the workload: it belongs to the plan, above its first table{or_system}",
                entry.key
            ),
        });
    }
    // The kind decides which keys there are, so it is looked at before they are.
    let kind = match entries.iter().find(|entry| entry.key == "kind") {
        None => Kind::Insert,
        Some(kind) => {
            let kind = Item {
                key: "kind",
                node: &kind.node,
            };
            let words = [
                ("insert", Kind::Insert),
                ("micro", Kind::Micro),
                ("sql", Kind::Sql),
                ("tpcc", Kind::Tpcc),
            ];
            kind.word("workload", &words)?
        }
    };
    match kind {
        Kind::Insert => insert::check_table(item.node)?,
        Kind::Micro | Kind::Sql => sql::check_table(item.node, kind)?,
        Kind::Tpcc => tpcc::check_table(item.node)?,
    }
    Ok(kind)
}

/// The name's FNV-1a hash, mixed: the same plan has the same seed everywhere. Of 63 bits, so that
/// it can be written back into a plan file.
fn seed_of(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mix(hash, &[]) >> 1
}

fn without_passwords(text: &str, systems: &[SystemEntry]) -> String {
    let connects = systems.iter().filter_map(|s| s.request.connect.as_deref());
    connects.fold(text.to_owned(), |text, connect| {
        text.replace(connect, &without_password(connect))
    })
}

fn system(
    item: &Item<'_>,
    placement: &Cpus,
    connection: Option<Item<'_>>,
) -> Result<SystemEntry, PlanError> {
    let fields = Fields::new(item.node, "system", &SYSTEM_KEYS)?;
    let request = BuildRequest::read(&fields)?;
    let engine = fields
        .get("engine")
        .map(|item| Ok((engine(&item)?, item.place())));
    let cpus = system_cpus(&fields, &request, placement)?;
    let connection = fields.get("connection").or(connection).map(|item| {
        let connection = connection::connection(&item, request.connect.is_some())?;
        Ok((connection, item.place()))
    });
    let connection = connection.transpose()?;
    let set = fields.get("set").map(|item| settings(&item)).transpose()?;
    check_started(&fields, &request)?;
    if request.connect.is_some()
        && let Some(item) = fields.get("config").or_else(|| fields.get("set"))
    {
        return Err(item.conflict(format!(
            "`connect` and `{}`: a server that is not ours keeps its own settings",
            item.key
        )));
    }
    Ok(SystemEntry {
        place: fields.place_of(&["build"]),
        request,
        engine: engine.transpose()?,
        config: fields
            .get("config")
            .map(|item| with_place(&item))
            .transpose()?,
        label: fields.get("label").map(|item| name(&item)).transpose()?,
        set: set.unwrap_or_default(),
        cpus,
        connection,
        preload: fields
            .get("preload")
            .map_or(Ok(""), |item| item.text())?
            .to_owned(),
        huge_pages: fields
            .get("huge_pages")
            .map_or(Ok(false), |item| item.switch())?,
    })
}

/// Is a server process asked for that we start?
fn has_server(request: &BuildRequest) -> bool {
    request.connect.is_none() && !request.dbms.is_some_and(Dbms::is_embedded)
}

/// Only a server that we start can be given a library or huge pages.
fn check_started(fields: &Fields<'_>, request: &BuildRequest) -> Result<(), PlanError> {
    match fields.get("preload").or_else(|| fields.get("huge_pages")) {
        Some(item) if !has_server(request) => Err(item.conflict(format!(
            "`{}` and `build = \"{}\"`: there is no server process that we start",
            item.key, request.name
        ))),
        _ => Ok(()),
    }
}

/// The system's own `cpus`, else the plan's. Only a server process that we start can be placed.
fn system_cpus(
    fields: &Fields<'_>,
    request: &BuildRequest,
    default: &Cpus,
) -> Result<Cpus, PlanError> {
    let own = fields.get("cpus");
    let cpus = match &own {
        None => default.clone(),
        Some(item) => cpus::read(item)?,
    };
    if has_server(request) {
        return Ok(cpus);
    }
    if let (Some(item), Cpus::Lists(lists)) = (own, &cpus)
        && !lists.server.is_empty()
    {
        return Err(item.conflict(format!(
            "`cpus.server` and `build = \"{}\"`: there is no server process of ours to place",
            request.name
        )));
    }
    Ok(cpus.without_server())
}

/// `set = { option = value }`. `skip-…` and `disable-…` options take no value: they are written
/// `skip-log-bin = true`.
fn settings(item: &Item<'_>) -> Result<Vec<(Setting, Place)>, PlanError> {
    let Value::Table(entries) = &item.node.value else {
        return Err(item.wrong("a table such as { option = \"value\" }"));
    };
    let settings = entries.iter().map(|entry| {
        let value = Item {
            key: &entry.key,
            node: &entry.node,
        };
        let is_bare = ["skip", "disable"]
            .iter()
            .any(|word| entry.key.starts_with(word));
        let value = match (is_bare, &entry.node.value) {
            (true, Value::Switch(true)) => None,
            (true, Value::Switch(false)) => return Err(value.wrong("true, or left out")),
            _ => Some(scalar(&value)?),
        };
        let setting = Setting {
            name: entry.key.clone(),
            value,
        };
        Ok((setting, entry.place.clone()))
    });
    settings.collect()
}

/// The settings of the plan as the model keeps them.
pub(crate) fn as_map(set: &[(Setting, Place)]) -> BTreeMap<String, String> {
    set.iter()
        .map(|(s, _)| (s.name.clone(), s.value.clone().unwrap_or_default()))
        .collect()
}
