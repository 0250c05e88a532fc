//! What the well-known steps do, for people who do not know their names.

use model::StepInfo;

/// One sentence on a step.
pub(crate) fn describe(step: &StepInfo) -> String {
    let rate = step.target_rate.map_or(String::new(), |rate| {
        format!(", while background writers insert and delete {rate} rows/s")
    });
    match step.step.0.as_str() {
        "l.i0" => "Loads the table in primary-key order, without secondary indexes.".to_owned(),
        "l.x" => "Creates the secondary indexes.".to_owned(),
        "l.i1" => {
            "Inserts and deletes rows with all indexes in place, in large transactions.".to_owned()
        }
        "l.i2" => {
            "Inserts and deletes rows with all indexes in place, in small transactions.".to_owned()
        }
        name if is_paced(name, "qr") => {
            format!("Short range queries that secondary indexes cover{rate}.")
        }
        name if is_paced(name, "qp") => format!("Point queries by primary key{rate}."),
        _ => format!("Measures the operation “{}”{rate}.", step.subject),
    }
}

fn is_paced(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rate| !rate.is_empty() && rate.chars().all(|c| c.is_ascii_digit()))
}
