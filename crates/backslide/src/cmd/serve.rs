//! `backslide serve`: all runs of a lab as pages, also while one is measured.

mod changes;
mod frame;
mod lists;
mod live;
mod pages;
mod pair;

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serve::Guard;

use self::pages::LabPages;
use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;

const TOKEN_BYTES: usize = 24;

pub(crate) fn run(args: &ServeArgs, root: &Path, printer: Printer) -> Result<Exit> {
    // Makes the lab's state one that can be read, or says why it cannot.
    let lab = runs::open(root)?;
    let root = lab.root().to_owned();
    drop(lab);
    let address = SocketAddr::new(args.address, args.port);
    let token = match &args.token {
        Some(token) if !is_token(token) => {
            bail!("--token takes letters, digits, `-` and `_`, 16 or more of them");
        }
        Some(token) => Some(token.clone()),
        None if address.ip().is_loopback() => None,
        None => Some(random_token()?),
    };
    let guard = |address| Guard::of(address, &args.host, token);
    serve::serve(address, guard, LabPages::new(root), |address, guard| {
        let token =
            guard.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"));
        printer.result(&format!("http://{address}/{token}"));
        printer.note("^C ends it");
    })?;
    Ok(Exit::Fine)
}

/// What fits into an address and a cookie as it is, and cannot be guessed.
fn is_token(token: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    token.len() >= 16 && token.bytes().all(fits)
}

fn random_token() -> Result<String> {
    let mut random = [0; TOKEN_BYTES];
    getrandom::fill(&mut random).context("no random numbers for a token; name one with --token")?;
    Ok(model::hexadecimal(&random))
}
