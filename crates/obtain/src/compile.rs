//! Compiles source by this machine's own tools, as a recipe says: one source file, or a whole server.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Compile, Nanos, Need, Needed, ObtainEvent};

use crate::depot::Effort;
use crate::error::{ObtainError, Result};
use crate::fetch::{Call, Clients, Finished};
use crate::{Listen, tree};

const NAMES: [&str; 3] = ["cc", "gcc", "clang"];

/// What a compiler is called in a search path where ccache stands before it.
const CACHED: [&str; 6] = ["cc", "c++", "gcc", "g++", "clang", "clang++"];

/// How long a command, which may print nothing, may take.
const PATIENCE: Duration = Duration::from_mins(30);

/// How long a compiler may take to answer a question.
const ANSWER: Duration = Duration::from_secs(10);

/// How much of the end of a log is read for the file that is compiled now.
const TAIL: u64 = 400;

/// What to compile how, with which compiler.
pub(crate) struct Compiler<'a> {
    how: &'a Compile,
    program: PathBuf,
    /// The first line that the compiler says of itself.
    pub(crate) version: String,
    clients: Clients,
}

/// The directories and the log of one compilation.
pub(crate) struct Workplace<'a> {
    /// The top directory of the source.
    pub(crate) source: &'a Path,
    /// Where the result goes; it does not exist yet.
    pub(crate) into: &'a Path,
    /// An empty directory beside it, for everything else.
    pub(crate) scratch: &'a Path,
    pub(crate) log: &'a Path,
    pub(crate) effort: Effort,
}

impl<'a> Compiler<'a> {
    /// The first compiler of this machine; an error names all that is missing to compile `what`.
    pub(crate) fn find(
        how: &'a Compile,
        what: &str,
        clients: &Clients,
        directory: &Path,
    ) -> Result<Self> {
        let none = || ObtainError::NoCompiler { what: what.to_owned() };
        let program = clients.find(&NAMES).ok_or_else(none)?;
        let asked = ask(Call::new(&program, directory).argument("--version"));
        let answer = asked.map_err(ObtainError::io("run", &program))?.printed;
        let version = answer.lines().next().unwrap_or_default().to_owned();
        let compiler = Self { how, program, version, clients: clients.clone() };
        let missing = how.needs.iter().filter(|need| !compiler.has(need, directory));
        let missing: Vec<&Need> = missing.collect();
        if missing.is_empty() {
            return Ok(compiler);
        }
        let name = |need: &&Need| match &need.what {
            Needed::Program(name) | Needed::Header(name) => name.clone(),
        };
        let mut packages: Vec<&str> = missing.iter().map(|need| need.package.as_str()).collect();
        packages.dedup();
        Err(ObtainError::Lacking {
            what: what.to_owned(),
            missing: missing.iter().map(name).collect::<Vec<_>>().join(", "),
            packages: packages.join(" "),
        })
    }

    fn has(&self, need: &Need, directory: &Path) -> bool {
        match &need.what {
            Needed::Program(name) => self.clients.find(&[name]).is_some(),
            Needed::Header(name) => ["c", "c++"].iter().any(|language| {
                let asked = Call::new(&self.program, directory)
                    .arguments(["-E", "-x", language, "-o", "/dev/null", "-"])
                    .input(format!("#include <{name}>\n"));
                let asked = ask(asked);
                asked.is_ok_and(|finished| finished.is_well())
            }),
        }
    }

    /// All that decides what becomes of a source.
    pub(crate) fn line(&self) -> String {
        let Compile { source, flags, options, commands, result, .. } = self.how;
        format!(
            "compile {:?} {source:?} {flags:?} {options:?} {commands:?} {result:?}",
            self.version
        )
    }

    /// Runs the commands of the recipe.
    pub(crate) fn run(
        &self,
        what: &str,
        place: &Workplace<'_>,
        listen: &mut Listen<'_>,
    ) -> Result<()> {
        let made = place.scratch.join("into");
        let build = place.scratch.join("build");
        for directory in [place.scratch, &made, &build] {
            fs::create_dir(directory).map_err(ObtainError::io("create", directory))?;
        }
        let _fresh = fs::remove_file(place.log);
        let log = OpenOptions::new().create(true).read(true).append(true).open(place.log);
        let log = log.map_err(ObtainError::io("write", place.log))?;
        let cached = self.cached(place.scratch)?;
        let begun = Instant::now();
        for command in &self.how.commands {
            let words = self.words(command, place, &made);
            self.step(what, (&words, &build), (place, &log), cached.as_deref(), &mut |program| {
                listen(ObtainEvent::Compiling {
                    what: what.to_owned(),
                    doing: format!("{program} {}", last_file(&log)).trim_end().to_owned(),
                    passed: begun.elapsed().into(),
                    about: Nanos(self.how.cpu.0 / u64::from(place.effort.jobs)),
                });
            })?;
        }
        let made = made.join(&self.how.result);
        fs::rename(&made, place.into).map_err(ObtainError::io("move", &made))
    }

    fn step(
        &self,
        what: &str,
        (words, build): (&[String], &Path),
        (place, log): (&Workplace<'_>, &File),
        cached: Option<&Path>,
        listen: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let name = words.first().map_or("", String::as_str);
        let in_cache = cached.map(|cached| cached.join(name)).filter(|path| path.exists());
        let program = in_cache.or_else(|| self.clients.find(&[name])).ok_or_else(|| {
            let (what, missing) = (what.to_owned(), name.to_owned());
            ObtainError::Lacking { what, packages: missing.clone(), missing }
        })?;
        let nice = self.clients.find(&["nice"]);
        let mut call = match &nice {
            Some(nice) => Call::new(nice, build)
                .argument("-n")
                .argument(place.effort.nice.to_string())
                .argument(&program),
            None => Call::new(&program, build),
        };
        call = call.arguments(words.iter().skip(1)).log(log);
        if let Some(cached) = cached {
            let path = std::env::join_paths(
                [cached.to_owned()].into_iter().chain(self.clients.directories()),
            );
            call.environment.extend(path.map(|path| ("PATH", path)));
            // Each compilation has a directory of its own, which must not tell it from the others.
            let work = place.scratch.parent().unwrap_or(place.scratch);
            call.environment.push(("CCACHE_BASEDIR", work.into()));
            call.environment.push(("CCACHE_NOHASHDIR", "1".into()));
        }
        // Words that are searched for in what it prints.
        call.environment.push(("LC_ALL", "C".into()));
        // Its log shows that it works: to look at thousands of files over and over costs more.
        call.grows = None;
        let finished = call
            .run(PATIENCE, tree::RESERVE, &mut |_| listen(name))
            .map_err(ObtainError::io("run", &program))?;
        finished.found_room(place.scratch)?;
        if finished.is_well() {
            return Ok(());
        }
        Err(ObtainError::Compile {
            what: what.to_owned(),
            program: name.to_owned(),
            said: finished.errors(),
            log: place.log.to_owned(),
        })
    }

    /// A directory in which the names of compilers lead to ccache, if this machine has it.
    fn cached(&self, scratch: &Path) -> Result<Option<PathBuf>> {
        let Some(ccache) = self.clients.find(&["ccache"]) else { return Ok(None) };
        let directory = scratch.join("ccache");
        fs::create_dir(&directory).map_err(ObtainError::io("create", &directory))?;
        for name in CACHED.iter().filter(|name| self.clients.find(&[name]).is_some()) {
            let link = directory.join(name);
            symlink(&ccache, &link).map_err(ObtainError::io("link", &link))?;
        }
        Ok(Some(directory))
    }

    fn words(&self, command: &[String], place: &Workplace<'_>, made: &Path) -> Vec<String> {
        let compiler = self.program.file_name().unwrap_or(self.program.as_os_str());
        let values = [
            ("{source}", place.source.display().to_string()),
            ("{into}", made.display().to_string()),
            ("{jobs}", place.effort.jobs.to_string()),
            ("{cc}", compiler.to_string_lossy().into_owned()),
            ("{flags}", self.how.flags.join(" ")),
        ];
        let word = |word: &String| match word.as_str() {
            "{flags}" => self.how.flags.clone(),
            "{options}" => self.how.options.clone(),
            _ => vec![
                values.iter().fold(word.clone(), |word, (key, value)| word.replace(key, value)),
            ],
        };
        command.iter().flat_map(word).collect()
    }

    /// Makes a directory of source, which does not exist yet, of the user's own file.
    pub(crate) fn link(&self, file: &Path, directory: &Path) -> Result<()> {
        let link = directory.join(&self.how.source);
        fs::create_dir(directory).map_err(ObtainError::io("create", directory))?;
        symlink(file, &link).map_err(ObtainError::io("link", &link))
    }

    /// The top directory of the source in an unpacked archive.
    pub(crate) fn top_in(&self, unpacked: &Path) -> Result<PathBuf> {
        let mark = Path::new(&self.how.source);
        let files = tree::walk(unpacked)?.into_iter();
        let marks = files.filter(|item| !item.metadata.is_dir() && item.path.ends_with(mark));
        let nearest = marks.map(|item| item.path).min_by_key(|path| path.components().count());
        let top = nearest.and_then(|path| {
            let top = path.ancestors().nth(mark.components().count())?;
            Some(unpacked.join(top))
        });
        top.ok_or_else(|| ObtainError::Placing {
            rule: format!("`source = \"{}\"`", self.how.source),
            cause: "names nothing that is in it".to_owned(),
        })
    }
}

/// Runs a compiler for an answer. What else lies in its directory is none of its business.
fn ask(mut call: Call<'_>) -> io::Result<Finished> {
    call.grows = None;
    call.run(ANSWER, tree::RESERVE, &mut |_| {})
}

/// The name of the file that a log is about at its end: `xlog.c`; empty where none is.
fn last_file(log: &File) -> String {
    let length = log.metadata().map_or(0, |data| data.len());
    let mut bytes = vec![0; length.min(TAIL) as usize];
    if log.read_exact_at(&mut bytes, length.saturating_sub(TAIL)).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let word = text.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    let name = word.rsplit('/').next().unwrap_or_default();
    if name.contains('.') { name.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use model::{Bytes, VersionMarks};

    use super::*;
    use crate::tests::stand_in;

    fn how(needs: Vec<Need>, commands: &[&[&str]]) -> Compile {
        let words = |words: &&[&str]| words.iter().map(ToString::to_string).collect();
        Compile {
            source: "deep/one.c".to_owned(),
            version: VersionMarks { file: "one.c".to_owned(), after: Vec::new() },
            needs,
            flags: vec!["-O2".to_owned(), "-g".to_owned()],
            options: vec!["--a".to_owned(), "--b".to_owned()],
            commands: commands.iter().map(words).collect(),
            result: "usr".to_owned(),
            paths: Vec::new(),
            cpu: Nanos::SECOND,
            space: Bytes(1 << 20),
        }
    }

    fn need(what: Needed, package: &str) -> Need {
        Need { what, package: package.to_owned() }
    }

    /// A directory with stand-ins, the only place where programs are looked for.
    fn clients(root: &Path, programs: &[(&str, &str)]) -> Clients {
        for (name, script) in programs {
            stand_in::script(&root.join(name), script);
        }
        Clients::of_path(root.into())
    }

    /// Compiles in `root`, into its `made`, with its `log`.
    fn run(compiler: &Compiler<'_>, root: &Path, jobs: u32) -> Result<()> {
        let [into, scratch, log] = ["made", "scratch", "log"].map(|name| root.join(name));
        let (source, effort) = (Path::new("/s"), Effort { jobs, nice: 0 });
        let place = Workplace { source, into: &into, scratch: &scratch, log: &log, effort };
        compiler.run("it", &place, &mut |_| {})
    }

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let how = how(
            vec![
                need(Needed::Program("bison".to_owned()), "bison"),
                need(Needed::Header("zlib.h".to_owned()), "zlib1g-dev"),
                need(Needed::Header("stdio.h".to_owned()), "libc6-dev"),
            ],
            &[],
        );
        let root = tempfile::tempdir().unwrap();
        let find = |clients: &Clients| {
            Compiler::find(&how, "npm a@1", clients, root.path()).err().unwrap().to_string()
        };
        insta::assert_snapshot!(find(&Clients::of_path("/nonexistent".into())), @"cannot compile npm a@1: this machine has no C compiler: install one (Debian's packages `gcc` and `libc6-dev`)");
        // Has no header but that of the C library.
        let script =
            "[ \"$1\" = --version ] && exit; read -r line; [ \"$line\" = '#include <stdio.h>' ]";
        let clients = clients(root.path(), &[("cc", script)]);
        insta::assert_snapshot!(find(&clients), @"cannot compile npm a@1 without bison, zlib.h; install Debian's packages `bison zlib1g-dev`");
    }

    #[test]
    fn the_commands_of_a_recipe_run_in_turn_and_through_ccache() {
        let commands: [&[&str]; 2] = [
            &["tool", "--source={source}", "{options}", "CFLAGS={flags}", "-j{jobs}", "{flags}"],
            &["cc", "{into}"],
        ];
        let how = how(Vec::new(), &commands);
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("bin")).unwrap();
        let clients = clients(
            &path("bin"),
            &[
                ("cc", "exit 1"),
                ("tool", "printf '%s\\n' \"$@\"; echo src/last.c"),
                // Is called by the name of the compiler.
                (
                    "ccache",
                    "[ \"${0##*/}\" = cc ] && /bin/mkdir \"$1/usr\" && echo done > \"$1/usr/it\"",
                ),
            ],
        );
        let compiler = Compiler::find(&how, "it", &clients, root.path()).unwrap();
        run(&compiler, root.path(), 3).unwrap();
        assert_eq!(fs::read_to_string(path("made/it")).unwrap(), "done\n");
        let log = fs::read_to_string(path("log")).unwrap();
        assert_eq!(log, "--source=/s\n--a\n--b\nCFLAGS=-O2 -g\n-j3\n-O2\n-g\nsrc/last.c\n");
        assert_eq!(last_file(&File::open(path("log")).unwrap()), "last.c");
    }

    #[test]
    fn a_command_that_fails_says_what_was_wrong_and_where_the_log_is() {
        let how = how(Vec::new(), &[&["tool"]]);
        let root = tempfile::tempdir().unwrap();
        let script = "echo 'one.c:3:1: error: no type'; echo 'make: *** [one.o] Error 1'; exit 2";
        let clients = clients(root.path(), &[("cc", ""), ("tool", script)]);
        let compiler = Compiler::find(&how, "it", &clients, root.path()).unwrap();
        let error = run(&compiler, root.path(), 1).unwrap_err().to_string();
        let error = error.replace(root.path().to_str().unwrap(), "DIR");
        insta::assert_snapshot!(error, @"cannot compile it: tool said: one.c:3:1: error: no type; the log is DIR/log");
    }
}
