//! Makes a library of one source file, by this machine's own C compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Bytes, Compile, ObtainEvent};

use crate::Listen;
use crate::error::{ObtainError, Result};
use crate::fetch::{Call, Clients};
use crate::tree;

const NAMES: [&str; 3] = ["cc", "gcc", "clang"];

/// How long a compiler, which prints nothing, may take.
const PATIENCE: Duration = Duration::from_mins(30);

/// How long it may take to say its version.
const ANSWER: Duration = Duration::from_secs(10);

/// What a directory may take in which the compiler works.
const MOST: Bytes = Bytes(1 << 30);

/// What to compile how, with which compiler.
pub(crate) struct Compiler<'a> {
    how: &'a Compile,
    program: PathBuf,
    version: String,
}

impl<'a> Compiler<'a> {
    /// The first compiler of this machine; `what` is to be compiled, for the error where there is none.
    pub(crate) fn find(
        how: &'a Compile,
        what: &str,
        clients: &Clients,
        directory: &Path,
    ) -> Result<Self> {
        let none = || ObtainError::NoCompiler { what: what.to_owned() };
        let program = clients.find(&NAMES).ok_or_else(none)?;
        let asked =
            Call::new(&program, directory).argument("--version").run(ANSWER, MOST, &mut |_| {});
        let answer = asked.map_err(ObtainError::io("run", &program))?.printed;
        let version = answer.lines().next().unwrap_or_default().to_owned();
        Ok(Self { how, program, version })
    }

    /// All that decides what becomes of a source file.
    pub(crate) fn line(&self) -> String {
        format!("compile {:?} {:?}", self.version, self.how)
    }

    /// Makes the library of `source` in `directory`, which does not exist yet.
    pub(crate) fn run(
        &self,
        what: &str,
        source: &Path,
        directory: &Path,
        listen: &mut Listen<'_>,
    ) -> Result<()> {
        fs::create_dir(directory).map_err(ObtainError::io("create", directory))?;
        listen(ObtainEvent::Compiling { what: what.to_owned() });
        let finished = Call::new(&self.program, directory)
            .arguments(&self.how.flags)
            .arguments(["-o", &self.how.library])
            .argument(source)
            .arguments(&self.how.libraries)
            .run(PATIENCE, MOST, &mut |_| {})
            .map_err(ObtainError::io("run", &self.program))?;
        finished.found_room(directory)?;
        if finished.is_well() {
            return Ok(());
        }
        Err(ObtainError::Compile {
            what: what.to_owned(),
            compiler: self.program.clone(),
            said: finished.last_words(),
        })
    }

    /// The source file in an unpacked archive: the nearest to the top that has its name.
    pub(crate) fn source_in(&self, unpacked: &Path) -> Result<PathBuf> {
        let name = &self.how.source;
        let files = tree::walk(unpacked)?.into_iter().filter(|item| {
            item.metadata.is_file()
                && item.path.file_name().is_some_and(|file| file == name.as_str())
        });
        let nearest = files.map(|item| item.path).min_by_key(|path| path.components().count());
        let nearest = nearest.ok_or_else(|| ObtainError::Placing {
            rule: format!("`source = \"{name}\"`"),
            cause: "names nothing that is in it".to_owned(),
        })?;
        Ok(unpacked.join(nearest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_compiler_the_package_is_named() {
        let how = Compile {
            source: "one.c".to_owned(),
            library: "one.so".to_owned(),
            flags: Vec::new(),
            libraries: Vec::new(),
        };
        let clients = Clients::of_path("/nonexistent".into());
        let found = Compiler::find(&how, "npm a@1", &clients, Path::new("/tmp"));
        insta::assert_snapshot!(found.err().unwrap(), @"cannot compile npm a@1: this machine has no C compiler: install one (Debian's packages `gcc` and `libc6-dev`)");
    }
}
