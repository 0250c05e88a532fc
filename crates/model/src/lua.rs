//! What a plan says of a script that was written for sysbench.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::SqlPace;

/// A script of sysbench, with its text: what ran stays known when the file changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuaSpec {
    /// The file, as it was found.
    pub script: String,
    pub text: String,
    /// The directories of the script and of what it requires, before the working directory and `LUA_PATH`.
    pub path: Vec<String>,
    /// As sysbench's command line would give them: `--name=value`.
    pub options: BTreeMap<String, String>,
    /// The commands, in order; each is a step.
    pub commands: Vec<String>,
    /// The most of any step.
    pub clients: u32,
    /// The numbers of clients where [`Self::RUN`] is a step for each of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<u32>,
    /// Length of the measured window; the most where `events` are counted.
    pub seconds: u32,
    /// Events of all clients together after which it ends; 0 for any number.
    pub events: u64,
    pub warmup_seconds: u32,
    pub pace: SqlPace,
    pub statement_timeout: u32,
}

impl LuaSpec {
    /// The command that is measured.
    pub const RUN: &str = "run";
    /// The command that loads.
    pub const PREPARE: &str = "prepare";
    /// The longest window: a week.
    pub const MOST_SECONDS: u32 = 604_800;

    pub fn usual(script: &str, text: &str) -> Self {
        Self {
            script: script.to_owned(),
            text: text.to_owned(),
            path: Vec::new(),
            options: BTreeMap::new(),
            commands: [Self::PREPARE, Self::RUN, "cleanup"].map(str::to_owned).into(),
            clients: 1,
            sweep: Vec::new(),
            seconds: 60,
            events: 0,
            warmup_seconds: 5,
            pace: SqlPace::Unlimited,
            statement_timeout: 600,
        }
    }

    pub fn set_clients(&mut self, numbers: Vec<u32>) {
        self.clients = numbers.iter().copied().max().unwrap_or(1);
        self.sweep = if numbers.len() > 1 { numbers } else { Vec::new() };
    }

    pub fn stages(&self) -> Vec<(&str, u32)> {
        let usual = [self.clients];
        let each = self.commands.iter().flat_map(|command| {
            let is_swept = command == Self::RUN && !self.sweep.is_empty();
            let numbers = if is_swept { &self.sweep[..] } else { &usual };
            numbers.iter().map(|clients| (command.as_str(), *clients))
        });
        each.collect()
    }

    /// The script's name without its directory and ending: `oltp_read_write`.
    pub fn stem(&self) -> &str {
        Path::new(&self.script).file_stem().and_then(|stem| stem.to_str()).unwrap_or("lua")
    }
}
