//! `backslide agent`: what backslide starts on its load hosts.

use anyhow::{Result, anyhow};

use crate::exit::Exit;

pub(crate) fn run() -> Result<Exit> {
    lab::run_agent().map_err(|error| anyhow!(error.reason))?;
    Ok(Exit::Fine)
}
