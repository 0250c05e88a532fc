//! A plan without a file: of systems that the arguments of a command describe.

use crate::document::{self, Entry, Node, Value};
use crate::file::{self, PlanFile};
use crate::{Place, PlanError};

/// What no argument says: one round of a workload that only stands for one, and is not measured.
const REST: &str = "name = \"arguments\"\nrounds = 1\nquarantine = false\n\
                    workload = { kind = \"insert\", scale = \"tiny\" }\n";

/// A part of what a command was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// The argument that it was given in, as people know it: `--config`. Errors begin with it.
    pub name: &'a str,
    /// What was given.
    pub text: &'a str,
}

/// A system as the arguments of a command describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemArguments<'a> {
    /// A build, as a plan would name it.
    pub build: Argument<'a>,
    /// The engine, where it is given.
    pub engine: Option<Argument<'a>>,
    /// The config, where it is given.
    pub config: Option<Argument<'a>>,
    /// Settings on top of the config: the option, and its value unless it takes none.
    pub set: Vec<(Argument<'a>, Option<&'a str>)>,
}

impl<'a> SystemArguments<'a> {
    /// The system of a build with all else as it is usual.
    pub const fn of(build: Argument<'a>) -> Self {
        Self {
            build,
            engine: None,
            config: None,
            set: Vec::new(),
        }
    }
}

/// The plan of these systems: one round of a workload that the caller replaces or does not run. Errors, here
/// and where it is expanded, name the argument at fault in place of a file and its line.
pub fn of_arguments(systems: &[SystemArguments<'_>]) -> Result<PlanFile, PlanError> {
    let mut root = document::parse(REST, "arguments")?;
    if let Value::Table(entries) = &mut root.value {
        let place = root.place.clone();
        let systems = systems.iter().map(system).collect::<Result<_, _>>()?;
        entries.push(entry("system", place, Value::List(systems)));
    }
    file::from_document(&root, REST)
}

/// The `[[system]]` of a plan.
fn system(arguments: &SystemArguments<'_>) -> Result<Node, PlanError> {
    let build = Some(arguments.build);
    let texts = [
        ("build", build),
        ("engine", arguments.engine),
        ("config", arguments.config),
    ];
    let texts = texts.into_iter().filter_map(|(key, argument)| {
        let Argument { name, text } = argument?;
        Some(entry(key, Place::argument(name), text_of(text)))
    });
    let mut entries: Vec<Entry> = texts.collect();
    if let Some((first, _)) = arguments.set.first() {
        let settings = Value::Table(settings(arguments)?);
        entries.push(entry("set", Place::argument(first.name), settings));
    }
    Ok(Node {
        place: Place::argument(arguments.build.name),
        value: Value::Table(entries),
    })
}

/// The entries of `set`. A table has each key once, and so must what stands for one.
fn settings(arguments: &SystemArguments<'_>) -> Result<Vec<Entry>, PlanError> {
    let mut entries: Vec<Entry> = Vec::with_capacity(arguments.set.len());
    for (option, value) in &arguments.set {
        let place = Place::argument(option.name);
        if entries.iter().any(|entry| entry.key == option.text) {
            return Err(PlanError::Conflict {
                place,
                message: format!("`{}` is there twice: leave one of them out", option.text),
            });
        }
        let value = value.map_or(Value::Switch(true), text_of);
        entries.push(entry(option.text, place, value));
    }
    Ok(entries)
}

fn entry(key: &str, place: Place, value: Value) -> Entry {
    Entry {
        key: key.to_owned(),
        place: place.clone(),
        node: Node { place, value },
    }
}

fn text_of(text: &str) -> Value {
    Value::Text(text.to_owned())
}
