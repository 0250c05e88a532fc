//! What is written comes back, all of it and nothing else.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use model::{
    Bytes, Capture, Check, Connection, Counter, CounterKind, ErrorCount, Moment, Note, OpenLoop,
    Provenance, RunState, Sizes, Step, StepId, TpccAudit, TpccFacts,
};
use proptest::prelude::*;

use super::*;
use crate::Want;

const ALL: Want = Want { series: true, histograms: true };

#[test]
fn an_imported_run_is_there_whole_or_not_at_all() {
    let mut lab = Lab::new();
    let plan = fixtures::plan(&["a", "b"], 1);
    let host = fixtures::host();
    let key = |system: &str, position| TrialKey { round: 1, position, system: system.to_owned() };
    let steps = [(record("l.i0", 0), vec![rate(9.0)])];
    let (a, b) = (key("a", 1), key("b", 2));
    let mut keep = |trials: [&TrialKey; 2]| {
        let trials = trials.into_iter().map(|key| (key, &steps[..]));
        lab.store.keep_whole(&plan, &host, "0.1.0", STARTED, trials)
    };
    assert!(keep([&a, &a]).is_err(), "one system twice in a round");
    let run = keep([&a, &b]).unwrap();
    assert_eq!(lab.store.runs().unwrap().len(), 1);
    let data = lab.store.load(&run, ALL).unwrap();
    assert_eq!(data.info.state, RunState::Finished);
    let trials = data.trials.iter();
    let trials: Vec<(&str, bool)> =
        trials.map(|t| (t.system.as_str(), t.outcome.is_completed())).collect();
    assert_eq!(trials, [("a", true), ("b", true)]);
    let cells = data.cells.iter();
    let cells: Vec<(&str, f64)> = cells.map(|c| (c.system.as_str(), c.value)).collect();
    assert_eq!(cells, [("a", 9.0), ("b", 9.0)]);
}

#[test]
fn a_run_is_loaded_in_order_and_without_what_failed() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 2);
    lab.whole_trial(&run, 1, "b", &["l.i0", "qr100"]);
    lab.whole_trial(&run, 1, "a", &["l.i0", "qr100"]);
    let broken = lab.trial(&run, 2, "a");
    let provenance = Provenance(vec![("version".into(), "3.50.4".to_owned())]);
    lab.store.set_provenance(broken, &provenance).unwrap();
    let step = lab.step(broken, "l.i0", 0);
    lab.store.finish_step(step, &record("l.i0", 0), &[rate(9.0)]).unwrap();
    lab.store.finish_trials(&[(broken, &failed(), Nanos(77))]).unwrap();
    let under_way = lab.trial(&run, 2, "b");
    let step = lab.step(under_way, "l.i0", 0);
    lab.store.add_interval(step, &interval(0)).unwrap();

    let data = lab.store.load(&run, ALL).unwrap();
    let trials: Vec<(u32, &str)> =
        data.trials.iter().map(|t| (t.round, t.system.as_str())).collect();
    assert_eq!(trials, [(1, "b"), (1, "a"), (2, "a")]);
    let last = &data.trials[2];
    assert_eq!((&last.outcome, last.duration), (&failed(), Nanos(77)));
    assert_eq!((&last.provenance, last.started.as_str()), (&provenance, STARTED));
    let steps: Vec<(&str, u32)> = data.steps.iter().map(|s| (s.id.0.as_str(), s.ordinal)).collect();
    assert_eq!(steps, [("l.i0", 0), ("qr100", 1)]);
    assert_eq!((data.steps[0].clients, data.steps[0].target_rate), (4, Some(100)));
    assert_eq!(
        (data.steps[0].subject.kind.as_str(), data.steps[0].subject.counts),
        ("insert", Counts::Rows)
    );
    let cells: Vec<(&str, &str, f64)> =
        data.cells.iter().map(|c| (c.system.as_str(), c.step.0.as_str(), c.value)).collect();
    assert_eq!(
        cells,
        [("b", "l.i0", 1.0), ("b", "qr100", 1.0), ("a", "l.i0", 1.0), ("a", "qr100", 1.0)]
    );
    assert_eq!((data.series.len(), data.histograms.len()), (4, 12));
    let without = lab.store.load(&run, Want::default()).unwrap();
    assert_eq!((without.series.len(), without.histograms.len()), (0, 0));
    assert_eq!(without.cells, data.cells);
}

#[test]
fn series_and_histograms_say_what_the_intervals_say() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let step = lab.step(trial, "qr100", 3);
    let mut stalled = interval(1);
    stalled.stalled = Nanos::from_secs(7);
    lab.store.add_interval(step, &interval(0)).unwrap();
    lab.store.add_interval(step, &stalled).unwrap();
    lab.store.finish_step(step, &record("qr100", 3), &[]).unwrap();
    lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();

    let data = lab.store.load(&run, ALL).unwrap();
    let series = &data.series[0];
    assert_eq!(series.spans, [(0.0, 1.0), (1.0, 1.0)]);
    let kinds: Vec<&str> = series.kinds.iter().map(|k| k.kind.as_str()).collect();
    assert_eq!(kinds, ["insert", "query"]);
    let service = &interval(0).kinds[0].service;
    assert_eq!((&series.kinds[0].ops, &series.kinds[0].rows), (&vec![3, 3], &vec![150, 150]));
    assert_eq!(series.kinds[0].p50[0], service.quantile(0.5).unwrap());
    assert_eq!(series.kinds[0].p99[0], service.quantile(0.99).unwrap());
    assert_eq!(series.kinds[0].max, [service.max(), Nanos::from_secs(7)]);
    let record = record("qr100", 3);
    let found: Vec<(&str, bool, &Latency)> =
        data.histograms.iter().map(|h| (h.kind.as_str(), h.is_response, &h.latency)).collect();
    let sums = |place: usize| &record.kinds[place].sums;
    assert_eq!(
        found,
        [
            ("insert", false, &sums(0).service),
            ("insert", true, sums(0).response.as_ref().unwrap()),
            ("query", false, &sums(1).service),
        ]
    );
}

#[test]
fn a_chart_scans_the_numbers_by_key_and_touches_no_histogram() {
    let lab = Lab::new();
    let plan: String = lab
        .store
        .connection
        .query_row(&format!("EXPLAIN QUERY PLAN {}", crate::load::below::NUMBERS), [1], |row| {
            row.get(3)
        })
        .unwrap();
    assert_eq!(plan, "SEARCH interval USING PRIMARY KEY (step=?)");
}

#[test]
fn phases_between_results_are_kept_and_not_loaded() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let settle = Step { measured: false, ..planned("settle", 0, &[]) };
    let step = lab.store.begin_step(trial, &settle).unwrap();
    let mut record = record("settle", 0);
    record.measured = false;
    lab.store.finish_step(step, &record, &[rate(1.0)]).unwrap();
    lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();
    let data = lab.store.load(&run, ALL).unwrap();
    assert!(data.steps.is_empty() && data.cells.is_empty() && data.series.is_empty());
    assert_eq!(lab.record("settle"), record);
}

#[test]
fn captures_come_back_by_moment() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let step = StepId::new("l.i0");
    let capture = |name: &str| Capture {
        name: name.into(),
        columns: vec!["Variable_name".into(), "Value".into()],
        rows: vec![
            vec![Some("it's".into()), None],
            vec![Some("größe".into()), Some("x".repeat(100_000))],
        ],
    };
    for name in ["variables", "status"] {
        lab.store.add_capture(trial, &step, Moment::Before, &capture(name)).unwrap();
    }
    lab.store.add_capture(trial, &step, Moment::After, &capture("status")).unwrap();
    let found = |moment, round| lab.store.captures(&run, "a", round, &step, moment).unwrap();
    assert_eq!(found(Moment::Before, 1), [capture("variables"), capture("status")]);
    assert_eq!(found(Moment::After, 1), [capture("status")]);
    assert!(found(Moment::After, 2).is_empty());
}

#[test]
fn secrets_in_listings_of_old_labs_are_hidden_when_they_are_read() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let step = StepId::new("l.i0");
    let row = |name: &str, value: &str| vec![Some(name.to_owned()), Some(value.to_owned())];
    let capture = Capture {
        name: "variables".into(),
        columns: Vec::new(),
        rows: vec![
            row("primary_conninfo", "user=repl password=s3cret"),
            row("extra", "postgres://u:s3cret@h"),
            row("work_mem", "4096"),
        ],
    };
    lab.store.add_capture(trial, &step, Moment::Before, &capture).unwrap();
    let read = lab.store.captures(&run, "a", 1, &step, Moment::Before);
    let expected = [
        row("primary_conninfo", "(hidden)"),
        row("extra", "postgres://u:(hidden)@h"),
        row("work_mem", "4096"),
    ];
    assert_eq!(read.unwrap()[0].rows, expected);
}

#[test]
fn only_its_owner_can_read_the_file_and_an_open_one_is_closed() {
    let mut lab = Lab::new();
    lab.run(&["a"], 1);
    let files =
        || ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", lab.store.path().display()));
    let modes = || files().map(|file| std::fs::metadata(file).unwrap().mode() & 0o777);
    assert_eq!(modes(), [0o600; 3]);
    for file in files() {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let _again = Store::open(lab.store.path()).unwrap();
    assert_eq!(modes(), [0o600; 3]);
}

#[test]
fn a_listing_that_stays_the_same_is_stored_once_and_read_everywhere() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    let capture = |value: &str| Capture {
        name: "variables".into(),
        columns: Vec::new(),
        rows: vec![vec![Some("buffer".into()), Some(value.into())]],
    };
    // Back to what it was at first: the one in between is another one.
    let values = ["1", "1", "2", "2", "1", "1"];
    for system in ["a", "b"] {
        let trial = lab.trial(&run, 1, system);
        for (number, value) in values.iter().enumerate() {
            let step = StepId(number.to_string());
            for moment in [Moment::Before, Moment::After] {
                lab.store.add_capture(trial, &step, moment, &capture(value)).unwrap();
            }
        }
    }
    for system in ["a", "b"] {
        for (number, value) in values.iter().enumerate() {
            let step = StepId(number.to_string());
            for moment in [Moment::Before, Moment::After] {
                let found = lab.store.captures(&run, system, 1, &step, moment).unwrap();
                assert_eq!(found, [capture(value)], "{system} {number}");
            }
        }
    }
    let stored: u32 = lab
        .store
        .connection
        .query_row("SELECT count(*) FROM capture WHERE length(listing) > 0", [], |row| row.get(0))
        .unwrap();
    assert_eq!(stored, 6);
}

#[test]
fn a_record_of_before_statements_were_counted_is_read() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    let record = lab.record("l.i0");
    assert_eq!((record.subject.counts, record.open_loop), (Counts::Rows, None));
    for (counts, old) in [(Counts::Rows, true), (Counts::Operations, false)] {
        let stored = lab.store.connection.query_row(
            "SELECT record FROM step WHERE name = 'l.i0'",
            [],
            |row| row.get::<_, String>(0),
        );
        let mut stored: serde_json::Value = serde_json::from_str(&stored.unwrap()).unwrap();
        let fields = stored.as_object_mut().unwrap();
        // As the first version wrote it.
        fields.remove("open_loop");
        fields.remove("before");
        fields["subject"] = serde_json::json!({ "kind": "insert", "counts_rows": old });
        let changed = lab
            .store
            .connection
            .execute("UPDATE step SET record = ?1 WHERE name = 'l.i0'", [stored.to_string()]);
        assert_eq!(changed.unwrap(), 1);
        let read = lab.record("l.i0");
        assert_eq!((read.subject.counts, read.open_loop), (counts, None));
        let data = lab.store.load(&run, Want::default()).unwrap();
        assert_eq!(data.steps[0].subject.counts, counts);
    }
}

#[test]
fn a_plan_of_before_connections_were_chosen_is_read() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let store = &lab.store.connection;
    let plan = store.query_row("SELECT plan FROM run", [], |row| row.get::<_, String>(0));
    let mut plan: serde_json::Value = serde_json::from_str(&plan.unwrap()).unwrap();
    let system = plan["systems"][0].as_object_mut().unwrap();
    assert!(system.remove("connection").is_some());
    store.execute("UPDATE run SET plan = ?1", [plan.to_string()]).unwrap();
    let info = lab.store.run_info(&run).unwrap();
    assert_eq!(info.plan.systems[0].connection, Connection::default());
}

#[test]
fn a_step_is_under_way_from_its_beginning_to_the_end_of_its_trial() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    assert!(lab.store.under_way(&run, 9).unwrap().is_none());
    let trial = lab.trial(&run, 1, "a");
    assert!(lab.store.under_way(&run, 9).unwrap().is_none());
    let step = lab.step(trial, "l.i0", 0);
    let begun = lab.store.under_way(&run, 9).unwrap().unwrap();
    assert_eq!((begun.trial, begun.step.0.as_str()), (key(1, "a"), "l.i0"));
    assert!(begun.latest.is_empty());
    lab.store.finish_step(step, &record("l.i0", 0), &[]).unwrap();
    lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();
    assert!(lab.store.under_way(&run, 9).unwrap().is_none());
}

#[test]
fn records_are_those_of_every_trial_with_an_outcome() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 2);
    lab.whole_trial(&run, 1, "a", &["l.i0", "l.x"]);
    let broken = lab.trial(&run, 1, "b");
    let done = lab.step(broken, "l.i0", 0);
    lab.store.finish_step(done, &record("l.i0", 0), &[]).unwrap();
    lab.step(broken, "l.x", 1);
    lab.store.finish_trials(&[(broken, &failed(), Nanos(1))]).unwrap();
    let open = lab.trial(&run, 2, "a");
    let done = lab.step(open, "l.i0", 0);
    lab.store.finish_step(done, &record("l.i0", 0), &[]).unwrap();
    let records = lab.store.step_records(&run).unwrap();
    let records = records.iter().map(|(trial, record)| (trial.clone(), record.step.0.as_str()));
    let expected = [(key(1, "a"), "l.i0"), (key(1, "a"), "l.x"), (key(1, "b"), "l.i0")];
    assert_eq!(records.collect::<Vec<_>>(), expected);
}

#[test]
fn a_value_that_is_no_number_is_refused_and_the_step_stays_open() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let step = lab.step(trial, "l.i0", 0);
    let record = record("l.i0", 0);
    assert!(lab.store.finish_step(step, &record, &[rate(f64::NAN)]).is_err());
    lab.store.finish_step(step, &record, &[rate(0.1 + 0.2)]).unwrap();
    lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();
    let data = lab.store.load(&run, Want::default()).unwrap();
    assert_eq!(data.cells[0].value.to_bits(), (0.1_f64 + 0.2).to_bits());
}

fn a_latency() -> impl Strategy<Value = Latency> {
    prop::collection::vec((any::<u64>(), 0u32..60), 0..20).prop_map(|values| {
        let mut latency = Latency::new();
        for (value, shift) in values {
            latency.record(Nanos(value >> shift));
        }
        latency
    })
}

prop_compose! {
    fn a_kind()(
        counts in any::<[u64; 4]>(),
        service in a_latency(),
        response in prop::option::of(a_latency()),
    ) -> KindInterval {
        let [ops, rows, errors, retries] = counts;
        KindInterval { ops, rows, errors, retries, service, response }
    }
}

fn some_readings() -> impl Strategy<Value = Readings> {
    let kind =
        prop_oneof![Just(CounterKind::Total), Just(CounterKind::Level), Just(CounterKind::Peak)];
    let counter = (kind, any::<u64>()).prop_map(|(kind, value)| Counter { kind, value });
    let id = "\\PC{0,12}".prop_map(model::CounterId::from);
    prop::collection::btree_map(id, counter, 0..6).prop_map(Readings)
}

prop_compose! {
    fn an_interval()(
        times in any::<[u64; 3]>(),
        kinds in prop::collection::vec(a_kind(), 0..4),
        readings in some_readings(),
    ) -> Interval {
        let [start, length, stalled] = times.map(Nanos);
        Interval { index: 0, start, length, kinds, stalled, readings }
    }
}

const TEXT: &str = "\\PC{0,20}";

prop_compose! {
    fn a_total()(name in TEXT, scheduled: bool, sums in a_kind(), late: u64) -> KindTotals {
        KindTotals { spec: KindSpec { name, scheduled }, sums, late }
    }
}

prop_compose! {
    fn an_error()(kind in TEXT, code in TEXT, count: u64, retried: bool) -> ErrorCount {
        ErrorCount { kind, code, count, retried }
    }
}

prop_compose! {
    fn a_check()(what in TEXT, expected in TEXT, actual in TEXT, holds: bool) -> Check {
        Check { what, expected, actual, holds }
    }
}

prop_compose! {
    fn some_sizes()(sizes in any::<[u64; 4]>()) -> Sizes {
        let [data, log, total, allocated] = sizes.map(Bytes);
        Sizes { data, log, total, allocated }
    }
}

fn some_counts() -> impl Strategy<Value = Counts> {
    prop_oneof![
        Just(Counts::Rows),
        Just(Counts::Operations),
        any::<u32>().prop_map(Counts::Statements)
    ]
}

prop_compose! {
    fn an_open_loop()(
        counts in any::<[u64; 4]>(),
        highest_rate in any::<Option<u64>>(),
    ) -> OpenLoop {
        let [per_second, arrived, shed, waiting] = counts;
        OpenLoop { per_second, arrived, shed, waiting, highest_rate }
    }
}

prop_compose! {
    fn some_facts()(
        limits_millis in any::<[u32; 5]>(),
        counts in any::<[u64; 4]>(),
        asked in any::<[u64; 9]>(),
    ) -> TpccFacts {
        let [skipped, backlog, committed, counted] = counts;
        let [
            new_orders,
            rollbacks,
            lines,
            remote_lines,
            payments,
            remote_payments,
            payments_by_name,
            order_statuses,
            order_statuses_by_name,
        ] = asked;
        let audit = TpccAudit {
            new_orders,
            rollbacks,
            lines,
            remote_lines,
            payments,
            remote_payments,
            payments_by_name,
            order_statuses,
            order_statuses_by_name,
        };
        TpccFacts { limits_millis, skipped, backlog, committed, counted, audit }
    }
}

prop_compose! {
    fn a_record()(
        (step, measured, clients) in (TEXT, any::<bool>(), any::<u32>()),
        (window, elapsed, requested_rows) in any::<(u64, u64, u64)>(),
        (kind, counts) in (TEXT, some_counts()),
        kinds in prop::collection::vec(a_total(), 0..4),
        (errors, checks) in (
            prop::collection::vec(an_error(), 0..3),
            prop::collection::vec(a_check(), 0..3),
        ),
        (target_rate, seconds_on_target) in any::<(Option<u64>, Option<(u32, u32)>)>(),
        open_loop in prop::option::of(an_open_loop()),
        tpcc in prop::option::of(some_facts()),
        counters in some_readings(),
        (before, sizes) in (prop::option::of(some_sizes()), prop::option::of(some_sizes())),
        notes in prop::collection::vec((TEXT, TEXT), 0..3),
        compat in any::<bool>(),
    ) -> StepRecord {
        StepRecord {
            step: StepId(step),
            ordinal: 0,
            measured,
            clients,
            window: Nanos(window),
            elapsed: Nanos(elapsed),
            subject: Subject { kind, counts },
            kinds,
            errors,
            target_rate,
            seconds_on_target,
            requested_rows,
            open_loop,
            tpcc,
            counters,
            drift: None,
            before,
            sizes,
            checks,
            notes: notes.into_iter().map(|(what, text)| Note::new(what, text)).collect(),
            compat,
            // Not stored.
            timed: false,
            cut_short: false,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_field_of_a_record_and_of_its_intervals_survives(
        record in a_record(),
        intervals in prop::collection::vec(an_interval(), 0..4),
    ) {
        let mut lab = Lab::new();
        let run = lab.run(&["a"], 1);
        let trial = lab.trial(&run, 1, "a");
        let planned = Step { measured: record.measured, ..planned(&record.step.0, 0, &[]) };
        let step = lab.store.begin_step(trial, &planned).unwrap();
        let intervals: Vec<Interval> = (0..)
            .zip(intervals)
            .map(|(index, interval)| Interval { index, ..interval })
            .collect();
        for interval in &intervals {
            lab.store.add_interval(step, interval).unwrap();
        }
        lab.store.finish_step(step, &record, &[]).unwrap();
        let mut lab = lab.reopened();
        prop_assert_eq!(lab.intervals(&run), intervals);
        lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();
        prop_assert_eq!(lab.record(&record.step.0), record);
    }
}
