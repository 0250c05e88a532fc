//! What the verdict of a cell rests on, as data: scripts show it when the cell is opened.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use model::{Comparison, Evidence, Magnitude};
use serde::Serialize;

use super::judged::{margin, word};
use crate::plain::{replaced, without_local_paths};
use crate::report::{At, about};
use crate::verdict::is_certain;
use crate::{Report, Seen, format, verdict};

/// Cells of a page whose evidence has room, and of a page that is made to be short.
const MOST: usize = 1200;
const MOST_BRIEF: usize = 300;

type FactOf = fn(At<'_>, &Comparison) -> String;

/// The facts of a cell: what each is called, and its text; empty where there is none.
const FACTS: [(&str, FactOf); 12] = [
    ("what is compared", compared),
    ("ratio to the base, 95 % interval", |_, c| format::ratio_and_interval(c)),
    ("margin", |_, c| percent(margin(c))),
    ("complete rounds", |_, c| c.rounds.to_string()),
    ("standard deviation of a round", |_, c| of(c, |e| percent(e.sd))),
    ("degrees of freedom", |_, c| of(c, degrees_of_freedom)),
    ("p", |_, c| of(c, |e| format::q_value(e.p_value))),
    ("q, adjusted over the steps", |_, c| c.q_value.map_or_else(String::new, format::q_value)),
    ("p by permutation of signs", |_, c| {
        of(c, |e| e.sign_flip.map_or_else(String::new, format::q_value))
    }),
    ("Hodges and Lehmann's estimate", |_, c| of(c, |e| format::pair(e.centre))),
    ("outlying rounds", |_, c| of(c, outlying)),
    ("independent slice pairs", |_, c| {
        of(c, |e| e.slice_pairs.map_or_else(String::new, format::number))
    }),
];

/// The cells whose evidence the page holds, by the key of the system and the place of the step.
pub(super) struct Cells(BTreeMap<String, Sheet>);

/// The evidence of one cell, every number as it is printed.
#[derive(Serialize)]
struct Sheet {
    said: String,
    /// Why it is no more than that, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
    /// In the order of [`FACTS`]; empty where there is none.
    facts: Vec<String>,
    /// (round, ratio).
    rounds: Vec<(u32, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outlying: Vec<u32>,
    /// Costs that certainly changed, too: (metric, ratio with its interval).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Data<'v> {
    /// Key, name and class of the colour of each system.
    systems: Vec<(&'v str, &'v str, String)>,
    names: Vec<String>,
    about: Vec<String>,
    /// What is shown or hidden together: a group or a step, and the places of its steps.
    steps: Vec<(String, Vec<usize>)>,
    facts: [&'static str; FACTS.len()],
    cells: &'v BTreeMap<String, Sheet>,
}

impl Cells {
    /// Those of the systems that tables have room for come first, and of these the certain ones.
    pub(super) fn of(all: &Report<'_>, listed: &Report<'_>) -> Self {
        let cells = all.candidates().flat_map(|system| {
            all.steps.iter().enumerate().filter_map(move |(place, step)| {
                Some((key(system, place), all.at(system, step), all.at(system, step).decision()?))
            })
        });
        let mut cells: Vec<(String, At<'_>, &Comparison)> = cells.collect();
        cells.sort_by_key(|(_, at, comparison)| {
            let is_listed = listed.systems.iter().any(|s| s.index == at.system.index);
            (!is_listed, !is_certain(&comparison.verdict))
        });
        cells.truncate(if all.is_brief { MOST_BRIEF } else { MOST });
        Self(cells.into_iter().map(|(key, at, comparison)| (key, sheet(at, comparison))).collect())
    }

    /// The key of a cell whose evidence is there.
    pub(super) fn key(&self, system: &Seen<'_>, place: usize) -> Option<String> {
        Some(key(system, place)).filter(|key| self.0.contains_key(key))
    }

    /// The data for scripts, in an element that runs nothing.
    pub(super) fn data(&self, report: &Report<'_>) -> Markup {
        let systems = report.systems.iter();
        let data = Data {
            systems: systems.map(|s| (s.key.as_str(), s.name, s.style().class())).collect(),
            names: report.steps.iter().map(|step| report.label(step)).collect(),
            about: report.steps.iter().map(about).collect(),
            steps: together(report),
            facts: FACTS.map(|(name, _)| name),
            cells: &self.0,
        };
        html! {
            script #page-data type="application/json" { (PreEscaped(embedded(&data))) }
        }
    }
}

/// `B3`: system B in the step at place 3.
fn key(system: &Seen<'_>, place: usize) -> String {
    format!("{}{place}", system.key)
}

/// The groups of steps; steps without a group each by itself.
fn together(report: &Report<'_>) -> Vec<(String, Vec<usize>)> {
    let mut all = Vec::new();
    for group in report.groups.iter() {
        let places = group.places.clone();
        if group.title.is_empty() {
            let named = places.filter_map(|place| Some((report.steps.get(place)?, place)));
            all.extend(named.map(|(step, place)| (report.label(step), vec![place])));
        } else {
            all.push((group.title.clone(), places.collect()));
        }
    }
    all
}

fn sheet(at: At<'_>, comparison: &Comparison) -> Sheet {
    let rounds = comparison.pairs.iter();
    let moved = at.report.movers(at.step, &comparison.system).into_iter();
    let told = |cost: &Comparison| (cost.metric.0.clone(), format::ratio_and_interval(cost));
    let size = match comparison.magnitude {
        None => "",
        Some(Magnitude::Small) => ", small",
        Some(Magnitude::Medium) => ", medium",
        Some(Magnitude::Large) => ", large",
    };
    // A page that is passed on is searched for local paths as a whole, but does not know them any more behind what
    // JSON escapes.
    let why = format::joined(at.report.reason(comparison).split_whitespace(), " ");
    Sheet {
        said: format!("{}{size}", word(&comparison.verdict)),
        why: if at.report.is_brief { without_local_paths(&why) } else { why },
        facts: facts(at, comparison),
        rounds: rounds.map(|(round, ratio)| (*round, format::pair(*ratio))).collect(),
        outlying: comparison.evidence.iter().flat_map(|e| e.outlying.clone()).collect(),
        moved: moved.map(|(cost, _)| told(cost)).collect(),
    }
}

/// As far as any is known.
fn facts(at: At<'_>, comparison: &Comparison) -> Vec<String> {
    let mut facts = FACTS.map(|(_, fact)| fact(at, comparison)).to_vec();
    while facts.pop_if(|fact| fact.is_empty()).is_some() {}
    facts
}

fn compared(at: At<'_>, comparison: &Comparison) -> String {
    match verdict::deciding_word(&comparison.metric) {
        None => format!("throughput, {}", at.report.rate_unit_name(at.step)),
        Some(metric) => format!("{metric}, {}", comparison.unit),
    }
}

fn of(comparison: &Comparison, text: impl FnOnce(&Evidence) -> String) -> String {
    comparison.evidence.as_ref().map_or_else(String::new, text)
}

fn percent(share: f64) -> String {
    format!("{} %", format::percent(100.0 * share))
}

fn degrees_of_freedom(evidence: &Evidence) -> String {
    let all = format::number(evidence.df);
    if evidence.prior_df > 0.0 {
        let prior = format::number(evidence.prior_df);
        format!("{all}, {prior} of them from other steps")
    } else {
        all
    }
}

fn outlying(evidence: &Evidence) -> String {
    let rounds = format::joined(&evidence.outlying, ", ");
    if rounds.is_empty() { "none".to_owned() } else { rounds }
}

/// JSON that cannot end the element that holds it, whatever names there are.
fn embedded(data: &Data<'_>) -> String {
    let json = serde_json::to_string(data)
        .unwrap_or_else(|_| unreachable!("strings and numbers always serialise"));
    replaced(&json, |c| match c {
        '<' => Some("\\u003c"),
        '>' => Some("\\u003e"),
        '&' => Some("\\u0026"),
        '\u{2028}' => Some("\\u2028"),
        '\u{2029}' => Some("\\u2029"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_the_element() {
        let names = ["</script><b>", "<!--", "a & b", "line\u{2028}\u{2029}end", "\"\\"];
        let cells = BTreeMap::new();
        let json = embedded(&Data {
            systems: vec![("A", names[0], "k0".into())],
            names: names.map(str::to_owned).to_vec(),
            about: Vec::new(),
            steps: Vec::new(),
            facts: FACTS.map(|(name, _)| name),
            cells: &cells,
        });
        for forbidden in ["<", ">", "&", "\u{2028}", "\u{2029}"] {
            assert!(!json.contains(forbidden), "{json}");
        }
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["names"], serde_json::json!(names));
    }

    #[test]
    fn degrees_of_freedom_say_whose_they_are() {
        let mut evidence = Evidence {
            sd: 0.01,
            sd_of_rounds: 0.01,
            df: 7.25,
            prior_df: 4.25,
            margin: 0.02,
            p_value: 0.001,
            sign_flip: None,
            centre: 0.9,
            outlying: vec![2, 5],
            slice_pairs: None,
            within: None,
        };
        assert_eq!(degrees_of_freedom(&evidence), "7.25, 4.25 of them from other steps");
        assert_eq!(outlying(&evidence), "2, 5");
        (evidence.df, evidence.prior_df) = (3.0, 0.0);
        evidence.outlying.clear();
        assert_eq!(degrees_of_freedom(&evidence), "3.00");
        assert_eq!(outlying(&evidence), "none");
    }
}
