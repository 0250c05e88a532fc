//! A table in HTML: it scrolls inside its own box, its first column stays.

use maud::{Markup, html};

use crate::table::{Align, Cell, Header, Table, Tone};

/// The table under its title.
pub(super) fn table(table: &Table) -> Markup {
    html! {
        h3.table-title { (table.title) }
        @if !table.note.is_empty() { p.note { (table.note) } }
        (bare(table))
    }
}

/// The table without title and note.
pub(super) fn bare(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.title) {
            table.data {
                thead { tr { @for header in &table.headers { (head(header)) } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (place, one) in row.iter().enumerate() {
                                (cell(one, place == 0, align(table, place)))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The table behind a line that opens it.
pub(super) fn folded(one: &Table) -> Markup {
    html! {
        details {
            summary { (one.title) }
            @if !one.note.is_empty() { p.note { (one.note) } }
            (bare(one))
        }
    }
}

fn align(table: &Table, place: usize) -> Align {
    table.headers.get(place).map_or(Align::Right, |h| h.align)
}

fn head(header: &Header) -> Markup {
    html! {
        th scope="col" class=[words(header.align)] {
            (header.text)
            @if !header.unit.is_empty() { " " span.unit { (header.unit) } }
        }
    }
}

fn words(align: Align) -> Option<&'static str> {
    match align {
        Align::Left => Some("w"),
        Align::Right => None,
    }
}

fn cell(cell: &Cell, names_row: bool, align: Align) -> Markup {
    let content = html! {
        (cell.text)
        @if !cell.mark.is_empty() { " " span.mark-word { (cell.mark) } }
    };
    if names_row {
        return html! { th scope="row" { (content) } };
    }
    let class = tone(cell.tone).or(words(align));
    html! { td class=[class] data-v=[sort_key(cell)] { (content) } }
}

/// The class of a tone.
pub(super) const fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Regressed => Some("regressed"),
        Tone::Improved => Some("improved"),
        Tone::Missed => Some("missed"),
        Tone::Muted => Some("muted"),
    }
}

/// The number to sort by, where the text does not begin with it: times and sizes with their unit.
fn sort_key(cell: &Cell) -> Option<String> {
    let value = cell.value?;
    let carries_unit = cell.text.ends_with(char::is_alphabetic);
    carries_unit.then(|| format!("{value:.4e}"))
}
