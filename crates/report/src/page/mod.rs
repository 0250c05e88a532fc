//! The report as one page: no network, readable without scripts.

mod all_figures;
mod costs;
mod evidence;
mod figures;
mod flames;
mod judged;
mod matrix;
mod methods;
mod noise;
mod over_clients;
mod overview;
mod provenance;
mod sections;
mod step;
mod summary;
mod table;
mod transactions;
mod why;

use maud::{Markup, PreEscaped, html as markup};

pub(crate) use self::all_figures::all_figures;
use self::evidence::Cells;
pub(crate) use self::figures::Figure;
use self::sections::{Page, Sections, part};
use self::table::folded;
pub(crate) use self::table::{Link, bare, linked, table, tone};
use crate::chart::style::shapes;
use crate::list_page::{STYLE, document, site_links};
use crate::rounds::rounds;
use crate::{Report, Transactions, format};

/// What scripts add, each by itself: where one fails, the others and the page go on. The first finds what
/// belongs to a system by the names in tables, the second turns some of these into buttons. The last is for pages with
/// flame graphs.
const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/report.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/charts.js"),
    include_str!("../../assets/flame.js"),
];

impl Report<'_> {
    /// One self-contained HTML file. Names are escaped everywhere; scripts only add to it.
    pub fn html(&self) -> String {
        page(self)
    }

    /// Half the size or less: of each step only the operations that it is about, without buckets and rounds. Of dozens
    /// of steps only those in which something differs.
    pub fn html_brief(&self) -> String {
        crate::plain::without_local_paths(&page(&self.brief()))
    }
}

fn page(all: &Report<'_>) -> String {
    let sections = Sections::of(all);
    let (is_whole, systems) = sections::room(all, &sections);
    let near = systems.map(|kept| all.only(&kept));
    let near = near.as_ref().unwrap_or(all);
    let listed = if sections::lists_all(all) { all } else { near };
    let cells = Cells::of(all, listed);
    let groups = listed.group_summary();
    let page = Page { all, listed, near, sections: &sections, cells: &cells, groups, is_whole };
    let input = all.input;
    let has_flames = why::has_why(listed) && !all.is_brief;
    let scripts = if has_flames { &SCRIPTS[..] } else { &SCRIPTS[..3] };
    let has_transactions = Transactions::of(all).is_some();
    let own = [(has_transactions, transactions::STYLE), (has_flames, why::STYLE)];
    let own = own.into_iter().filter(|(has, _)| *has).map(|(_, style)| style);
    let styles: Vec<&str> = [STYLE].into_iter().chain(own).collect();
    let text = markup! {
        (shapes())
        (head(&page))
        main { (body(&page)) }
        footer { "Made by backslide " (input.data.info.backslide) ", " (input.generated) "." }
        (cells.data(all))
        @for script in scripts { script { (PreEscaped(script)) } }
    };
    document(&input.data.info.plan.name, &styles, scripts, &text)
}

fn head(page: &Page<'_, '_>) -> Markup {
    let report = page.all;
    let info = &report.input.data.info;
    markup! {
        header {
            h1 { (info.plan.name) }
            p.facts {
                span { "run " (info.id) } " "
                span { (format::plural(report.systems.len(), "system")) " × "
                    (format::plural(report.steps.len(), "step")) " × "
                    (rounds(report.input.data)) } " "
                span { (format::host(info)) } " "
                span { (info.started) }
            }
            (site_links(&report.input.links))
            nav aria-label="Contents" {
                a href="#summary" { "What happened" }
                a href="#matrix" { "Ratios" }
                @if Transactions::of(report).is_some() { a href="#transactions" { "Transactions" } }
                a href="#tables" { "Throughput" }
                @if page.listed.has_costs() { a href="#costs" { "Cost" } }
                @if why::has_why(report) { a href="#why" { "Why" } }
                @if page.listed.has_sizes() { a href="#sizes" { "Sizes" } }
                @if page.groups.is_some() { a href="#groups" { "Groups" } }
                @if report.sweep.is_some() { a href="#sweep" { "Clients" } }
                (links(report, page.sections))
                a href="#methods" { "Methods" }
                @if noise::has_noise(report) { a href="#noise" { "Noise" } }
                a href="#provenance" { "Provenance" }
            }
        }
    }
}

/// Links to the steps, or to the groups of those that have one.
fn links(report: &Report<'_>, sections: &Sections) -> Markup {
    markup! {
        @for (number, group) in report.groups.iter().enumerate() {
            @if group.title.is_empty() {
                @for (place, step) in group.places.clone().zip(report.steps_of(group)) {
                    @if sections.has(place) {
                        a.step href={ "#step-" (place) } data-step=(place) { (report.label(step)) }
                    }
                }
            } @else if group.places.clone().any(|place| sections.has(place)) {
                a.step href={ "#group-" (number) } data-step=(group.places.start) { (group.title) }
            }
        }
    }
}

/// What happened first, then in how much detail you like, then how it was found out.
fn body(page: &Page<'_, '_>) -> Markup {
    let (all, listed) = (page.all, page.listed);
    markup! {
        (summary::summary(all, listed))
        (matrix::matrix(page))
        (sections::note_of_systems(all, listed, "What follows"))
        (transactions::transactions(listed))
        (throughput(listed))
        (costs::costs(listed))
        (why::why(listed))
        (costs::sizes(listed))
        (costs::errors(all))
        @if let Some(groups) = &page.groups {
            (part("groups", "Groups of tests", &table(groups)))
        }
        (over_clients::over_clients(listed))
        (page.sections.note())
        (sections::note_of_systems(listed, page.near, "What is shown step by step"))
        (steps(page))
        @if let Some(printed) = listed.printed() { (folded(&printed)) }
        (methods::methods(all))
        (noise::noise(all, listed))
        (noise::failed(all))
        (provenance::provenance(all, listed))
    }
}

/// Absolute, then what was agreed on. The matrix has the ratios.
fn throughput(report: &Report<'_>) -> Markup {
    let absolute = report.throughput();
    let content = markup! {
        @for (place, one) in absolute.iter().enumerate() {
            @if place > 0 {
                (folded(one))
            } @else if report.sweep.is_some() {
                (table(one))
            } @else {
                // The part's heading says what it is.
                p.note { (one.note) }
                (bare(one))
            }
        }
        @if let Some(background) = report.background() { (folded(&background)) }
        @if let Some(open_loop) = report.open_loop() { (table(&open_loop)) }
    };
    part("tables", "Throughput", &content)
}

fn steps(page: &Page<'_, '_>) -> Markup {
    let report = page.near;
    let detail = step::Detail::of(report, page.is_whole, page.sections);
    let open = page.sections.largest;
    markup! {
        @if page.sections.count() > 0 { h2 #steps { "Steps" } (table::legend(report)) }
        @for (number, group) in report.groups.iter().enumerate() {
            @let places: Vec<usize> = group.places.clone().filter(|place| page.sections.has(*place)).collect();
            @if !(group.title.is_empty() || places.is_empty()) {
                h2.group id={ "group-" (number) } data-step=(group.places.start) { (group.title) }
            }
            @for place in places {
                @if let Some(one) = report.steps.get(place) {
                    (step::step(report, place, one, detail, open == Some(place)))
                }
            }
        }
    }
}
