//! Values that are fine by themselves and do not go together, with each other or with a system.

use model::{Build, Dbms, Engine, Isolation, TpccForm, TpccHomes, TpccPace, TpccSpec};

use super::TERMINALS;
use super::keys::ISOLATIONS;
use crate::fields::{Fields, grouped};
use crate::sql::options::MAX_CLIENTS;
use crate::{Place, PlanError};

/// Checks what needs no system.
pub(super) fn check(fields: &Fields<'_>, spec: &TpccSpec) -> Result<(), PlanError> {
    let conflict = |keys: &[&str], message: String| {
        Err(PlanError::Conflict {
            place: fields.place_of(keys),
            message,
        })
    };
    if spec.clients > MAX_CLIENTS {
        return conflict(&["wait"], too_many_clients(spec));
    }
    if let Some(message) = more_terminals_than_desks(spec) {
        return conflict(&["clients", "warehouses"], message);
    }
    if spec.form == TpccForm::Procedures && fields.get("statements").is_some() {
        return conflict(
            &["statements"],
            "`statements` and `form = \"procedures\"`: the statements are the procedures' own; leave \
             one of them out"
                .to_owned(),
        );
    }
    Ok(())
}

fn too_many_clients(spec: &TpccSpec) -> String {
    format!(
        "`wait` means {TERMINALS} clients for each of {} warehouses, and there can be {}: give \
         `clients`, or fewer `warehouses`",
        grouped(spec.warehouses),
        grouped(MAX_CLIENTS)
    )
}

fn more_terminals_than_desks(spec: &TpccSpec) -> Option<String> {
    let waits = matches!(spec.pace, TpccPace::Wait { .. });
    let desks = spec.warehouses.saturating_mul(TERMINALS);
    (waits && spec.homes == TpccHomes::Fixed && spec.clients > desks).then(|| {
        format!(
            "`clients` = {} with `wait` and fixed homes: {} `warehouses` have {TERMINALS} terminals \
             each, {} in all; use fewer clients, more warehouses, or `homes = \"random\"`",
            grouped(spec.clients),
            grouped(spec.warehouses),
            grouped(desks)
        )
    })
}

/// What a system cannot do, as a message.
type Rule = fn(&TpccSpec, &Build, Engine) -> Option<String>;

const RULES: [Rule; 4] = [no_partitions, no_foreign_keys, no_procedures, no_isolation];

/// Checks what a system must be able to do. `place` is where the plan has the system.
pub(crate) fn check_for(
    spec: &TpccSpec,
    build: &Build,
    engine: Engine,
    place: &Place,
) -> Result<(), PlanError> {
    match RULES.iter().find_map(|rule| rule(spec, build, engine)) {
        None => Ok(()),
        Some(message) => Err(PlanError::Conflict {
            place: place.clone(),
            message,
        }),
    }
}

/// Hash partitions of a table with a primary key came to PostgreSQL with 11; SQLite has none.
fn no_partitions(spec: &TpccSpec, build: &Build, _: Engine) -> Option<String> {
    let has_partitions = match build.dbms {
        Dbms::Mysql | Dbms::Mariadb => true,
        Dbms::Postgres => build.version.major() >= 11,
        Dbms::Sqlite | Dbms::Other => false,
    };
    let partitions = spec.schema.partitions;
    (partitions > 0 && !has_partitions).then(|| {
        format!(
            "`partitions` = {partitions} and `build`: {} has no hash partitions; leave one of them out",
            build.id()
        )
    })
}

/// InnoDB alone has them in MySQL and MariaDB, and not on partitioned tables; PostgreSQL has them there
/// since 12. SQLite cannot add them to tables that exist.
fn no_foreign_keys(spec: &TpccSpec, build: &Build, engine: Engine) -> Option<String> {
    if !spec.schema.foreign_keys {
        return None;
    }
    let is_partitioned = spec.schema.partitions > 0;
    let without = match build.dbms {
        Dbms::Mysql | Dbms::Mariadb if engine != Engine::Innodb => {
            format!("`engine`: {engine} has no foreign keys")
        }
        Dbms::Mysql | Dbms::Mariadb if is_partitioned => format!(
            "`partitions` = {}: {} has no foreign keys on partitioned tables",
            spec.schema.partitions,
            build.id()
        ),
        Dbms::Postgres if is_partitioned && build.version.major() < 12 => format!(
            "`partitions` = {}: {} has no foreign keys to partitioned tables",
            spec.schema.partitions,
            build.id()
        ),
        Dbms::Mysql | Dbms::Mariadb | Dbms::Postgres => return None,
        Dbms::Sqlite | Dbms::Other => format!(
            "`build`: {} cannot add foreign keys to tables that are there",
            build.id()
        ),
    };
    Some(format!(
        "`foreign_keys = true` and {without}; leave one of them out"
    ))
}

fn no_procedures(spec: &TpccSpec, build: &Build, _: Engine) -> Option<String> {
    (spec.form == TpccForm::Procedures && build.dbms == Dbms::Sqlite).then(|| {
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
    let without = if build.dbms == Dbms::Sqlite && !is_strict {
        format!(
            "`build`: {} knows \"serializable\" and nothing else",
            build.id()
        )
    } else if engine == Engine::Myrocks && is_strict {
        format!("`engine`: {engine} knows \"read-committed\" and \"repeatable-read\" only")
    } else {
        return None;
    };
    let (word, _) = ISOLATIONS.iter().find(|(_, it)| *it == isolation)?;
    Some(format!(
        "`isolation = \"{word}\"` and {without}; leave one of them out"
    ))
}
