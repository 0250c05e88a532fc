//! `backslide builds`: what can be had, what is installed.

use anyhow::{Result, bail};
use lab::Builds;
use model::{Build, BuildFacts, BuildSource, Dbms, Recipe, Version};
use obtain::Installed;
use report::{Cell, Columns, Table};
use serde::Serialize;

use crate::args::{BuildsArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::table;

#[derive(Serialize)]
struct BuildJson {
    build: String,
    dbms: &'static str,
    version: String,
    /// `installed`, `found` on this machine, `embedded`, or `available` in the catalog.
    state: &'static str,
    source: String,
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
    facts: FactsJson,
    #[serde(skip)]
    order: (Dbms, Version),
}

/// What is known of how it was made.
#[derive(Serialize)]
struct FactsJson {
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
    if let (Some(only), []) = (&args.only, lines.as_slice()) {
        bail!("no build has a name that begins with `{only}`; `backslide builds` lists them");
    }
    let all = lines.len();
    if !args.all && args.only.is_none() && args.format == Format::Text {
        let leading = builds.leading();
        lines.retain(|line| line.state != "available" || leading.contains(&line.build.as_str()));
    }
    match args.format {
        Format::Json => printer.json(&lines),
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

/// All builds of the catalog and of this machine.
pub(crate) fn table_of(builds: &Builds) -> Result<Table> {
    Ok(as_table(&lines(builds)?))
}

/// Every build once: in the catalog's order of families, then by version.
fn lines(builds: &Builds) -> Result<Vec<BuildJson>> {
    let installed = builds.installed()?;
    let mut lines: Vec<BuildJson> = installed.iter().map(installed_line).collect();
    lines.extend(builds.found().iter().map(|build| line(build, "found")));
    lines.extend(builds.embedded().iter().map(|build| line(build, "embedded")));
    let recipes = builds.catalog().recipes().iter();
    let others = recipes.filter(|recipe| installed.iter().all(|one| one.name != recipe.name));
    lines.extend(others.map(available_line));
    lines.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.build.cmp(&b.build)));
    Ok(lines)
}

fn line(build: &Build, state: &'static str) -> BuildJson {
    let source = match &build.source {
        BuildSource::Embedded => "part of backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, .. } | BuildSource::Obtainable { origin } => {
            origin.clone()
        }
        BuildSource::Connect(address) | BuildSource::Imported(address) => address.clone(),
    };
    BuildJson {
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

fn installed_line(installed: &Installed) -> BuildJson {
    BuildJson {
        size_bytes: Some(installed.size.0),
        installed: Some(installed.installed.clone()),
        ..line(&installed.build, "installed")
    }
}

fn available_line(recipe: &Recipe) -> BuildJson {
    BuildJson {
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

fn facts(facts: &BuildFacts) -> FactsJson {
    FactsJson {
        compiler: facts.compiler.clone(),
        allocator: facts.allocator.clone(),
        symbols: facts.symbols,
        note: facts.note.clone(),
    }
}

fn as_table(lines: &[BuildJson]) -> Table {
    let size = |bytes: Option<u64>| {
        bytes.filter(|bytes| *bytes > 0).map_or(Cell::text(""), |bytes| {
            Cell::number(bytes as f64, model::Bytes(bytes).to_string())
        })
    };
    let state = |line: &BuildJson| match (line.state, &line.installed) {
        ("installed", Some(time)) => format!("installed {}", time.get(..10).unwrap_or(time)),
        (state, _) => state.to_owned(),
    };
    Columns::new()
        .words("build", |line: &&BuildJson| Cell::text(&line.build))
        .words("state", |line| Cell::text(state(line)))
        .numbers("download", "", |line| size(line.download_bytes))
        .numbers("on disk", "", |line| size(line.size_bytes))
        .words("engines", |line| Cell::text(line.engines.join(" ")))
        .words("from", |line| Cell::text(&line.short_source))
        .table("", "", lines)
}
