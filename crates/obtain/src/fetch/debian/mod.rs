//! Packages of Debian's suites, by apt with a state of our own.
//!
//! The packages that are wanted come with the libraries that they need, of their own suite: so their
//! programs run on a host of another release.

mod apt;
mod closure;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use model::Bytes;

use super::errand::{Closure, Errand, Fetched, files_in, is_plain, make_directory};
use crate::error::{FetchError, ObtainError, Result, Trouble};
use crate::tree;
use apt::Apt;
use closure::{Remote, Wanted, choose, installed, is_library, remotes, versions};
use sources::Contents;

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
    let apt = Apt::of_suite(suite, Contents::Packages, errand)?;
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

/// Fetches the source that a package of any version was made from, if it is this version of the source.
pub(super) fn fetch_source(
    suite: &str,
    package: &str,
    version: &str,
    errand: &mut Errand<'_>,
) -> Result<PathBuf> {
    if !is_plain(package, "") || !is_plain(version, ":~") {
        let given = format!("{package}={version}");
        return Err(FetchError::coordinates("Debian", &given, "name and version").into());
    }
    let is_source = |file: &str| file.contains(".orig.tar.");
    if let Some(archive) = files_in(&errand.into, is_source)?.pop() {
        return Ok(archive);
    }
    sources::parts(suite)?;
    let apt = Apt::of_suite(suite, Contents::Sources, errand)?;
    errand.tell(0);
    let renewed = !apt.is_fresh();
    if renewed {
        apt.update(errand)?;
    }
    let mut found = versions_of(package, &apt, errand)?;
    let of_source = |full: &&String| {
        full.strip_prefix(version).is_some_and(|revision| revision.starts_with('-'))
    };
    if !renewed && !found.iter().any(|full| of_source(&full)) {
        apt.update(errand)?;
        found = versions_of(package, &apt, errand)?;
    }
    let Some(full) = found.iter().find(of_source) else {
        let (what, suite) = (errand.what.clone(), suite.to_owned());
        let package = format!("{package} {version}");
        return Err(FetchError::NoPackage { what, suite, package, versions: found }.into());
    };
    let workplace = errand.workplace()?;
    let exact = format!("{package}={full}");
    let arguments = ["source", "--download-only", "--tar-only", &exact];
    apt.download(arguments, workplace.path(), errand)?;
    let nothing = || errand.failed("apt-get", Trouble::NothingCame("the source".to_owned()));
    let made = files_in(workplace.path(), is_source)?.pop().ok_or_else(nothing)?;
    let archive = errand.into.join(made.file_name().unwrap_or_default());
    fs::rename(&made, &archive).map_err(ObtainError::io("move", &made))?;
    Ok(archive)
}

fn versions_of(package: &str, apt: &Apt, errand: &mut Errand<'_>) -> Result<Vec<String>> {
    let table = apt.ask(&apt.cache, ["madison", package], errand)?;
    Ok(versions(&table).remove(package).unwrap_or_default())
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
    let arguments = ["download"].into_iter().chain(names);
    let finished = apt.download(arguments, directory, errand)?;
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
