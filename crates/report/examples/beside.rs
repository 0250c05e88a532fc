//! Puts the verdicts of a run beside numbers that others published, as Markdown:
//! `beside PLAN COMPARISONS.json PUBLISHED.tsv`, where the first file is what
//! `backslide compare RUN --all --format json` prints.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

/// Steps that fit beside each other; of more, each has a line.
const MOST_COLUMNS: usize = 12;

/// What is read of a comparison.
#[derive(Deserialize)]
struct Comparison {
    step: String,
    base: String,
    system: String,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    verdict: String,
}

/// A relative throughput that was published, and the system of ours that is nearest to it.
struct Published {
    system: String,
    step: String,
    relative: f64,
    versions: String,
    source: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, comparisons, published] = arguments.as_slice() else {
        return Err("usage: beside PLAN COMPARISONS.json PUBLISHED.tsv".into());
    };
    let comparisons: Vec<Comparison> = serde_json::from_slice(&std::fs::read(comparisons)?)?;
    let published = read_published(&std::fs::read_to_string(published)?, plan)?;
    print(&page(&comparisons, &published));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "that is what it is for")]
fn print(text: &str) {
    print!("{text}");
}

fn read_published(text: &str, plan: &str) -> Result<Vec<Published>, Box<dyn Error>> {
    let mut published = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [of, system, step, relative, theirs, their_base, source] = fields.as_slice() else {
            return Err(format!("seven columns expected: {line}").into());
        };
        if *of == plan {
            published.push(Published {
                system: (*system).to_owned(),
                step: (*step).to_owned(),
                relative: relative.parse()?,
                versions: format!("{theirs} / {their_base}"),
                source: (*source).to_owned(),
            });
        }
    }
    Ok(published)
}

fn page(comparisons: &[Comparison], published: &[Published]) -> String {
    let mut steps: Vec<&str> = Vec::new();
    let mut systems: Vec<&str> = Vec::new();
    for comparison in comparisons {
        push_new(&mut steps, &comparison.step);
        push_new(&mut systems, &comparison.system);
    }
    let base = comparisons.first().map_or("", |one| &one.base);
    let mut table = vec![cells(&format!("relative to {base}"), &steps, |step| {
        Some(step.to_owned())
    })];
    for system in &systems {
        table.push(cells(system, &steps, |step| {
            find(comparisons, system, step).map(ours)
        }));
        let theirs: Vec<&Published> = published.iter().filter(|p| p.system == *system).collect();
        if let Some(first) = theirs.first() {
            let label = format!("*published: {}*", first.versions);
            table.push(cells(&label, &steps, |step| {
                let one = theirs.iter().find(|p| p.step == step)?;
                Some(format!("*{:.2}*", one.relative))
            }));
        }
    }
    // Many steps do not fit beside each other.
    if steps.len() > MOST_COLUMNS {
        table = transposed(&table);
    }
    let mut text = markdown(&table);
    if !published.is_empty() {
        text.push_str(&agreement(comparisons, published));
    }
    text
}

fn push_new<'a>(list: &mut Vec<&'a str>, one: &'a str) {
    if !list.contains(&one) {
        list.push(one);
    }
}

fn cells(label: &str, steps: &[&str], cell: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let cells = steps.iter().map(|step| cell(step).unwrap_or_default());
    std::iter::once(label.to_owned()).chain(cells).collect()
}

fn transposed(table: &[Vec<String>]) -> Vec<Vec<String>> {
    let length = table.first().map_or(0, Vec::len);
    (0..length)
        .map(|at| table.iter().map(|row| row[at].clone()).collect())
        .collect()
}

fn markdown(table: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (number, row) in table.iter().enumerate() {
        text.extend(["| ", &row.join(" | "), " |\n"]);
        if number == 0 {
            text.extend(["|---|", &"--:|".repeat(row.len() - 1), "\n"]);
        }
    }
    text
}

fn find<'a>(comparisons: &'a [Comparison], system: &str, step: &str) -> Option<&'a Comparison> {
    comparisons
        .iter()
        .find(|one| one.system == system && one.step == step)
}

/// The ratio in bold where the verdict is one of change.
fn ours(one: &Comparison) -> String {
    let Some(ratio) = one.ratio else {
        return one.verdict.clone();
    };
    match one.verdict.as_str() {
        "regressed" | "improved" => format!("**{ratio:.2}**"),
        _ => format!("{ratio:.2}"),
    }
}

/// How the two agree, by the direction of the change and by our interval.
fn agreement(comparisons: &[Comparison], published: &[Published]) -> String {
    let mut within = 0;
    let mut compared = 0;
    let mut against: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for theirs in published {
        let Some(one) = find(comparisons, &theirs.system, &theirs.step) else {
            continue;
        };
        let (Some(ratio), Some(low), Some(high)) = (one.ratio, one.low, one.high) else {
            continue;
        };
        compared += 1;
        within += u32::from((low..=high).contains(&theirs.relative));
        let is_change = matches!(one.verdict.as_str(), "regressed" | "improved");
        if is_change && (ratio > 1.0) != (theirs.relative > 1.0) {
            let text = format!(
                "{} ({ratio:.2}, published {:.2})",
                one.step, theirs.relative
            );
            against.entry(&theirs.system).or_default().push(text);
        }
    }
    let mut sources: Vec<&str> = Vec::new();
    for theirs in published {
        push_new(&mut sources, &theirs.source);
    }
    let mut text = format!(
        "\nPublished: {}. Of {compared} cells, {within} published ratios lie within our interval.",
        sources.join("; ")
    );
    if against.is_empty() {
        text.push_str(
            " Wherever our verdict is one of change, the published ratio has the same direction.\n",
        );
    } else {
        text.push_str(" Our verdict and the published ratio go different ways in:\n\n");
        for (system, steps) in against {
            text.extend(["- ", system, ": ", &steps.join(", "), "\n"]);
        }
    }
    text
}
