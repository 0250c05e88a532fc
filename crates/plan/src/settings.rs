//! Which line of a plan gives a setting that a system does not take.

use model::{Plan, RefusedSetting, System};

use crate::error::Choices;
use crate::file::{PlanFile, SystemEntry};
use crate::{PlanError, Result};

/// Asks whether a system takes its settings; the first that it does not take.
pub type JudgeSettings<'a> = dyn Fn(&System) -> Option<RefusedSetting> + 'a;

/// Has `judge` look at each system of `plan`; the error names the line of `file` that gives the refused setting.
pub fn check_settings(file: &PlanFile, plan: &Plan, judge: &JudgeSettings<'_>) -> Result<()> {
    let mut judged: Vec<&System> = Vec::new();
    for (entry, system) in with_entries(file, plan) {
        if judged.iter().any(|other| has_same_settings(other, system)) {
            continue;
        }
        judged.push(system);
        if let Some(refused) = judge(system) {
            return Err(error(entry, system, refused));
        }
    }
    Ok(())
}

/// The systems of a plan with the entries of its file. A control has the settings of the base.
fn with_entries<'a>(
    file: &'a PlanFile,
    plan: &'a Plan,
) -> impl Iterator<Item = (&'a SystemEntry, &'a System)> {
    let has_control = plan.systems.iter().any(|system| system.control);
    let is_control =
        move |entry: &&SystemEntry| has_control && entry.label.as_deref() == Some(System::CONTROL);
    let entries = file.systems.iter().filter(move |entry| !is_control(entry));
    entries.zip(plan.systems.iter().filter(|system| !system.control))
}

fn has_same_settings(a: &System, b: &System) -> bool {
    a.build == b.build
        && a.engine == b.engine
        && a.config.settings == b.config.settings
        && a.huge_pages == b.huge_pages
        && a.connection == b.connection
}

fn error(entry: &SystemEntry, system: &System, refused: RefusedSetting) -> PlanError {
    let dbms = system.build.dbms;
    let place = |option: &str| {
        let mut set = entry.set.iter();
        let set = set.find(|(setting, _)| dbms.product().is_same_option(&setting.name, option));
        let of_config = || entry.config.as_ref().map(|config| &config.place);
        set.map(|(_, place)| place).or_else(of_config).unwrap_or(&entry.place)
    };
    match refused {
        RefusedSetting::Unknown { option, known } => {
            // Help lists names with `-`, plans mostly write `_`.
            let written = option.replace('-', "_");
            let known = known.iter().map(|name| name.replace('-', "_"));
            let choices = Choices::new(&written, known);
            let meant = choices.nearest().map(|name| format!("; did you mean `{name}`?"));
            place(&option).conflict(format!(
                "{} has no setting `{option}`{}",
                system.build.id(),
                meant.unwrap_or_default()
            ))
        }
        RefusedSetting::Refused { option, problem } => PlanError::RefusedSetting {
            place: place(&option).clone(),
            build: system.build.id(),
            option,
            problem,
        },
    }
}
