//! One script in one Lua state, for one client.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::{Arc, Mutex};

use drivers::Connector;
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, LuaOptions, LuaString, StdLib, Table, Value};
use model::{Dialect, Nanos};

use crate::calls::{address, addresses};
use crate::connection::{Connection, Wire};
use crate::error::{MOST_MEMORY, no_memory};
use crate::ledger::{Clock, Ledger, Sent, SentKind};
use crate::random::{LAWS, Random, Shape};
use crate::watch::Watched;
use crate::{Result, ScriptError, Seeds, Watch, lock};

/// Lines that a script may print before the rest is dropped.
const MOST_LINES: usize = 100;

/// Bytes of text after which the rest is dropped too.
const MOST_PRINTED: usize = 1 << 16;

/// Where `require` looks last: Lua 5.1's packages of a distribution.
const PACKAGES: &str = "/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua";
/// The same of a user's packages, below the home directory.
const ROCKS: &str = ".luarocks/share/lua/5.1";

/// What all clients run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file, for messages and `require` beside it.
    pub path: String,
    pub text: String,
    /// Where `require` looks: before the working directory and `LUA_PATH`.
    pub directories: Vec<String>,
    /// As `--name=value` gives them.
    pub options: BTreeMap<String, String>,
    /// `run`, `prepare` or another command.
    pub command: String,
    pub clients: u32,
}

/// What one client has for itself.
pub struct Thread<'a> {
    /// From zero.
    pub number: u32,
    pub dialect: Dialect,
    pub connector: Arc<dyn Connector>,
    pub stop: Arc<std::sync::atomic::AtomicBool>,
    /// Times the statements.
    pub clock: Clock,
    /// Who ends it where it does not end by itself.
    pub watch: &'a Watch,
    pub seeds: &'a mut Seeds,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The script wants no further one.
    Last,
    /// An error that is ignored, with this code: the event begins anew.
    Restart(String),
}

pub struct Script {
    /// The first to be dropped.
    _watched: Watched,
    pub(crate) calls: Table,
    event: Function,
    ledger: Ledger,
    printed: Arc<Mutex<String>>,
    lua: Lua,
    /// The state has its address: the last to be dropped.
    random: Arc<Mutex<Random>>,
}

impl Script {
    /// Loads the script, which defines its functions, and sets its options.
    pub fn load(program: &Program, thread: Thread<'_>) -> Result<Self> {
        // SAFETY: the script is the user's, who may do in it what LuaJIT can: open files, run programs, call C.
        #[expect(unsafe_code, reason = "sysbench's scripts use the libraries ffi and debug")]
        let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
        lua.set_memory_limit(MOST_MEMORY)?;
        let watched = thread.watch.add(&lua)?;
        let (ledger, printed) = (Ledger::new(Arc::clone(&thread.clock)), Arc::default());
        let (native, random) = natives(&lua, program, thread, &ledger, &printed)?;
        set_path(&lua, &program.directories)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=backslide");
        let calls: Table = prelude.call(native)?;
        let chunk = lua.load(&program.text).set_name(format!("@{}", program.path));
        chunk.set_mode(ChunkMode::Text).exec()?;
        let wrong: (Option<String>, Option<String>) = calls.get::<Function>("options")?.call(())?;
        if let (Some(option), Some(message)) = wrong {
            return Err(ScriptError::of_option(&option, message));
        }
        let event = calls.get("event")?;
        Ok(Self { _watched: watched, calls, event, ledger, printed, lua, random })
    }

    /// Calls a function such as `thread_init`; nothing where the script has none.
    pub fn call(&self, name: &str) -> Result<bool> {
        Ok(self.calls.get::<Function>("call")?.call(name)?)
    }

    /// Do all clients run this command, or one? `None` where the script has no such command.
    pub fn command(&self, name: &str) -> Result<Option<bool>> {
        let (has, parallel): (bool, bool) = self.calls.get::<Function>("has")?.call(name)?;
        Ok(has.then_some(parallel))
    }

    pub fn run_command(&self, name: &str) -> Result {
        Ok(self.calls.get::<Function>("command")?.call(name)?)
    }

    /// Does it define a function, or another value, of this name?
    pub(crate) fn defines(&self, name: &str) -> Result<bool> {
        Ok(self.lua.globals().contains_key(name)?)
    }

    /// Does it define `event`, or a loop of its own over events?
    pub fn has_event(&self) -> Result<bool> {
        Ok(self.calls.get::<Function>("has_event")?.call(())?)
    }

    /// Runs one event, or begins it anew. Its statements are in [`Script::sent`].
    pub fn event(&self) -> Result<Outcome> {
        let outcome = match self.event.call(())? {
            Value::Nil => Outcome::Done,
            Value::String(code) => Outcome::Restart(code.to_string_lossy()),
            _ => Outcome::Last,
        };
        if outcome == Outcome::Done {
            // sysbench draws a place in its histogram when an event ends; the next one's numbers follow.
            lock(&self.random).word();
        }
        Ok(outcome)
    }

    /// Calls a hook for reports, where the script has set it.
    pub fn report(&self, hook: &str, stat: &[(&str, f64)]) -> Result {
        let stat = self.lua.create_table_from(stat.iter().copied())?;
        Ok(self.calls.get::<Function>("report")?.call((hook, stat))?)
    }

    /// The moment on the clock that times its statements.
    pub fn now(&self) -> Nanos {
        self.ledger.now()
    }

    /// Moves what was sent since the last call to `sent`.
    pub fn sent(&self, sent: &mut Vec<Sent>) {
        self.ledger.take(sent);
    }

    pub fn printed(&self) -> Vec<String> {
        let text = std::mem::take(&mut *lock(&self.printed));
        let mut lines: Vec<String> = text.lines().take(MOST_LINES).map(str::to_owned).collect();
        if text.lines().count() > MOST_LINES {
            lines.push(format!("(only the first {MOST_LINES} lines are kept)"));
        }
        lines
    }
}

/// Lets `require` look in these directories first.
fn set_path(lua: &Lua, directories: &[String]) -> mlua::Result<()> {
    let package: Table = lua.globals().get("package")?;
    let usual: String = package.get("path")?;
    let own = directories.iter().map(|place| format!("{place}/?.lua;{place}/?/init.lua"));
    let home = std::env::var("HOME").unwrap_or_default();
    let rocks = format!("{home}/{ROCKS}/?.lua;{home}/{ROCKS}/?/init.lua");
    let last = [usual, rocks, PACKAGES.to_owned()];
    package.set("path", own.chain(last).collect::<Vec<_>>().join(";"))
}

/// What the prelude gets from here.
fn natives(
    lua: &Lua,
    program: &Program,
    thread: Thread<'_>,
    ledger: &Ledger,
    printed: &Arc<Mutex<String>>,
) -> Result<(Table, Arc<Mutex<Random>>)> {
    let Thread { number, dialect, connector, stop, seeds, .. } = thread;
    let native = lua.create_table()?;
    native.set("tid", number)?;
    native.set("no_memory", no_memory())?;
    native.set("command", program.command.as_str())?;
    native.set("path", program.path.as_str())?;
    let driver = match dialect {
        Dialect::Mysql => "mysql",
        Dialect::Postgres => "pgsql",
        Dialect::Sqlite => "sqlite",
    };
    native.set("driver", driver)?;
    native.set("database", connector.database())?;
    native.set("given", program.options.clone())?;
    let usual: Table = lua.load(include_str!("usual.lua")).call((driver, program.clients))?;
    let option = |name: &str| match program.options.get(name) {
        Some(text) => Ok(text.clone()),
        None => usual.get::<String>(name),
    };
    let random = Arc::new(Mutex::new(seeds.next(shape(option)?)));
    native.set("random", address(&random))?;
    native.set("laws", LAWS.map(|(name, _)| name))?;
    native.set("addresses", addresses(lua)?)?;
    let ignored = match dialect {
        Dialect::Mysql => match program.options.get("mysql_ignore_errors") {
            Some(codes) => codes.split(',').map(str::to_owned).collect(),
            None => usual.get("mysql_ignore_errors")?,
        },
        Dialect::Postgres => ["40P01", "40001", "23505"].map(str::to_owned).into(),
        Dialect::Sqlite => ["SQLITE_BUSY", "SQLITE_LOCKED"].map(str::to_owned).into(),
    };
    native.set("usual", usual)?;
    let wire = Wire { dialect, connector, ledger: ledger.clone(), stop, ignored };
    set_functions(lua, &native, wire, printed)?;
    Ok((native, random))
}

fn set_functions(
    lua: &Lua,
    native: &Table,
    wire: Wire,
    printed: &Arc<Mutex<String>>,
) -> mlua::Result<()> {
    let ledger = wire.ledger.clone();
    let count = move |_: &Lua, counter: u32| {
        let kind = match counter {
            0 => SentKind::Other,
            1 => SentKind::Read,
            2 => SentKind::Write,
            5 => SentKind::Reconnect,
            _ => SentKind::Error,
        };
        ledger.add(kind, ledger.now(), 0);
        Ok(())
    };
    native.set("count", lua.create_function(count)?)?;
    let connect = move |_: &Lua, ()| match Connection::open(wire.clone()) {
        Ok(connection) => {
            let channel = connection.address();
            Ok((Some(connection), Some(channel), None))
        }
        Err(error) => Ok((None, None, Some(error.to_string()))),
    };
    native.set("connect", lua.create_function(connect)?)?;
    let printed = Arc::clone(printed);
    let print = move |_: &Lua, text: LuaString| {
        let mut printed = lock(&printed);
        if printed.len() < MOST_PRINTED {
            printed.push_str(&text.to_string_lossy());
        }
        Ok(())
    };
    native.set("print", lua.create_function(print)?)?;
    let execute = |_: &Lua, command: LuaString| Ok(execute(&command.as_bytes()));
    native.set("execute", lua.create_function(execute)?)?;
    let nearest = |_: &Lua, (name, options): (String, Table)| {
        let names = options.pairs::<String, Value>().filter_map(|pair| Some(pair.ok()?.0));
        let distance = |known: &String| strsim::damerau_levenshtein(known, &name);
        // A third of the letters may be wrong: more is another word.
        let most = (name.chars().count() / 3).max(1);
        let nearest = names.min_by_key(distance).filter(|known| distance(known) <= most);
        Ok(nearest.map_or(String::new(), |known| format!("; did you mean `{known}`?")))
    };
    native.set("nearest", lua.create_function(nearest)?)
}

/// Runs a command and returns its wait status. C's `system` would make the whole program ignore ^C until the command
/// ends. What the command prints goes to stderr, because it is not a result of backslide.
fn execute(command: &[u8]) -> i32 {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(OsStr::from_bytes(command)).stdout(std::io::stderr());
    shell.status().map_or(-1, ExitStatusExt::into_raw)
}

/// What the options `rand_…` say.
fn shape(option: impl Fn(&str) -> mlua::Result<String>) -> Result<Shape> {
    let number = |name: &str| -> Result<f64> {
        let text = option(name)?;
        let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            ScriptError::of_option(name, format!("option `{name}`: `{text}` is not a number"))
        })
    };
    let word = option("rand_type")?;
    let Some((_, law)) = LAWS.iter().find(|(name, _)| *name == word) else {
        let names: Vec<&str> = LAWS.iter().map(|(name, _)| *name).collect();
        let message = format!("option `rand_type`: `{word}` is none of {}", names.join(", "));
        return Err(ScriptError::of_option("rand_type", message));
    };
    Ok(Shape {
        law: *law,
        iterations: number("rand_spec_iter")? as u32,
        percent: number("rand_spec_pct")?,
        special: number("rand_spec_res")?,
        pareto_h: number("rand_pareto_h")?,
        zipfian_exponent: number("rand_zipfian_exp")?,
    })
}
