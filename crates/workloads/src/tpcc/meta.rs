//! What was loaded, written down in the database itself when all of it is there. Whoever goes on with that
//! database can tell whether it is the one that his plan means, and whether the load ended. The same as text, for a
//! trial that goes on from there in another process.

use std::collections::BTreeMap;

use drivers::{Session, SessionError};
use model::{Dialect, TpccForm, TpccSpec};
use serde::{Deserialize, Serialize};

use super::population::DATA_VERSION;
use super::random::Constants;
use super::tables::table_options;
use data::state;
use load::worker::number;
use load::{Result, StepError, Target};

/// The table that it is written into.
pub(super) const NAME: &str = "tpcc_meta";

/// What is known of a load, by name.
type Facts = BTreeMap<String, String>;

fn facts(spec: &TpccSpec, rows_seed: u64) -> Result<Facts> {
    let constants = Constants::of_load(rows_seed);
    let facts = [
        ("data", DATA_VERSION.to_string()),
        ("warehouses", spec.warehouses.to_string()),
        ("items", spec.cardinality.items.to_string()),
        ("customers", spec.cardinality.customers.to_string()),
        ("seed", rows_seed.to_string()),
        ("name constant", constants.name.to_string()),
        ("customer constant", constants.customer.to_string()),
        ("item constant", constants.item.to_string()),
        ("profile", state::write(&spec.profile)?),
        ("schema", state::write(&spec.schema)?),
        ("procedures", state::write(&procedures(spec))?),
    ];
    Ok(facts.map(|(name, text)| (name.to_owned(), text)).into())
}

/// What decides the text of the stored procedures; null where there are none.
fn procedures(spec: &TpccSpec) -> Option<impl Serialize + use<>> {
    match spec.form {
        TpccForm::Procedures => Some((spec.profile, spec.payment_order, spec.stock_level)),
        TpccForm::Single | TpccForm::Batched => None,
    }
}

#[derive(Serialize, Deserialize)]
struct Loaded {
    /// The seed of the rows: whoever makes them again needs it, not that of his own trial.
    seed: u64,
    facts: Facts,
}

/// What the loading steps left, as text. `seed` is that of the rows.
pub(super) fn state(spec: &TpccSpec, seed: u64) -> Result<String> {
    state::write(&Loaded { seed, facts: facts(spec, seed)? })
}

/// The seed of the rows that another process loaded. Fails on text not of [`state`], and on another load.
pub(super) fn restore(text: &str, spec: &TpccSpec) -> Result<u64> {
    let Loaded { seed, facts: found } = state::read(text)?;
    match difference(&found, &facts(spec, seed)?) {
        Some(difference) => Err(StepError::State(difference)),
        None => Ok(seed),
    }
}

pub(crate) fn loading(spec: &TpccSpec) -> Result<String> {
    let data = (DATA_VERSION, spec.warehouses, spec.cardinality, spec.profile);
    let work = (&spec.schema, &spec.load, spec.settle);
    state::write(&(data, work, procedures(spec)))
}

/// How one load differs from what is wanted, in words; `None` where it does not.
fn difference(found: &Facts, wanted: &Facts) -> Option<String> {
    let others: Vec<(&String, &String)> =
        wanted.iter().filter(|(name, text)| found.get(*name) != Some(*text)).collect();
    let has = others.iter().map(|(name, _)| match found.get(*name) {
        Some(text) => format!("{name} {text}"),
        None => format!("no {name}"),
    });
    let wants = others.iter().map(|(name, text)| format!("{name} {text}"));
    let [has, wants] = [has.collect(), wants.collect()].map(|facts: Vec<String>| facts.join(", "));
    (!others.is_empty()).then(|| format!("it has {has}; the plan has {wants}"))
}

pub(super) fn create(spec: &TpccSpec, rows_seed: u64, target: &Target) -> Result<[String; 2]> {
    let options = match target.dialect {
        Dialect::Mysql => table_options(target.engine),
        Dialect::Postgres | Dialect::Sqlite => String::new(),
    };
    let facts = facts(spec, rows_seed)?;
    // No text has a quote or a backslash: names, numbers, and JSON of these.
    let facts = facts.iter().map(|(name, text)| format!("('{name}', '{text}')"));
    let facts: Vec<String> = facts.collect();
    Ok([
        format!(
            "CREATE TABLE {NAME} (fact VARCHAR(32) NOT NULL, value VARCHAR(500) NOT NULL, \
             PRIMARY KEY (fact)){options}"
        ),
        format!("INSERT INTO {NAME} (fact, value) VALUES {}", facts.join(", ")),
    ])
}

/// Fails where the database is not what a load of `spec` with this seed leaves.
pub(super) fn refuse_other(session: &mut dyn Session, spec: &TpccSpec, rows_seed: u64) -> Result {
    let failed =
        |source| StepError::Session { client: "look at what was loaded".to_owned(), source };
    let found = read(session).map_err(failed)?;
    if found.is_empty() {
        return Err(StepError::Load(format!(
            "the database has no complete load: table {NAME} has no record of one; drop the tables \
             that exist and load them again"
        )));
    }
    if let Some(difference) = difference(&found, &facts(spec, rows_seed)?) {
        return Err(StepError::Load(format!(
            "the database was loaded for another plan: {difference}; give the database that belongs to \
             the plan, or load it again"
        )));
    }
    let warehouses = number(session, "SELECT COUNT(*) FROM warehouse").map_err(failed)?;
    if warehouses != u64::from(spec.warehouses) {
        return Err(StepError::Load(format!(
            "table warehouse has {warehouses} rows where {} were loaded; load the database again",
            spec.warehouses
        )));
    }
    Ok(())
}

/// What is written down; nothing where there is no table for it.
fn read(session: &mut dyn Session) -> Result<Facts, SessionError> {
    let mut facts = Facts::new();
    let read = session.query(&format!("SELECT fact, value FROM {NAME}"), &mut |row| {
        let text = |column| row.value(column).to_text().unwrap_or_default();
        facts.insert(text(0), text(1));
    });
    match read {
        Err(SessionError::Server { code, message, .. })
            if ["1146", "42P01"].contains(&code.as_str()) || message.contains("no such table") =>
        {
            Ok(Facts::new())
        }
        read => read.map(|_| facts),
    }
}

#[cfg(test)]
mod tests {
    use model::{PaymentOrder, TpccMix, TpccProfile};

    use super::super::scale::tests::spec;
    use super::*;

    #[test]
    fn a_difference_names_what_is_other() {
        let of = |spec: &TpccSpec, seed| facts(spec, seed).unwrap();
        let found = of(&spec(), 7);
        assert_eq!(difference(&found, &of(&spec(), 7)), None);
        let mut other = spec();
        (other.warehouses, other.profile) = (3, TpccProfile::Percona);
        assert_eq!(
            difference(&found, &of(&other, 7)).unwrap(),
            "it has profile \"standard\", warehouses 2; the plan has profile \"percona\", warehouses 3"
        );
        let seed = difference(&found, &of(&spec(), 8)).unwrap();
        assert!(seed.contains("seed 7") && seed.contains("seed 8"), "{seed}");
        let mut old = found.clone();
        old.remove("data");
        assert_eq!(difference(&old, &found).unwrap(), "it has no data; the plan has data 1");
    }

    #[test]
    fn procedures_are_part_of_it_where_there_are_some() {
        let mut batched = spec();
        batched.form = TpccForm::Batched;
        let facts = |spec: &TpccSpec| facts(spec, 7).unwrap();
        assert_eq!(facts(&batched), facts(&spec()));
        let mut stored = spec();
        stored.form = TpccForm::Procedures;
        assert_eq!(facts(&spec())["procedures"], "null");
        assert_eq!(facts(&stored)["procedures"], "[\"standard\",\"warehouse\",\"join\"]");
    }

    #[test]
    fn texts_need_no_escapes() {
        for (name, text) in facts(&spec(), u64::MAX).unwrap() {
            assert!(!name.contains(['\'', '\\']) && !text.contains(['\'', '\\']), "{text}");
            assert!(name.len() <= 32 && text.len() <= 500);
        }
    }

    #[test]
    fn a_state_survives_and_others_are_refused() {
        let text = state(&spec(), u64::MAX).unwrap();
        assert_eq!(restore(&text, &spec()).unwrap(), u64::MAX);
        let mut larger = spec();
        larger.warehouses = 3;
        assert_eq!(
            restore(&text, &larger).unwrap_err().to_string(),
            "the state of the loaded data cannot be used: it has warehouses 2; the plan has \
             warehouses 3"
        );
        let newer = text.replace("\"data\":\"1\"", "\"data\":\"2\"");
        assert_ne!(newer, text);
        assert!(restore(&newer, &spec()).is_err());
        let message = restore("{}", &spec()).unwrap_err().to_string();
        assert!(message.contains("missing field"), "{message}");
        assert!(restore("", &spec()).is_err());
    }

    #[test]
    fn what_transactions_do_is_no_part_of_the_loading() {
        let of = |change: &dyn Fn(&mut TpccSpec)| {
            let mut spec = spec();
            change(&mut spec);
            loading(&spec).unwrap()
        };
        let base = of(&|_| ());
        assert_eq!(of(&|spec| spec.clients = 99), base);
        assert_eq!(of(&|spec| spec.mix = TpccMix::Weights([1; 5])), base);
        assert_eq!(of(&|spec| spec.form = TpccForm::Batched), base);
        assert_eq!(of(&|spec| spec.payment_order = PaymentOrder::District), base);
        assert_ne!(of(&|spec| spec.warehouses = 3), base);
        assert_ne!(of(&|spec| spec.cardinality.items = 60), base);
        assert_ne!(of(&|spec| spec.schema.history_key = true), base);
        assert_ne!(of(&|spec| spec.load.rows_per_commit = 1), base);
        assert_ne!(of(&|spec| spec.settle = model::Settle::Formula), base);
        // The load makes the procedures.
        let procedures = |order| {
            of(&|spec| {
                spec.form = TpccForm::Procedures;
                spec.payment_order = order;
            })
        };
        assert_ne!(procedures(PaymentOrder::Warehouse), base);
        assert_ne!(procedures(PaymentOrder::Warehouse), procedures(PaymentOrder::District));
    }
}
