//! Which CPUs the server and the client use.

use model::Placement;

use crate::document::Value;
use crate::fields::Item;
use crate::keys::{self, Key, Takes::Other};
use crate::{Place, Result};

/// What a plan says of CPUs. A word stands for CPUs of the host that the plan is expanded for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cpus {
    /// These; all where a list is empty.
    Lists(Placement, Place),
    /// The server and the client together on the last CPU.
    Together(Place),
    /// The client on the last CPU, the server on all others.
    Apart(Place),
    /// There is no server of ours: the client on the last CPU.
    ClientOnly(Place),
}

impl Default for Cpus {
    fn default() -> Self {
        Self::Lists(Placement::default(), Place::default())
    }
}

pub(crate) static KEYS: &[Key<Placement>] = &[
    Key("server", Other(|p, v| list(v).map(|it| p.server = it))),
    Key("client", Other(|p, v| list(v).map(|it| p.client = it))),
];

type Word = (&'static str, fn(Place) -> Cpus);

const WORDS: [Word; 3] =
    [("free", |_| Cpus::default()), ("together", Cpus::Together), ("apart", Cpus::Apart)];

/// Reads a word, or `{ server = "0-3", client = "4" }`; a side that is left out uses all CPUs.
pub(crate) fn read(item: Item<'_>) -> Result<Cpus> {
    match &item.node.value {
        Value::Table(_) => {
            let mut lists = Placement::default();
            keys::read(KEYS, item.node, "cpus", &mut lists)?;
            Ok(Cpus::Lists(lists, item.place()))
        }
        Value::Text(text) if !text.starts_with(|first: char| first.is_ascii_digit()) => {
            item.word("placement", &WORDS).map(|word| word(item.place()))
        }
        // Among them a list of CPUs, which must name its side.
        _ => Err(item.wrong(
            "\"free\", \"together\", \"apart\", or a table such as { server = \"0-3\", client = \"4\" }",
        )),
    }
}

impl Cpus {
    /// The same where there is no server of ours, which cannot be placed.
    pub(crate) fn without_server(self) -> Self {
        match self {
            Self::Lists(lists, place) => {
                Self::Lists(Placement { server: String::new(), ..lists }, place)
            }
            Self::Together(place) | Self::Apart(place) | Self::ClientOnly(place) => {
                Self::ClientOnly(place)
            }
        }
    }

    /// The lists that it comes to on these rising CPUs. The first CPU gets interrupts, so the last one is chosen.
    pub(crate) fn placement(&self, cpus: &[u32]) -> Result<Placement> {
        let (server, last) = match (self, cpus) {
            (Self::Lists(placement, _), _) => return Ok(placement.clone()),
            (Self::Together(_), [.., last]) => (last.to_string(), last),
            (Self::ClientOnly(_), [.., last]) => (String::new(), last),
            (Self::Apart(_), [others @ .., last]) if !others.is_empty() => (ranges(others), last),
            (Self::Apart(place), _) => return Err(place.conflict(
                "`apart` on one CPU: the server and the client need one each; write \"together\" or \"free\"",
            )),
            (Self::Together(place) | Self::ClientOnly(place), []) => return Err(place.conflict(
                "the CPUs of this host are unknown: write \"free\", or list CPUs in a table",
            )),
        };
        Ok(Placement { server, client: last.to_string() })
    }
}

/// `0-3,8`, for numbers that rise.
fn ranges(cpus: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match runs.last_mut() {
            Some((_, high)) if *high + 1 == cpu => *high = cpu,
            Some(_) | None => runs.push((cpu, cpu)),
        }
    }
    let texts = runs
        .iter()
        .map(|(low, high)| if low == high { low.to_string() } else { format!("{low}-{high}") });
    texts.collect::<Vec<_>>().join(",")
}

fn list(item: Item<'_>) -> Result<String> {
    item.fitting("a list of CPUs such as \"0-3,8\"", |text| text.split(',').all(is_range))
}

fn is_range(text: &str) -> bool {
    Placement::range(text)
        .is_some_and(|range| !range.is_empty() && *range.end() <= Placement::HIGHEST_CPU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_cpus() {
        for good in ["0", "0-3", "7-7", " 1 - 2 "] {
            assert!(is_range(good), "{good}");
        }
        for bad in ["", "-", "3-1", "a", "1-", "0-99999", "1-2-3"] {
            assert!(!is_range(bad), "{bad}");
        }
    }

    #[test]
    fn runs_of_numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
    }

    fn both(cpus: &Cpus, of: &[u32]) -> (String, String) {
        let Placement { server, client } = cpus.placement(of).unwrap();
        (server, client)
    }

    fn pair(server: &str, client: &str) -> (String, String) {
        (server.to_owned(), client.to_owned())
    }

    #[test]
    fn a_word_takes_the_last_cpu_and_leaves_the_first_alone() {
        let place = || Place::argument("--placement");
        let (together, apart) = (Cpus::Together(place()), Cpus::Apart(place()));
        assert_eq!(both(&Cpus::default(), &[0, 1]), pair("", ""));
        assert_eq!(both(&together, &[0, 1]), pair("1", "1"));
        assert_eq!(both(&together, &[0]), pair("0", "0"));
        assert_eq!(both(&apart, &[0, 1]), pair("0", "1"));
        // Those that this process may use.
        assert_eq!(both(&apart, &[4, 5, 6, 9]), pair("4-6", "9"));
        assert_eq!(both(&together, &[4, 5, 6, 9]), pair("9", "9"));
        for word in [together, apart] {
            assert_eq!(both(&word.without_server(), &[0, 1]), pair("", "1"));
        }
    }

    #[test]
    fn apart_needs_two_cpus_where_there_is_a_server() {
        let apart = Cpus::Apart(Place::argument("--placement"));
        assert!(apart.placement(&[0]).is_err());
        assert!(apart.placement(&[]).is_err());
        assert_eq!(both(&apart.without_server(), &[0]), pair("", "0"));
    }
}
