//! What can be wrong with a plan or the catalog, and where.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use model::{Bytes, Dbms};

use crate::fields::grouped;

/// Where something was said, as errors name it: a line of a file (`my.toml:12`), or an argument of a
/// command (`--config`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    origin: Arc<str>,
    /// From 1; `None` for an argument.
    line: Option<NonZeroUsize>,
}

impl Place {
    /// Line `line` (from 1) of the file that people know as `origin`.
    pub(crate) const fn new(origin: Arc<str>, line: usize) -> Self {
        Self {
            origin,
            line: NonZeroUsize::new(line),
        }
    }

    /// The argument of a command that people know as `name`.
    pub(crate) fn argument(name: &str) -> Self {
        Self {
            origin: name.into(),
            line: None,
        }
    }

    /// Is it an argument? There is no file then that could say more.
    pub(crate) const fn is_argument(&self) -> bool {
        self.line.is_none()
    }

    /// The file, as people know it.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The place and the `key` there; of an argument its name alone, which stands for both.
    fn of_key(&self, key: &str) -> String {
        if self.is_argument() {
            format!("`{self}`")
        } else {
            format!("{self}: `{key}`")
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// Names that an error lists in full.
const MAX_LISTED: usize = 40;
/// Names that it lists where there are more: the nearest.
const LISTED_OF_MANY: usize = 8;

/// The names that would have been valid, with the nearest one to what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Index of the nearest one, if any is near.
    nearest: Option<usize>,
    /// The ones to list: all, unless there are too many to read.
    all: Vec<String>,
    /// Those that are not among them.
    left_out: Option<Box<LeftOut>>,
}

/// Names that are too many to list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LeftOut {
    count: usize,
    /// The command that lists all of them, where there is one.
    listed_by: Option<String>,
}

impl Choices {
    /// What could have been meant by `written`.
    pub fn new<S: Into<String>>(written: &str, all: impl IntoIterator<Item = S>) -> Self {
        let all: Vec<String> = all.into_iter().map(Into::into).collect();
        // A third of the letters may be wrong: more is another word.
        let limit = (written.chars().count() / 3).max(1);
        let nearest = all
            .iter()
            .enumerate()
            .map(|(at, name)| (strsim::damerau_levenshtein(written, name), at))
            .filter(|(distance, _)| *distance <= limit)
            .min()
            .map(|(_, at)| at);
        let count = all.len();
        if count <= MAX_LISTED {
            return Self {
                nearest,
                all,
                left_out: None,
            };
        }
        let nearest = nearest.map(|at| all[at].clone());
        let mut closest = all;
        // The beginning of a name is how people look for one of many.
        closest.sort_by_key(|name| {
            let distance = strsim::damerau_levenshtein(written, name);
            (
                !name.starts_with(written),
                !name.contains(written),
                distance,
            )
        });
        closest.truncate(LISTED_OF_MANY);
        Self {
            nearest: nearest.and_then(|name| closest.iter().position(|other| *other == name)),
            left_out: Some(Box::new(LeftOut {
                count: count - closest.len(),
                listed_by: None,
            })),
            all: closest,
        }
    }

    /// The same, with the command that lists all of them.
    #[must_use]
    pub fn listed_by(mut self, command: String) -> Self {
        if let Some(left_out) = &mut self.left_out {
            left_out.listed_by = Some(command);
        }
        self
    }

    /// The nearest one, if any is near.
    pub fn nearest(&self) -> Option<&str> {
        self.all.get(self.nearest?).map(String::as_str)
    }

    fn list(&self) -> String {
        let listed = self.all.join(", ");
        match self.left_out.as_deref() {
            None if self.all.is_empty() => "none".to_owned(),
            None => listed,
            Some(LeftOut { count, listed_by }) => {
                let command = listed_by.as_ref();
                let command = command.map_or_else(String::new, |by| format!(" (`{by}`)"));
                format!("{listed} and {count} more{command}")
            }
        }
    }
}

/// An error of a plan file, the catalog, or of both together with the builds and the host.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where the parser stopped.
        place: Place,
        /// What it expected.
        message: String,
    },
    /// A key that nothing reads.
    #[error("{place}: unknown key `{key}` in {context}, {}", hint(choices))]
    UnknownKey {
        /// Where it stands.
        place: Place,
        /// The key.
        key: String,
        /// The table that it stands in, as people call it: `workload`.
        context: &'static str,
        /// The keys of that table.
        choices: Choices,
    },
    /// A key that must be there is not.
    #[error("{place}: {context} needs the key `{key}`")]
    MissingKey {
        /// Where the table begins.
        place: Place,
        /// The key.
        key: &'static str,
        /// The table.
        context: &'static str,
    },
    /// A value of the wrong type or out of range.
    #[error("{} must be {expected}, not {found}", place.of_key(key))]
    BadValue {
        /// Where it stands.
        place: Place,
        /// Its key.
        key: String,
        /// Type and range.
        expected: String,
        /// The value as it was read.
        found: String,
    },
    /// A name that stands for nothing.
    #[error("{place}: no {what} `{name}`{}", nearest(choices))]
    UnknownName {
        /// Where it was used; for a name from the command line, what it was used for.
        place: String,
        /// What it should have named: `config for mariadb`.
        what: String,
        /// The name.
        name: String,
        /// The names that there are.
        choices: Choices,
    },
    /// A config of another family.
    #[error("{place}: config `{name}` is for {families}; {dbms} has: {names}")]
    ConfigOfOthers {
        /// Where it was used.
        place: String,
        /// Its name.
        name: String,
        /// The families that have it.
        families: String,
        /// The family that it was used for.
        dbms: Dbms,
        /// The configs of that family.
        names: String,
    },
    /// Values that are fine by themselves and do not go together.
    #[error("{place}: {message}")]
    Conflict {
        /// Where one of them stands.
        place: Place,
        /// Both, why not, and what to do.
        message: String,
    },
    /// Tests that need more rows than there are.
    #[error("{place}: {message}: raise `rows`{}, or choose other `tests`", to(*enough))]
    TooFewRows {
        /// Where the plan says how many rows there are.
        place: Place,
        /// Which step, and why.
        message: String,
        /// The fewest that all tests of the plan take, once they are known.
        enough: Option<u64>,
    },
    /// A build could not be had.
    #[error("{place}: no build `{name}`: {cause}")]
    MissingBuild {
        /// Where it was asked for.
        place: Place,
        /// As the plan names it.
        name: String,
        /// What was looked for, and what to do.
        cause: String,
    },
    /// A server that is not ours could not be used.
    #[error("{place}: the `{name}` server that `connect` names: {cause}")]
    NoServer {
        /// Where it was asked for.
        place: Place,
        /// Which build it was to be.
        name: String,
        /// What was tried, and what to do.
        cause: String,
    },
    /// What was found is not what was asked for.
    #[error(
        "{place}: `{name}` is asked for and {found} is what was found: an unsupported version here; \
         install the one that is meant, or {}",
        elsewhere(place)
    )]
    WrongVersion {
        /// Where it was asked for.
        place: Place,
        /// As the plan names it.
        name: String,
        /// What was found.
        found: String,
    },
    /// A version that backslide does not run.
    #[error(
        "{place}: {dbms} {version} is an unsupported version; {dbms} is supported from {since} on"
    )]
    UnsupportedVersion {
        /// Where it was asked for.
        place: Place,
        /// The product family.
        dbms: Dbms,
        /// The version.
        version: String,
        /// The oldest version that is supported.
        since: String,
    },
    /// An option that the version does not have is set, and nothing is said for that case.
    #[error("{place}: {build} does not know `{option}`: it is there {range}; {help}")]
    UnknownOption {
        /// Where the config sets it.
        place: Place,
        /// The option.
        option: String,
        /// Dbms and version: `mysql 5.5.34`.
        build: String,
        /// The versions that have the option.
        range: String,
        /// What to do.
        help: &'static str,
    },
    /// A setting that the build does not have.
    #[error("{place}: {build} has no setting `{option}`{}", meant(nearest.as_deref()))]
    NoSetting {
        /// Where the plan gives it, or the config that does.
        place: Place,
        /// The build.
        build: String,
        /// The setting.
        option: String,
        /// The setting of the build that comes nearest, if any is near.
        nearest: Option<String>,
    },
    /// A setting that cannot be given, or not with this value.
    #[error("{place}: {build}: setting `{option}` {problem}")]
    RefusedSetting {
        /// Where the plan gives it, or the config that does.
        place: Place,
        /// The build.
        build: String,
        /// The setting.
        option: String,
        /// Why, and what to do.
        problem: String,
    },
    /// The disk is too small.
    #[error(
        "the plan needs about {need} of disk, {place} has {free} free; use a smaller scale or --lab \
         elsewhere"
    )]
    TooLarge {
        /// The estimate.
        need: Bytes,
        /// Which directory or filesystem.
        place: String,
        /// What it has.
        free: Bytes,
    },
    /// A file of the catalog that is none of its kinds.
    #[error(
        "{path}: not a file of the catalog, which has configs/<dbms>/<name>.toml, \
         configs/<dbms>/modifiers/<word>.toml, plans/<name>.toml, workloads/<name>.toml, builds/<dbms>.toml, \
         builds/helpers.toml, variables/<dbms>.toml, scales.toml and noise.toml"
    )]
    StrayFile {
        /// Its path within the catalog.
        path: String,
    },
}

/// How to say where a build is that is not installed.
fn elsewhere(place: &Place) -> &'static str {
    if place.is_argument() {
        "add it under another name (`backslide add`)"
    } else {
        "give its `path`"
    }
}

fn to(rows: Option<u64>) -> String {
    rows.map_or_else(String::new, |rows| format!(" to {}", grouped(rows)))
}

fn hint(choices: &Choices) -> String {
    match choices.nearest() {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("which has: {}", choices.list()),
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn nearest(choices: &Choices) -> String {
    let all = choices.list();
    match choices.nearest() {
        Some(name) => format!("; nearest `{name}`; there are: {all}"),
        None => format!("; there are: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let choices = |written| Choices::new(written, ["clients", "tables", "rows"]);
        assert_eq!(choices("cleints").nearest(), Some("clients"));
        assert_eq!(choices("row").nearest(), Some("rows"));
        assert_eq!(choices("compression").nearest(), None);
        assert_eq!(choices("").nearest(), None);
    }
}
