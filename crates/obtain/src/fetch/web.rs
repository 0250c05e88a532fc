//! Archives at an address, by `curl` or `wget`.

use std::fs;
use std::path::{Path, PathBuf};

use model::Origin;

use super::client::{Call, Finished};
use super::errand::Errand;
use crate::error::{FetchError, ObtainError, Result, Trouble};

/// How curl ends where the server cannot give the rest of a file.
const CANNOT_RESUME: i32 = 33;

/// The longest file name that is taken from an address.
const LONGEST: usize = 120;

/// The name of the file at an address, or an error where no client may open the address.
fn file_of(address: &str) -> Result<String, FetchError> {
    let lower = address.to_ascii_lowercase();
    let is_known = ["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme));
    if !is_known || address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let shown = Origin::Url(address.to_owned()).describe();
        return Err(FetchError::Address { address: shown.escape_default().to_string() });
    }
    let after_scheme = address.split_once("://").map_or("", |(_, rest)| rest);
    let path = after_scheme.split(['?', '#']).next().unwrap_or_default();
    let name: String = path
        .split_once('/')
        .and_then(|(_, path)| path.rsplit('/').next())
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "._+-~".contains(*c))
        .take(LONGEST)
        .collect();
    let name = name.trim_start_matches(['.', '-']);
    Ok(if name.is_empty() { "archive" } else { name }.to_owned())
}

pub(super) fn fetch(address: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let file = file_of(address)?;
    let archive = errand.into.join(&file);
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["curl", "wget"], "curl (Debian's package `curl`)")?;
    let partial = errand.into.join(format!("{file}.part"));
    let into = errand.into.clone();
    let call = call(&program, address, &partial, &into);
    let resumes = partial.exists();
    let mut finished = errand.attempt(&call)?;
    if resumes && cannot_resume(&finished) {
        fs::remove_file(&partial).map_err(ObtainError::io("remove", &partial))?;
        finished = errand.attempt(&call)?;
    }
    if !finished.is_well() {
        return Err(errand.failed(&call.name(), Trouble::Said(finished.last_words())));
    }
    errand.keep(&call, &partial, archive)
}

/// The client that goes on with a partial file. It reads the address from its input, because everybody on
/// this machine may see its arguments.
fn call<'a>(program: &'a Path, address: &str, partial: &'a Path, into: &'a Path) -> Call<'a> {
    let call = Call::new(program, into);
    let mut call = if call.name() == "curl" {
        // A redirection must not lead to a file of this machine either.
        let web = "=http,https";
        let quoted = address.replace('\\', "\\\\").replace('"', "\\\"");
        call.arguments(["-fsSL", "--proto", web, "--proto-redir", web])
            .arguments(["--connect-timeout", "30", "--retry", "3"])
            .arguments(["-w", "%{http_code}", "-C", "-", "-o"])
            .argument(partial)
            .arguments(["--globoff", "-K", "-"])
            .input(format!("url = \"{quoted}\"\n"))
    } else {
        call.arguments(["-nv", "--tries=4", "--connect-timeout=30", "-c", "-O"])
            .argument(partial)
            .arguments(["-i", "-"])
            .input(format!("{address}\n"))
    };
    call.grows = Some(partial);
    call
}

/// Did it fail for what is there already? curl says so where the server gives no parts, or no further one,
/// because the file is whole or another one now; wget sees to that itself.
fn cannot_resume(finished: &Finished) -> bool {
    let is_unsatisfiable = finished.printed.trim() == "416";
    !finished.is_well() && (finished.code() == Some(CANNOT_RESUME) || is_unsatisfiable)
}
