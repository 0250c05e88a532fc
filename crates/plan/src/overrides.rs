//! What a command line says in place of a plan's own keys.

use crate::Result;
use crate::document::{self, Node, Value};
use crate::file::{self, PlanFile};

/// In place of what a plan says; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides<'a> {
    pub rounds: Option<u32>,
    /// The length of all steps that run for a time.
    pub seconds: Option<u32>,
    /// Settings of every system on top of its own: the option, and its value unless it takes none.
    pub set: Vec<(&'a str, Option<&'a str>)>,
}

/// The keys of a workload, by its kind, that `seconds` stands for. A plan without a kind has the first.
const SECONDS: [(&str, &[&str]); 4] = [
    ("insert", &["query_seconds"]),
    ("micro", &["read_seconds", "write_seconds", "scan_seconds"]),
    ("sql", &["read_seconds", "write_seconds", "scan_seconds"]),
    ("tpcc", &["seconds"]),
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
    let words: Vec<String> = numbers.into_iter().flatten().chain(set).collect();
    // One line, whatever a value holds.
    words.join(" ").replace(char::is_control, " ")
}
