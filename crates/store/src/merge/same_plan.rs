//! Have two labs measured the same plan?

use model::{BuildSource, Plan};
use serde_json::Value;

use crate::error::Fault;

/// The longest value that a message shows, in characters.
const LONGEST: usize = 80;

/// The first place in which two plans differ, and the values of both; `None` where they are one plan.
///
/// Each lab has its own part, and the builds of each host are where it has them: their digests must agree. The text of
/// a plan may have other comments, and profiled rounds may have been added on one side.
pub(super) fn difference(
    here: &Plan,
    there: &Plan,
) -> Result<Option<(String, String, String)>, Fault> {
    Ok(first("", &shared(here)?, &shared(there)?))
}

fn shared(plan: &Plan) -> Result<Value, Fault> {
    let mut plan = plan.clone();
    plan.course.part = None;
    plan.course.added.clear();
    plan.course.added_counted.clear();
    plan.source.clear();
    for system in &mut plan.systems {
        if let BuildSource::Installed { directory, .. } = &mut system.build.source {
            directory.clear();
        }
    }
    serde_json::to_value(plan).map_err(|cause| Fault::damaged("a plan", &cause))
}

fn first(place: &str, here: &Value, there: &Value) -> Option<(String, String, String)> {
    match (here, there) {
        (Value::Object(of_here), Value::Object(of_there)) => {
            let keys = of_here.keys().chain(of_there.keys());
            let values = |key: &String| (&here[key.as_str()], &there[key.as_str()]);
            keys.map(|key| (key, values(key))).find_map(|(key, (here, there))| {
                let dot = if place.is_empty() { "" } else { "." };
                first(&format!("{place}{dot}{key}"), here, there)
            })
        }
        (Value::Array(of_here), Value::Array(of_there)) if of_here.len() == of_there.len() => {
            let mut pairs = (0..).zip(of_here.iter().zip(of_there));
            pairs.find_map(|(at, (here, there))| first(&format!("{place}[{at}]"), here, there))
        }
        _ if here == there => None,
        _ => Some((format!("`{place}` of the plan"), shown(here), shown(there))),
    }
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
