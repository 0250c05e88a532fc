//! What a command line says: in place of a plan's own keys, or of systems in place of a plan file.

use crate::Result;
use crate::document::{self, Node, Value};
use crate::file::{self, PlanFile};

/// What no argument says: one round of a workload that only stands for one, and is not measured.
const REST: &str = "name = \"arguments\"\nrounds = 1\nquarantine = false\n\
                    workload = { kind = \"insert\", scale = \"tiny\" }\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// The argument that it was given in, as people know it: `--config`. Errors begin with it.
    pub name: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemArguments<'a> {
    pub build: Argument<'a>,
    pub engine: Option<Argument<'a>>,
    pub config: Option<Argument<'a>>,
    /// Settings on top of the config: the option, and its value unless it takes none.
    pub set: Vec<(Argument<'a>, Option<&'a str>)>,
    /// Its name, where build, engine and config do not tell it from another system.
    pub label: Option<Argument<'a>>,
}

impl<'a> SystemArguments<'a> {
    pub const fn of(build: Argument<'a>) -> Self {
        Self { build, engine: None, config: None, set: Vec::new(), label: None }
    }

    /// Its keys in a plan, besides `set`.
    fn keys(&self) -> impl Iterator<Item = (&'static str, Argument<'a>)> + use<'a> {
        let keys = [
            ("build", Some(self.build)),
            ("engine", self.engine),
            ("config", self.config),
            ("label", self.label),
        ];
        keys.into_iter().filter_map(|(key, argument)| Some((key, argument?)))
    }
}

/// The plan of these systems, whose workload is replaced or not run. Errors name the argument at fault.
pub fn of_arguments(systems: &[SystemArguments<'_>]) -> Result<PlanFile> {
    let mut root = document::parse(REST, "arguments")?;
    let systems = systems.iter().map(system).collect::<Result<_, _>>()?;
    root.put("system", Node { place: root.place.clone(), value: Value::List(systems) });
    file::from_document(&root, REST)
}

/// The text of a plan of these systems: `head` has no name, rounds and systems. It looks after `min` rounds.
pub fn plan_text(
    name: &str,
    head: &str,
    (min, max): (u32, u32),
    systems: &[SystemArguments<'_>],
) -> String {
    let rounds =
        if min < max { format!("{{ min = {min}, max = {max} }}") } else { max.to_string() };
    let mut text =
        format!("name   = {}\nrounds = {rounds}\n\n{}\n", toml_string(name), head.trim_end());
    for system in systems {
        text += "\n[[system]]\n";
        let line = |(key, it): (_, Argument<'_>)| format!("{key:<6} = {}\n", toml_string(it.text));
        text.extend(system.keys().map(line));
        let set = system.set.iter().map(|(option, value)| {
            let value = value.map_or_else(|| "true".to_owned(), toml_string);
            format!("{} = {value}", toml_string(option.text))
        });
        let set: Vec<String> = set.collect();
        if !set.is_empty() {
            text.push_str(&["set    = { ", &set.join(", "), " }\n"].concat());
        }
    }
    text
}

pub fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn system(arguments: &SystemArguments<'_>) -> Result<Node> {
    let mut system = Node::of_argument(arguments.build.name, Value::default());
    for (key, Argument { name, text }) in arguments.keys() {
        system.put(key, Node::of_argument(name, Value::text(text)));
    }
    if let Some((first, _)) = arguments.set.first() {
        let mut set = Node::of_argument(first.name, Value::default());
        for (option, value) in &arguments.set {
            let node = Node::of_argument(option.name, Value::setting(*value));
            // A table has each key once, and so must what stands for one.
            if set.child(option.text).is_some() {
                let message = format!("`{}` is given twice: leave one out", option.text);
                return Err(node.place.conflict(message));
            }
            set.put(option.text, node);
        }
        system.put("set", set);
    }
    Ok(system)
}

/// In place of what a plan says; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides<'a> {
    pub rounds: Option<u32>,
    /// The length of all steps that run for a time.
    pub seconds: Option<u32>,
    /// Settings of every system on top of its own: the option, and its value unless it takes none.
    pub set: Vec<(&'a str, Option<&'a str>)>,
    pub profiles: bool,
    pub counts: bool,
}

/// The keys of a workload, by its kind, that `seconds` stands for. A plan without a kind has the first.
const SECONDS: [(&str, &[&str]); 5] = [
    ("insert", &["query_seconds"]),
    ("micro", &["read_seconds", "write_seconds", "scan_seconds"]),
    ("sql", &["read_seconds", "write_seconds", "scan_seconds"]),
    ("tpcc", &["seconds"]),
    ("lua", &["seconds"]),
];

/// Reads a plan as [`read`](crate::read) does, with these keys in place of its own. Errors about them name the
/// argument: `--rounds`. The plan's source begins with a comment that lists them.
pub fn read_with(text: &str, origin: &str, with: &Overrides<'_>) -> Result<PlanFile> {
    if *with == Overrides::default() {
        return file::read(text, origin);
    }
    let mut root = document::parse(text, origin)?;
    if let Some(rounds) = with.rounds {
        root.put("rounds", integer("--rounds", rounds));
    }
    for (key, argument) in rounds_added(with) {
        root.put(key, Node::of_argument(argument, Value::Switch(true)));
    }
    if let (Some(seconds), Some(workload)) = (with.seconds, root.child("workload")) {
        for key in seconds_of(workload) {
            workload.put(key, integer("--seconds", seconds));
        }
    }
    if let Some(Node { value: Value::List(systems), .. }) = root.child("system") {
        for system in systems {
            if !with.set.is_empty() && system.child("set").is_none() {
                system.put("set", Node::of_argument("--set", Value::default()));
            }
            if let Some(set) = system.child("set") {
                for (option, value) in &with.set {
                    set.put(option, Node::of_argument("--set", Value::setting(*value)));
                }
            }
        }
    }
    file::from_document(&root, &format!("# run with {}\n{text}", told(with)))
}

fn rounds_added(with: &Overrides<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let profiles = with.profiles.then_some(("profile", "--profile"));
    profiles.into_iter().chain(with.counts.then_some(("count", "--count")))
}

fn integer(argument: &str, number: u32) -> Node {
    Node::of_argument(argument, Value::Integer(i64::from(number)))
}

fn seconds_of(workload: &mut Node) -> &'static [&'static str] {
    let found = workload.child("kind").and_then(|kind| match &kind.value {
        Value::Text(kind) => SECONDS.iter().find(|(name, _)| name == kind),
        _ => None,
    });
    found.unwrap_or(&SECONDS[0]).1
}

/// A setting as a command line gives it: `jit=off`.
pub fn set_text(option: &str, value: Option<&str>) -> String {
    value.map_or_else(|| option.to_owned(), |value| format!("{option}={value}"))
}

fn told(with: &Overrides<'_>) -> String {
    let number = |name: &str, number: Option<u32>| number.map(|n| format!("{name} {n}"));
    let set = with.set.iter().map(|(option, value)| format!("--set {}", set_text(option, *value)));
    let numbers = [number("--rounds", with.rounds), number("--seconds", with.seconds)];
    let mut words: Vec<String> = numbers.into_iter().flatten().chain(set).collect();
    // One line, whatever a value holds.
    words.extend(rounds_added(with).map(|(_, argument)| argument.to_owned()));
    words.join(" ").replace(char::is_control, " ")
}
