//! The user's own clients: found, run without a shell, watched.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use model::{Bytes, Origin};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::words::{errors, last_words};
use crate::error::{ObtainError, Result};
use crate::tree;

/// How long a client may print nothing and write nothing before it is ended.
const PATIENCE: Duration = Duration::from_mins(5);

const POLL: Duration = Duration::from_millis(20);

const MEASURE: Duration = Duration::from_millis(200);

/// How much of what a client prints is read.
const PRINTED: usize = 16 << 20;

const DEPTH: usize = 64;

const APT: &str = "/etc/apt";

/// Where clients are looked for, and how patient we are with them.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    path: OsString,
    pub(super) patience: Duration,
    /// The directory of apt's configuration, which names the mirrors of Debian.
    pub(super) apt: PathBuf,
}

impl Clients {
    pub(crate) fn of_user() -> Self {
        Self::of_path(env::var_os("PATH").unwrap_or_default())
    }

    pub(crate) fn of_path(path: OsString) -> Self {
        Self { path, patience: PATIENCE, apt: APT.into() }
    }

    /// Where they are looked for.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        env::split_paths(&self.path).filter(|directory| directory.is_absolute()).collect()
    }

    /// The first of these programs that is there.
    pub(crate) fn find(&self, names: &[&str]) -> Option<PathBuf> {
        let directories = self.directories();
        names
            .iter()
            .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
            .find(|program| is_program(program))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    /// Where it runs; not where we run, whose project files are no business of it.
    pub(super) directory: &'a Path,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// The file or directory that grows while it works, if one is known.
    pub(crate) grows: Option<&'a Path>,
    /// Another whose growth shows that it works, but is not what is wanted.
    pub(super) grows_too: Option<&'a Path>,
    input: String,
    /// Where all that it prints goes, in the place of a temporary file.
    log: Option<&'a File>,
    /// What stays free on the disk while it works.
    reserve: Bytes,
}

impl<'a> Call<'a> {
    /// `program` in `directory`, which is also what grows.
    pub(crate) fn new(program: &'a Path, directory: &'a Path) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            directory,
            environment: Vec::new(),
            grows: Some(directory),
            grows_too: None,
            input: String::new(),
            log: None,
            reserve: tree::RESERVE,
        }
    }

    pub(crate) fn log(mut self, log: &'a File) -> Self {
        self.log = Some(log);
        self
    }

    pub(crate) fn input(mut self, text: String) -> Self {
        self.input = text;
        self
    }

    pub(crate) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn arguments<I: AsRef<OsStr>>(mut self, all: impl IntoIterator<Item = I>) -> Self {
        let all = all.into_iter().map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(all);
        self
    }

    pub(crate) fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Runs it to its end, and tells `listen` how much there is of what grows. It is ended where it does nothing for
    /// as long as `patience`, or where what grows is more than `most`.
    ///
    /// It stays in our process group: a terminal's ^C ends it with us. The kernel ends it when the calling
    /// thread ends in another way.
    pub(crate) fn run(
        &self,
        patience: Duration,
        most: Bytes,
        listen: &mut dyn FnMut(u64),
    ) -> io::Result<Finished> {
        // Files never block the one who writes them, and a grandchild that keeps them open holds up nobody.
        let file =
            || self.log.map_or_else(|| tempfile::tempfile_in(self.directory), File::try_clone);
        let (output, errors) = (file()?, file()?);
        let mut command = Command::new(self.program);
        command
            .args(&self.arguments)
            .current_dir(self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(input_of(&self.input)?)
            .stdout(output.try_clone()?)
            .stderr(errors.try_clone()?);
        end_with_us(&mut command);
        let mut child = Running(command.spawn()?);
        let (mut seen, mut changed, mut measured) = ([0; 4], Instant::now(), None::<Instant>);
        let end = loop {
            if let Some(status) = child.0.try_wait()? {
                break End::Exited(status);
            }
            if measured.is_none_or(|last| last.elapsed() >= MEASURE) {
                measured = Some(Instant::now());
                let size = self.grows.map_or(0, size_of);
                listen(size);
                let too = self.grows_too.map_or(0, size_of);
                let now = [size, too, length(&output)?, length(&errors)?];
                if now != seen {
                    (seen, changed) = (now, Instant::now());
                }
                if size > most.0 {
                    break End::TooLarge;
                }
                if changed.elapsed() >= patience {
                    break End::Stalled;
                }
                // A disk that cannot be asked is left to the client.
                let free = tree::free(self.directory).ok();
                if let Some(free) = free.filter(|free| *free < self.reserve) {
                    break End::NoSpace { need: self.reserve, free };
                }
            }
            thread::sleep(POLL);
        };
        drop(child);
        Ok(Finished {
            end,
            printed: without_secrets(&text(&output)?),
            complained: without_secrets(&text(&errors)?),
        })
    }
}

/// A file in memory, which never blocks and is never on the disk.
fn input_of(text: &str) -> io::Result<Stdio> {
    if text.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

/// Lets the kernel kill the child when this thread ends: otherwise it would go on writing where, with the lock
/// of the depot free again, another process begins to write too.
#[expect(unsafe_code, reason = "only the child itself can ask for its death signal")]
fn end_with_us(command: &mut Command) {
    let parent = getpid();
    // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are allowed: it
    // makes two plain system calls and allocates nothing, in its errors neither.
    unsafe { command.pre_exec(move || ask_for_death(parent)) };
}

fn ask_for_death(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent died before the line above, no signal comes any more.
    if getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
}

/// What a client said, with every address in it as people see it: a redirection may lead to one that
/// has a secret in it, too.
fn without_secrets(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
    let words = text.split_inclusive(is_end).map(|word| {
        let Some(at) = ["http://", "https://"].iter().filter_map(|s| word.find(s)).min() else {
            return word.to_owned();
        };
        let (before, address) = word.split_at(at);
        let bare = address.trim_end_matches(|c| is_end(c) || c == ':');
        let after = address.strip_prefix(bare).unwrap_or_default();
        format!("{before}{}{after}", Origin::Url(bare.to_owned()).describe())
    });
    words.collect()
}

/// A client at work; dropping it ends it.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing where it has ended and been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    /// We ended it, because it did nothing any more.
    Stalled,
    /// We ended it, because more came than was to come.
    TooLarge,
    /// We ended it, because it filled the disk.
    NoSpace {
        need: Bytes,
        free: Bytes,
    },
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(super) end: End,
    pub(crate) printed: String,
    complained: String,
}

impl Finished {
    pub(crate) fn is_well(&self) -> bool {
        matches!(self.end, End::Exited(status) if status.success())
    }

    /// An error where it was ended because it filled the disk that `directory` is on.
    pub(crate) fn found_room(&self, directory: &Path) -> Result<()> {
        match self.end {
            End::NoSpace { need, free } => {
                Err(ObtainError::NoSpace { directory: directory.to_owned(), need, free })
            }
            End::Exited(_) | End::Stalled | End::TooLarge => Ok(()),
        }
    }

    pub(crate) fn code(&self) -> Option<i32> {
        match self.end {
            End::Exited(status) => status.code(),
            End::Stalled | End::TooLarge | End::NoSpace { .. } => None,
        }
    }

    /// The lines of its log that say what was wrong, otherwise its last words.
    pub(crate) fn errors(&self) -> String {
        errors(&self.printed).unwrap_or_else(|| self.last_words())
    }

    /// What it said was wrong; how it ended where it said nothing.
    pub(crate) fn last_words(&self) -> String {
        last_words(&self.complained, &self.printed).unwrap_or_else(|| match self.end {
            End::Exited(status) => format!("nothing ({status})"),
            End::Stalled | End::TooLarge | End::NoSpace { .. } => "none".to_owned(),
        })
    }
}

fn length(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// The end of what was printed: the offset is shared with the client, so that nothing is rewound.
fn text(file: &File) -> io::Result<String> {
    let all = length(file)?;
    let start = all.saturating_sub(PRINTED as u64);
    let mut bytes = vec![0; (all - start) as usize];
    file.read_exact_at(&mut bytes, start)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How many bytes the files at `path` have; what vanishes meanwhile has none.
pub(super) fn size_of(path: &Path) -> u64 {
    size_within(path, DEPTH)
}

fn size_within(path: &Path, depth: usize) -> u64 {
    let Ok(data) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !data.is_dir() {
        return data.len();
    }
    if depth == 0 {
        return 0;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size_within(&entry.path(), depth - 1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::stand_in;

    const UNBOUNDED: Bytes = Bytes(u64::MAX);

    fn program(directory: &Path, name: &str, script: &str) -> PathBuf {
        let path = directory.join(name);
        stand_in::script(&path, script);
        path
    }

    #[test]
    fn clients_are_found_in_the_given_path_only() {
        let root = tempfile::tempdir().unwrap();
        program(root.path(), "second", "");
        fs::write(root.path().join("first"), "no program").unwrap();
        let clients = Clients::of_path(root.path().into());
        assert_eq!(clients.find(&["first", "second"]), Some(root.path().join("second")));
        assert_eq!(Clients::of_path(OsString::new()).find(&["sh"]), None);
        assert_eq!(Clients::of_path(".".into()).find(&["src"]), None);
    }

    #[test]
    fn a_client_is_watched_and_its_output_kept_apart() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join("of a client");
        fs::create_dir(&work).unwrap();
        let script = "printf %s \"$1\" > got; sleep 0.5; echo out; echo oops >&2; exit 3";
        let path = program(root.path(), "fetcher", script);
        let mut sizes = Vec::new();
        let finished = Call::new(&path, &work)
            .argument("a b; rm -rf x")
            .run(PATIENCE, UNBOUNDED, &mut |size| sizes.push(size))
            .unwrap();
        assert_eq!((finished.code(), finished.is_well()), (Some(3), false));
        assert_eq!(finished.printed, "out\n");
        assert_eq!(finished.last_words(), "oops");
        // The words of a shell were no words to it, and what it wrote was seen while it ran.
        assert_eq!(sizes.last(), Some(&13), "{sizes:?}");
    }

    #[test]
    fn a_client_that_does_nothing_is_ended() {
        let root = tempfile::tempdir().unwrap();
        let path = program(root.path(), "hangs", "echo waiting for a lock >&2; exec sleep 600");
        let begin = Instant::now();
        let finished = Call::new(&path, root.path())
            .run(Duration::from_millis(400), UNBOUNDED, &mut |_| {})
            .unwrap();
        assert_eq!(finished.end, End::Stalled);
        assert_eq!(finished.last_words(), "waiting for a lock");
        assert!(begin.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn a_client_that_fills_the_disk_is_ended() {
        let root = tempfile::tempdir().unwrap();
        let path = program(root.path(), "fills", "exec sleep 600");
        let mut call = Call::new(&path, root.path());
        call.reserve = Bytes(1 << 60);
        let finished = call.run(Duration::from_secs(20), UNBOUNDED, &mut |_| {}).unwrap();
        let End::NoSpace { need, free } = finished.end else { panic!("{finished:?}") };
        assert!(need == Bytes(1 << 60) && free < need);
    }

    #[test]
    fn a_client_does_not_outlive_us() {
        let mut child = thread::spawn(|| {
            let mut command = Command::new("/bin/sleep");
            end_with_us(command.arg("60"));
            command.spawn().unwrap()
        })
        .join()
        .unwrap();
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            let waited = begin.elapsed();
            if waited > Duration::from_secs(10) {
                child.kill().unwrap();
                panic!("it outlived the thread that started it");
            }
            thread::sleep(POLL);
        }
    }

    #[test]
    fn what_a_client_reads_and_says() {
        let root = tempfile::tempdir().unwrap();
        let path = program(root.path(), "reads", "cat; cat >&2; exit 1");
        let finished = Call::new(&path, root.path())
            .input(
                "url 'https://u:secret@h.example/a?key=secret': 404\nhttp://h.example/b#secret:\n"
                    .into(),
            )
            .run(PATIENCE, UNBOUNDED, &mut |_| {})
            .unwrap();
        assert_eq!(finished.printed, "url 'https://h.example/a': 404\nhttp://h.example/b:\n");
        assert_eq!(without_secrets("no address: a b\r\n"), "no address: a b\r\n");
    }

    #[test]
    fn a_client_that_goes_on_writing_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let script = "for i in 1 2 3 4 5 6 7 8; do printf x >> grown; sleep 0.2; done";
        let path = program(root.path(), "slow", script);
        let finished = Call::new(&path, root.path())
            .run(Duration::from_millis(900), UNBOUNDED, &mut |_| {})
            .unwrap();
        assert!(finished.is_well(), "{finished:?}");
    }
}
