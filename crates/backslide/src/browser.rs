//! Shows a file in the user's browser.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

/// What desktops have for it; `$BROWSER` comes first.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// An opener that finds no browser ends sooner than this; one that found one may stay as long as its window does.
const FAILS_WITHIN: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(10);

/// Errors: no program shows the file.
pub(crate) fn open(file: &Path) -> Result<()> {
    let file = file.canonicalize().with_context(|| format!("cannot open {}", file.display()))?;
    let own = std::env::var("BROWSER").unwrap_or_default();
    let own = own.split(':').filter(|command| !command.trim().is_empty());
    let mut failed = Vec::new();
    for opener in own.chain(OPENERS) {
        match show(opener, &file) {
            Ok(()) => return Ok(()),
            Err(error) => failed.push(format!("{opener}: {error}")),
        }
    }
    bail!(
        "no browser was found: set BROWSER to one, or open {} ({})",
        file.display(),
        failed.join("; ")
    )
}

/// Starts a program with its arguments in a group of its own, so that it outlives backslide and a ^C.
fn show(opener: &str, file: &Path) -> Result<()> {
    let mut words = opener.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(file).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let begun = Instant::now();
    while begun.elapsed() < FAILS_WITHIN {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(anyhow!("{status}")),
            None => sleep(POLL),
        }
    }
    Ok(())
}
