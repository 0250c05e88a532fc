//! `[[step]]` as a workload file has it.

use super::names::label;
use super::options::MAX_CLIENTS;
use super::scope::Scope;
use crate::Result;
use crate::fields::{Fields, Item, Mention};

const KEYS: [&str; 11] = [
    "name",
    "group",
    "phase",
    "operation",
    "operations",
    "seconds",
    "clients",
    "measured",
    "before",
    "whole",
    "vars",
];
/// Names of steps that no file gives: loading and the phases.
pub(crate) const LOAD: &str = "load";
pub(crate) const INDEX: &str = "index";
pub(crate) const SETTLE: &str = "settle";
pub(crate) const RESET: &str = "reset";

/// What a file may put between tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Settle,
    Reset,
}

pub(crate) struct Draft<'a> {
    pub(crate) fields: Fields<'a>,
    /// `None` for a phase, which is of no group and not measured.
    pub(crate) name: Option<String>,
    pub(crate) group: String,
    pub(crate) phase: Option<Phase>,
    pub(crate) measured: bool,
    /// Of a step that warms caches: the tests that it is for; empty for all.
    pub(crate) before: Vec<Mention>,
}

impl<'a> Draft<'a> {
    pub(crate) fn read(item: Item<'a>) -> Result<Self> {
        let fields = Fields::new(item.node, "step", &KEYS)?;
        if let Some(phase) = fields.get("phase") {
            let words = [(SETTLE, Phase::Settle), (RESET, Phase::Reset)];
            let phase = phase.word("phase", &words)?;
            let fields = Fields::new(item.node, "a phase", &["phase"])?;
            let (phase, group, before) = (Some(phase), String::new(), Vec::new());
            return Ok(Self { fields, name: None, group, phase, measured: false, before });
        }
        let group = fields.maybe("group", label)?;
        let measured = fields.maybe("measured", Item::switch)?.unwrap_or(true);
        let name = fields.need("name")?;
        Ok(Self {
            name: Some(step_name(name)?),
            group: group.unwrap_or_default(),
            phase: None,
            measured,
            before: before(&fields, measured)?,
            fields,
        })
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name)
    }

    pub(crate) fn sends(&self, name: &str) -> bool {
        let weights = self.fields.get("operations");
        let weights = weights.and_then(|all| Fields::named(all).ok());
        let one = self.fields.get("operation").and_then(|one| one.text().ok());
        one == Some(name) || weights.is_some_and(|weights| weights.get(name).is_some())
    }

    pub(crate) fn clients(&self, scope: &Scope) -> Result<Option<u32>> {
        self.fields.maybe("clients", |clients| scope.small(clients, 1..=MAX_CLIENTS))
    }
}

/// A name that leaves those of loading and phases alone.
fn step_name(item: Item<'_>) -> Result<String> {
    let name = label(item)?;
    let first = name.split('.').next().unwrap_or_default();
    if [LOAD, INDEX, SETTLE, RESET].contains(&first) {
        return Err(item.conflict(format!(
            "`{name}` cannot be the name of a step: {LOAD}, {INDEX}, {SETTLE} and {RESET} are those of \
             loading and phases"
        )));
    }
    Ok(name)
}

fn before(fields: &Fields<'_>, measured: bool) -> Result<Vec<Mention>> {
    match fields.get("before") {
        None => Ok(Vec::new()),
        Some(item) if measured => Err(item.conflict(
            "`before` is for steps that only warm caches: write `measured = false`, or leave it out",
        )),
        Some(list) => list.each(Item::mention),
    }
}
