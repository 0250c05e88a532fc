//! Packages of Debian's suites, by apt with a state of our own.
//!
//! The packages that are wanted come with the libraries that they need, of their own suite: so their
//! programs run on a host of another release.

mod apt;
mod closure;
mod sources;

use std::fs;
use std::path::Path;

use model::Bytes;

use super::errand::{Closure, Errand, Fetched, make_directory};
use crate::error::{FetchError, ObtainError, Result, Trouble};
use crate::tree;
use apt::Apt;
use closure::{Remote, Wanted, choose, installed, is_library, remotes, versions};

/// Fetches packages: those that are wanted, and those with the libraries that they need.
///
/// A package that is wanted and has libraries is in both lists.
pub(super) fn fetch(
    suite: &str,
    packages: &[String],
    closure: Closure,
    errand: &mut Errand<'_>,
) -> Result<Fetched> {
    sources::parts(suite)?;
    let wanted = packages
        .iter()
        .map(|package| {
            let wrong = || FetchError::coordinates("Debian", package, "name or name=version");
            Wanted::parse(package).ok_or_else(wrong)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let apt = Apt::of_suite(suite, errand)?;
    errand.tell(0);
    let renewed = look_for(&wanted, suite, &apt, errand)?;
    match bring(packages, &wanted, closure, &apt, errand) {
        // Since the lists were made, the mirror may have replaced a library.
        Err(ObtainError::Fetch(FetchError::Client { trouble: Trouble::Said(_), .. }))
            if !renewed =>
        {
            apt.update(errand)?;
            look_for(&wanted, suite, &apt, errand)?;
            bring(packages, &wanted, closure, &apt, errand)
        }
        result => result,
    }
}

fn names(packages: &[String]) -> impl Iterator<Item = &str> {
    packages.iter().map(String::as_str)
}

fn bring(
    packages: &[String],
    wanted: &[Wanted<'_>],
    closure: Closure,
    apt: &Apt,
    errand: &mut Errand<'_>,
) -> Result<Fetched> {
    let chosen = match closure {
        Closure::None => packages.to_vec(),
        Closure::Whole => {
            let arguments = ["install", "-s"].into_iter().chain(names(packages));
            choose(installed(&apt.ask(&apt.get, arguments, errand)?), wanted)
        }
    };
    let arguments = ["download", "--print-uris"].into_iter().chain(names(&chosen));
    let files = remotes(&apt.ask(&apt.get, arguments, errand)?);
    let directory = errand.into.join("packages");
    make_directory(&directory)?;
    download(apt, &chosen, &files, &directory, errand)?;
    errand.tell(errand.total.0);
    sort(&files, wanted, &directory).ok_or_else(|| {
        errand.failed("apt-get", Trouble::NothingCame("a package that it listed".to_owned()))
    })
}

/// An error unless the suite has all that is wanted; with new lists, if the ones that are there say no.
/// Are they new now?
fn look_for(
    wanted: &[Wanted<'_>],
    suite: &str,
    apt: &Apt,
    errand: &mut Errand<'_>,
) -> Result<bool> {
    let mut renewed = !apt.is_fresh();
    if renewed {
        apt.update(errand)?;
    }
    let mut missing = first_missing(wanted, apt, errand)?;
    if missing.is_some() && !renewed {
        apt.update(errand)?;
        renewed = true;
        missing = first_missing(wanted, apt, errand)?;
    }
    let Some((package, versions)) = missing else { return Ok(renewed) };
    let (what, suite) = (errand.what.clone(), suite.to_owned());
    Err(FetchError::NoPackage { what, suite, package, versions }.into())
}

/// The first package that the lists do not have, and the versions that they have of it.
fn first_missing(
    wanted: &[Wanted<'_>],
    apt: &Apt,
    errand: &mut Errand<'_>,
) -> Result<Option<(String, Vec<String>)>> {
    let arguments = ["madison"].into_iter().chain(wanted.iter().map(|wanted| wanted.name));
    let table = apt.ask(&apt.cache, arguments, errand)?;
    let known = versions(&table);
    Ok(wanted.iter().find_map(|wanted| {
        let versions = known.get(wanted.name).map_or(&[][..], Vec::as_slice);
        let version = wanted.version.map_or_else(String::new, |version| format!(" {version}"));
        (!wanted.is_among(versions))
            .then(|| (format!("{}{version}", wanted.name), versions.to_vec()))
    }))
}

fn download(
    apt: &Apt,
    chosen: &[String],
    files: &[Remote],
    directory: &Path,
    errand: &mut Errand<'_>,
) -> Result<()> {
    errand.total = Bytes(files.iter().map(|file| file.size).sum());
    let missing = missing(files, directory)?;
    let names: Vec<&str> = names(chosen)
        .filter(|package| missing.iter().any(|file| is_file_of(file, package)))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    let finished = apt.download(&names, directory, errand)?;
    match self::missing(files, directory)?.first() {
        None => Ok(()),
        Some(file) => {
            let said = format!("{}, and {} is not whole", finished.last_words(), file.file);
            Err(errand.failed("apt-get", Trouble::Said(said)))
        }
    }
}

/// Is this the file of `name` or `name=version`?
fn is_file_of(file: &Remote, package: &str) -> bool {
    package.split('=').next() == Some(file.name.as_str())
}

/// The files that are not there, or not whole. One that cannot become whole is removed.
fn missing<'a>(files: &'a [Remote], directory: &Path) -> Result<Vec<&'a Remote>> {
    let mut missing = Vec::new();
    for file in files {
        let path = directory.join(&file.file);
        let size = fs::metadata(&path).map_or(0, |data| data.len());
        let is_whole = size == file.size
            && match &file.sha256 {
                Some(expected) => tree::file_digest(&path)? == *expected,
                None => true,
            };
        if !is_whole {
            missing.push(file);
        }
        if !is_whole && size >= file.size && path.exists() {
            fs::remove_file(&path).map_err(ObtainError::io("remove", &path))?;
        }
    }
    Ok(missing)
}

/// The files that the placing is about, in the order of `wanted`, and those that have the
/// libraries; `None` where one is not there.
fn sort(files: &[Remote], wanted: &[Wanted<'_>], directory: &Path) -> Option<Fetched> {
    let path = |file: &Remote| directory.join(&file.file);
    let of = |wanted: &Wanted<'_>| files.iter().find(|file| file.name == wanted.name).map(path);
    Some(Fetched {
        archives: wanted.iter().map(of).collect::<Option<_>>()?,
        libraries: files.iter().filter(|file| is_library(&file.name)).map(path).collect(),
    })
}
