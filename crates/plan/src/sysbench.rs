//! The options that sysbench itself has: what stands for each in a plan, and the values that it may have.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysbenchOption {
    /// The key of a plan that it sets.
    Key(&'static str),
    /// The systems say it.
    OfSystem,
    /// A whole number from zero.
    Number {
        most: u32,
    },
    Word(&'static [&'static str]),
    /// Like an option of the script.
    Own,
}

use SysbenchOption::{Key, Number, OfSystem, Own, Word};

/// Names, separated by blanks, of options that mean the same.
const OPTIONS: [(&str, SysbenchOption); 12] = [
    ("threads num_threads", Key("clients")),
    ("time max_time", Key("seconds")),
    ("events max_requests", Key("events")),
    ("rate tx_rate", Key("rate")),
    ("warmup_time", Key("warmup_seconds")),
    ("mysql_host mysql_port mysql_socket mysql_user mysql_password mysql_db", OfSystem),
    ("mysql_ssl mysql_ssl_cipher mysql_compression mysql_debug mysql_dry_run", OfSystem),
    ("db_driver pgsql_host pgsql_port pgsql_user pgsql_password pgsql_db", OfSystem),
    ("percentile", Number { most: 100 }),
    ("report_interval", Number { most: 604_800 }),
    ("rand_seed", Number { most: i32::MAX as u32 }),
    ("db_ps_mode", Word(&["auto", "disable"])),
];

impl SysbenchOption {
    /// `name` has underscores, as in a plan.
    pub fn of(name: &str) -> Self {
        let has = |names: &str| names.split(' ').any(|known| known == name);
        OPTIONS.iter().find(|(names, _)| has(names)).map_or(Own, |(_, option)| *option)
    }

    /// Why a plan's `options` cannot have it with this value, if they cannot.
    pub(crate) fn refuses(self, name: &str, value: &str) -> Option<String> {
        let (is_fine, expected) = match self {
            Key(key) => {
                return Some(format!(
                    "`{name}` of sysbench is the key `{key}` of `workload`, beside `options`"
                ));
            }
            OfSystem => {
                return Some(format!(
                    "`{name}` would name a server or a way to it, which `[[system]]` does; leave it out"
                ));
            }
            Number { most } => (
                value.parse::<u32>().is_ok_and(|number| number <= most),
                format!("a whole number from 0 to {most}"),
            ),
            Word(words) => (words.contains(&value), words.join(" or ")),
            Own => return None,
        };
        (!is_fine).then(|| format!("`{name}`: expected {expected}, found `{value}`"))
    }
}
