//! `backslide run SCRIPT SYSTEM… -- OPTION…`: the plan that a command line of sysbench stands for.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use model::{Dialect, LuaSpec};
use plan::SysbenchOption;

use crate::args::ScriptArgs;
use crate::printer::Printer;
use crate::{input, script};

/// Rounds where nobody says how many: enough for a verdict.
const ROUNDS: u32 = 4;
/// No limit, in sysbench's words.
const NONE: &str = "0";

/// For several systems: other work of the host disturbs them alike.
pub(super) const INTERLEAVE: &str = "interleave = \"turns\"\n";

/// The text of the plan. An argument that begins with two dashes is an option, any other the name of a command. With
/// `at_once`, all systems of a round are up at the same time.
pub(super) fn plan_text(args: &ScriptArgs, at_once: bool) -> Result<String> {
    let named = args.named();
    if args.systems.is_empty() {
        bail!("name a system to run {named} on: `backslide run {named} postgres-18 -- --time=30`");
    }
    let systems = args.systems.iter().map(|name| super::named_system::system_of(name));
    let name = Path::new(named).file_stem().and_then(|stem| stem.to_str()).unwrap_or(named);
    let mut head = workload(named, &args.options)?;
    if at_once && args.systems.len() > 1 {
        head.insert_str(0, &format!("{INTERLEAVE}quarantine = false\n\n"));
    }
    Ok(plan::plan_text(name, &head, (ROUNDS, ROUNDS), &systems.collect::<Result<Vec<_>>>()?))
}

/// The table `workload`.
fn workload(script: &str, options: &[String]) -> Result<String> {
    // What is usual for sysbench, where that differs from a plan.
    let mut keys = vec![("seconds", "10".to_owned()), ("warmup_seconds", NONE.to_owned())];
    let (mut own, mut commands) = (Vec::<(String, &str)>::new(), Vec::new());
    for (place, option) in options.iter().enumerate() {
        let Some(text) = option.strip_prefix("--") else {
            let before = place.checked_sub(1).and_then(|before| options.get(before));
            no_option(option, before.map(String::as_str))?;
            commands.push(option.as_str());
            continue;
        };
        // As sysbench: an option without a value is switched on.
        let (name, value) = text.split_once('=').unwrap_or((text, "on"));
        let name = name.replace('-', "_");
        match SysbenchOption::of(&name) {
            SysbenchOption::Key(key) => {
                let number: u64 = value.parse().ok().with_context(|| {
                    format!("--{text}: expected a whole number, as in --{name}=10")
                })?;
                keys.retain(|(known, _)| *known != key);
                keys.push((key, number.to_string()));
            }
            SysbenchOption::OfSystem => bail!(
                "--{text}: the system arguments already name the servers; for a server that is already running, \
                 write a plan with `connect`"
            ),
            SysbenchOption::Number { .. } | SysbenchOption::Word(_) | SysbenchOption::Own => {
                // As sysbench: the last one counts.
                own.retain(|(known, _)| *known != name);
                own.push((name, value));
            }
        }
    }
    let mut table = format!("[workload]\nkind = \"lua\"\nscript = {}\n", plan::toml_string(script));
    for (key, value) in keys {
        match (key, value.as_str()) {
            // Events end it, or nothing does.
            ("seconds", NONE) => writeln!(table, "seconds = {}", LuaSpec::MOST_SECONDS)?,
            ("rate", NONE) => {}
            _ => writeln!(table, "{key} = {value}")?,
        }
    }
    if let Some(first) = commands.first().filter(|_| !commands.contains(&LuaSpec::RUN)) {
        bail!(
            "after `--`, `{first}` is the name of a command; add `run`, the command that is measured: \
             `-- prepare run`, or leave commands out"
        );
    }
    if !commands.is_empty() {
        let commands: Vec<String> = commands.into_iter().map(plan::toml_string).collect();
        writeln!(table, "commands = [{}]", commands.join(", "))?;
    }
    if !own.is_empty() {
        table.push_str("\n[workload.options]\n");
    }
    for (name, value) in own {
        writeln!(table, "{} = {}", plan::toml_string(&name), plan::toml_string(value))?;
    }
    Ok(table)
}

/// The name of a command is no option that lacks its dashes, and no value that lacks its `=`.
fn no_option(word: &str, before: Option<&str>) -> Result<()> {
    if word.starts_with('-') {
        bail!(
            "`{word}` is not an option of a script: options begin with two dashes, as in --time=30"
        );
    }
    if word.contains('=') {
        bail!("`{word}` is not a command; write the option as --{word}");
    }
    match before.filter(|before| before.starts_with("--") && !before.contains('=')) {
        Some(option) if word.starts_with(|c: char| c.is_ascii_digit()) => {
            bail!("`{word}` is not a command; write {option}={word}")
        }
        _ => Ok(()),
    }
}

/// Prints the options that a script declares.
pub(super) fn help(named: &str, printer: Printer) -> Result<()> {
    let (found, directories) = script::find(named, &[], Path::new(""))?;
    let text = input::text_of(&found)?;
    let usual = LuaSpec::usual(&found.display().to_string(), &text);
    let spec = LuaSpec { path: directories, commands: Vec::new(), ..usual };
    let options = workloads::script_options(&spec, Dialect::Mysql)?;
    if options.is_empty() {
        printer.result(&format!("{} declares no options", found.display()));
    }
    for [name, usual, meaning] in options {
        printer.result(&format!("{name}={usual}\n    {meaning}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &[&str]) -> Result<String> {
        workload("a.lua", &options.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_of_sysbench_are_keys_and_the_rest_is_the_scripts() {
        let given = [
            "--threads=4",
            "--time=30",
            "--warmup-time=5",
            "--rate=100",
            "--percentile=99",
            "--table-size=1000",
            "--skip-trx",
            "--rand-type=special",
            "--rand-type=uniform",
            "prepare",
            "run",
        ];
        let expected = "[workload]\nkind = \"lua\"\nscript = \"a.lua\"\nclients = 4\nseconds = 30\n\
                        warmup_seconds = 5\nrate = 100\ncommands = [\"prepare\", \"run\"]\n\n\
                        [workload.options]\n\"percentile\" = \"99\"\n\"table_size\" = \"1000\"\n\
                        \"skip_trx\" = \"on\"\n\"rand_type\" = \"uniform\"\n";
        assert_eq!(of(&given).unwrap(), expected);
        let endless = of(&["--time=0", "--rate=0", "--events=7"]).unwrap();
        let keys: Vec<&str> = endless.lines().skip(3).collect();
        assert_eq!(keys, ["warmup_seconds = 0", "seconds = 604800", "events = 7"]);
    }

    #[test]
    fn what_is_not_meant_here_is_refused() {
        let error = |option| of(&[option]).unwrap_err().to_string();
        assert_eq!(
            error("--threads=many"),
            "--threads=many: expected a whole number, as in --threads=10"
        );
        assert_eq!(error("--threads"), "--threads: expected a whole number, as in --threads=10");
        assert!(
            error("--pgsql-host=db")
                .starts_with("--pgsql-host=db: the system arguments already name")
        );
        assert!(error("-x").starts_with("`-x` is not an option of a script: "));
        assert!(
            error("oltp").starts_with("after `--`, `oltp` is the name of a command; add `run`")
        );
        assert_eq!(
            error("tables=4"),
            "`tables=4` is not a command; write the option as --tables=4"
        );
        let apart = of(&["--table-size", "10"]).unwrap_err().to_string();
        assert_eq!(apart, "`10` is not a command; write --table-size=10");
        let own = of(&["--mysql-storage-engine=aria", "--pgsql-variant=x"]).unwrap();
        assert!(own.contains("\"mysql_storage_engine\" = \"aria\"\n\"pgsql_variant\" = \"x\""));
    }
}
