//! Precision and recall on published series, beside the rule that compares neighbours.

use std::collections::BTreeSet;

use super::super::*;
use crate::verdict::log_margin;

const TABLE: &str = include_str!("labelled.tsv");

const HISTORY_PAGE: &str = include_str!("../../../../../docs/history.md");

/// A step: (place, does it go up?).
type Step = (usize, bool);

struct Labelled {
    campaign: &'static str,
    versions: Vec<&'static str>,
    values: Vec<f64>,
    steps: BTreeSet<Step>,
}

fn labelled() -> Vec<Labelled> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let versions: Vec<&str> = fields[2].split(' ').collect();
        let step = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            let place = versions.iter().position(|v| *v == words[0]).unwrap();
            (place, words[1] == "up")
        };
        let named = fields[4].split(", ").filter(|text| !text.is_empty());
        Labelled {
            campaign: fields[0],
            values: fields[3].split(' ').map(|v| v.parse().unwrap()).collect(),
            steps: named.map(step).collect(),
            versions,
        }
    })
    .collect()
}

/// All steps that change points find, for each series; the series of a campaign are a family.
fn by_change_points(all: &[Labelled], min_effect: f64) -> Vec<BTreeSet<Step>> {
    all.chunk_by(|a, b| a.campaign == b.campaign)
        .flat_map(|campaign| {
            let series = campaign.iter().map(|one| Series {
                builds: one.values.iter().map(|value| vec![value.ln()]).collect(),
                margin: log_margin(min_effect),
                ..Series::default()
            });
            analyse(&series.collect::<Vec<_>>())
        })
        .map(|found| found.changes.iter().map(|c| (c.at, c.ratio > 1.0)).collect())
        .collect()
}

/// All neighbours that differ by 5 %.
fn by_neighbours(all: &[Labelled]) -> Vec<BTreeSet<Step>> {
    all.iter()
        .map(|one| {
            let ratios = one.values.windows(2).map(|pair| pair[1] / pair[0]);
            let far = (1..).zip(ratios).filter(|(_, ratio)| (ratio - 1.0).abs() >= 0.05);
            far.map(|(place, ratio)| (place, ratio > 1.0)).collect()
        })
        .collect()
}

/// How often something said is true, and how much of the truth is said.
struct Score {
    said: usize,
    /// Of what is said, the share that the author names.
    precision: f64,
    /// Of what he names, the share that is said.
    recall: f64,
    /// Of what is said, the share at versions that he names for any test of the campaign.
    at_named: f64,
}

impl Score {
    /// A row of the table in `docs/history.md`.
    fn row(&self, rule: &str) -> String {
        let Self { said, precision, recall, at_named } = self;
        format!("| {rule} | {said} | {precision:.2} | {recall:.2} | {at_named:.2} |")
    }
}

fn score(all: &[Labelled], said: &[BTreeSet<Step>]) -> Score {
    let named: BTreeSet<(&str, &str, bool)> = all
        .iter()
        .flat_map(|one| one.steps.iter().map(|step| (one.campaign, one.versions[step.0], step.1)))
        .collect();
    let (mut hits, mut at_named, mut count, mut truth) = (0, 0, 0, 0);
    for (one, said) in all.iter().zip(said) {
        hits += said.intersection(&one.steps).count();
        count += said.len();
        truth += one.steps.len();
        let is_named = |step: &&Step| named.contains(&(one.campaign, one.versions[step.0], step.1));
        at_named += said.iter().filter(is_named).count();
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    Score {
        said: count,
        precision: share(hits, count),
        recall: share(hits, truth),
        at_named: share(at_named, count),
    }
}

/// The labels are few: an author names the largest steps, and whatever else is found counts as false here.
/// So the share at the versions that he names for any test is told beside.
#[test]
fn change_points_are_better_than_a_threshold_on_neighbours() {
    let all = labelled();
    let labels: usize = all.iter().map(|one| one.steps.len()).sum();
    assert_eq!((all.len(), labels), (52, 19));
    let rule = score(&all, &by_neighbours(&all));
    let own = score(&all, &by_change_points(&all, 0.02));
    let same = score(&all, &by_change_points(&all, 0.05));
    let rows = [
        own.row("backslide, margin 2 % (a rate's own)"),
        same.row("backslide, margin 5 %"),
        rule.row("5 % between neighbours"),
    ];
    println!("{}", rows.join("\n"));
    assert!(own.precision > rule.precision && own.recall > rule.recall);
    assert!(own.at_named > rule.at_named);
    assert!(same.precision > rule.precision && same.at_named > rule.at_named);
    for row in &rows {
        assert!(HISTORY_PAGE.contains(row.as_str()), "docs/history.md lacks {row}");
    }
}
