//! A table in HTML: it scrolls inside its own box, its first column stays. The names of systems in tables and charts, and
//! what leads from one place of the page to another.

use maud::{Markup, html};

use crate::{Align, Cell, Header, Report, Seen, Table, Tone};

pub(crate) fn table(table: &Table) -> Markup {
    html! {
        h3.table-title { (table.title) }
        @if !table.note.is_empty() { p.note { (table.note) } }
        (bare(table))
    }
}

pub(crate) fn bare(table: &Table) -> Markup {
    linked(table, 0, &[])
}

/// The same with a link in each row, around what stands in this column.
pub(crate) fn linked(table: &Table, column: usize, links: &[Link]) -> Markup {
    let rows: Vec<(usize, &Vec<Cell>)> = table.rows.iter().enumerate().collect();
    html! {
        div.scroll tabindex="0" role="group" aria-label=(table.title) {
            table.data {
                thead { tr { @for header in &table.headers { (head(header)) } } }
                // Each heading begins a body of its own, so that sorting keeps rows below it.
                @for rows in rows.chunk_by(|_, next| !Table::is_heading(next.1)) {
                    tbody { @for (number, row) in rows { (body_row(table, row, (column, links.get(*number)))) } }
                }
            }
        }
    }
}

fn body_row(table: &Table, row: &[Cell], (column, link): (usize, Option<&Link>)) -> Markup {
    if let Some(first) = row.first().filter(|_| Table::is_heading(row)) {
        return heading(&first.text, row.len());
    }
    html! {
        tr {
            @for (place, one) in row.iter().enumerate() {
                @let align = table.headers.get(place).map_or(Align::Right, |header| header.align);
                (cell(one, place == 0, align, link.filter(|_| place == column)))
            }
        }
    }
}

pub(super) fn heading(text: &str, columns: usize) -> Markup {
    html! { tr.group { th scope="rowgroup" colspan=(columns) { (text) } } }
}

/// Open only where a cell says that something was missed.
pub(super) fn folded(one: &Table) -> Markup {
    let has_missed = one.rows.iter().flatten().any(|cell| cell.tone == Tone::Missed);
    html! {
        details open[has_missed] {
            summary { (one.title) }
            @if !one.note.is_empty() { p.note { (one.note) } }
            (bare(one))
        }
    }
}

/// Bytes from which on a head is better broken.
const LONG: usize = 12;

fn head(header: &Header) -> Markup {
    html! {
        th scope="col" class=[words(header.align).or(long(header))] {
            @if long(header).is_some() { (name(&header.text)) } @else { (header.text) }
            @if !header.unit.is_empty() { " " span.unit { (header.unit) } }
        }
    }
}

/// A head that may be broken, as it is the name of a system: `mysql-9.7.4/z12a`, not `server.cpu/o`.
fn long(header: &Header) -> Option<&'static str> {
    let is_name = header.text.len() > LONG && header.text.contains('-');
    is_name.then_some("n")
}

fn words(align: Align) -> Option<&'static str> {
    (align == Align::Left).then_some("w")
}

fn cell(cell: &Cell, names_row: bool, align: Align, link: Option<&Link>) -> Markup {
    let text = html! { @if names_row { (name(&cell.text)) } @else { (cell.text) } };
    let shown = html! {
        @if let Some(link) = link { (link.around(&text)) } @else { (text) }
        @if !cell.mark.is_empty() { " " i { (cell.mark) } }
    };
    if names_row {
        return html! { th scope="row" { (shown) } };
    }
    html! { td class=[tone(cell.tone).or(words(align))] { (shown) } }
}

pub(crate) const fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain | Tone::Heading => None,
        Tone::Regressed => Some("regressed"),
        Tone::Improved => Some("improved"),
        Tone::Missed => Some("missed"),
        Tone::Muted => Some("muted"),
    }
}

/// Which letter, colour, dash and marker is which system.
pub(super) fn legend(report: &Report<'_>) -> Markup {
    html! {
        ul.legend {
            @for system in &report.systems {
                li data-system=(system.key) { (chip(system)) " " (system.style().swatch()) " " (name(system.name)) (role(system)) }
            }
        }
    }
}

pub(super) fn chip(system: &Seen<'_>) -> Markup {
    html! { span.chip.(system.style().class()) { (system.key) } }
}

/// Is it the base? The control is called so.
fn role(system: &Seen<'_>) -> Markup {
    html! { @if system.is_base { span.role { " base" } } }
}

pub(super) fn named(system: &Seen<'_>) -> Markup {
    html! { (chip(system)) " " (name(system.name)) (role(system)) }
}

/// A name that a narrow column breaks after its slashes and underscores.
pub(super) fn name(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split_inclusive(['/', '_']).enumerate() {
            @if place > 0 { wbr; }
            (part)
        }
    }
}

pub(crate) struct Link {
    pub(crate) to: Option<String>,
    /// The cell whose evidence scripts open instead.
    pub(crate) cell: Option<String>,
}

impl Link {
    pub(super) fn around(&self, content: &Markup) -> Markup {
        html! {
            @if let Some(to) = &self.to { a href=(to) data-cell=[self.cell.as_ref()] { (content) } }
            @else { span.cell { (content) } }
        }
    }
}
