//! What the loading steps left, for a trial that goes on from there in another process.

use model::TpccSpec;
use serde::{Deserialize, Serialize};

use super::meta::{self, Facts};
use super::population::DATA_VERSION;
use load::StepError;

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loaded {
    /// The seed of the rows: whoever makes them again needs it, not that of his own trial.
    pub(super) seed: u64,
    facts: Facts,
}

/// What the loading steps left, as text. `seed` is that of the rows.
pub(super) fn state(spec: &TpccSpec, seed: u64) -> Result<String, StepError> {
    let facts = meta::facts(spec, seed)?;
    serde_json::to_string(&Loaded { seed, facts }).map_err(|error| unusable(&error))
}

/// Takes over what another process loaded. Fails when the text is not of [`state`], or of another load
/// than the plan's.
pub(super) fn restore(text: &str, spec: &TpccSpec) -> Result<Loaded, StepError> {
    let loaded: Loaded = serde_json::from_str(text).map_err(|error| unusable(&error))?;
    match meta::difference(&loaded.facts, &meta::facts(spec, loaded.seed)?) {
        Some(difference) => Err(StepError::State(difference)),
        None => Ok(loaded),
    }
}

pub(super) fn loading(spec: &TpccSpec) -> Result<String, StepError> {
    let data = (DATA_VERSION, spec.warehouses, spec.cardinality, spec.profile);
    let work = (&spec.schema, &spec.load, spec.settle);
    serde_json::to_string(&(data, work, meta::procedures(spec))).map_err(|error| unusable(&error))
}

fn unusable(error: &serde_json::Error) -> StepError {
    StepError::State(error.to_string())
}

#[cfg(test)]
mod tests {
    use model::{PaymentOrder, TpccForm, TpccMix};

    use super::super::scale::tests::spec;
    use super::*;

    #[test]
    fn a_state_survives_and_others_are_refused() {
        let text = state(&spec(), u64::MAX).unwrap();
        let loaded = restore(&text, &spec()).unwrap();
        assert_eq!(loaded.seed, u64::MAX);
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
