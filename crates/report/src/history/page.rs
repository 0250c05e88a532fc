//! A history as one page: no network, no scripts.

use maud::{Markup, html};
use stats::{History, HistoryLine};

use super::tables::{LINES, build_by_build, history_tables};
use super::{fell_to_zero, heading, history_sentence, picture, spark, step_name};
use crate::chart::Chart;
use crate::chart::sparkline::sparkline;
use crate::format;
use crate::list_page::{STYLE, document, site_links};
use crate::page::{bare, table};

const OWN_STYLE: &str = include_str!("../../assets/history.css");

/// One self-contained HTML file. `generated` is when and by what it was made; `links` are addresses and names of pages.
pub fn history_html(history: &History, generated: &str, links: &[(String, String)]) -> String {
    let title = heading(history);
    let page = html! {
        header {
            h1 { (title) }
            p.facts { (history_sentence(history)) }
            (site_links(links))
            nav aria-label="Contents" {
                a href="#found" { "What changed" }
                a href="#lines" { "Lines" }
                a href="#builds" { "Build by build" }
            }
        }
        main { (body(history)) }
        footer { (generated) }
    };
    document(&title, &[STYLE, OWN_STYLE], &[], &page)
}

fn body(history: &History) -> Markup {
    // The table of lines has charts here instead of blocks.
    let found = history_tables(history, false).into_iter().filter(|table| table.title != LINES);
    html! {
        section #overview { (leading(history)) }
        section #found {
            @for one in found { (table(&one)) }
            @if history.lines.iter().all(|line| line.changes.is_empty()) {
                p { "No change was found." }
            }
        }
        section #lines { h2 { (LINES) } (lines(history)) }
        section #builds {
            h2 { "Build by build" }
            @for (place, line) in history.lines.iter().enumerate() {
                @let one = build_by_build(history, line);
                details id={ "line-" (place) } {
                    summary { (one.title) }
                    (picture::lines(history, &[line]))
                    (bare(&one))
                }
            }
        }
    }
}

/// The lines of the first metric in one picture, and what tells them apart.
fn leading(history: &History) -> Markup {
    let chart = picture::leading(history);
    html! {
        @if let Chart::Lines(lines) = &chart { (lines.legend()) }
        (chart)
    }
}

fn lines(history: &History) -> Markup {
    let row = |(place, line): (usize, &HistoryLine)| {
        let spark = spark(history, line);
        html! {
            tr {
                th scope="row" { a href={ "#line-" (place) } { (step_name(history, line)) } " " i { (line.metric) } }
                td { (sparkline(&spark)) }
                td.w {
                    @for (_, class, said) in &spark.changes {
                        div.verdict.(class) { (said) }
                    }
                    @for (_, said) in &spark.apart { div.note { (said) } }
                    @if fell_to_zero(line) { div.verdict.regressed { "last build: " (format::FELL_TO_ZERO) } }
                }
            }
        }
    };
    html! {
        p.note {
            "Builds from the first to the last, " (format::plural(history.builds.len(), "build"))
            ". Each line has a log scale of its own, at least 10 % high. Bars: levels. Full dots: a level begins. \
             Rings: builds that belong to no level."
        }
        div.scroll tabindex="0" role="region" aria-label=(LINES) {
            table.data {
                thead { tr {
                    th.w scope="col" { "step" } th.w scope="col" { "builds" } th.w scope="col" { "changes" }
                } }
                tbody { @for one in history.lines.iter().enumerate() { (row(one)) } }
            }
        }
    }
}
