//! How a build was made, beside its source: what else its speed may come from.

use crate::{Fact, RunData, System};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// To the second number of its version: `gcc 7.5`.
    pub compiler: Option<String>,
    /// `jemalloc 5.2`, `C library`.
    pub allocator: Option<String>,
    /// `-O2 -fPIC`; known where backslide compiled it.
    pub flags: Option<String>,
}

impl Made {
    /// What a system's server said of itself in a trial, or else what the catalog says.
    pub fn of(data: &RunData, system: &System) -> Self {
        let facts = &system.build.facts;
        let known = |fact, known: &Option<String>| {
            said(data, system, &fact).or_else(|| known.clone()).map(|said| to_minor(&said))
        };
        Self {
            compiler: known(Fact::Compiler, &facts.compiler),
            allocator: known(Fact::Allocator, &facts.allocator),
            flags: facts.flags.clone(),
        }
    }

    /// The names of the facts that are known of both and differ, with both values.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'static str, &'a str, &'a str)> {
        let all = [
            ("compiler", &self.compiler, &other.compiler),
            ("allocator", &self.allocator, &other.allocator),
            ("flags", &self.flags, &other.flags),
        ];
        all.into_iter().filter_map(|(fact, one, other)| {
            let both = (one.as_deref()?, other.as_deref()?);
            (both.0 != both.1).then_some((fact, both.0, both.1))
        })
    }
}

fn said(data: &RunData, system: &System, fact: &Fact) -> Option<String> {
    let mut trials = data.trials.iter().filter(|trial| trial.system == system.name);
    let said = trials.find_map(|trial| trial.provenance.get(fact))?;
    // Behind the name of an allocator stands where it lies.
    Some(said.split(" (").next().unwrap_or(said).to_owned())
}

/// Versions to their second number, which is all that the catalog knows: `gcc 7.5` for `gcc 7.5.0`.
fn to_minor(value: &str) -> String {
    let each = value.split(", ").map(|one| {
        let end = one.match_indices('.').nth(1).map(|(at, _)| at);
        end.and_then(|end| one.get(..end)).unwrap_or(one)
    });
    each.collect::<Vec<_>>().join(", ")
}
