//! `backslide builds`: what can be had, what is installed.

use anyhow::{Result, bail};
use lab::Builds;
use model::{Build, BuildFacts, BuildSource, Bytes, Dbms, Recipe, Version};
use obtain::Installed;
use report::{Cell, Columns, Header, Table, object};
use serde::Serialize;

use crate::args::{BuildsArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::table;

struct BuildLine {
    name: String,
    dbms: Dbms,
    version: Version,
    /// `installed`, `found` on this machine, `embedded`, or `available` in the catalog.
    state: &'static str,
    source: String,
    /// What the server says of itself; empty where it is not here.
    program: String,
    download: Option<Bytes>,
    size: Option<Bytes>,
    /// When it was installed: RFC 3339.
    installed: Option<String>,
    facts: BuildFacts,
}

pub(crate) fn run(args: &BuildsArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let mut lines = lines(&builds)?;
    if let Some(only) = &args.only {
        lines.retain(|line| line.name.starts_with(only.as_str()));
    }
    if let (Some(only), []) = (&args.only, lines.as_slice()) {
        bail!("no build has a name that begins with `{only}`; `backslide builds` lists them");
    }
    let all = lines.len();
    if !args.all && args.only.is_none() && args.format == Format::Text {
        let leading = builds.leading();
        lines.retain(|line| line.state != "available" || leading.contains(&line.name.as_str()));
    }
    match args.format {
        Format::Json => printer.json(&lines.iter().map(fields).collect::<Vec<_>>()),
        Format::Text => {
            table::print(printer, &as_table(&lines));
            if all > lines.len() {
                let more = all - lines.len();
                printer.note(&printer.wrapped(&format!(
                    "and {more} more of older minor versions: `backslide builds --all`, or `backslide builds postgres-16`"
                )));
            }
            if lines.iter().any(|line| line.state == "available") {
                printer.note(
                    "`backslide install BUILD` installs one; a run installs what its plan needs",
                );
            }
        }
    }
    for damaged in builds.depot.damaged()? {
        printer.note(&damaged);
    }
    Ok(Exit::Fine)
}

/// All builds of the catalog and of this machine.
pub(crate) fn table_of(builds: &Builds) -> Result<Table> {
    Ok(as_table(&lines(builds)?))
}

/// Every build once: in the catalog's order of families, then by version.
fn lines(builds: &Builds) -> Result<Vec<BuildLine>> {
    let installed = builds.depot.installed()?;
    let mut lines: Vec<BuildLine> = installed.iter().map(installed_line).collect();
    lines.extend(builds.found().iter().map(|build| line(build, "found")));
    lines.extend(Builds::embedded().iter().map(|build| line(build, "embedded")));
    let recipes = builds.catalog.recipes().iter();
    let others = recipes.filter(|recipe| installed.iter().all(|one| one.name != recipe.name));
    lines.extend(others.map(available_line));
    lines.sort_by(|a, b| (a.dbms, &a.version, &a.name).cmp(&(b.dbms, &b.version, &b.name)));
    Ok(lines)
}

fn line(build: &Build, state: &'static str) -> BuildLine {
    let source = match &build.source {
        BuildSource::Embedded => "part of backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, .. } | BuildSource::Obtainable { origin } => {
            origin.clone()
        }
        BuildSource::Connect(address) | BuildSource::Imported(address) => address.clone(),
    };
    BuildLine {
        name: build.id(),
        dbms: build.dbms,
        version: build.version.clone(),
        state,
        source,
        program: build.version_line.clone(),
        download: None,
        size: None,
        installed: None,
        facts: build.facts.clone(),
    }
}

fn installed_line(installed: &Installed) -> BuildLine {
    BuildLine {
        size: Some(installed.size),
        installed: Some(installed.installed.clone()),
        ..line(&installed.build, "installed")
    }
}

fn available_line(recipe: &Recipe) -> BuildLine {
    BuildLine {
        name: recipe.name.clone(),
        dbms: recipe.dbms,
        version: recipe.version.clone(),
        state: "available",
        source: recipe.parcel.origin.describe(),
        program: String::new(),
        download: Some(recipe.download),
        size: Some(recipe.size),
        installed: None,
        facts: recipe.facts.clone(),
    }
}

/// What `--format json` prints of a build; documented in docs/formats.md.
fn fields(line: &BuildLine) -> impl Serialize {
    object! {
        build: &line.name,
        dbms: line.dbms.name(),
        version: line.version.to_string(),
        state: line.state,
        source: &line.source,
        program: &line.program,
        download_bytes: line.download.map(|bytes| bytes.0),
        size_bytes: line.size.map(|bytes| bytes.0),
        installed: &line.installed,
        engines: engines(line),
        compiler: &line.facts.compiler,
        flags: &line.facts.flags,
        allocator: &line.facts.allocator,
        symbols: line.facts.symbols,
        note: &line.facts.note,
    }
}

fn engines(line: &BuildLine) -> Vec<&'static str> {
    line.facts.engines.iter().map(|engine| engine.name()).collect()
}

/// `Debian bullseye` of all its packages, `Maven` of its coordinates; a path stays whole.
fn short(source: &str) -> String {
    let words: Vec<&str> = source.split(' ').collect();
    match words.as_slice() {
        ["Debian", suite, ..] => format!("Debian {suite}"),
        [client @ ("Maven" | "npm" | "Cargo" | "PyPI"), ..] => (*client).to_owned(),
        _ => source.to_owned(),
    }
}

fn as_table(lines: &[BuildLine]) -> Table {
    let size = |bytes: Option<Bytes>| {
        let known = bytes.filter(|bytes| bytes.0 > 0);
        known.map_or(Cell::text(""), |bytes| Cell::number(bytes.0 as f64, bytes.to_string()))
    };
    let state = |line: &BuildLine| match (line.state, &line.installed) {
        ("installed", Some(time)) => format!("installed {}", time.get(..10).unwrap_or(time)),
        (state, _) => state.to_owned(),
    };
    Columns::new()
        .column(Header::words("build").kept_whole(), |line: &&BuildLine| Cell::text(&line.name))
        .words("state", |line| Cell::text(state(line)))
        .numbers("download", "", |line| size(line.download))
        .numbers("on disk", "", |line| size(line.size))
        .words("engines", |line| Cell::text(engines(line).join(" ")))
        .words("from", |line| Cell::text(short(&line.source)))
        .table("", "", lines)
}
