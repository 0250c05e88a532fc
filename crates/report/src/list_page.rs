//! Pages over all runs of a lab: lists, with links to other pages.

use maud::{Markup, PreEscaped, html};

use crate::Table;
use crate::document::{STYLE, document, live_document};
use crate::page::{Link, linked};

const OWN_STYLE: &str = include_str!("../assets/list.css");
const SCRIPT: &str = include_str!("../assets/live.js");

/// Seconds after which a browser without scripts loads a live page again.
const RELOAD: u32 = 5;

/// A page of tables.
#[derive(Clone, Debug, Default)]
pub struct ListPage<'a> {
    pub title: &'a str,
    pub facts: String,
    /// Addresses and names of other pages.
    pub links: Vec<(String, String)>,
    pub filters: Vec<Filter<'a>>,
    pub lists: Vec<List>,
    /// What changes while the page is open.
    pub live: Option<Live>,
    /// When and by what the page was made.
    pub generated: &'a str,
}

/// A choice that narrows a page's tables: a parameter of its address.
#[derive(Clone, Debug)]
pub struct Filter<'a> {
    pub key: &'a str,
    pub label: &'a str,
    pub values: Vec<String>,
    pub chosen: &'a str,
}

#[derive(Clone, Debug)]
pub struct List {
    pub table: Table,
    /// For each row the address that its first cell leads to; may be empty.
    pub links: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Live {
    /// The address of the stream of changes.
    pub events: String,
    /// What [`live_html`] made at first.
    pub html: String,
    /// Whether it still changes.
    pub goes_on: bool,
}

impl ListPage<'_> {
    /// One HTML file. Names are escaped everywhere.
    pub fn html(&self) -> String {
        let live = self.live.as_ref().is_some_and(|live| live.goes_on);
        let body = self.body(live);
        let styles = [STYLE, OWN_STYLE];
        if live {
            live_document(self.title, &styles, SCRIPT, RELOAD, &body)
        } else {
            document(self.title, &styles, &[], &body)
        }
    }

    fn body(&self, live: bool) -> Markup {
        html! {
            header {
                h1 { (self.title) }
                @if !self.facts.is_empty() { p.facts { (self.facts) } }
                (site_links(&self.links))
            }
            main {
                @if !self.filters.is_empty() { (filters(&self.filters)) }
                @if let Some(live) = &self.live {
                    div #live data-events=(live.events) aria-live="polite" { (PreEscaped(&live.html)) }
                }
                @for list in &self.lists { section { (of_list(list)) } }
            }
            footer { (self.generated) }
            @if live { script { (PreEscaped(SCRIPT)) } }
        }
    }
}

/// Links to other pages of the lab.
pub(crate) fn site_links(links: &[(String, String)]) -> Markup {
    html! {
        @if !links.is_empty() {
            nav aria-label="Pages" { @for (address, name) in links { a href=(address) { (name) } " " } }
        }
    }
}

/// The part of a page that changes: sentences, then tables.
pub fn live_html(sentences: &[String], tables: &[Table]) -> String {
    let part = html! {
        @for sentence in sentences { p { (sentence) } }
        @for table in tables { section { (crate::page::table(table)) } }
    };
    part.into_string()
}

fn filters(filters: &[Filter<'_>]) -> Markup {
    html! {
        form.filters method="get" {
            @for filter in filters {
                label {
                    (filter.label) " "
                    select name=(filter.key) {
                        option value="" selected[filter.chosen.is_empty()] { "all" }
                        @for value in &filter.values {
                            option value=(value) selected[*value == filter.chosen] { (value) }
                        }
                    }
                }
                " "
            }
            button type="submit" { "Show" }
        }
    }
}

fn of_list(List { table, links }: &List) -> Markup {
    let to = |address: &String| Some(address.clone()).filter(|address| !address.is_empty());
    let links: Vec<Link> = links.iter().map(|one| Link { to: to(one), cell: None }).collect();
    html! {
        @if !table.title.is_empty() { h2 { (table.title) } }
        @if !table.note.is_empty() { p.note { (table.note) } }
        @if table.rows.is_empty() { p.nothing { "None." } } @else { (linked(table, 0, &links)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Columns};

    #[test]
    fn names_are_escaped_and_lead_to_their_pages() {
        let rows = ["<r1>", "r2"];
        let table = Columns::new().words("run", |run: &&&str| Cell::text(**run));
        let page = ListPage {
            title: "Runs & more",
            filters: vec![Filter {
                key: "plan",
                label: "plan",
                values: vec!["\"a".into()],
                chosen: "",
            }],
            lists: vec![List {
                table: table.table("All", "", &rows),
                links: vec!["/runs/r1".into(), String::new()],
            }],
            ..ListPage::default()
        };
        let html = page.html();
        assert!(html.contains("<a href=\"/runs/r1\">&lt;r1&gt;</a>"), "{html}");
        assert!(html.contains("<option value=\"&quot;a\">"), "{html}");
        assert!(!html.contains("<script") && !html.contains("http-equiv=\"refresh\""));
    }

    #[test]
    fn a_page_that_changes_reloads_without_scripts() {
        let html = live_html(&["Trial 1 of 2".to_owned()], &[]);
        let live = Live { events: "/runs/r1/events".to_owned(), html, goes_on: true };
        let page = ListPage { live: Some(live), ..ListPage::default() }.html();
        let reload = "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>";
        assert!(page.contains(reload) && page.contains("data-events=\"/runs/r1/events\""));
        assert!(page.contains("<p>Trial 1 of 2</p>") && page.contains("<script>"));
    }
}
