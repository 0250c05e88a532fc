//! Counts the instructions of a server that runs under Valgrind's callgrind, by function and its callers.
//!
//! Counting is off at start, where Valgrind is least slow. It is switched on and off while no client sends anything.
//! Numbers are those of dumps: setting callgrind's counters to zero spoils its later ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::{Profile, Resource};

use crate::error::ProfileError;
use crate::names::fold;

const VALGRIND: &str = "valgrind";
/// Speaks with processes under Valgrind; comes with it.
const VGDB: &str = "vgdb";
/// Functions of a stack, the innermost among them: enough to find a layer.
const DEPTH: u32 = 8;
/// Seconds that a process may take to obey.
const PATIENCE: u32 = 60;
/// Milliseconds after which a process that waits is woken to obey.
const WAKE: u32 = 10;
/// How the names of dumps, and of what [`VGDB`] reaches processes by, begin.
const DUMPS: &str = "callgrind";
const CHANNELS: &str = "vgdb";
/// The variables whose values are in the names of the files of [`VGDB`]; servers have none of them.
const NAMING: [&str; 3] = ["LOGNAME", "USER", "HOST"];

/// Programs that a server starts are counted, too. Forked processes, as those of PostgreSQL, are in any case.
const FOLLOW: &str = "--trace-children=yes";

/// The program and arguments that run a server, which follows them, so that its instructions can be counted. It writes
/// into `directory`.
///
/// # Errors
/// Where Valgrind is not installed.
pub fn under_valgrind(directory: &Path) -> Result<Vec<String>, ProfileError> {
    let mut words = valgrind(directory)?;
    words.push(FOLLOW.to_owned());
    Ok(words)
}

/// The same for a program that counts itself, and no program that it starts.
///
/// # Errors
/// Where Valgrind is not installed.
pub fn itself_under_valgrind(directory: &Path) -> Result<Command, ProfileError> {
    let words = valgrind(directory)?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(format!("--log-file={}/log", directory.display()));
    for variable in NAMING {
        command.env_remove(variable);
    }
    Ok(command)
}

fn valgrind(directory: &Path) -> Result<Vec<String>, ProfileError> {
    let named = |option: &str, name: &str| format!("{option}={}/{name}", directory.display());
    let program = find(VALGRIND)?.display().to_string();
    let fixed = [
        "--tool=callgrind",
        "--instr-atstart=no",
        "--dump-line=no",
        "--demangle=no",
        "--separate-threads=yes",
    ];
    let fixed = fixed.map(str::to_owned);
    let places =
        [named("--vgdb-prefix", CHANNELS), named("--callgrind-out-file", &format!("{DUMPS}.%p"))];
    let depth = format!("--separate-callers={DEPTH}");
    Ok([vec![program], fixed.to_vec(), places.to_vec(), vec![depth]].concat())
}

/// Checks that instructions can be counted, before a run depends on it.
///
/// # Errors
/// Where Valgrind is not installed.
pub fn check_counting() -> Result<(), ProfileError> {
    find(VALGRIND).and_then(|_| find(VGDB)).map(drop)
}

fn find(program: &str) -> Result<PathBuf, ProfileError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|place| place.join(program));
    places.find(|file| file.is_file()).ok_or(ProfileError::NoValgrind)
}

/// What a server's log says of an instruction that Valgrind does not know, of which the server then dies.
pub fn unknown_instruction(log: &[String]) -> Option<&'static str> {
    let line = "unhandled instruction bytes";
    log.iter().any(|said| said.contains(line)).then_some(
        "Valgrind does not know an instruction of this build; install a newer Valgrind, use a build for older CPUs, or \
         sample stacks (`profile`) instead of counting",
    )
}

/// Counts all processes of a server that runs [`under_valgrind`] in this directory.
#[derive(Debug)]
pub struct Counter {
    directory: PathBuf,
    serving: Vec<String>,
    spinning: Vec<String>,
    /// Dumps of earlier windows.
    known: BTreeSet<OsString>,
    trouble: Option<ProfileError>,
}

impl Counter {
    /// `serving` are functions of the threads and processes that work for a client; `spinning` are those that only wait.
    pub fn new(directory: &Path, serving: &[String], spinning: &[String]) -> Self {
        let known = dumps(directory).into_iter().collect();
        let (serving, spinning) = (serving.to_owned(), spinning.to_owned());
        Self { directory: directory.to_owned(), serving, spinning, known, trouble: None }
    }

    /// The window begins.
    pub fn open(&mut self) {
        self.tell("instrumentation on");
    }

    /// The window is over.
    pub fn close(&mut self) {
        self.tell("instrumentation off");
        self.tell("dump");
    }

    /// Instructions by stack of what worked for clients. Those of other threads and processes depend on the time, and are
    /// lost: vacuum, purge, checkpoints. So are those of waits. Where no thread can be told from others, all count.
    ///
    /// # Errors
    /// Where a process did not obey, or a dump cannot be read.
    pub fn finish(self) -> Result<Profile, ProfileError> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let (mut serving, mut others) = (BTreeMap::new(), BTreeMap::new());
        for name in dumps(&self.directory).iter().filter(|name| !self.known.contains(*name)) {
            let text = fs::read_to_string(self.directory.join(name)).map_err(ProfileError::Dump)?;
            let stacks = stacks_of(&text);
            let serves = |function: &str| self.serving.iter().any(|one| one == function);
            let is_serving = stacks.keys().any(|stack| stack.split(';').any(serves));
            let of_its_kind = if is_serving { &mut serving } else { &mut others };
            for (stack, cost) in stacks {
                *of_its_kind.entry(stack).or_default() += cost;
            }
        }
        if serving.is_empty() {
            std::mem::swap(&mut serving, &mut others);
        }
        let waits = serving.extract_if(.., |stack, _| self.waits(stack));
        let lost = waits.chain(others).map(|(_, cost)| cost).sum();
        let stacks = serving.into_iter().collect();
        Ok(Profile { of: Resource::Instructions, lost, stacks, ..Profile::default() })
    }

    fn waits(&self, stack: &str) -> bool {
        let innermost = stack.rsplit(';').next();
        self.spinning.iter().any(|one| Some(one.as_str()) == innermost)
    }

    fn tell(&mut self, command: &str) {
        for process in processes(&self.directory) {
            let told = tell(&self.directory, process, command);
            // One that ended has written its dump.
            if let Err(cause) = told
                && Path::new(&format!("/proc/{process}")).exists()
            {
                self.trouble.get_or_insert(ProfileError::Valgrind { process, cause });
            }
        }
    }
}

fn names(directory: &Path) -> impl Iterator<Item = OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.file_name()))
}

fn dumps(directory: &Path) -> Vec<OsString> {
    names(directory).filter(|name| name.to_string_lossy().starts_with(DUMPS)).collect()
}

/// Those that run under Valgrind: each has a file that is named after it.
fn processes(directory: &Path) -> BTreeSet<u32> {
    let start = format!("{CHANNELS}-shared-mem-vgdb-");
    let process = |name: OsString| -> Option<u32> {
        name.to_str()?.strip_prefix(&start)?.split('-').next()?.parse().ok()
    };
    names(directory).filter_map(process).collect()
}

fn tell(directory: &Path, process: u32, command: &str) -> io::Result<()> {
    let program = find(VGDB).map_err(io::Error::other)?;
    let mut vgdb = Command::new(program);
    for variable in NAMING {
        vgdb.env_remove(variable);
    }
    let output = vgdb
        .arg(format!("--vgdb-prefix={}/{CHANNELS}", directory.display()))
        .args([format!("--cmd-time-out={PATIENCE}"), format!("--max-invoke-ms={WAKE}")])
        .arg(format!("--pid={process}"))
        .args(command.split(' '))
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last =
        said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no reason given");
    Err(io::Error::other(last.to_owned()))
}

/// The costs in a dump by stack. Its lines name a function, then list costs; the line after `calls=` has
/// the cost of a called function, which is listed by itself.
fn stacks_of(dump: &str) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    let (mut functions, mut objects) = (HashMap::new(), HashMap::new());
    let (mut stack, mut object) = (String::new(), String::new());
    let mut is_of_call = false;
    for line in dump.lines() {
        match line.split_once('=') {
            Some(("fn", name)) => stack = stack_of(&full(name, &mut functions), &object),
            Some(("cfn", name)) => drop(full(name, &mut functions)),
            Some(("ob", name)) => object = full(name, &mut objects),
            Some(("cob", name)) => drop(full(name, &mut objects)),
            Some(("calls", _)) => is_of_call = true,
            _ if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) => {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
                if !std::mem::replace(&mut is_of_call, false) {
                    *stacks.entry(stack.clone()).or_default() += cost.unwrap_or(0);
                }
            }
            _ => {}
        }
    }
    stacks
}

/// `(7) name` gives a number to a name, and `(7)` stands for it from then on.
fn full(name: &str, known: &mut HashMap<String, String>) -> String {
    match name.split_once(' ') {
        Some((number, name)) => known.entry(number.to_owned()).or_insert(name.to_owned()).clone(),
        None => known.get(name).cloned().unwrap_or_default(),
    }
}

/// `function'caller'its caller` as a folded stack. A number in place of a name is the depth of a recursion. A function
/// without a symbol has its program's name in brackets, and a caller without one is left out.
fn stack_of(context: &str, object: &str) -> String {
    let is_name = |part: &&str| !part.starts_with("0x") && *part != "???";
    let mut parts = context.split('\'').filter(|part| part.parse::<u32>().is_err());
    let unnamed = || {
        let program = Path::new(object).file_name().unwrap_or_default();
        format!("[{}]", program.to_string_lossy())
    };
    let function = parts.next().filter(is_name).map_or_else(unnamed, name);
    let mut stack: Vec<String> = parts.filter(is_name).map(name).collect();
    stack.reverse();
    stack.push(function);
    stack.join(";")
}

/// Without the version that a library's symbol has.
fn name(symbol: &str) -> String {
    fold(symbol.split('@').next().unwrap_or(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_a_cost_for_each_stack() {
        let dump = "\
            version: 1\npositions: line\nevents: Ir\n\nob=(1) /opt/bin/mysqld\nfl=(1) ???\n\
            fn=(1) _Z3runv'main\n0 7\n+1 3\ncfn=(2) leaf@@GLIBC_2.17'_Z3runv'main\ncalls=2 0\n* 40\n5 1\n\n\
            fn=(2)\n0 40\n\nob=(2) /lib/libx.so\nfn=(3) 0x0000beef'leaf'2'???'main\n0 9\n\ntotals: 60\n";
        let stacks: Vec<(String, u64)> = stacks_of(dump).into_iter().collect();
        let expected = [("main;leaf;[libx.so]", 9), ("main;run", 11), ("main;run;leaf", 40)];
        assert_eq!(stacks, expected.map(|(stack, cost)| (stack.to_owned(), cost)));
    }

    #[test]
    fn threads_that_serve_nobody_and_waits_are_lost() {
        let directory = tempfile::tempdir().unwrap();
        let functions = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let counter =
            Counter::new(directory.path(), &functions(&["serves"]), &functions(&["spins"]));
        let dumps =
            ["fn=(1) works'serves\n0 40\nfn=(2) spins'works\n0 7\n", "fn=(1) spins'purges\n0 9\n"];
        for (number, dump) in dumps.iter().enumerate() {
            fs::write(directory.path().join(format!("{DUMPS}.1.1-{number}")), dump).unwrap();
        }
        let profile = counter.finish().unwrap();
        assert_eq!((profile.samples(), profile.lost), (40, 16));
    }

    #[test]
    fn an_instruction_that_valgrind_does_not_know_is_named_so() {
        let log = |line: &str| ["starting".to_owned(), line.to_owned()];
        let said =
            log("vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0x7C 0x48 0x28 0x4 0x24");
        assert!(unknown_instruction(&said).unwrap().contains("newer Valgrind"));
        assert_eq!(unknown_instruction(&log("mysqld got signal 4 ;")), None);
    }

    #[test]
    fn without_valgrind_the_error_says_how_to_install_it() {
        let missing = find("no-such-program").unwrap_err().to_string();
        assert!(missing.contains("apt-get install valgrind"), "{missing}");
    }

    /// What a shell does in a window is counted the same way twice, by function, children included.
    #[test]
    fn a_window_has_its_own_instructions() {
        if let Err(error) = check_counting() {
            return testkit::not_permitted(&error.to_string());
        }
        let directory = tempfile::tempdir().unwrap();
        let arguments = under_valgrind(directory.path()).unwrap();
        let script =
            "while read -r n; do i=0; while [ $i -lt $n ]; do i=$((i+1)); done; echo $i; done";
        let mut child = Command::new(&arguments[0])
            .args(&arguments[1..])
            .args(["/bin/sh", "-c", script])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut lines = io::BufRead::lines(io::BufReader::new(from));
        let mut turn = |number: u32| {
            io::Write::write_all(&mut to, format!("{number}\n").as_bytes()).unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), number.to_string());
        };
        turn(100);
        let mut count = |number: u32| {
            let mut counter = Counter::new(directory.path(), &[], &[]);
            counter.open();
            turn(number);
            counter.close();
            counter.finish().unwrap().samples() as f64
        };
        let counts = [1_000, 1_000, 2_000].map(&mut count);
        assert!((counts[1] / counts[0] - 1.0).abs() < 0.005, "{counts:?}");
        assert!((1.9..2.1).contains(&(counts[2] / counts[1])), "{counts:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            matches!(Counter::new(directory.path(), &[], &[]).finish(), Ok(profile) if profile.stacks.is_empty())
        );
    }
}
