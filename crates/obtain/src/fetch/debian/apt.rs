//! apt with a state of our own: of the host it has the mirrors, keys, proxies and credentials, and
//! it changes nothing there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::client::{Call, Finished};
use super::super::errand::{Errand, make_directory};
use super::sources::{Contents, Mirrors, describe};
use crate::error::{ObtainError, Result};
use crate::tree;

const FRESH: Duration = Duration::from_hours(24);

const INSTALL: &str = "apt, which only Debian and its derivatives have";

/// Where apt keeps what it made of the lists: large, and quickly made.
const CACHE: &str = "packages.bin";

/// Settings over those of the host: its hooks are about its own state.
const SETTINGS: &str = r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
#clear APT::Architectures;
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Default-Release "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Check-Valid-Until "false";
Acquire::GzipIndexes "true";
"#;

/// The state for one suite, in a directory that parcels share.
pub(super) struct Apt {
    state: PathBuf,
    pub(super) get: PathBuf,
    pub(super) cache: PathBuf,
}

impl Apt {
    pub(super) fn of_suite(
        suite: &str,
        contents: Contents,
        errand: &mut Errand<'_>,
    ) -> Result<Self> {
        let mirrors = Mirrors::of_host(&errand.clients.apt);
        let sources = describe(suite, contents, &errand.what, &mirrors)?;
        let shared = match contents {
            Contents::Packages => format!("apt-{suite}"),
            Contents::Sources => format!("apt-{suite}-sources"),
        };
        let apt = Self {
            get: errand.client(&["apt-get"], INSTALL)?,
            cache: errand.client(&["apt-cache"], INSTALL)?,
            state: errand.shared(&shared)?,
        };
        for directory in ["lists/partial", "archives/partial"] {
            make_directory(&apt.path(directory))?;
        }
        apt.write("apt.conf", SETTINGS)?;
        // Empty: all that a package needs is in its closure, whatever this host has.
        apt.write("status", "")?;
        if fs::read_to_string(apt.path("suite.sources")).ok().as_ref() != Some(&sources) {
            tree::remove(&apt.path("updated"))?;
            apt.write("suite.sources", &sources)?;
        }
        Ok(apt)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        fs::write(&path, text).map_err(ObtainError::io("write", &path))
    }

    /// Are the lists younger than a day?
    pub(super) fn is_fresh(&self) -> bool {
        let data = fs::metadata(self.path("updated"));
        let age = data.and_then(|data| data.modified()).map(|time| time.elapsed());
        matches!(age, Ok(Ok(age)) if age < FRESH)
    }

    pub(super) fn update(&self, errand: &mut Errand<'_>) -> Result<()> {
        let lists = self.path("lists");
        // How much they are is not known, and it is little beside the packages: only that it works is reported.
        let mut call = self.call(&self.get, &self.state).argument("update");
        call.grows = None;
        call.grows_too = Some(&lists);
        tree::remove(&self.path("updated"))?;
        errand.run(&call)?;
        self.write("updated", "")
    }

    pub(super) fn ask<'a>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = &'a str>,
        errand: &mut Errand<'_>,
    ) -> Result<String> {
        let mut call = self.call(program, &self.state).arguments(arguments);
        call.grows = None;
        Ok(errand.run(&call)?.printed)
    }

    /// Downloads into a directory, or the rest of it, what the arguments of `apt-get` say.
    pub(super) fn download<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        directory: &Path,
        errand: &mut Errand<'_>,
    ) -> Result<Finished> {
        errand.run(&self.call(&self.get, directory).arguments(arguments))
    }

    /// A run of one of its programs with our state: by paths in arguments, which need no quoting.
    fn call<'a>(&self, program: &'a Path, directory: &'a Path) -> Call<'a> {
        let settings = [
            ("Dir::Etc::sourcelist", self.path("suite.sources")),
            ("Dir::Etc::sourceparts", "/dev/null".into()),
            ("Dir::Etc::preferences", "/dev/null".into()),
            ("Dir::Etc::preferencesparts", "/dev/null".into()),
            ("Dir::State", self.state.clone()),
            ("Dir::State::lists", self.path("lists")),
            ("Dir::State::status", self.path("status")),
            ("Dir::State::extended_states", self.path("extended_states")),
            ("Dir::Cache", self.state.clone()),
            ("Dir::Cache::archives", self.path("archives")),
            ("Dir::Cache::pkgcache", self.path(CACHE)),
            ("Dir::Cache::srcpkgcache", PathBuf::new()),
        ];
        let mut call = Call::new(program, directory)
            .argument("-qq")
            .argument("-c")
            .argument(self.path("apt.conf"));
        for (name, path) in settings {
            let mut setting = OsString::from(format!("{name}="));
            setting.push(path);
            call = call.argument("-o").argument(setting);
        }
        // We read what it prints.
        call.environment.push(("LC_ALL", "C".into()));
        call
    }
}

impl Drop for Apt {
    fn drop(&mut self) {
        // It saved the runs after the first some seconds.
        let _ = fs::remove_file(self.path(CACHE));
    }
}
