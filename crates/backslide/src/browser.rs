//! Shows a file in the user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// What desktops have for it; `$BROWSER` comes first.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Errors: no program shows the file.
pub(crate) fn open(file: &Path) -> Result<()> {
    let file = file.canonicalize().with_context(|| format!("cannot open {}", file.display()))?;
    let run = |program: &str| {
        let mut command = Command::new(program);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let own = std::env::var("BROWSER").unwrap_or_default();
    let mut own = own.split(':').filter(|program| !program.is_empty());
    // A browser may stay as long as its window does; an opener ends, and says whether it found one.
    let is_shown = own.any(|program| run(program).spawn().is_ok())
        || OPENERS.iter().any(|program| run(program).status().is_ok_and(|status| status.success()));
    if !is_shown {
        bail!("no browser was found: set BROWSER to one, or open {}", file.display());
    }
    Ok(())
}
