//! Other rules compared: the same simulated labs, judged by backslide and by the rules that others go by.
//!
//! `cargo test -p stats --test referees -- --nocapture` prints the table of `docs/statistics.md`.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod judge;
mod world;

use std::thread;

use model::{Rng, mix};
use testkit::Referee;

use self::judge::Judge;
use self::world::{AFFECTED, Order, Truth, simulate};

/// Simulated labs for each column.
const LABS: u32 = 200;
const SEED: u64 = 6;

/// Standard deviation of one value around its round, where two of them make a pair that scatters by 0.7 %.
const QUIET: f64 = 0.007 * std::f64::consts::FRAC_1_SQRT_2;
/// The drift from round to round, so that single runs scatter by 1.5 % in all.
const DRIFT: f64 = 0.014_16;

/// The counts of the simulated labs.
enum Count {
    /// Those with a regression of any test, where there is none.
    Alarms,
    /// Labs that miss the regression of the affected test.
    Misses,
}

/// A column of the table.
struct Column {
    title: &'static str,
    truth: Truth,
    count: Count,
}

static COLUMNS: [Column; 5] = [
    Column {
        title: "false alarms, noisy",
        truth: Truth { own: 0.015, drift: 0.015, order: Order::Interleaved, effect: |_| 1.0 },
        count: Count::Alarms,
    },
    Column {
        title: "false alarms, one after the other",
        truth: Truth { own: QUIET, drift: DRIFT, order: Order::OneAfterTheOther, effect: |_| 1.0 },
        count: Count::Alarms,
    },
    Column { title: "−3 % missed", truth: quiet(|_| 0.97), count: Count::Misses },
    Column { title: "−1 % missed", truth: quiet(|_| 0.99), count: Count::Misses },
    Column {
        title: "−40 % at one client missed",
        truth: quiet(|clients| if clients == 1 { 0.6 } else { 1.0 }),
        count: Count::Misses,
    },
];

/// Interleaved rounds that scatter as little as pairs of good hosts do.
const fn quiet(effect: fn(u32) -> f64) -> Truth {
    Truth { own: QUIET, drift: DRIFT, order: Order::Interleaved, effect }
}

/// A row each; backslide's last: as it is by default, and asked for small effects.
fn judges() -> Vec<Judge> {
    let by_default = Judge::Backslide { rounds: 4, margin: None };
    let small_effects = Judge::Backslide { rounds: 12, margin: Some(0.005) };
    let referees = Referee::ALL.into_iter().map(Judge::Referee);
    referees.chain([by_default, small_effects]).collect()
}

/// The shares of one column, one for each judge.
fn shares(column: &Column, judges: &[Judge]) -> Vec<f64> {
    let mut counts = vec![0_u32; judges.len()];
    for lab in 0..LABS {
        // Every column draws the same numbers.
        let tests = simulate(&column.truth, &mut Rng::new(mix(SEED, &[u64::from(lab)])));
        for (count, judge) in counts.iter_mut().zip(judges) {
            let regressed = judge.regressed(&tests);
            *count += u32::from(match column.count {
                Count::Alarms => regressed.contains(&true),
                Count::Misses => !regressed[AFFECTED],
            });
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(LABS);
    counts.into_iter().map(share).collect()
}

/// Shares by column, then by judge.
fn all_shares(judges: &[Judge]) -> Vec<Vec<f64>> {
    thread::scope(|scope| {
        let columns = COLUMNS
            .iter()
            .map(|column| scope.spawn(move || shares(column, judges)))
            .collect::<Vec<_>>();
        columns.into_iter().map(|c| c.join().unwrap()).collect()
    })
}

/// The table as the page has it.
fn table(judges: &[Judge], shares: &[Vec<f64>]) -> String {
    let titles: Vec<&str> = COLUMNS.iter().map(|column| column.title).collect();
    let mut lines = vec![
        format!("| rule | runs of each system | {} |", titles.join(" | ")),
        format!("|---|---|{}", "---|".repeat(titles.len())),
    ];
    for (place, judge) in judges.iter().enumerate() {
        let percent = |column: &Vec<f64>| format!("{:.1} %", 100.0 * column[place]);
        let cells: Vec<String> = shares.iter().map(percent).collect();
        let (name, rounds) = (judge.name(), judge.rounds());
        lines.push(format!("| {name} | {rounds} | {} |", cells.join(" | ")));
    }
    lines.join("\n")
}

/// backslide's promise in each column; `None` without one.
fn promised(judge: Judge) -> [Option<f64>; 5] {
    match judge {
        Judge::Referee(_) => [None; 5],
        Judge::Backslide { .. } => [Some(0.02), None, Some(0.05), None, Some(0.0)],
    }
}

#[test]
fn backslide_keeps_its_bounds_and_the_page_quotes_the_referees() {
    let judges = judges();
    let shares = all_shares(&judges);
    let table = table(&judges, &shares);
    eprintln!("{table}");
    for (place, judge) in judges.iter().enumerate() {
        for ((column, shares), most) in COLUMNS.iter().zip(&shares).zip(promised(*judge)) {
            let share = shares[place];
            assert!(
                most.is_none_or(|most| share <= most),
                "{}, {}: {share}",
                judge.name(),
                column.title
            );
        }
    }
    assert!(
        include_str!("../../../../docs/statistics.md").contains(&table),
        "docs/statistics.md, \"Other rules compared\", has another table; this is what belongs there:\n\n{table}"
    );
}
