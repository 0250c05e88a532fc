//! Many terminals on one warehouse.

use model::{Isolation, TpccForm, TpccMix};
use testkit::databases::{Backend, number};

use crate::spec::spec;
use crate::trial::{Trial, ops};

/// What sessions that wait for each other can do.
pub(crate) fn on(backend: &Backend) {
    sixty_four_terminals(backend);
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
        for form in [TpccForm::Single, TpccForm::Batched, TpccForm::Procedures] {
            two_deliveries(backend, isolation, form);
        }
    }
}

/// They lock each other out of everything and still all come to an end, and everything holds.
fn sixty_four_terminals(backend: &Backend) {
    eprintln!("holds: sixty-four terminals on one warehouse");
    let mut spec = spec(1, 64);
    spec.isolation = Some(Isolation::ReadCommitted);
    spec.seconds = 3;
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let run = trial.step(&target);
    assert!(ops(&run, "new-order") > 0 && ops(&run, "payment") > 0);
    trial.step(&target);
}

/// No order is delivered twice, and none is left out.
fn two_deliveries(backend: &Backend, isolation: Isolation, form: TpccForm) {
    eprintln!("holds: two deliveries, {form:?}, {isolation:?}");
    let mut spec = spec(1, 2);
    (spec.isolation, spec.form) = (Some(isolation), form);
    // More are delivered than are entered, so that queues run empty.
    spec.mix = TpccMix::Weights([2, 0, 0, 1, 0]);
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let run = trial.step(&target);
    assert!(ops(&run, "delivery") > 0);
    trial.step(&target);
    let loaded = i64::from(spec.cardinality.delivered() * 10);
    let delivered = "SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NOT NULL";
    assert!(number(&target, delivered) > loaded);
}
