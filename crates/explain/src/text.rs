//! An explanation for a terminal.

use crate::difference::SetBy;
use crate::{Difference, Explanation, Reason, Warning};

/// Names longer than this do not widen the column of names.
const LONGEST_NAME: usize = 38;
/// Values longer than this do not widen the column of the first system's values.
const LONGEST_VALUE: usize = 24;
const GAP: usize = 2;
/// Where names begin.
const INDENT: usize = 2;
/// Where what belongs to a name begins.
const DEEPER: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextLine {
    Heading(String),
    Text(String),
}

/// In lines of at most `width` columns: what must be equal and is not, what is known to matter, the other changed
/// defaults, what is on purpose; what is new and gone by name only, unless `all` is asked for.
pub fn text(
    explanation: &Explanation,
    warnings: &[Warning],
    width: usize,
    all: bool,
) -> Vec<TextLine> {
    let mut page = Page::new(explanation, width);
    page.text(format!("A  {}", explanation.a));
    page.text(format!("B  {}", explanation.b));
    page.wrapped(&summary(explanation), 0);
    page.warnings(explanation, warnings);
    let matters = |d: &&Difference| d.matters.is_some() && d.kind != Reason::OnPurpose;
    let (known, other): (Vec<&Difference>, Vec<&Difference>) =
        explanation.differences.iter().partition(matters);
    page.known(&known);
    let of = |kind: Reason| -> Vec<&Difference> {
        other.iter().filter(|d| d.kind == kind).copied().collect()
    };
    page.section("Same setting, different value", &of(Reason::NotAsSet), group);
    let changed = if known.is_empty() { "Changed defaults" } else { "Other changed defaults" };
    page.section(changed, &of(Reason::ChangedDefault), group);
    page.section("Derived from other settings", &of(Reason::Follows), group);
    let mut on_purpose = of(Reason::OnPurpose);
    on_purpose.sort_by_key(|d| (!(d.set_by.a && d.set_by.b), !d.set_by.a));
    page.section("On purpose", &on_purpose, who_sets);
    for (kind, title) in [(Reason::New, "Only in B"), (Reason::Gone, "Only in A")] {
        if all {
            page.section(title, &of(kind), group);
        } else {
            page.names(title, &of(kind));
        }
    }
    page.lines
}

struct Page {
    lines: Vec<TextLine>,
    width: usize,
    name: usize,
    value: usize,
}

impl Page {
    fn new(explanation: &Explanation, width: usize) -> Self {
        let width = width.max(40);
        let widest = |limit: usize, of: fn(&Difference) -> &str| {
            let rows = explanation.differences.iter().filter(|d| d.is_whole());
            let lengths = rows.map(|d| length(of(d)));
            lengths.filter(|length| *length <= limit).max().unwrap_or(0)
        };
        Self {
            lines: Vec::new(),
            width,
            name: widest(LONGEST_NAME.min(width / 2), |d| &d.name).max(8),
            value: widest(LONGEST_VALUE.min(width / 4), |d| &d.shown.0).max(3),
        }
    }

    fn text(&mut self, text: impl Into<String>) {
        self.lines.push(TextLine::Text(text.into()));
    }

    fn wrapped(&mut self, text: &str, indent: usize) {
        self.lines.extend(wrapped(text, self.width, indent).into_iter().map(TextLine::Text));
    }

    fn heading(&mut self, text: String) {
        self.text("");
        self.lines.push(TextLine::Heading(text));
    }

    fn warnings(&mut self, explanation: &Explanation, warnings: &[Warning]) {
        if warnings.is_empty() {
            return;
        }
        self.heading("These settings differ and affect fairness".to_owned());
        for warning in warnings {
            self.text(format!("{:INDENT$}{}", "", warning.condition));
            for (place, system) in [("A", &explanation.a), ("B", &explanation.b)] {
                let side = warning.sides.iter().find(|s| s.systems.contains(system));
                self.deeper(place, side.map_or("", |side| &side.holds));
            }
        }
    }

    /// A value on lines of its own, with the letter of its system.
    fn deeper(&mut self, place: &str, value: &str) {
        let inside = DEEPER + place.len() + GAP;
        for (at, line) in wrapped(value, self.width, inside).into_iter().enumerate() {
            let rest = line.get(inside..).unwrap_or_default();
            let place = if at == 0 { place } else { "" };
            self.text(format!("{:DEEPER$}{place:1}{:GAP$}{rest}", "", ""));
        }
    }

    fn known(&mut self, known: &[&Difference]) {
        if known.is_empty() {
            return;
        }
        self.heading(self.columns(0, "Known to affect performance", "A", "B"));
        let same_note = |a: &&Difference, b: &&Difference| note(a) == note(b);
        for of_note in known.chunk_by(same_note) {
            for difference in of_note {
                self.row(difference);
            }
            self.wrapped(&of_note.first().map_or_else(String::new, |d| note(d)), DEEPER);
        }
    }

    /// Rows under a heading, each part of them under its name.
    fn section(&mut self, title: &str, differences: &[&Difference], part: fn(&Difference) -> &str) {
        if differences.is_empty() {
            return;
        }
        self.heading(self.columns(0, title, "A", "B"));
        let mut last = "";
        for difference in differences {
            if last != part(difference) {
                last = part(difference);
                self.text(last);
            }
            self.row(difference);
        }
    }

    /// Names only, wrapped, with how many there are of each group.
    fn names(&mut self, title: &str, differences: &[&Difference]) {
        if differences.is_empty() {
            return;
        }
        self.heading(format!("{title} ({}; `--all` shows the values)", differences.len()));
        let same_group = |a: &&Difference, b: &&Difference| a.group == b.group;
        for of_group in differences.chunk_by(same_group) {
            let names: Vec<&str> = of_group.iter().map(|d| d.name.as_str()).collect();
            let group = of_group.first().map_or("", |d| d.group.as_str());
            self.text(format!("{:INDENT$}{group} ({})", "", names.len()));
            self.wrapped(&names.join(", "), DEEPER);
        }
    }

    /// A name and its two values: on one line where they fit, else values on the next one, else one below the other.
    fn row(&mut self, difference: &Difference) {
        let (a, b) = (&difference.shown.0, &difference.shown.1);
        let rest = self.width.saturating_sub(INDENT + self.name + GAP + self.value + GAP);
        let mut name = difference.name.as_str();
        let has_room = length(a) <= self.value && length(b) <= rest;
        if !has_room || length(name) > self.name {
            self.text(format!("{:INDENT$}{name}", ""));
            name = "";
        }
        if has_room {
            self.text(self.columns(INDENT, name, a, b));
        } else {
            self.deeper("A", a);
            self.deeper("B", b);
        }
    }

    fn columns(&self, indent: usize, name: &str, a: &str, b: &str) -> String {
        let name_width = self.name + INDENT - indent;
        let value_width = self.value;
        format!("{:indent$}{name:name_width$}{:GAP$}{a:value_width$}{:GAP$}{b}", "", "", "")
    }
}

fn group(difference: &Difference) -> &str {
    &difference.group
}

fn who_sets(difference: &Difference) -> &str {
    match difference.set_by {
        SetBy { a: true, b: true } => "both configs set it",
        SetBy { a: true, b: false } => "only the config of A sets it",
        SetBy { a: false, b: true } => "only the config of B sets it",
        SetBy { a: false, b: false } => "it follows from what the configs set",
    }
}

/// Reason, group, an older name, and why it matters.
fn note(difference: &Difference) -> String {
    let was = difference.was.as_ref();
    let was = was.map_or_else(String::new, |was| format!(" · {was} before"));
    let (kind, group) = (difference.kind.name(), &difference.group);
    format!("{kind} · {group}{was} · {}", difference.matters.as_deref().unwrap_or_default())
}

fn summary(explanation: &Explanation) -> String {
    if !explanation.comparable {
        return "The two products have no variables in common.".to_owned();
    }
    if explanation.differences.is_empty() {
        return "No variable differs.".to_owned();
    }
    let mut parts = Vec::new();
    for kind in Reason::ALL {
        match (explanation.of(kind).count(), kind) {
            (0, Reason::NotAsSet | Reason::Follows) => {}
            (1, Reason::ChangedDefault) => parts.push("1 changed default".to_owned()),
            (count, Reason::Follows) => parts.push(format!("{count} derived from others")),
            (count, Reason::ChangedDefault) => parts.push(format!("{count} changed defaults")),
            (count, kind) => parts.push(format!("{count} {}", kind.name())),
        }
    }
    let parts = parts.join(", ");
    match explanation.differences.iter().filter(|d| d.matters.is_some()).count() {
        0 => format!("{parts}; none is known to affect performance."),
        1 => format!("{parts}; 1 of them is known to affect performance."),
        matter => format!("{parts}; {matter} of them are known to affect performance."),
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Lines of at most `width` columns, each indented. A word that is longer than a line is split.
fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let room = width.saturating_sub(indent).max(10);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').flat_map(|word| pieces(word, room)) {
        if !line.is_empty() && length(&line) + 1 + length(&word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines.into_iter().map(|line| format!("{:indent$}{line}", "")).collect()
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    if characters.is_empty() {
        return vec![String::new()];
    }
    characters.chunks(room).map(String::from_iter).collect()
}
