//! What a package brings along beside the binary: completions for shells, and manual pages.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Exit;
use crate::output;

/// Prints the script that completes commands and options in a shell.
pub(crate) fn run(shell: Shell) -> anyhow::Result<Exit> {
    // Into memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "backslide", &mut script);
    output::write(Path::new("-"), |out| Ok(out.write_all(&script)?))?;
    Ok(Exit::Fine)
}

/// Writes a manual page of the program and one of each command.
pub(crate) fn manual(directory: &Path) -> anyhow::Result<Exit> {
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Args::command(), directory));
    written.with_context(|| format!("cannot write manual pages to {}", directory.display()))?;
    Ok(Exit::Fine)
}
