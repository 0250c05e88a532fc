//! Which system the others are compared with.

use model::System;

use crate::file::PlanFile;
use crate::{Place, PlanError, Result};

pub(crate) struct Named {
    pub(crate) system: System,
    /// Full name, full name with the build as written, build id, build as written.
    pub(crate) aliases: Vec<String>,
    pub(crate) place: Place,
}

/// The base: the system that `base` names, by its own name or by another that no other system
/// has; without `base` the first.
pub(crate) fn find<'a>(file: &PlanFile, named: &'a [Named]) -> Result<&'a System> {
    let Some((wanted, place)) = &file.base else {
        let first = named.first().map(|one| &one.system);
        return first.ok_or_else(|| PlanError::MissingKey {
            place: file.workload.place.clone(),
            key: "system",
            context: "the plan",
        });
    };
    if let Some(one) = named.iter().find(|one| one.system.name == *wanted) {
        return Ok(&one.system);
    }
    // A control is a copy of the base and has all its names but the label; it is never meant.
    let mut found = named
        .iter()
        .filter(|one| one.system.name != System::CONTROL && one.aliases.contains(wanted))
        .map(|one| &one.system);
    match (found.next(), found.next()) {
        (Some(system), None) => Ok(system),
        (None, _) => Err(PlanError::unknown(
            &place,
            "system",
            wanted,
            named.iter().map(|one| one.system.name.clone()),
        )),
        (Some(first), Some(second)) => Err(place.conflict(format!(
            "`base = \"{wanted}\"` fits more than one system, such as `{}` and `{}`: give one \
                 of these names",
            first.name, second.name
        ))),
    }
}

/// Is one the other under another name?
pub(crate) fn is_copy(a: &System, b: &System) -> bool {
    let renamed = System { name: b.name.clone(), control: b.control, ..a.clone() };
    a.name != b.name && renamed == *b
}
