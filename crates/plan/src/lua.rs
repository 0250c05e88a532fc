//! The `workload` table of a script that was written for sysbench: every key, its range, its default.

use std::collections::BTreeMap;
use std::path::Path;

use model::{LuaSpec, SqlPace};

use crate::document::{Node, Value};
use crate::fields::{Fields, Item};
use crate::keys::Takes::{Count, Later, Other, Small};
use crate::keys::{self, Key};
use crate::sql::options::{self, MAX_SECONDS};
use crate::sql::pace::{self, MAX_RATE, QUEUE_KEYS, Queue};
use crate::{Place, Result, SysbenchOption};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScriptFile {
    pub(crate) text: String,
    pub(crate) path: String,
    pub(crate) directories: Vec<String>,
}

pub(crate) static KEYS: &[Key<LuaSpec>] = &[
    Key("kind", Later),
    Key("script", Later),
    Key("path", Other(|s, v| v.each(text).map(|it| s.path = it))),
    Key("options", Other(|s, v| script_options(v).map(|it| s.options = it))),
    Key("commands", Other(|s, v| commands(v).map(|it| s.commands = it))),
    Key("clients", Other(|s, v| options::clients(v).map(|it| s.set_clients(it)))),
    Key("seconds", Small(1..=MAX_SECONDS, |s, n| s.seconds = n)),
    Key("events", Count(0..=i64::MAX as u64, |s, n| s.events = n)),
    Key("warmup_seconds", Small(0..=MAX_SECONDS, |s, n| s.warmup_seconds = n)),
    Key("rate", Count(1..=MAX_RATE, |s, n| s.pace = rate(n))),
    Key("ramp", Other(|s, v| pace::ramp(v).map(|it| s.pace = it.pace(Queue::default())))),
    Key("statement_timeout", Small(1..=MAX_SECONDS, |s, n| s.statement_timeout = n)),
];

pub(crate) fn key_names() -> Vec<&'static str> {
    [keys::names(KEYS), keys::names(QUEUE_KEYS)].concat()
}

fn plan_fields(table: &Node) -> Result<Fields<'_>> {
    Fields::new(table, "workload", &key_names())
}

/// Checks the whole table: only the script's text is missing.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    resolve(table, &ScriptFile::default()).map(drop)
}

pub(crate) fn script(table: &Node) -> Option<(&str, Place)> {
    let item = plan_fields(table).ok()?.get("script")?;
    Some((item.text().ok()?, item.place()))
}

/// Where the table sets an option of the script; if it does not, where the table is.
pub(crate) fn option_place(table: &Node, option: &str) -> Place {
    let given =
        plan_fields(table).ok().and_then(|fields| Fields::named(fields.get("options")?).ok());
    let item = given.and_then(|given| given.all().find(|one| option_name(one.key) == option));
    item.map_or_else(|| table.place.clone(), Item::place)
}

pub(crate) fn path(table: &Node) -> Vec<String> {
    resolve(table, &ScriptFile::default()).map(|spec| spec.path).unwrap_or_default()
}

pub(crate) fn resolve(table: &Node, script: &ScriptFile) -> Result<LuaSpec> {
    let fields = plan_fields(table)?;
    let mut spec = LuaSpec::usual(&script.path, &script.text);
    keys::apply(KEYS, &fields, &mut spec)?;
    if !script.directories.is_empty() {
        spec.path.clone_from(&script.directories);
    }
    let name = fields.need("script")?;
    let stem = Path::new(name.text()?).file_stem().and_then(|stem| stem.to_str());
    let mut others = spec.commands.iter().filter(|command| *command != LuaSpec::RUN);
    if others.any(|command| Some(command.as_str()) == stem) {
        return Err(name.conflict(
            "`script` has the name of one of its commands, and each is a step; rename the file",
        ));
    }
    set_queue(&fields, &mut spec.pace)?;
    if let (SqlPace::Ramp { .. }, Some(events)) = (&spec.pace, fields.get("events")) {
        return Err(events
            .conflict("`events` and `ramp` exclude each other: each rate is tried for a time"));
    }
    Ok(spec)
}

/// How events arrive and wait, where they arrive by themselves.
fn set_queue(fields: &Fields<'_>, pace: &mut SqlPace) -> Result<()> {
    fields.only_one(&["rate", "ramp"])?;
    pace::check(fields, *pace != SqlPace::Unlimited)?;
    let mut open = Queue::default();
    keys::apply(QUEUE_KEYS, fields, &mut open)?;
    match pace {
        SqlPace::Unlimited => {}
        SqlPace::Rate { arrivals, queue, .. } | SqlPace::Ramp { arrivals, queue, .. } => {
            (*arrivals, *queue) = (open.arrivals, open.queue);
        }
    }
    Ok(())
}

fn rate(per_second: u64) -> SqlPace {
    let Queue { arrivals, queue } = Queue::default();
    SqlPace::Rate { per_second, arrivals, queue }
}

fn text(item: Item<'_>) -> Result<String> {
    item.text().map(str::to_owned)
}

/// The script's options, as its command line would give them.
fn script_options(item: Item<'_>) -> Result<BTreeMap<String, String>> {
    let each = Fields::named(item)?.all();
    each.map(|one| {
        let (name, value) = (option_name(one.key), option(one)?);
        match SysbenchOption::of(&name).refuses(&name, &value) {
            Some(why) => Err(one.conflict(why)),
            None => Ok((name, value)),
        }
    })
    .collect()
}

/// As scripts spell it: with underscores.
fn option_name(key: &str) -> String {
    key.replace('-', "_")
}

fn option(item: Item<'_>) -> Result<String> {
    Ok(match &item.node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Switch(on) => if *on { "on" } else { "off" }.to_owned(),
        Value::List(_) => item.each(option)?.join(","),
        Value::Table(_) | Value::Other(_) => {
            return Err(item.wrong("a number, a text, true, false, or a list of these"));
        }
    })
}

/// Names of commands; one of them is measured.
fn commands(item: Item<'_>) -> Result<Vec<String>> {
    let commands = item.each(text)?;
    let mut names = commands.clone();
    names.sort();
    names.dedup();
    if names.len() < commands.len() {
        return Err(item.conflict("`commands` has a name twice; each is a step of its own"));
    }
    if commands.iter().any(|name| name == LuaSpec::RUN) {
        return Ok(commands);
    }
    Err(item.conflict("`commands` without \"run\": it is the command that is measured"))
}
