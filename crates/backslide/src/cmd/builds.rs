//! `backslide builds`: what can be had, what is installed.

use anyhow::Result;
use lab::Builds;
use model::{Build, BuildFacts, BuildSource, Dbms, Recipe, Version};
use obtain::Installed;
use report::{Cell, Header, Table};
use serde::Serialize;

use crate::args::{BuildsArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::table;

/// A build as programs see it.
#[derive(Serialize)]
struct Line {
    build: String,
    dbms: &'static str,
    version: String,
    /// `installed`, `found` on this machine, `embedded`, or `available` in the catalog.
    state: &'static str,
    source: String,
    /// The source in a word or two.
    #[serde(skip)]
    short_source: String,
    /// What the server says of itself; empty where it is not here.
    program: String,
    download_bytes: Option<u64>,
    size_bytes: Option<u64>,
    /// When it was installed: RFC 3339.
    installed: Option<String>,
    engines: Vec<&'static str>,
    #[serde(flatten)]
    facts: Facts,
    #[serde(skip)]
    order: (Dbms, Version),
}

/// What is known of how it was made.
#[derive(Serialize)]
struct Facts {
    compiler: Option<String>,
    allocator: Option<String>,
    symbols: Option<bool>,
    note: Option<String>,
}

pub(crate) fn run(args: &BuildsArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let mut lines = lines(&builds)?;
    if let Some(only) = &args.only {
        lines.retain(|line| line.build.starts_with(only.as_str()));
    }
    let all = lines.len();
    if !args.all && args.only.is_none() && args.format == Format::Text {
        let leading = builds.leading();
        lines.retain(|line| line.state != "available" || leading.contains(&line.build.as_str()));
    }
    match args.format {
        Format::Json => printer.json(&lines)?,
        Format::Text if lines.is_empty() => {
            printer.note("no build has a name that begins so; `backslide builds` lists them");
        }
        Format::Text => {
            table::print(printer, &as_table(&lines));
            if all > lines.len() {
                printer.note(&format!(
                    "and {} more of older minor versions: `backslide builds --all`, or `backslide \
                     builds postgres-16`",
                    all - lines.len()
                ));
            }
            if lines.iter().any(|line| line.state == "available") {
                printer.note(
                    "`backslide install BUILD` installs one; a run installs what its plan needs",
                );
            }
        }
    }
    for damaged in builds.damaged()? {
        printer.note(&damaged);
    }
    Ok(Exit::Fine)
}

/// Every build once: in the catalog's order of families, then by version.
fn lines(builds: &Builds) -> Result<Vec<Line>> {
    let installed = builds.installed()?;
    let mut lines: Vec<Line> = installed.iter().map(installed_line).collect();
    lines.extend(builds.found().iter().map(|build| line(build, "found")));
    lines.extend(
        builds
            .embedded()
            .iter()
            .map(|build| line(build, "embedded")),
    );
    let recipes = builds.catalog().recipes().iter();
    let others = recipes.filter(|recipe| installed.iter().all(|one| one.name != recipe.name));
    lines.extend(others.map(available_line));
    lines.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.build.cmp(&b.build)));
    Ok(lines)
}

fn line(build: &Build, state: &'static str) -> Line {
    let source = match &build.source {
        BuildSource::Embedded => "part of backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, .. } => origin.clone(),
        BuildSource::Connect(address) | BuildSource::Imported(address) => address.clone(),
    };
    Line {
        build: build.id(),
        dbms: build.dbms.name(),
        version: build.version.to_string(),
        state,
        short_source: short(&source),
        source,
        program: build.version_line.clone(),
        download_bytes: None,
        size_bytes: None,
        installed: None,
        engines: engines(&build.facts),
        facts: facts(&build.facts),
        order: (build.dbms, build.version.clone()),
    }
}

fn installed_line(installed: &Installed) -> Line {
    Line {
        size_bytes: Some(installed.size.0),
        installed: Some(installed.installed.clone()),
        ..line(&installed.build, "installed")
    }
}

fn available_line(recipe: &Recipe) -> Line {
    Line {
        build: recipe.name.clone(),
        dbms: recipe.dbms.name(),
        version: recipe.version.to_string(),
        state: "available",
        short_source: short(&recipe.parcel.origin.describe()),
        source: recipe.parcel.origin.describe(),
        program: String::new(),
        download_bytes: Some(recipe.download.0),
        size_bytes: Some(recipe.size.0),
        installed: None,
        engines: engines(&recipe.facts),
        facts: facts(&recipe.facts),
        order: (recipe.dbms, recipe.version.clone()),
    }
}

/// `Debian bullseye` of all its packages, `Maven` of its coordinates; a path stays whole.
fn short(source: &str) -> String {
    let words: Vec<&str> = source.split(' ').collect();
    match words.as_slice() {
        ["Debian", suite, ..] => format!("Debian {suite}"),
        [client @ ("Maven" | "npm" | "PyPI"), ..] => (*client).to_owned(),
        _ => source.to_owned(),
    }
}

fn engines(facts: &BuildFacts) -> Vec<&'static str> {
    facts.engines.iter().map(|engine| engine.name()).collect()
}

fn facts(facts: &BuildFacts) -> Facts {
    Facts {
        compiler: facts.compiler.clone(),
        allocator: facts.allocator.clone(),
        symbols: facts.symbols,
        note: facts.note.clone(),
    }
}

fn as_table(lines: &[Line]) -> Table {
    let rows = lines.iter().map(|line| {
        let size = |bytes: Option<u64>| {
            bytes
                .filter(|bytes| *bytes > 0)
                .map_or(Cell::text(""), |bytes| {
                    Cell::number(bytes as f64, model::Bytes(bytes).to_string())
                })
        };
        let since = line.installed.as_deref().and_then(|time| time.get(..10));
        vec![
            Cell::text(&line.build),
            Cell::text(match (line.state, since) {
                ("installed", Some(day)) => format!("installed {day}"),
                (state, _) => state.to_owned(),
            }),
            size(line.download_bytes),
            size(line.size_bytes),
            Cell::text(line.engines.join(" ")),
            Cell::text(&line.short_source),
        ]
    });
    Table {
        title: String::new(),
        note: String::new(),
        headers: vec![
            Header::words("build"),
            Header::words("state"),
            Header::numbers("download", ""),
            Header::numbers("on disk", ""),
            Header::words("engines"),
            Header::words("from"),
        ],
        rows: rows.collect(),
    }
}
