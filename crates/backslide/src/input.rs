//! What a report needs beyond the run itself: the variables that differ between its systems.

use std::collections::BTreeMap;

use anyhow::Result;
use lab::Lab;
use model::{Moment, RunData};
use report::Variable;

/// The listing that holds a server's variables.
const VARIABLES: &str = "variables";

/// Variables that name an instance or change by themselves: different in any two servers.
const OWN: [&str; 14] = [
    "basedir",
    "datadir",
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "hostname",
    "log_error",
    "pid_file",
    "server_uuid",
    "socket",
    "timestamp",
    "unix_socket_directories",
];

/// Server variables whose values differ between systems of the same Dbms; `None` where no two systems
/// of a Dbms were captured.
pub(crate) fn differing(lab: &Lab, data: &RunData) -> Result<Option<Vec<Variable>>> {
    let mut systems: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    let first = data
        .info
        .plan
        .systems
        .first()
        .map(|system| system.build.dbms);
    for system in data
        .info
        .plan
        .systems
        .iter()
        .filter(|s| Some(s.build.dbms) == first && !s.control)
    {
        if let Some(variables) = variables(lab, data, &system.name)? {
            systems.push((system.name.clone(), variables));
        }
    }
    if systems.len() < 2 {
        return Ok(None);
    }
    let mut names: Vec<&String> = systems.iter().flat_map(|(_, v)| v.keys()).collect();
    names.sort();
    names.dedup();
    let differing = names
        .into_iter()
        .filter(|name| !OWN.contains(&name.as_str()))
        .filter_map(|name| {
            let values: Vec<(String, String)> = systems
                .iter()
                .map(|(system, variables)| {
                    let value = variables.get(name).map_or("not there", String::as_str);
                    (system.clone(), value.to_owned())
                })
                .collect();
            let differs = values.iter().any(|(_, value)| *value != values[0].1);
            let of_instance = values
                .iter()
                .any(|(_, value)| value.contains("/instances/"));
            (differs && !of_instance).then(|| Variable {
                name: name.clone(),
                values,
            })
        });
    Ok(Some(differing.collect()))
}

/// The variables of a system before the first step of its first trial that completed.
fn variables(lab: &Lab, data: &RunData, system: &str) -> Result<Option<BTreeMap<String, String>>> {
    let trial = data
        .trials
        .iter()
        .find(|t| t.system == system && t.outcome.is_completed());
    let (Some(trial), Some(step)) = (trial, data.steps.first()) else {
        return Ok(None);
    };
    let run = &data.info.id;
    let captures = lab
        .store
        .captures(run, system, trial.round, &step.step, Moment::Before)?;
    Ok(captures
        .into_iter()
        .find(|capture| capture.name == VARIABLES)
        .map(|capture| {
            let rows = capture.rows.into_iter().filter_map(|row| {
                let mut row = row.into_iter();
                Some((row.next()??, row.next().flatten().unwrap_or_default()))
            });
            rows.collect()
        }))
}
