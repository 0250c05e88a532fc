//! Values that are fine by themselves and do not go together, with each other or with a system.

use model::{
    Build, Engine, Isolation, Since, TpccCardinality, TpccForm, TpccHomes, TpccPace, TpccSpec,
};

use crate::error::grouped;
use crate::fields::Fields;
use crate::insert::no_partitions;
use crate::sql::options::MAX_CLIENTS;
use crate::{Place, Result};

/// Terminals of a warehouse that wait as people do.
pub(super) const TERMINALS: u32 = 10;

pub(super) fn check(fields: &Fields<'_>, spec: &TpccSpec) -> Result<()> {
    let broken = |keys: &[&str], message: String| Err(fields.place_of(keys).conflict(message));
    let (clients, warehouses) = (grouped(spec.clients), grouped(spec.warehouses));
    if spec.clients > MAX_CLIENTS {
        let most = grouped(MAX_CLIENTS);
        let message = format!(
            "`wait` means {TERMINALS} clients for each of {warehouses} warehouses, and there can be {most}: give \
             `clients`, or fewer `warehouses`"
        );
        return broken(&["wait"], message);
    }
    let waits = matches!(spec.pace, TpccPace::Wait { .. });
    let desks = spec.warehouses.saturating_mul(TERMINALS);
    if waits && spec.homes == TpccHomes::Fixed && spec.clients > desks {
        let message = format!(
            "`clients` = {clients} with `wait` and fixed homes: {warehouses} `warehouses` have {TERMINALS} terminals \
             each, {} in all; use fewer clients, more warehouses, or `homes = \"random\"`",
            grouped(desks)
        );
        return broken(&["clients", "warehouses"], message);
    }
    if spec.form == TpccForm::Procedures && fields.get("statements").is_some() {
        let message = "`statements` and `form = \"procedures\"`: the statements are the procedures' own; leave \
                       one of them out";
        return broken(&["statements"], message.to_owned());
    }
    Ok(())
}

type Rule = fn(&TpccSpec, &Build, Engine) -> Option<String>;

const RULES: [Rule; 4] = [
    |spec, build, _| no_partitions(spec.schema.partitions, "hash", build),
    no_foreign_keys,
    no_procedures,
    no_isolation,
];

/// Checks what a system must be able to do. `place` is where the plan has the system.
pub(crate) fn check_for(
    spec: &TpccSpec,
    build: &Build,
    engine: Engine,
    place: &Place,
) -> Result<()> {
    place.refuse(RULES.iter().find_map(|rule| rule(spec, build, engine)))
}

fn no_foreign_keys(spec: &TpccSpec, build: &Build, engine: Engine) -> Option<String> {
    if !spec.schema.foreign_keys {
        return None;
    }
    let has = &build.dbms.product().features;
    let engines = &has.foreign_key_engines;
    let partitions = spec.schema.partitions;
    let on_partitions = &has.foreign_keys_on_partitions;
    let without = if !has.foreign_keys.holds(&build.version) {
        format!("`build`: {} cannot add foreign keys to tables that are there", build.id())
    } else if !engines.is_empty() && !engines.contains(&engine) {
        format!("`engine`: {engine} has no foreign keys")
    } else if partitions > 0 && !on_partitions.holds(&build.version) {
        let where_to = if *on_partitions == Since::Never { "on" } else { "to" };
        format!(
            "`partitions` = {partitions}: {} has no foreign keys {where_to} partitioned tables",
            build.id()
        )
    } else {
        return None;
    };
    Some(format!("`foreign_keys = true` and {without}; leave one of them out"))
}

fn no_procedures(spec: &TpccSpec, build: &Build, _: Engine) -> Option<String> {
    (spec.form == TpccForm::Procedures && !build.dbms.product().features.procedures).then(|| {
        format!(
            "`form = \"procedures\"` and `build`: {} has no stored procedures; leave one of them out",
            build.id()
        )
    })
}

/// SQLite has one, and MyRocks refuses the strictest.
fn no_isolation(spec: &TpccSpec, build: &Build, engine: Engine) -> Option<String> {
    let isolation = spec.isolation?;
    let is_strict = isolation == Isolation::Serializable;
    let levels = &build.dbms.product().features.isolations;
    let without = if !levels.is_empty() && !levels.contains(&isolation) {
        format!("`build`: {} knows \"serializable\" and nothing else", build.id())
    } else if engine == Engine::Myrocks && is_strict {
        format!("`engine`: {engine} knows \"read-committed\" and \"repeatable-read\" only")
    } else {
        return None;
    };
    let word = isolation.sql().to_ascii_lowercase().replace(' ', "-");
    Some(format!("`isolation = \"{word}\"` and {without}; leave one of them out"))
}

/// What is allowed and may not be meant: one sentence each, for people who look at the plan.
pub(crate) fn remarks(spec: &TpccSpec) -> Vec<String> {
    let (left, standard) =
        (spec.warehouses.saturating_sub(spec.clients), TpccCardinality::STANDARD);
    let empty = (spec.homes == TpccHomes::Fixed && left > 0).then(|| {
        format!(
            "`homes = \"fixed\"` and {} clients: {} of {} warehouses have no terminal, and hardly any \
             work; use more clients, or `homes = \"random\"`",
            grouped(spec.clients),
            grouped(left),
            grouped(spec.warehouses)
        )
    });
    let others = (spec.cardinality != standard).then(|| {
        format!(
            "`items` = {} and `customers` = {} are for tests, their numbers for nothing else: the standard \
             has {} and {}",
            grouped(spec.cardinality.items),
            grouped(spec.cardinality.customers),
            grouped(standard.items),
            grouped(standard.customers)
        )
    });
    empty.into_iter().chain(others).collect()
}
