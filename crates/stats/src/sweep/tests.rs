//! Crossings and scale-up, worked by hand.

mod simulation;

use model::{Comparison, Host, HostRounds, MetricId, Reason, StepId, Unit};
use proptest::prelude::*;

use super::*;

fn point(clients: u32, side: Side, logs: &[f64]) -> SweepPoint {
    SweepPoint { clients, side, rounds: (1..).zip(logs.iter().copied()).collect() }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn a_crossing_is_where_the_line_over_ln_clients_is_zero() {
    // From -0.1 to 0.15 it is zero after 0.4 of the way from ln 4 to ln 64, in the others after 0.5 and 0.6.
    let points =
        [point(64, Side::Above, &[0.1, 0.15, 0.1]), point(4, Side::Below, &[-0.1, -0.1, -0.15])];
    let [crossing] = crossings(&points, &[])[..] else {
        panic!("one crossing");
    };
    assert_eq!((crossing.from, crossing.to, crossing.rises), (4, 64, true));
    let Place::Found { clients, ends: Some((low, high)), rounds: 3 } = crossing.place else {
        panic!("{crossing:?}");
    };
    assert!(close(clients, 16.0), "{clients}");
    // s = 0.1 · ln 16 = 0.27726, and t(0.975, 2) = 4.3027: ± 4.3027 · 0.27726 / √3 = ± 0.6888.
    assert!((low.ln() - (16f64.ln() - 0.6888)).abs() < 1e-4, "{low}");
    assert!((high.ln() - (16f64.ln() + 0.6888)).abs() < 1e-4, "{high}");
}

#[test]
fn an_interval_stays_within_the_counts() {
    let points = [
        point(10, Side::Below, &[-0.01, -0.09, -0.05]),
        point(20, Side::Above, &[0.09, 0.01, 0.05]),
    ];
    let Place::Found { ends: Some((low, high)), .. } = crossings(&points, &[])[0].place else {
        panic!("found");
    };
    assert!(close(low, 10.0) && close(high, 20.0), "{low} {high}");
}

#[test]
fn falling_behind_is_a_crossing_too_and_there_may_be_several() {
    let points = [
        point(1, Side::Above, &[0.1, 0.1]),
        point(4, Side::Below, &[-0.1, -0.1]),
        point(8, Side::Below, &[-0.1, -0.2]),
        point(16, Side::Above, &[0.1, 0.1]),
    ];
    let all = crossings(&points, &[]);
    let shape: Vec<_> = all.iter().map(|c| (c.from, c.to, c.rises)).collect();
    assert_eq!(shape, [(1, 4, false), (8, 16, true)]);
    let Place::Found { clients, .. } = all[0].place else {
        panic!("found");
    };
    assert!(close(clients, 2.0), "{clients}");
}

#[test]
fn undecided_counts_between_two_certain_ones_are_passed_over() {
    // The first round crosses once, in the middle of the second half; the other goes forth and back and
    // is below 1 for the first half of every part.
    let points = [
        point(1, Side::Below, &[-0.1, -0.1]),
        point(2, Side::Unknown, &[-0.1, 0.1]),
        point(4, Side::Unknown, &[-0.1, -0.1]),
        point(8, Side::Above, &[0.1, 0.1]),
    ];
    let all = crossings(&points, &[]);
    assert_eq!((all.len(), all[0].from, all[0].to), (1, 1, 8));
    let Place::Found { clients, .. } = all[0].place else {
        panic!("found");
    };
    let (first, second) = (2.5 * 2f64.ln(), 1.5 * 2f64.ln());
    assert!(close(clients.ln(), f64::midpoint(first, second)), "{clients}");
}

#[test]
fn rounds_that_do_not_cross_leave_the_place_open() {
    let points =
        [point(10, Side::Below, &[-0.1, -0.1, 0.01]), point(20, Side::Above, &[0.1, 0.1, 0.1])];
    assert_eq!(crossings(&points, &[])[0].place, Place::Between { crossing: 2, rounds: 3 });
    // No round is complete at both.
    let mut apart = points.clone();
    apart[0].rounds.iter_mut().for_each(|(round, _)| *round += 5);
    assert_eq!(crossings(&apart, &[])[0].place, Place::Between { crossing: 0, rounds: 0 });
}

#[test]
fn beyond_the_certain_counts_a_mean_is_no_more_than_inconclusive() {
    let points = [
        point(1, Side::Unknown, &[0.02, -0.01, 0.02]),
        point(2, Side::Unknown, &[-0.02, -0.01, -0.02]),
        point(4, Side::Below, &[-0.1, -0.1, -0.1]),
        point(8, Side::Unknown, &[0.03, -0.02, 0.05]),
    ];
    let inconclusive = |crossing| Place::Inconclusive { crossing, rounds: 3 };
    let found: Vec<_> =
        crossings(&points, &[]).iter().map(|c| (c.from, c.to, c.rises, c.place)).collect();
    assert_eq!(found, [(1, 2, false, inconclusive(2)), (4, 8, true, inconclusive(2))]);
    // Neither a ratio within the margin nor one that returns has passed.
    let near = [points[2].clone(), point(8, Side::Near, &[0.01, 0.01, 0.01])];
    assert!(crossings(&near, &[]).is_empty());
    let back =
        [points[2].clone(), points[3].clone(), point(16, Side::Unknown, &[-0.1, -0.1, -0.1])];
    assert!(crossings(&back, &[]).is_empty());
}

#[test]
fn without_a_certain_count_nothing_is_said() {
    let points = [point(1, Side::Unknown, &[-0.1, -0.2]), point(8, Side::Unknown, &[0.1, 0.2])];
    assert!(crossings(&points, &[]).is_empty());
    assert!(crossings(&[], &[]).is_empty());
    assert!(
        crossings(&[point(0, Side::Above, &[0.1]), point(4, Side::Below, &[])], &[]).is_empty()
    );
}

#[test]
fn a_comparison_is_a_point() {
    let mut comparison = Comparison {
        step: StepId::new("point-query@8"),
        ordinal: 0,
        clients: 8,
        metric: MetricId::new("rate"),
        unit: Unit::OpsPerSecond,
        base: "a".into(),
        system: "b".into(),
        ratio: Some(0.5),
        low: None,
        high: None,
        rounds: 2,
        pairs: vec![(1, 0.5), (2, f64::NAN)],
        q_value: None,
        verdict: Verdict::Regressed,
        magnitude: None,
        evidence: None,
    };
    let expected = point(8, Side::Below, &[0.5_f64.ln()]);
    assert_eq!(SweepPoint::of(&comparison), Some(expected));
    comparison.ratio = Some(1.5);
    let side = |comparison: &Comparison| SweepPoint::of(comparison).map(|p| p.side);
    assert_eq!(side(&comparison), Some(Side::Above));
    comparison.verdict = Verdict::Unchanged;
    assert_eq!(side(&comparison), Some(Side::Near));
    comparison.verdict = Verdict::Inconclusive(Reason::TooNoisy { more_rounds: None });
    assert_eq!(side(&comparison), Some(Side::Unknown));
    comparison.ratio = None;
    assert_eq!(SweepPoint::of(&comparison), None);
}

#[test]
fn three_hosts_are_the_replicates_of_a_sweep() {
    // One host measured four rounds, two others one each; by rounds the mean is on the other side of 1.
    let host = |rounds: &[u32]| HostRounds { host: Host::default(), rounds: rounds.to_vec() };
    let hosts = [host(&[1, 2, 3, 4]), host(&[5]), host(&[6])];
    let logs = [-0.010, -0.010, -0.010, -0.010, 0.015, 0.020];
    let points = [point(1, Side::Above, &[0.1; 6]), point(8, Side::Unknown, &logs)];
    assert_eq!(crossings(&points, &[]).len(), 1);
    assert!(crossings(&points, &hosts).is_empty());

    let one: Vec<(u32, f64)> = (1..7).map(|round| (round, 100.0)).collect();
    let eight: Vec<(u32, f64)> = (1..7).zip(logs).map(|(r, log)| (r, 100.0 * log.exp())).collect();
    let scaled = scale_up(&one, &eight, &hosts).unwrap();
    assert!(close(scaled.ratio.ln(), 0.025 / 3.0) && scaled.rounds == 6);
    let (low, high) = scaled.ends.unwrap();
    // t(0.975, 2) · s / √3, with s² = 0.00025833.
    assert!(((high / low).ln() / 2.0 - 4.3027 * (0.000_258_33_f64 / 3.0).sqrt()).abs() < 1e-4);
}

#[test]
fn scale_up_is_paired_by_round() {
    let one = [(1, 100.0), (2, 200.0), (3, 50.0)];
    let eight = [(3, 200.0), (1, 400.0), (4, 1.0)];
    let scaled = scale_up(&one, &eight, &[]).unwrap();
    assert!(close(scaled.ratio, 4.0) && scaled.rounds == 2, "{scaled:?}");
    let (low, high) = scaled.ends.unwrap();
    assert!(low < 4.0 && 4.0 < high && high - low < 1e-3, "{low} {high}");
    assert_eq!(scale_up(&one[..1], &eight, &[]).unwrap().ends, None);
    for broken in [&[][..], &[(1, 0.0)], &[(9, 5.0)]] {
        assert_eq!(scale_up(&one, broken, &[]), None, "{broken:?}");
    }
}

proptest! {
    /// The base seen from the candidate crosses at the same places, the other way.
    #[test]
    fn the_mirror_is_exact(
        logs in prop::collection::vec(prop::collection::vec(-0.2..0.2f64, 4), 2..7),
    ) {
        let points: Vec<SweepPoint> = (0..)
            .zip(&logs)
            .map(|(place, logs)| {
                let mean: f64 = logs.iter().sum();
                let side = match mean {
                    m if m > 0.2 => Side::Above,
                    m if m < -0.2 => Side::Below,
                    _ => Side::Unknown,
                };
                point(1 << place, side, logs)
            })
            .collect();
        let turned: Vec<SweepPoint> = points
            .iter()
            .map(|p| SweepPoint {
                side: match p.side {
                    Side::Below => Side::Above,
                    Side::Above => Side::Below,
                    Side::Near | Side::Unknown => p.side,
                },
                rounds: p.rounds.iter().map(|(round, log)| (*round, -log)).collect(),
                ..*p
            })
            .collect();
        let there = crossings(&points, &[]);
        let back: Vec<Crossing> = crossings(&turned, &[])
            .into_iter()
            .map(|c| Crossing { rises: !c.rises, ..c })
            .collect();
        prop_assert_eq!(&there, &back);
        for crossing in there {
            prop_assert!(crossing.from < crossing.to);
            if let Place::Found { clients, ends: Some((low, high)), .. } = crossing.place {
                let (from, to) = (f64::from(crossing.from) - 1e-9, f64::from(crossing.to) + 1e-9);
                prop_assert!(from <= low && low <= clients && clients <= high && high <= to);
            }
        }
    }
}
