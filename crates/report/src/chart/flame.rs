//! A flame graph: functions below their callers, each as wide as its CPU with what it calls.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use model::Resource;

use super::column::{Column, Look};
use super::style::{Series, percent, px};
use crate::format::{self, plural};

/// Pixels of a row, and between two.
const ROW: f64 = 18.0;
const GAP: f64 = 1.0;

/// Pixels of a letter, and beside a name: the font of names has letters of one width.
const LETTER: f64 = 6.7;
const BESIDE: f64 = 6.0;

/// Pixels of the widest page: there a name is cut that scripts do not fit.
const WIDEST: f64 = 1250.0;

/// Share of the whole below which a frame cannot be seen.
const LEAST: f64 = 0.001;

/// Separates the functions of a stack.
const CALLS: char = ';';

pub(crate) struct FlameChart {
    /// By how they are drawn: a frame comes after its caller.
    frames: Vec<Frame>,
    rows: usize,
    pub(crate) looks: Looks,
    note: String,
}

#[derive(Default)]
pub(crate) struct Looks {
    pub(crate) class: String,
    /// Systems that titles name by their letters.
    pub(crate) of: Vec<Series>,
    pub(crate) label: String,
    pub(crate) resource: Resource,
    /// What its colours and outlines mean; empty where they mean nothing. A page says it itself, once.
    pub(crate) explained: &'static str,
}

struct Frame {
    row: usize,
    /// Shares of the width.
    from: f64,
    wide: f64,
    said: Said,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) name: String,
    /// What is known of it, after its name.
    pub(crate) about: String,
    /// Classes of its looks, separated by spaces; empty for the usual look.
    pub(crate) class: String,
    /// Before its name in the frame; empty for none.
    pub(crate) mark: &'static str,
}

/// Costs of each function in each of its places, with what it calls. A place is the part of a stack that ends with it.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    costs: BTreeMap<&'a str, f64>,
    total: f64,
}

impl<'a> Places<'a> {
    pub(crate) fn of(stacks: &'a BTreeMap<String, f64>) -> Self {
        let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
        let mut total = 0.0;
        for (stack, cost) in stacks.iter().filter(|(_, cost)| **cost > 0.0) {
            let inner = stack.match_indices(CALLS).map(|(end, _)| end).chain([stack.len()]);
            let places = inner.filter_map(|end| stack.get(..end));
            for place in places.filter(|place| !place.is_empty()) {
                *costs.entry(place).or_default() += cost;
            }
            total += cost;
        }
        Self { costs, total }
    }

    pub(crate) fn at(&self, place: &str) -> Option<f64> {
        self.costs.get(place).copied()
    }

    /// Costs below which a frame is not drawn, so that no more than `most` are.
    fn least(&self, most: usize) -> f64 {
        let mut costs: Vec<f64> = self.costs.values().copied().collect();
        costs.sort_by(|a, b| b.total_cmp(a));
        // As wide as one that has no room is too narrow, too.
        let first_out = costs.get(most).map_or(0.0, |cost| cost.next_up());
        first_out.max(self.total * LEAST)
    }
}

/// The function that a place ends with, and the place of its caller.
pub(crate) fn function(place: &str) -> (&str, &str) {
    place.rsplit_once(CALLS).map_or((place, ""), |(caller, name)| (name, caller))
}

/// Frames that are left out below a caller.
#[derive(Default)]
struct Narrow {
    functions: usize,
    cost: f64,
}

impl FlameChart {
    /// `most` limits the frames; `say` tells of a place, its cost and its share what its frame shows.
    pub(crate) fn new(
        places: &Places<'_>,
        most: usize,
        looks: Looks,
        say: impl Fn(&str, f64, f64) -> Said,
    ) -> Self {
        let (total, least) = (places.total, places.least(most));
        let mut frames = Vec::new();
        // Where the next frame below a caller begins, and its row.
        let mut next: HashMap<&str, (f64, usize)> = HashMap::from([("", (0.0, 0))]);
        let mut narrow: BTreeMap<&str, Narrow> = BTreeMap::new();
        for (&place, &cost) in &places.costs {
            let caller = function(place).1;
            // What calls it was left out, too.
            let Some((from, row)) = next.get(caller).copied() else { continue };
            if cost < least {
                let left_out = narrow.entry(caller).or_default();
                left_out.functions += 1;
                left_out.cost += cost;
                continue;
            }
            let wide = cost / total;
            next.insert(place, (from, row + 1));
            next.insert(caller, (from + wide, row));
            frames.push(Frame { row, from, wide, said: say(place, cost, 100.0 * wide) });
        }
        let note = note(total, least / total, looks.resource, narrow.values());
        for (caller, left_out) in narrow.iter().filter(|(_, narrow)| narrow.cost >= least) {
            let (from, row) = next.get(caller).copied().unwrap_or_default();
            frames.push(left_out.frame(from, row, total));
        }
        let rows = frames.iter().map(|frame| frame.row + 1).max().unwrap_or(0);
        Self { frames, rows, looks, note }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(crate) fn page(&self) -> Markup {
        html! {
            svg.chart.flame.(self.looks.class) height=(px(self.height())) role="img" aria-label=(self.looks.label) {
                (self.drawn(WIDEST))
            }
            p.axis-name.below { (self.note) }
        }
    }

    pub(crate) fn set_in(&self, column: &mut Column) {
        let class = format!("flame {}", self.looks.class);
        column.drawing(&class, self.height(), &self.drawn(column.width));
        column.space(6.0);
        column.text(Look::NOTE, &self.note);
        column.text(Look::NOTE, self.looks.explained);
    }

    fn height(&self) -> f64 {
        ROW * self.rows as f64
    }

    fn drawn(&self, width: f64) -> Markup {
        html! { @for frame in &self.frames { (frame.drawn(width)) } }
    }
}

impl Narrow {
    fn frame(&self, from: f64, row: usize, total: f64) -> Frame {
        let about = format!("left out: {} %", format::percent(100.0 * self.cost / total));
        let name = plural(self.functions, "narrow function");
        let said = Said { name, about, class: "elided".to_owned(), mark: "" };
        Frame { row, from, wide: self.cost / total, said }
    }
}

impl Frame {
    fn drawn(&self, width: f64) -> Markup {
        let Said { name, about, class, mark } = &self.said;
        let letters = ((self.wide * width - BESIDE) / LETTER).max(0.0) as usize;
        html! {
            svg class=[Some(class).filter(|class| !class.is_empty())] x=(percent(100.0 * self.from))
                y=(px(ROW * self.row as f64)) width=(percent(100.0 * self.wide)) height=(px(ROW - GAP)) {
                title { (name) ": " (about) }
                rect width="100%" height="100%" {}
                @if letters > 2 { text x="3" y="13" { (cut(&format!("{mark}{name}"), letters)) } }
            }
        }
    }
}

fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}

fn note<'n>(
    total: f64,
    least: f64,
    resource: Resource,
    narrow: impl Iterator<Item = &'n Narrow>,
) -> String {
    let (functions, cost) =
        narrow.fold((0, 0.0), |(all, cost), one| (all + one.functions, cost + one.cost));
    let left_out = if functions == 0 {
        String::new()
    } else {
        format!(
            ". Frames below {} % of the width are left out: {}, {} % of the {}",
            format::percent(100.0 * least),
            format::count(functions as u64),
            format::percent(100.0 * cost / total),
            resource.name(),
        )
    };
    format!(
        "{} of a function with what it calls; the whole width is {} {}; callers are above{left_out}.",
        format::capitalised(resource.name()),
        format::number(total),
        resource.unit(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(stacks: &[(&str, f64)], most: usize) -> FlameChart {
        let stacks = stacks.iter().map(|(stack, cost)| ((*stack).to_owned(), *cost)).collect();
        let say = |place: &str, cost, _| Said {
            name: function(place).0.to_owned(),
            about: format::number(cost),
            ..Said::default()
        };
        let (class, label) = ("k1".to_owned(), "CPU of a & b".to_owned());
        let looks = Looks { class, label, ..Looks::default() };
        FlameChart::new(&Places::of(&stacks), most, looks, say)
    }

    fn frames(chart: &FlameChart) -> Vec<(&str, usize, f64, f64)> {
        let of = |frame: &'_ Frame| (frame.row, frame.from, frame.wide);
        let all = chart.frames.iter().map(|frame| (frame.said.name.as_str(), of(frame)));
        all.map(|(name, (row, from, wide))| (name, row, from, wide)).collect()
    }

    /// `-` sorts before `;`: a sibling stands between a function and what it calls.
    const STACKS: [(&str, f64); 4] =
        [("main", 1.0), ("main;run", 2.0), ("main-2", 1.0), ("main;run;<sort>", 4.0)];

    #[test]
    fn what_is_called_lies_below_its_caller() {
        assert_eq!(
            frames(&chart(&STACKS, 9)),
            [
                ("main", 0, 0.0, 0.875),
                ("main-2", 0, 0.875, 0.125),
                ("run", 1, 0.0, 0.75),
                ("<sort>", 2, 0.0, 0.5),
            ]
        );
    }

    #[test]
    fn narrow_frames_are_left_out_and_counted() {
        let all = [("a;b", 90.0), ("a;c;d", 6.0), ("a;e", 3.0), ("a;f", 0.05)];
        let drawn = chart(&all, 2);
        let names: Vec<&str> = frames(&drawn).iter().map(|frame| frame.0).collect();
        assert_eq!(names, ["a", "b", "3 narrow functions"]);
        assert!(drawn.note.ends_with("are left out: 3, 9.1 % of the CPU."), "{}", drawn.note);
        let drawn = chart(&all, 4);
        let names: Vec<&str> = frames(&drawn).iter().map(|frame| frame.0).collect();
        // A caller is as wide as the only function that it calls: both or none.
        assert_eq!(names, ["a", "b", "c", "d", "2 narrow functions"]);
        let drawn = chart(&[("a;b", 90.0), ("a;c", 4.0), ("a;d", 5.0), ("a;e", 6.0)], 3);
        let left_out = frames(&drawn).pop().unwrap();
        assert_eq!((left_out.0, left_out.1), ("2 narrow functions", 1));
        assert!(chart(&[("a;b", 9.99), ("a;c", 0.009)], 9).frames.len() == 2);
        assert!(chart(&[], 9).is_empty() && chart(&[("a", 0.0)], 9).is_empty());
    }

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(chart(&STACKS, 9).page().0.replace("><", ">\n<"));
    }

    #[test]
    fn names_are_cut_to_their_frames() {
        assert_eq!(cut("exec_simple_query", 6), "exec_…");
        assert_eq!(cut("exec", 4), "exec");
    }
}
