//! What can be wrong with a plan or the catalog, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use model::{Bytes, Dbms, Version};

/// Where something was said: a line of a file (`my.toml:12`), or an argument of a command (`--config`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    origin: Arc<str>,
    /// From 1; `None` for an argument.
    line: Option<NonZeroUsize>,
}

impl Place {
    /// Line `line` (from 1) of the file that people know as `origin`.
    pub(crate) const fn new(origin: Arc<str>, line: usize) -> Self {
        Self { origin, line: NonZeroUsize::new(line) }
    }

    pub(crate) fn argument(name: &str) -> Self {
        Self { origin: name.into(), line: None }
    }

    /// Is it an argument? There is no file then that could say more.
    pub(crate) const fn is_argument(&self) -> bool {
        self.line.is_none()
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn conflict(&self, message: impl Into<String>) -> PlanError {
        PlanError::Conflict { place: self.clone(), message: message.into() }
    }

    /// The error for a version that is older than the oldest one that is supported.
    pub(crate) fn unsupported(&self, dbms: Dbms, version: &Version, since: &Version) -> PlanError {
        self.conflict(format!(
            "{dbms} {version} is an unsupported version; {dbms} is supported from {since} on"
        ))
    }

    /// The error that has the message, where there is a message of one.
    pub(crate) fn refuse(&self, message: Option<String>) -> Result<()> {
        message.map_or(Ok(()), |message| Err(self.conflict(message)))
    }

    /// The place and the `key` there; of an argument its name alone, which stands for both.
    fn of_key(&self, key: &str) -> String {
        if self.is_argument() { format!("`{self}`") } else { format!("{self}: `{key}`") }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

const MAX_LISTED: usize = 40;
/// Names that it lists where there are more: the nearest.
const LISTED_OF_MANY: usize = 8;

/// The names that would have been valid, with the nearest one to what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    nearest: Option<Box<str>>,
    /// The ones to list: all, unless there are too many to read.
    all: Box<[String]>,
    /// How many are not among them: ` and 12 more`.
    more: Box<str>,
}

impl Choices {
    pub fn new<S: Into<String>>(written: &str, all: impl IntoIterator<Item = S>) -> Self {
        let mut all: Vec<String> = all.into_iter().map(Into::into).collect();
        // A third of the letters may be wrong: more is another word.
        let limit = (written.chars().count() / 3).max(1);
        let distance = |name: &String| strsim::damerau_levenshtein(written, name);
        let nearest = all.iter().min_by_key(|name| distance(name));
        let nearest = nearest.filter(|name| distance(name) <= limit).cloned();
        let count = all.len();
        if count > MAX_LISTED {
            // The beginning of a name is how people look for one of many.
            all.sort_by_cached_key(|name| {
                (!name.starts_with(written), !name.contains(written), distance(name))
            });
            all.truncate(LISTED_OF_MANY);
        }
        let more = match count - all.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Self {
            nearest: nearest.filter(|name| all.contains(name)).map(String::into),
            all: all.into(),
            more: more.into(),
        }
    }

    /// The same, with the command that lists all of them.
    #[must_use]
    pub fn listed_by(self, command: &str) -> Self {
        match &*self.more {
            "" => self,
            more => Self { more: format!("{more} (`{command}`)").into(), ..self },
        }
    }

    pub fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref()
    }

    fn list(&self) -> String {
        if self.all.is_empty() { "none".to_owned() } else { self.all.join(", ") + &self.more }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("{place}: unknown key `{key}` in {context}, {}", hint(choices))]
    UnknownKey { place: Place, key: String, context: &'static str, choices: Choices },
    #[error("{place}: {context} needs the key `{key}`")]
    MissingKey { place: Place, key: &'static str, context: &'static str },
    #[error("{} must be {expected}, not {found}", place.of_key(key))]
    BadValue { place: Place, key: String, expected: String, found: String },
    #[error("{place}: no {what} `{name}`{}", nearest(choices))]
    UnknownName { place: String, what: String, name: String, choices: Choices },
    /// What is wrong in a way of its own, most of all values that are fine by themselves and do not go together.
    #[error("{place}: {message}")]
    Conflict { place: Place, message: String },
    #[error("{place}: {message}: raise `rows`{}, or choose other `tests`", to(*enough))]
    TooFewRows { place: Place, message: String, enough: Option<u64> },
    #[error("{place}: {build} does not know `{option}`, which exists {range}; {help}")]
    UnknownOption { place: Place, option: String, build: String, range: String, help: &'static str },
    #[error("{place}: {build}: setting `{option}` {problem}")]
    RefusedSetting { place: Place, build: String, option: String, problem: String },
    #[error(
        "the plan needs about {need} of disk, {place} has {free} free; use a smaller scale or --lab \
         elsewhere"
    )]
    TooLarge { need: Bytes, place: String, free: Bytes },
    /// Mistakes that were found together, each on a line.
    #[error("{}", lines(all))]
    Several { all: Vec<Self> },
    #[error(transparent)]
    Product(model::ProductError),
    /// A file of the catalog that is none of its kinds.
    #[error(
        "{path}: not a file of the catalog, which has dbms/<name>/product.toml, builds.toml and variables.toml there, \
         dbms/<name>/configs/<name>.toml, dbms/<name>/configs/modifiers/<word>.toml, plans/<name>.toml, \
         workloads/<name>.toml, helpers.toml, layers.toml, noise.toml and scales.toml"
    )]
    StrayFile { path: String },
}

/// What reading gives; the error is one of a plan or the catalog unless another is named.
pub(crate) type Result<T, E = PlanError> = std::result::Result<T, E>;

impl PlanError {
    /// All values, or an error that has the mistakes of all of them.
    pub(crate) fn collected<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        let values = results.filter_map(|result| result.map_err(|error| all.push(error)).ok());
        let values = values.collect();
        // An argument stands for several keys.
        let mut told = BTreeSet::new();
        all.retain(|error: &Self| told.insert(error.to_string()));
        match all.len() {
            0 => Ok(values),
            1 => Err(all.remove(0)),
            _ => Err(Self::Several { all }),
        }
    }

    /// A name at `place` that is none of `names`; `what` is the kind of thing that it should have named.
    pub(crate) fn unknown<S: Into<String>>(
        place: &impl ToString,
        what: &str,
        name: &str,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::UnknownName {
            place: place.to_string(),
            what: what.to_owned(),
            name: name.to_owned(),
            choices: Choices::new(name, names),
        }
    }
}

/// Digits in groups, as TOML takes them: `1_000_000`.
pub(crate) fn grouped(number: impl Into<u128>) -> String {
    model::group_digits(&number.into().to_string(), '_')
}

fn lines(errors: &[PlanError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
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

fn nearest(choices: &Choices) -> String {
    let all = choices.list();
    match choices.nearest() {
        Some(name) => format!("; nearest `{name}`; available: {all}"),
        None => format!("; available: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_as_toml_takes_them() {
        let table = [(0u64, "0"), (999, "999"), (1000, "1_000"), (1_234_567, "1_234_567")];
        for (number, text) in table {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        let choices = |written| Choices::new(written, ["clients", "tables", "rows"]);
        assert_eq!(choices("cleints").nearest(), Some("clients"));
        assert_eq!(choices("row").nearest(), Some("rows"));
        assert_eq!(choices("compression").nearest(), None);
        assert_eq!(choices("").nearest(), None);
    }
}
