//! Makes a tree: fetches, unpacks, places, checks.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use model::{Build, BuildFacts, BuildSource, Bytes, Compile, ObtainEvent, Origin, Placing, Recipe};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::record::{self, Installed, Record, path_of, within};
use super::{held, log_of, now, unknown};
use crate::Work;
use crate::compile::{Compiler, Workplace};
use crate::error::{ObtainError, Result};
use crate::fetch::{Clients, Closure, Errand, Fetched, fetch};
use crate::{library, place, tree};

/// Goes up with every change of how trees are made from the same archives and rules.
const LAYOUT: u32 = 1;

struct Order<'a> {
    name: &'a str,
    origin: &'a Origin,
    sha256: Option<&'a str>,
    download: Bytes,
    size: Bytes,
    /// By which rules, and what the catalog knows of it; `None` for the user's own archive, of unknown layout.
    rules: Option<(&'a [Placing], &'a BuildFacts)>,
    compile: Option<&'a Compile>,
    /// Is it the user's own?
    added: bool,
}

/// Archives that are here, and what becomes of them.
struct Material<'a> {
    fetched: Fetched,
    digests: Vec<String>,
    libraries: Vec<String>,
    /// What the tree is called: a digest of all that it is made from.
    key: String,
    download: PathBuf,
    compiler: Option<Compiler<'a>>,
}

impl Work<'_> {
    pub(super) fn install(&mut self, recipe: &Recipe) -> Result<Record> {
        let parcel = &recipe.parcel;
        let order = Order {
            name: &recipe.name,
            origin: &parcel.origin,
            sha256: parcel.sha256.as_deref(),
            download: recipe.download,
            size: recipe.size,
            rules: Some((&parcel.place, &recipe.facts)),
            compile: recipe.compile.as_ref(),
            added: false,
        };
        self.make(&order, |build| {
            if build.dbms == recipe.dbms && build.version == recipe.version {
                return Ok(());
            }
            Err(ObtainError::WrongVersion {
                name: recipe.name.clone(),
                expected: format!("{} {}", recipe.dbms, recipe.version),
                found: build.version_line.clone(),
            })
        })
    }

    /// Makes what the user's own archive holds, wherever in it that is, or compiles the user's own source file.
    pub(super) fn add(
        &mut self,
        name: &str,
        origin: &Origin,
        compile: Option<&Compile>,
    ) -> Result<Record> {
        let (download, size) = (Bytes(0), Bytes(0));
        let facts = BuildFacts::default();
        let rules = compile.map(|_| (&[][..], &facts));
        let sha256 = None;
        let order = Order { name, origin, sha256, download, size, rules, compile, added: true };
        self.make(&order, |_| Ok(()))
    }

    fn make(&mut self, order: &Order<'_>, accept: impl Fn(&Build) -> Result<()>) -> Result<Record> {
        let records = record::all(self.root)?.whole;
        let material = self.gather(order)?;
        let place = path_of(self.root, &material.key, "");
        let has_it = |record: &&Record| record.tree.as_deref() == Some(&material.key);
        let namesake = records.iter().find(has_it);
        // The same files may be here under another name. Where they no longer run they are made anew.
        if let Some(shared) = namesake
            && let Ok((base, build)) = self.identify_in(order, &place)
        {
            accept(&build)?;
            let digest =
                if let BuildSource::Installed { digest, .. } = &shared.installed.build.source {
                    digest.clone()
                } else {
                    String::new()
                };
            return self.register(order, material, base, build, digest);
        }
        // Nobody may use it while its files change places.
        let unused = held::take(&place)
            .ok_or_else(|| ObtainError::Held { what: order.origin.describe() })?;
        let made = self.unpack(order, &material, &place).and_then(|digest| {
            let (base, build) = self.identify_in(order, &place)?;
            accept(&build)?;
            Ok((base, build, digest))
        });
        drop(unused);
        match made {
            Ok((base, build, digest)) => self.register(order, material, base, build, digest),
            Err(error) => {
                if namesake.is_none() {
                    tree::remove(&place)?;
                }
                if order.sha256.is_none() && error.is_of_archive() {
                    // Otherwise the next attempt would find it there and take it for what is meant.
                    tree::remove(&material.download)?;
                }
                Err(error)
            }
        }
    }

    /// Fetches the archives, after a look at the disk.
    fn gather<'a>(&mut self, order: &Order<'a>) -> Result<Material<'a>> {
        let download = self.downloads().join(tree::text_digest(&whole_origin(order.origin)));
        let need = order.download + order.size + tree::RESERVE;
        let free = tree::free(self.root)?;
        if need > free {
            return Err(ObtainError::NoSpace { directory: self.root.to_owned(), need, free });
        }
        let clients = Clients::of_user();
        let compiler = order.compile.map(|how| {
            Compiler::find(how, &order.origin.describe(), &clients, &self.root.join("tmp"))
        });
        let compiler = compiler.transpose()?;
        let mut errand =
            Errand::new(order.origin, order.download, &download, &clients, self.listen)?;
        let fetched = fetch(order.origin, order.sha256, Closure::Whole, &mut errand)?;
        (self.listen)(ObtainEvent::Unpacking { what: order.origin.describe() });
        let digests = match (order.sha256, order.origin, fetched.archives.as_slice()) {
            (Some(verified), _, [_]) => vec![verified.to_owned()],
            // Commits with the same files share one compilation.
            (_, Origin::Git { tree, .. }, _) => vec![tree.clone()],
            (.., archives) => digests_of(archives)?,
        };
        let libraries = digests_of(&fetched.libraries)?;
        let key = key_of(order, &digests, &libraries, compiler.as_ref());
        Ok(Material { fetched, digests, libraries, key, download, compiler })
    }

    /// Makes the tree at `place`, all at once. The digest of its files as they came, and of the libraries
    /// that they run with.
    fn unpack(
        &mut self,
        order: &Order<'_>,
        material: &Material<'_>,
        place: &Path,
    ) -> Result<String> {
        let tmp = self.root.join("tmp");
        let work = tempfile::tempdir_in(&tmp).map_err(ObtainError::io("create", &tmp))?;
        let scratch = work.path().join("scratch");
        let made = work.path().join("made");
        let rules = order.rules.map_or(&[][..], |(rules, _)| rules);
        let archives = &material.fetched.archives;
        if let Some(compiler) = &material.compiler {
            let unpacked = work.path().join("unpacked");
            match archives.as_slice() {
                [own] if order.added => compiler.link(own, &unpacked)?,
                _ => place::assemble(archives, rules, &scratch, &unpacked)?,
            }
            let (source, log) = (compiler.top_in(&unpacked)?, log_of(self.root, order.name));
            let (into, effort) = (&made, self.effort);
            let place = Workplace { source: &source, into, scratch: &scratch, log: &log, effort };
            compiler.run(&order.origin.describe(), &place, self.listen)?;
        } else {
            place::assemble(archives, rules, &scratch, &made)?;
        }
        let made = if order.rules.is_none() {
            let first = material.fetched.archives.first();
            unknown::open_inner(&made).map_err(|error| match first {
                Some(outer) => error.within(&made, outer),
                None => error,
            })?;
            unknown::strip(made)?
        } else {
            made
        };
        let digest = with_libraries(tree::digest(&made)?, &material.libraries);
        if let Origin::Debian { .. } = order.origin {
            library::patch_programs(&made, place, &material.fetched.libraries, self)?;
        }
        put_in_place(&made, place)?;
        Ok(digest)
    }

    /// What the server in the tree says that it is, and where in the tree it is.
    fn identify_in(&mut self, order: &Order<'_>, place: &Path) -> Result<(String, Build)> {
        let what = order.origin.describe();
        let bases = match order.rules {
            Some(_) => vec![String::new()],
            None => unknown::find(place)?,
        };
        let mut refusal = None;
        for base in bases {
            (self.listen)(ObtainEvent::Checking { what: what.clone() });
            match self.ask(order, &within(place, &base)) {
                Ok(build) => return Ok((base, build)),
                // The place nearest to the top says best what is wrong.
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(|| ObtainError::NoServer {
            what,
            looked_for: unknown::LOOKED_FOR.to_owned(),
        }))
    }

    fn ask(&mut self, order: &Order<'_>, directory: &Path) -> Result<Build> {
        // The directory is gone by the time at which an error is read: where it came from stays.
        let refused = |cause| ObtainError::Server {
            what: format!("the server from {}", order.origin.describe()),
            cause,
        };
        if !directory.is_dir() {
            // Around a program that lies anywhere there is no place for libraries.
            return (self.identify)(directory).map_err(refused);
        }
        library::complete(directory, self).map_err(|error| match error {
            ObtainError::Server { cause, .. } => refused(cause),
            other => other,
        })
    }

    /// Gives what was made its name: the moment from which on it is installed.
    fn register(
        &mut self,
        order: &Order<'_>,
        material: Material<'_>,
        base: String,
        build: Build,
        digest: String,
    ) -> Result<Record> {
        let place = path_of(self.root, &material.key, "");
        // Its name must not outlive its files, should the power fail.
        File::open(&place)
            .and_then(|directory| Ok(rustix::fs::syncfs(directory)?))
            .map_err(ObtainError::io("write", &place))?;
        let source = BuildSource::Installed {
            directory: path_of(self.root, &material.key, &base).display().to_string(),
            origin: order.origin.describe(),
            digest,
        };
        let archive = match material.digests.as_slice() {
            [archive] => Some(archive.clone()),
            _ => None,
        };
        let name = order.name.to_owned();
        let facts = facts_of(order, &build, material.compiler.as_ref());
        let record = Record {
            installed: Installed {
                build: Build { name: Some(name.clone()), facts, source, ..build },
                name,
                archive,
                size: tree::size(&place)?,
                installed: now(),
            },
            tree: Some(material.key),
            base,
            added: order.added,
        };
        record::write(self.root, &record)?;
        // It is only space; what stays is used or removed by the next install of this build.
        let _kept = tree::remove(&material.download);
        Ok(record)
    }
}

/// An origin as it tells its download from others: whole, with what people are not told.
fn whole_origin(origin: &Origin) -> String {
    match origin {
        Origin::Url(address) => address.clone(),
        other => other.describe(),
    }
}

/// The digest of files that run with these libraries: with another C library they are another build.
fn with_libraries(digest: String, libraries: &[String]) -> String {
    if libraries.is_empty() {
        return digest;
    }
    let lines = libraries.iter().map(|library| format!("\nlibrary {library}"));
    tree::text_digest(&format!("{digest}{}", lines.collect::<String>()))
}

fn digests_of(files: &[PathBuf]) -> Result<Vec<String>> {
    files.iter().map(|file| tree::file_digest(file)).collect()
}

/// What the catalog knows of it, otherwise the build itself; of what was compiled here, also how.
fn facts_of(order: &Order<'_>, build: &Build, compiler: Option<&Compiler<'_>>) -> BuildFacts {
    let facts = order.rules.map_or_else(|| build.facts.clone(), |(_, facts)| facts.clone());
    match order.compile {
        None => facts,
        Some(compile) => BuildFacts {
            // Not every program says it.
            compiler: build.facts.compiler.clone().or(compiler.map(|it| it.version.clone())),
            flags: Some([&compile.flags[..], &compile.options].concat().join(" ")),
            ..facts
        },
    }
}

fn key_of(
    order: &Order<'_>,
    archives: &[String],
    libraries: &[String],
    compiler: Option<&Compiler<'_>>,
) -> String {
    let mut lines = vec![format!("layout {LAYOUT}")];
    lines.extend(archives.iter().map(|digest| format!("archive {digest}")));
    lines.extend(libraries.iter().map(|digest| format!("library {digest}")));
    match order.rules {
        None => lines.push("as found".to_owned()),
        Some((rules, _)) => lines.extend(rules.iter().map(line_of)),
    }
    lines.extend(compiler.map(Compiler::line));
    tree::text_digest(&lines.join("\n"))
}

/// A rule as it counts for the digest: quoted, so that no two rules read the same.
fn line_of(rule: &Placing) -> String {
    let Placing { from, to, unpack, link, skip } = rule;
    format!("place {from:?} {to:?} {unpack} {link} {skip:?}")
}

/// Gives a whole tree its place; what is there changes places with it, and goes with the work.
fn put_in_place(made: &Path, place: &Path) -> Result<()> {
    if fs::symlink_metadata(place).is_ok() {
        if renameat_with(CWD, made, CWD, place, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        // Not every file system can do that.
        tree::remove(place)?;
    }
    fs::rename(made, place).map_err(ObtainError::io("move", made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_differ_in_a_secret_have_their_own_downloads() {
        let [one, two] = ["1", "2"].map(|key| Origin::Url(format!("http://h.example/a?key={key}")));
        assert_eq!(one.describe(), two.describe());
        assert_ne!(whole_origin(&one), whole_origin(&two));
    }

    #[test]
    fn the_same_files_with_another_c_library_are_another_build() {
        let digest = |libraries: &[&str]| {
            let libraries: Vec<String> = libraries.iter().map(ToString::to_string).collect();
            with_libraries("files".to_owned(), &libraries)
        };
        assert_eq!(digest(&[]), "files");
        let all = [digest(&["a"]), digest(&["b"]), digest(&["a", "b"])];
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
        assert_eq!(digest(&["a"]), all[0]);
    }
}
