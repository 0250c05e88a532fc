//! Pages over all runs of a lab: lists, with links to other pages. Every page stands alone: it may use its own styles and
//! scripts by their digests, and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::Table;
use crate::page::{Link, linked};

const OWN_STYLE: &str = include_str!("../assets/list.css");
const SCRIPT: &str = include_str!("../assets/live.js");

/// Seconds after which a browser without scripts loads a live page again.
const RELOAD: u32 = 5;

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
    /// What stands for no choice.
    pub none: &'static str,
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
    pub goes_on: bool,
}

impl ListPage<'_> {
    /// One HTML file. Names are escaped everywhere.
    pub fn html(&self) -> String {
        let live = self.live.as_ref().is_some_and(|live| live.goes_on);
        let scripts: &[&str] = if live { &[SCRIPT] } else { &[] };
        with_head(self.title, &[STYLE, OWN_STYLE], scripts, live, &self.body(live))
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
        h2 { "Progress" }
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
                        option value="" selected[filter.chosen.is_empty()] { (filter.none) }
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

pub(crate) const STYLE: &str = include_str!("../assets/report.css");

/// A page with these styles and no network. `scripts` are those that its body has, each as it stands between its tags.
pub(crate) fn document(title: &str, styles: &[&str], scripts: &[&str], body: &Markup) -> String {
    with_head(title, styles, scripts, false, body)
}

/// The scripts of a live page ask its server for changes. What a name might bring in is neither run nor obeyed.
fn with_head(title: &str, styles: &[&str], scripts: &[&str], live: bool, body: &Markup) -> String {
    let mut policy = format!("default-src 'none'; style-src{}", digests(styles));
    if !scripts.is_empty() {
        policy += "; script-src";
        policy += &digests(scripts);
    }
    policy += if live { "; img-src data:; connect-src 'self'" } else { "; img-src data:" };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                @if live { noscript { meta http-equiv="refresh" content=(RELOAD); } }
                link rel="icon" href="data:,";
                title { (title) " · backslide" }
                @for style in styles { style { (PreEscaped(style)) } }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn digests(texts: &[&str]) -> String {
    let of = |text: &&str| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    texts.iter().map(of).collect()
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
                none: "all",
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

#[cfg(test)]
mod tests_of_document {
    use super::*;

    /// The example of the specification, Content Security Policy Level 2, 4.2.5.
    #[test]
    fn a_digest_is_the_one_of_the_specification() {
        assert_eq!(
            digests(&["alert('Hello, world.');"]),
            " 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
