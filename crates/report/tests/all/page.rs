//! The page is one file, well formed, safe and small, whatever the run looks like.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{BuildSource, Cell, Comparison, RunData, Verdict};
use report::{Finding, Input, Report};
use sha2::{Digest, Sha256};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::tpcc::{self, Tpcc};
use testkit::made_up::{self, Shape};

use crate::{input, with_copies};

fn page(data: &RunData, comparisons: &[Comparison]) -> String {
    let input = Input {
        differing: Some(crate::differing()),
        generated: "2026-11-21 12:00 UTC",
        findings: vec![Finding { title: "A <warning>".into(), text: "Do & see.".into() }],
        ..Input::new(data, comparisons)
    };
    Report::new(&input).html()
}

fn page_of(shape: &Shape) -> String {
    let data = made_up::run(shape);
    let page = page(&data, &made_up::comparisons(&data));
    assert_sound(&page);
    page
}

/// The browser runs the scripts and obeys the styles of the page, and no others.
fn assert_policy(page: &str) {
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1);
    let policy = policy.and_then(|rest| rest.split('"').next()).unwrap();
    assert!(!policy.contains("unsafe"), "{policy}");
    for name in ["script", "style"] {
        let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
        let texts = page.split(&begin).skip(1);
        let mut digests: Vec<String> = texts
            .map(|text| STANDARD.encode(Sha256::digest(text.split(&end).next().unwrap())))
            .map(|digest| format!("'sha256-{digest}'"))
            .collect();
        digests.insert(0, format!("{name}-src"));
        let directive = policy.split("; ").find(|part| part.starts_with(&digests[0]));
        assert_eq!(directive, Some(digests.join(" ").as_str()));
    }
    // What a digest does not cover would be refused.
    assert!(!page.contains(" style=\"") && !page.contains(" onclick="));
}

/// Opened tags are closed in order, attributes are not repeated, no number is absurd.
fn assert_sound(page: &str) {
    const VOID: [&str; 4] = ["meta", "link", "wbr", "br"];
    assert_policy(page);
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        assert_numbers(before);
        let end = from.find('>').expect("a tag ends");
        let tag = &from[1..end];
        rest = &from[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order before: {rest:.80}");
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap();
        assert!(tag.matches('"').count() % 2 == 0, "quotes in <{tag}>");
        assert_numbers(tag);
        if matches!(name, "script" | "style") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("script and style end") + close.len()..];
        } else if !name.starts_with('!') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn assert_numbers(text: &str) {
    let absurd = text
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| matches!(*word, "NaN" | "inf" | "infinity"));
    assert!(absurd.is_none(), "{text}");
}

#[test]
fn what_should_be_equal_is_told_before_any_table() {
    let page = page_of(&Shape::usual());
    let warning = page.find("durability of a commit").unwrap();
    assert!(warning < page.find("<table").unwrap());
    assert!(page.contains("survives a crash of the &lt;server&gt; (sqlite/wal)"));
    for text in ["Server variables that differ", "on purpose", "a log &amp; more", "cache_spill"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_run_without_captures_says_so() {
    let data = made_up::run(&Shape::usual());
    let page = Report::new(&input(&data, &[])).html();
    assert!(page.contains("Server variables were not captured."));
    assert!(!page.contains("id=\"unequal\""));
}

#[test]
fn the_usual_page_is_sound_and_loads_nothing() {
    let page = page_of(&Shape::usual());
    for forbidden in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let order = [
        "summary",
        "overview",
        "warnings",
        "matrix",
        "verdicts",
        "tables",
        "costs",
        "sizes",
        "errors",
        "step-0",
        "step-9",
        "methods",
        "noise",
        "failed",
        "provenance",
    ];
    assert_order(&page, &order);
}

/// These ids come in this order.
fn assert_order(page: &str, ids: &[&str]) {
    let place = |id: &&str| page.find(&format!(" id=\"{id}\"")).expect(id);
    let places: Vec<usize> = ids.iter().map(place).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn groups_come_before_the_plots_and_a_sweep_after_them() {
    let [whole, _] = pages_of(&Micro { tests: 18, ..Micro::sweep(&[1, 8]) });
    assert_order(
        &whole,
        &["overview", "matrix", "tables", "costs", "groups", "sweep", "group-4", "methods"],
    );
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = page_of(&Shape::usual());
    let mut ids: Vec<&str> = attributes(&page, " id=\"");
    let targets = attributes(&page, "href=\"#");
    assert!(targets.len() > 20);
    for target in targets {
        assert!(ids.contains(&target), "{target}");
    }
    assert_unique(&mut ids);
}

fn assert_unique(names: &mut [&str]) {
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert!(twice.is_none(), "{twice:?}");
}

fn attributes<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let values = page.split(head).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn people_who_do_not_see_are_told() {
    let page = page_of(&Shape::usual());
    let charts = page.matches("role=\"img\"").count();
    assert!(charts > 50);
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), charts);
    assert_eq!(
        page.matches("<th>").count() + page.matches("<th class").count(),
        0,
        "every th has a scope"
    );
}

#[test]
fn names_are_escaped_everywhere() {
    let mut shape = Shape::usual();
    shape.systems[0].0 = "<script>alert(1)</script>".into();
    shape.systems[1].0 = "\"><img/onerror='x'>&amp;".into();
    let mut data = made_up::run(&shape);
    data.info.plan.name = "</title><b>plan".into();
    data.info.plan.source = "</pre><script>".into();
    data.steps[2].id.0 = "<i>step".into();
    let page = page(&data, &made_up::comparisons(&data));
    assert_sound(&page);
    let told = data_of(&page);
    assert_eq!(told["systems"][0][1], "<script>alert(1)</script>");
    assert_eq!(told["systems"][1][1], "\"><img/onerror='x'>&amp;");
    assert_eq!(told["names"][2], "<i>step");
    assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("<b>plan"));
    assert!(
        !page.contains("</pre><script>")
            && !page.contains("<i>step")
            && !page.contains("<warning>")
    );
    assert!(page.contains("A &lt;warning&gt;"));
}

#[test]
fn large_runs_stay_below_two_megabytes() {
    let names = [
        "mysql-5.6.51/innodb/z12a",
        "mysql-8.0.43/innodb/z12a",
        "mysql-9.4.0/innodb/z12a",
        "control",
    ];
    let page = page_of(&Shape {
        systems: names.map(|n| (n.to_owned(), 0.9)).to_vec(),
        rounds: 2,
        seconds: 1800,
        ..Shape::usual()
    });
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// The whole page and the brief one.
fn pages_of(micro: &Micro) -> [String; 2] {
    let data = micro::run(micro);
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    let pages = [Report::new(&input).html(), Report::new(&input).html_brief()];
    for page in &pages {
        assert_sound(page);
        assert_landmarks(page);
        let mut ids = attributes(page, " id=\"");
        for target in attributes(page, "href=\"#") {
            assert!(ids.contains(&target), "{target}");
        }
        assert_unique(&mut ids);
    }
    pages
}

/// Every part that people can jump to has a name of its own.
fn assert_landmarks(page: &str) {
    for other in ["<aside", "role=\"region\"", "role=\"complementary\""] {
        assert!(!page.contains(other), "{other}");
    }
    let mut names = Vec::new();
    for tag in ["<section", "<nav"] {
        for part in page.split(tag).skip(1) {
            let attributes = part.split('>').next().unwrap();
            let value = |name: &str| {
                let (_, rest) = attributes.split_once(&format!(" {name}=\""))?;
                rest.split('"').next()
            };
            let heading = |id: &str| {
                let (_, rest) = page.split_once(&format!(" id=\"{id}\">")).expect(id);
                rest.split('<').next().unwrap()
            };
            let name = value("aria-label").or_else(|| value("aria-labelledby").map(heading));
            names.push(name.unwrap_or_else(|| panic!("{tag}{attributes}> has no name")));
        }
    }
    assert!(names.len() > 8, "{names:?}");
    assert_unique(&mut names);
}

#[test]
fn landmarks_have_names_of_their_own() {
    assert_landmarks(&page_of(&Shape::usual()));
    let [whole, brief] = pages_of_transactions(&Tpcc::usual());
    assert_landmarks(&whole);
    assert_landmarks(&brief);
}

/// What the page tells its scripts.
fn data_of(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once(" id=\"page-data\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    for forbidden in ['<', '>', '&'] {
        assert!(!json.contains(forbidden), "{forbidden} in {json}");
    }
    serde_json::from_str(json).unwrap()
}

#[test]
fn each_cell_opens_its_evidence_and_leads_to_its_step_without_scripts() {
    let data = made_up::run(&Shape::usual());
    let options = stats::Options { metrics: stats::Selection::All, ..stats::Options::default() };
    let comparisons = stats::compare(&data, &options).unwrap();
    let page = page(&data, &comparisons);
    let told = data_of(&page);
    let (_, matrix) = page.split_once("<table class=\"matrix\"").unwrap();
    let (matrix, _) = matrix.split_once("</table>").unwrap();
    let links: Vec<&str> = matrix.split("<a ").skip(1).collect();
    // The base's cells lead to their steps and have nothing to open.
    assert_eq!(links.len(), 3 * 10);
    assert!(links.iter().all(|link| link.starts_with("href=\"#step-")));
    let cells = attributes(matrix, "data-cell=\"");
    assert_eq!(cells.len(), 2 * 10);
    for cell in &cells {
        assert!(told["cells"][cell].is_object(), "{cell}");
    }
    assert_eq!(told["systems"][1][1], "sqlite/rollback");
    assert_eq!(told["names"][3], "l.i2");
    let is_meant = |c: &&Comparison| {
        c.system == "sqlite/rollback" && c.step.0 == "l.i2" && c.metric.0 == "rate"
    };
    let comparison = comparisons.iter().find(is_meant).unwrap();
    let cell = &told["cells"]["B3"];
    assert_eq!(cell["said"], "slower, large");
    assert_eq!(cell["rounds"].as_array().unwrap().len(), 4);
    let fact = |name: &str| {
        let names = told["facts"].as_array().unwrap();
        let place = names.iter().position(|known| known == name).expect(name);
        cell["facts"][place].as_str().unwrap().to_owned()
    };
    assert_eq!(fact("what is compared"), "throughput, rows/s");
    assert_eq!(
        fact("ratio to the base, 95 % interval"),
        report::format::ratio_and_interval(comparison)
    );
    assert_eq!(fact("margin"), "2.0 %");
    assert_eq!(fact("complete rounds"), "4");
    for name in [
        "standard deviation of a round",
        "degrees of freedom",
        "p",
        "q, adjusted over the steps",
        "Hodges and Lehmann's estimate",
        "outlying rounds",
    ] {
        assert!(!fact(name).is_empty(), "{name}");
    }
    let moved = cell["moved"].as_array().unwrap();
    assert!(moved.iter().any(|cost| cost[0] == "server.cpu/o"), "{cell}");
    // The rows of the table of verdicts open the same.
    let (_, verdicts) = page.split_once("id=\"verdicts\"").unwrap();
    let (verdicts, _) = verdicts.split_once("</table>").unwrap();
    assert_eq!(attributes(verdicts, "data-cell=\""), cells);
    assert!(verdicts.contains("data-cell=\"B3\">l.i2</a>"));
}

#[test]
fn cells_of_a_sweep_open_their_evidence() {
    let micro = Micro { tests: 18, ..Micro::sweep(&[1, 8]) };
    for page in &pages_of(&micro) {
        let told = data_of(page);
        let cells = attributes(page, "data-cell=\"");
        assert!(cells.len() >= 18 * 2 * 2, "{}", cells.len());
        for cell in cells {
            assert!(told["cells"][cell].is_object(), "{cell}");
        }
    }
}

#[test]
fn the_control_is_told_in_cells() {
    let page = page_of(&Shape::usual());
    let (_, noise) = page.split_once("id=\"noise\"").unwrap();
    let (noise, _) = noise.split_once("</section>").unwrap();
    assert!(noise.contains(" control comparisons were flagged"), "{noise}");
    assert!(noise.contains("The plan set no limits"), "{noise}");
    let (_, summary) = page.split_once("id=\"summary\"").unwrap();
    let (summary, _) = summary.split_once("</section>").unwrap();
    assert!(summary.contains("control comparisons were flagged"), "{summary}");
}

#[test]
fn each_step_has_the_commands_that_repeat_it() {
    let page = page_of(&Shape::usual());
    let (_, step) = page.split_once("id=\"step-3\"").unwrap();
    let (step, _) = step.split_once("</section>").unwrap();
    for line in [
        "backslide run wal-or-rollback.toml",
        "backslide compare r7 --all",
        "backslide history r7 --step l.i2 --metric rate",
        "backslide explain r7 --variables sqlite/wal sqlite/rollback",
    ] {
        assert!(step.contains(line), "{line}");
    }
}

#[test]
fn hundreds_of_systems_stay_small() {
    let name = |i: u32| format!("mysql-9.{i}.0/innodb/z12a");
    let data = made_up::run(&Shape {
        systems: vec![(name(0), 1.0), (name(1), 0.9)],
        rounds: 2,
        seconds: 5,
        steps: 10,
        failed: None,
    });
    let data = with_copies(data, &(2..200).map(name).collect::<Vec<String>>());
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    for (page, most) in
        [(Report::new(&input).html(), 2_000_000), (Report::new(&input).html_brief(), 800_000)]
    {
        eprintln!("200 systems: {} bytes", page.len());
        assert_sound(&page);
        assert_landmarks(&page);
        assert!(page.len() < most, "{} bytes", page.len());
        // The matrix has all of them.
        assert_eq!(page.matches("<tr data-system=").count(), 200);
        assert!(page.contains("What follows has no room for 200 systems"));
        data_of(&page);
    }
}

#[test]
fn five_systems_and_dozens_of_steps_stay_small() {
    let names = ["mysql-5.6.24", "mysql-5.7.22", "mysql-8.0.31", "mysql-9.7.4"];
    let mut micro = Micro::usual();
    micro.shape.seconds = 60;
    micro.shape.systems = names
        .iter()
        .zip([1.0, 0.95, 0.8, 0.7])
        .map(|(name, effect)| (format!("{name}/innodb/z12a"), effect))
        .chain([("control".to_owned(), 1.0)])
        .collect();
    let [whole, brief] = pages_of(&micro);
    eprintln!("5 systems × 33 steps: {} bytes, brief {}", whole.len(), brief.len());
    assert!(whole.len() < 2_000_000, "{} bytes", whole.len());
    assert!(brief.len() < 600_000, "{} bytes", brief.len());
    assert_eq!(whole.matches("<section class=\"step\"").count(), 33);
    assert!(!whole.contains("has no room") && !brief.contains("has no room"));
}

#[test]
fn fifty_steps_stay_small() {
    let mut micro = Micro::usual();
    micro.shape.systems.truncate(2);
    let mut data = micro::run(&micro);
    // Half of the tests once more, under other names.
    let again = |name: &str| format!("{name}-again");
    let doubled: Vec<_> = data.steps.iter().skip(1).take(18).cloned().collect();
    let is_doubled = |step: &model::StepId| doubled.iter().any(|one| one.id == *step);
    let all = data.steps.len() as u32;
    for (step, ordinal) in doubled.iter().zip(all..) {
        let mut step = step.clone();
        step.id.0 = again(&step.id.0);
        step.ordinal = ordinal;
        data.steps.push(step);
    }
    let cells = data.cells.iter().filter(|cell| is_doubled(&cell.step));
    let mut cells: Vec<_> = cells.cloned().collect();
    for cell in &mut cells {
        cell.step.0 = again(&cell.step.0);
        cell.ordinal += all;
    }
    data.cells.extend(cells);
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    assert_eq!(data.steps.len(), 51);
    let [whole, brief] = [Report::new(&input).html(), Report::new(&input).html_brief()];
    eprintln!("51 steps: {} bytes, brief {}", whole.len(), brief.len());
    assert_sound(&whole);
    assert!(whole.len() < 2_000_000, "{} bytes", whole.len());
    assert!(brief.len() < 500_000, "{} bytes", brief.len());
}

#[test]
fn dozens_of_steps_stay_small() {
    let mut micro = Micro::usual();
    micro.shape.systems.truncate(2);
    micro.shape.seconds = 60;
    let [whole, brief] = pages_of(&micro);
    eprintln!("32 steps: {} bytes, brief {}", whole.len(), brief.len());
    assert!(whole.len() < 1_300_000, "{} bytes", whole.len());
    assert!(brief.len() < 500_000, "{} bytes", brief.len());
    assert_eq!(whole.matches("<section class=\"step\"").count(), 33);
    assert_eq!(brief.matches("<section class=\"step\"").count(), 12);
    for heading in ["Points", "Ranges with aggregation", "Writes"] {
        assert!(whole.contains(&format!("scope=\"rowgroup\" colspan=\"3\">{heading}<")));
    }
    assert!(whole.contains("statements/s, from zero"));
    assert!(whole.contains("Statements sent"));
    assert!(!whole.contains("Over the number of clients"));
}

#[test]
fn sweeps_stay_small() {
    for clients in [&[1, 8, 40][..], &[1, 4, 6, 8, 10, 20, 40]] {
        let mut micro = Micro::sweep(clients);
        micro.shape.systems.truncate(2);
        let [whole, brief] = pages_of(&micro);
        eprintln!(
            "32 tests × {} counts: {} bytes, brief {}",
            clients.len(),
            whole.len(),
            brief.len()
        );
        assert!(whole.len() < 1_800_000, "{} bytes", whole.len());
        assert!(brief.len() < 600_000, "{} bytes", brief.len());
        assert!(whole.contains("Over the number of clients"));
        assert_eq!(whole.matches("class=\"multiple\"").count(), 32);
    }
}

#[test]
fn thirty_systems() {
    let page = page_of(&Shape {
        systems: (0..30).map(|i| (format!("s{i}"), 1.0)).collect(),
        rounds: 2,
        seconds: 10,
        steps: 3,
        failed: None,
    });
    assert!(page.contains("AD"), "the thirtieth key");
}

#[test]
fn one_system_one_round_one_second() {
    let page = page_of(&Shape {
        systems: vec![("only".into(), 1.0)],
        rounds: 1,
        seconds: 1,
        ..Shape::usual()
    });
    assert!(page.contains("Only one system was measured"));
}

#[test]
fn a_run_without_anything() {
    let mut data = made_up::run(&Shape::usual());
    data.cells.clear();
    data.series.clear();
    data.histograms.clear();
    let bare = page(&data, &[]);
    assert_sound(&bare);
    assert!(bare.contains("No round was completed."));
    assert!(bare.contains("No series was recorded for this step."));
    data.steps.clear();
    data.trials.clear();
    // No table of throughput that only names the systems.
    assert!(!page(&data, &[]).contains("Median over the rounds"));
    data.info.plan.systems.clear();
    assert_sound(&page(&data, &[]));
}

#[test]
fn an_imported_run_has_no_empty_parts() {
    let parts = ["costs", "sizes", "noise"];
    let mut data = made_up::run(&Shape {
        systems: ["a", "b"].map(|name| (name.to_owned(), 1.0)).to_vec(),
        ..Shape::usual()
    });
    let links = |data: &RunData| {
        let page = page(data, &made_up::comparisons(data));
        assert_sound(&page);
        let ids = attributes(&page, " id=\"");
        let links = attributes(&page, "href=\"#");
        assert!(links.iter().all(|link| ids.contains(link)), "{links:?}");
        parts.map(|part| (links.contains(&part), ids.contains(&part)))
    };
    assert_eq!(links(&data), [(true, true); 3]);
    for system in &mut data.info.plan.systems {
        system.build.source = BuildSource::Imported("a.csv".into());
    }
    let of_host = |cell: &Cell| matches!(cell.metric.0.as_str(), "rate" | "cs/o");
    data.cells.retain(of_host);
    let there = [(true, true), (false, false), (false, false)];
    assert_eq!(links(&data), there);
    data.cells.retain(|cell| cell.metric.0 == "rate");
    assert_eq!(links(&data), [(false, false); 3]);
    // Nobody counted.
    assert!(!page(&data, &made_up::comparisons(&data)).contains("No operation failed"));
}

#[test]
fn failed_trials_are_shown_with_reason_and_log() {
    let page = page_of(&Shape { failed: Some((1, 3)), ..Shape::usual() });
    assert!(page.contains("the server died: signal 9"));
    assert!(page.contains("mysqld got signal 9 ; &lt;killed&gt;"));
    assert!(page.contains("1 trial failed"));
}

#[test]
fn absurd_numbers_never_reach_the_page() {
    let mut data = made_up::run(&Shape { rounds: 2, seconds: 6, ..Shape::usual() });
    let mut comparisons = made_up::comparisons(&data);
    let absurd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300, 1e-300];
    for (i, comparison) in comparisons.iter_mut().enumerate() {
        let value = absurd[i % absurd.len()];
        comparison.ratio = Some(value);
        comparison.low = Some(value);
        comparison.high = Some(absurd[(i + 3) % absurd.len()]);
        comparison.pairs.push((9, value));
        comparison.verdict = Verdict::Regressed;
    }
    for (i, cell) in data.cells.iter_mut().enumerate() {
        cell.value = absurd[i % absurd.len()];
    }
    for (i, series) in data.series.iter_mut().enumerate() {
        series.spans[0] = (absurd[i % absurd.len()], absurd[(i + 1) % absurd.len()]);
        series.kinds[0].ops.truncate(2);
    }
    assert_sound(&page(&data, &comparisons));
}

/// The whole page of a run of transactions, and the brief one.
fn pages_of_transactions(tpcc: &Tpcc) -> [String; 2] {
    let data = tpcc::run(tpcc);
    let comparisons = made_up::comparisons(&data);
    let input = input(&data, &comparisons);
    let pages = [Report::new(&input).html(), Report::new(&input).html_brief()];
    for page in &pages {
        assert_sound(page);
    }
    pages
}

#[test]
fn transactions_have_the_published_charts() {
    let [whole, _] = pages_of_transactions(&Tpcc::usual());
    for title in
        ["Throughput", "CPU per New-Order, client included", "KB written per New-Order", "Size"]
    {
        let caption = format!("<figcaption>{title}</figcaption><div class=\"rows levels\">");
        assert_eq!(whole.matches(&caption).count(), 1, "{title}");
    }
    assert!(whole.contains("from above: after load, after h3"));
    assert!(whole.contains("<h3 class=\"table-title\">Run, h1</h3>"));
    assert!(whole.contains("<summary>Run, h2</summary>"));
    assert!(whole.contains("Run, h3"));
    assert!(whole.contains("100 warehouses; the standard's work; transactions from decks"));
    assert_eq!(whole.matches("each kind of transaction").count(), 2 * 3);
}

#[test]
fn twelve_hours_of_transactions_stay_small() {
    let systems = (0..6).map(|i| (format!("mysql-9.{i}.0/innodb/z12a"), 1.0));
    let tpcc = Tpcc {
        shape: Shape { systems: systems.collect(), seconds: 3600, ..Tpcc::usual().shape },
        runs: 12,
        ..Tpcc::usual()
    };
    let [whole, brief] = pages_of_transactions(&tpcc);
    eprintln!("12 hours: {} bytes, brief {}", whole.len(), brief.len());
    assert!(whole.len() < 2_000_000, "{} bytes", whole.len());
    assert!(brief.len() < whole.len(), "{} bytes", brief.len());
}

#[test]
fn other_pages_carry_nothing_of_transactions() {
    let page = page_of(&Shape::usual());
    for part in ["rect.level", "#transactions", "tpmc", "New-Order"] {
        assert!(!page.contains(part), "{part}");
    }
}
