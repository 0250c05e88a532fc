//! What holds for any two systems.

mod common;

use std::collections::BTreeSet;

use common::{all, put, rules, text};
use explain::{Difference, Facts, Reason, explain};
use model::Dbms;
use proptest::prelude::*;

/// Pairs of servers whose variables can be compared.
fn pairs() -> Vec<(Facts, Facts)> {
    let all = all();
    let of_a = |a: &Facts| {
        let comparable = |b: &&Facts| a.dbms.dialect() == b.dbms.dialect();
        let others: Vec<Facts> = all.iter().filter(comparable).cloned().collect();
        let pair = |b| (a.clone(), b);
        others.into_iter().map(pair).collect::<Vec<_>>()
    };
    all.iter().flat_map(of_a).collect()
}

const fn mirrored(kind: Reason) -> Reason {
    match kind {
        Reason::New => Reason::Gone,
        Reason::Gone => Reason::New,
        other => other,
    }
}

/// The comparison of B with A is that of A with B in a mirror.
fn check_mirror(a: &Facts, b: &Facts) {
    let rules = rules(a.dbms);
    let (there, back) = (explain(rules, a, b), explain(rules, b, a));
    let seen = |d: &Difference| (d.name.clone(), d.kind, d.a.clone(), d.b.clone());
    let there: BTreeSet<_> = there.differences.iter().map(seen).collect();
    let back: BTreeSet<_> = back
        .differences
        .iter()
        .map(|d| (d.name.clone(), mirrored(d.kind), d.b.clone(), d.a.clone()))
        .collect();
    assert_eq!(there, back, "{} {}", a.system, b.system);
}

#[test]
fn a_mirror_swaps_new_and_gone() {
    for (a, b) in pairs() {
        check_mirror(&a, &b);
    }
}

#[test]
fn equal_systems_have_no_difference() {
    for facts in all() {
        let explanation = explain(rules(facts.dbms), &facts, &facts);
        assert_eq!(explanation.differences, [], "{}", facts.system);
    }
}

/// Nearly every variable of a real server is in a group, so that no heap is left over.
#[test]
fn groups_hold_what_there_is() {
    for (a, b) in pairs() {
        let explanation = explain(rules(a.dbms), &a, &b);
        let other = explanation.differences.iter().filter(|d| d.group == "other");
        let names: Vec<&str> = other.map(|d| d.name.as_str()).collect();
        let all = explanation.differences.len();
        assert!(
            names.len() * 8 <= all.max(40),
            "{} {}: {} of {all} in no group: {names:?}",
            a.system,
            b.system,
            names.len()
        );
    }
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for (a, b) in pairs() {
        for width in [80, 120] {
            for line in text(&a, &b, width, true).lines() {
                // The margin of the test marks headings.
                assert!(line.chars().count() <= width + 1, "{width}: {line}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever servers say: never a panic, always a mirror.
    #[test]
    fn any_values_can_be_compared(
        place in 0usize..10,
        changes in prop::collection::vec(("[a-z_]{1,12}|sql_mode|shared_buffers|innodb_flush_method", "\\PC{0,40}"), 0..20),
        set in prop::collection::vec(("(loose[-_])?(skip[-_])?[a-z_]{1,12}", "\\PC{0,8}"), 0..5),
    ) {
        let servers = all();
        let a = servers[place % servers.len()].clone();
        let mut b = common::with(
            a.clone(),
            &set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>(),
        );
        for (name, value) in &changes {
            put(&mut b, name, value);
        }
        check_mirror(&a, &b);
        let _shown = text(&a, &b, 80, true);
    }

    /// A value that changes shows, and only it.
    #[test]
    fn one_change_is_one_difference(place in 0usize..200) {
        let a = common::defaults(Dbms::Postgres, "15.19");
        let names: Vec<String> = a.variables.keys().cloned().collect();
        let name = &names[place % names.len()];
        let rules = rules(a.dbms);
        prop_assume!(!plan::any_fits(&rules.own, name));
        let mut b = a.clone();
        put(&mut b, name, "something else");
        let explanation = explain(rules, &a, &b);
        let found: Vec<&str> = explanation.differences.iter().map(|d| d.name.as_str()).collect();
        prop_assert_eq!(found, [name.as_str()]);
    }
}
