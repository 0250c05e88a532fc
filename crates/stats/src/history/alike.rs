//! Conditions for builds of one history.

use std::collections::HashMap;

use model::{Connection, Interleave, Reason, RunData, RunInfo, System, Transport};

use super::collect::Part;
use super::lines::HistoryError;
use crate::conditions::{Of, differ, of_runs, of_systems};

/// Builds of a history differ in nothing else that bears on a value.
///
/// Within a run, what its plan asks for is what is compared, and only what it does not ask for must be equal.
/// Several runs must have measured the same in the same way, all their systems in one placement and over one
/// connection; and systems of one name are the same thing in all of them, but for the build and what
/// follows from its version.
pub(super) fn alike(parts: &[Part<'_>]) -> Result<(), HistoryError> {
    let members: Vec<Member<'_>> = parts.iter().flat_map(members).collect();
    if let [first, others @ ..] = parts
        && !others.is_empty()
    {
        for other in others {
            let (one, other) = (&first.data.info, &other.data.info);
            if let Some(why) = of_plans(one, other) {
                return Err(unlike(one.id.0.clone(), other.id.0.clone(), &why));
            }
        }
        reached_alike(&members)?;
        named_alike(&members)?;
    }
    spoken_alike(&members)
}

struct Member<'a> {
    data: &'a RunData,
    system: &'a System,
}

impl<'a> Member<'a> {
    fn of(&self) -> Of<'a> {
        (self.data, &self.system.name)
    }

    /// `a of r1`.
    fn name(&self) -> String {
        format!("{} of {}", self.system.name, self.data.info.id)
    }

    fn against(&self, other: &Self, reason: Option<Reason>) -> Result<(), HistoryError> {
        reason.map_or(Ok(()), |why| Err(unlike(self.name(), other.name(), &why)))
    }
}

fn unlike(one: String, other: String, why: &Reason) -> HistoryError {
    HistoryError::Unlike { one, other, why: why.to_string() }
}

fn members<'a>(part: &Part<'a>) -> Vec<Member<'a>> {
    let data = part.data;
    let systems = part.systems.iter().filter_map(|name| data.info.plan.system(name));
    systems.map(|system| Member { data, system }).collect()
}

fn of_plans(one: &RunInfo, other: &RunInfo) -> Option<Reason> {
    let alternates = |run: &RunInfo| match run.plan.course.interleave {
        Interleave::Trials => "trials".to_owned(),
        Interleave::Slices(length) => format!("slices of {length}"),
        Interleave::Turns(length) => format!("turns of {length}"),
    };
    of_runs(one, other)
        .or_else(|| {
            differ("template", one.plan.template.to_string(), other.plan.template.to_string())
        })
        .or_else(|| differ("interleave", alternates(one), alternates(other)))
}

/// All on the same CPUs, and over connections of one kind.
fn reached_alike(members: &[Member<'_>]) -> Result<(), HistoryError> {
    // Where there is no server of ours, only the client has a place.
    let with_server = members.iter().find(|member| member.system.has_server());
    let (Some(first), Some(placed)) = (members.first(), with_server.or(members.first())) else {
        return Ok(());
    };
    members.iter().try_for_each(|member| {
        let (one, other) = (placed.system, member.system);
        let apart = (!one.is_placed_as(other)).then(|| Reason::Different {
            what: "placement".to_owned(),
            base: one.placement(),
            candidate: other.placement(),
        });
        placed.against(member, apart)?;
        let [one, other] = [first, member].map(|member| words(member.system.connection));
        first.against(member, differ("connection", one, other))
    })
}

/// `socket`, `TCP, TLS, pipelined`, `socket, describing portals`.
fn words(connection: Connection) -> String {
    let transport = match connection.transport {
        Transport::Socket => "socket",
        Transport::Tcp => "TCP",
    };
    let more = [
        (connection.tls, "TLS"),
        (connection.compression, "compressed"),
        (connection.pipeline, "pipelined"),
        (connection.describe, "describing portals"),
    ];
    let more = more.into_iter().filter(|(is_on, _)| *is_on);
    std::iter::once(transport).chain(more.map(|(_, word)| word)).collect::<Vec<_>>().join(", ")
}

/// Systems of one name, each against the first of that name.
fn named_alike(members: &[Member<'_>]) -> Result<(), HistoryError> {
    let mut named: HashMap<&str, &Member<'_>> = HashMap::new();
    members.iter().try_for_each(|member| {
        let first = *named.entry(&member.system.name).or_insert(member);
        first.against(member, of_namesakes(first.system, member.system))
    })
}

pub(super) type Facts = [(&'static str, String); 5];

/// A config is one thing in all versions that it is rendered for: its name is compared, not its settings.
pub(super) fn facts(system: &System) -> Facts {
    let set = system.set.iter().map(|(name, value)| format!("{name} = {value}"));
    [
        ("engine", system.engine.name().to_owned()),
        ("config", system.config.name.clone()),
        ("set", or_none(set.collect::<Vec<_>>().join(", "))),
        ("preload", or_none(system.preload.clone())),
        ("huge_pages", system.huge_pages.to_string()),
    ]
}

fn of_namesakes(one: &System, other: &System) -> Option<Reason> {
    let mut both = facts(one).into_iter().zip(facts(other));
    both.find_map(|((what, one), (_, other))| differ(what, one, other))
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}

/// The facts of sessions, each against the first session planned alike.
fn spoken_alike(members: &[Member<'_>]) -> Result<(), HistoryError> {
    members.iter().try_for_each(|member| {
        let connection = member.system.connection;
        let first = members.iter().find(|first| first.system.connection == connection);
        first.map_or(Ok(()), |first| first.against(member, of_systems(first.of(), member.of())))
    })
}

#[cfg(test)]
mod tests {
    use model::{Nanos, RunId};
    use testkit::fixtures::{empty_run, trial};

    use super::*;

    fn part<'a>(data: &'a RunData, systems: &[&'a str]) -> Part<'a> {
        Part { data, systems: systems.to_vec() }
    }

    /// The message about a run of `a` and one that differs from it.
    fn told(change: impl FnOnce(&mut RunData)) -> Option<String> {
        let one = empty_run(&["a"]);
        let mut other = one.clone();
        other.info.id = RunId("r2".into());
        change(&mut other);
        let name = other.info.plan.systems[0].name.clone();
        let parts = [part(&one, &["a"]), part(&other, &[name.as_str()])];
        alike(&parts).err().map(|error| error.to_string())
    }

    fn why(change: impl FnOnce(&mut System)) -> Option<String> {
        let said = told(|data| change(&mut data.info.plan.systems[0]))?;
        let before = "a of r1 and a of r2 cannot be in one history: ";
        let after = "; name runs that are alike";
        Some(said.strip_prefix(before)?.strip_suffix(after)?.to_owned())
    }

    #[test]
    fn another_version_of_the_same_is_what_a_history_is_of() {
        assert_eq!(told(|_| ()), None);
        let newer = told(|data| {
            let system = &mut data.info.plan.systems[0];
            system.build.version = "3.51.0".parse().unwrap();
            system.config.settings.push(model::Setting { name: "cache_spill".into(), value: None });
        });
        assert_eq!(newer, None);
    }

    #[test]
    fn a_system_is_the_same_thing_in_all_runs() {
        let config = why(|system| system.config.name = "other".into());
        assert_eq!(config.unwrap(), "config differs: default and other");
        let set = why(|system| {
            system.set.insert("cache_size".into(), "-8000".into());
        });
        assert_eq!(set.unwrap(), "set differs: none and cache_size = -8000");
        let preload = why(|system| system.preload = "libjemalloc.so.2".into());
        assert_eq!(preload.unwrap(), "preload differs: none and libjemalloc.so.2");
        let pages = why(|system| system.huge_pages = true);
        assert_eq!(pages.unwrap(), "huge_pages differs: false and true");
        let engine = why(|system| system.engine = model::Engine::Heap);
        assert_eq!(engine.unwrap(), "engine differs: btree and heap");
        // A system of another name is another.
        let renamed = told(|data| {
            let system = &mut data.info.plan.systems[0];
            (system.name, system.config.name) = ("b".into(), "other".into());
        });
        assert_eq!(renamed, None);
    }

    #[test]
    fn runs_are_carried_out_and_reached_in_one_way() {
        let template = told(|data| data.info.plan.template = true);
        let template = template.unwrap();
        assert!(template.contains("template differs: false and true"), "{template}");
        let slices = Interleave::Slices(Nanos(250_000_000));
        let slices = told(|data| data.info.plan.course.interleave = slices);
        let expected = "r1 and r2 cannot be in one history: interleave differs: trials and slices of 250ms; name runs that are alike";
        assert_eq!(slices.unwrap(), expected);
        let placed = why(|system| system.cpus.client = "1".into());
        assert_eq!(placed.unwrap(), "placement differs: free and client on CPU 1");
        // Whatever the system is called.
        let other = told(|data| {
            let system = &mut data.info.plan.systems[0];
            system.name = "b".into();
            system.connection.transport = Transport::Tcp;
            system.connection.pipeline = true;
            system.connection.describe = true;
        });
        let other = other.unwrap();
        assert!(
            other.contains("connection differs: socket and TCP, pipelined, describing portals"),
            "{other}"
        );
    }

    #[test]
    fn a_plan_may_ask_its_systems_to_differ_and_servers_may_not_do_so_by_themselves() {
        let mut data = empty_run(&["a", "b"]);
        data.info.plan.systems[1].cpus.client = "1".into();
        assert_eq!(alike(&[part(&data, &["a", "b"])]), Ok(()));
        data.trials = vec![trial("a", "off"), trial("b", "TLSv1.3")];
        let said = alike(&[part(&data, &["a", "b"])]).unwrap_err().to_string();
        assert!(
            said.starts_with(
                "a of r1 and b of r1 cannot be in one history: TLS differs: off and on"
            ),
            "{said}"
        );
        assert_eq!(alike(&[part(&data, &["b"])]), Ok(()));
        data.info.plan.systems[1].connection.tls = true;
        assert_eq!(alike(&[part(&data, &["a", "b"])]), Ok(()));
    }
}
