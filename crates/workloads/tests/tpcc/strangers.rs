//! A database that is not the plan's.

use model::{TpccProfile, TpccSpec};
use testkit::databases::Backend;

use crate::spec::spec;
use crate::trial::Trial;

/// A change of a spec.
type Change = fn(&mut TpccSpec);

/// What another plan may want, and what is told of it.
const OTHERS: [(Change, &str); 3] = [
    (
        |spec| spec.profile = TpccProfile::Percona,
        "it has profile \"standard\"; the plan has profile \"percona\"",
    ),
    (|spec| spec.warehouses = 3, "it has warehouses 2; the plan has warehouses 3"),
    (|spec| spec.cardinality.items = 50, "it has items 100; the plan has items 50"),
];

/// Transactions do not begin on a database of another profile or scale, or on one whose load did not end.
pub(crate) fn on(backend: &Backend) {
    let loaded = spec(2, 1);
    let target = backend.database();
    Trial::loaded(&loaded, &target);
    let refused = |change: Change| {
        let mut other = loaded.clone();
        change(&mut other);
        let mut trial = Trial::after_loading(&other);
        assert_eq!(trial.name(), "h1");
        trial.attempt(&target).unwrap_err().to_string()
    };
    for (change, difference) in OTHERS {
        let said = refused(change);
        let wanted = format!("the database was loaded for another plan: {difference}; ");
        assert!(said.starts_with(&wanted), "{said}");
    }
    // What is written last is missing.
    let mut session = target.connector.connect().unwrap();
    session.execute("DROP TABLE tpcc_meta").unwrap();
    let said = refused(|_| ());
    assert!(said.starts_with("the database has no complete load"), "{said}");
}
