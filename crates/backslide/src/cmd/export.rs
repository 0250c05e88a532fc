//! `backslide export`: all measurements of a run.

use std::path::Path;

use anyhow::Result;

use crate::args::{ExportArgs, ExportFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;

pub(crate) fn run(args: &ExportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    let text = match args.format {
        ExportFormat::Csv => report::csv(&data),
    };
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    super::report::put(output, text.as_bytes(), printer)?;
    Ok(Exit::Fine)
}
