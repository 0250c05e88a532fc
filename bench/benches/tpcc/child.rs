//! One terminal as a process of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use bench::Place;

use crate::counting::Counting;
use crate::server::Trial;
use crate::spec::spec;

/// The argument that makes this program a client.
pub(crate) const MODE: &str = "be-a-terminal";

/// The line with its number of sent statements.
pub(crate) const SENT: &str = "statements sent: ";

/// Runs step `h1` on what another process has loaded: warehouses, seconds, and the place.
#[expect(clippy::print_stdout, reason = "a client's result, for the process that started it")]
pub(crate) fn work(arguments: &[String]) -> Result<()> {
    let [warehouses, seconds, place @ ..] = arguments else {
        bail!("too few arguments");
    };
    let mut target = Place::from_arguments(place)?.target()?;
    let statements = Arc::new(AtomicU64::new(0));
    target.connector =
        Arc::new(Counting { inner: target.connector, statements: Arc::clone(&statements) });
    let spec = spec(warehouses.parse()?, 1, seconds.parse()?);
    Trial::new(&spec).step("h1", &target)?;
    println!("{SENT}{}", statements.load(Ordering::Relaxed));
    Ok(())
}
