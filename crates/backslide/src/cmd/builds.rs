//! `backslide builds`: what can be run here.

use anyhow::Result;
use model::{Build, BuildSource};
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
    source: String,
    program: String,
}

pub(crate) fn run(args: &BuildsArgs, printer: Printer) -> Result<Exit> {
    let lines: Vec<Line> = lab::installed().iter().map(line).collect();
    match args.format {
        Format::Json => printer.result(&serde_json::to_string_pretty(&lines)?),
        Format::Text => table::print(printer, &as_table(&lines)),
    }
    Ok(Exit::Fine)
}

fn line(build: &Build) -> Line {
    let source = match &build.source {
        BuildSource::Embedded => "part of backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, .. } => origin.clone(),
        BuildSource::Connect(address) => address.clone(),
    };
    Line {
        build: build.id(),
        dbms: build.dbms.name(),
        version: build.version.to_string(),
        source,
        program: build.version_line.clone(),
    }
}

fn as_table(lines: &[Line]) -> Table {
    let rows = lines.iter().map(|line| {
        vec![
            Cell::text(&line.build),
            Cell::text(&line.source),
            Cell::text(&line.program),
        ]
    });
    Table {
        title: String::new(),
        note: String::new(),
        headers: ["build", "where", "says"].map(Header::words).to_vec(),
        rows: rows.collect(),
    }
}
