//! Facts that are no metric: of a step ([`Note`]), and of a trial's server ([`Provenance`]).

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(NoteKind, String)", into = "(NoteKind, String)")]
pub struct Note {
    pub what: NoteKind,
    pub text: String,
}

impl Note {
    pub fn new(what: impl Into<NoteKind>, text: impl Into<String>) -> Self {
        Self { what: what.into(), text: text.into() }
    }
}

impl From<(NoteKind, String)> for Note {
    fn from((what, text): (NoteKind, String)) -> Self {
        Self { what, text }
    }
}

impl From<Note> for (NoteKind, String) {
    fn from(note: Note) -> Self {
        (note.what, note.text)
    }
}

/// A closed set that is stored as words, with `Other` for words that this version does not know.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            Other(String),
        }

        impl $name {
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                word.to_owned().into()
            }
        }

        impl From<$name> for String {
            fn from(it: $name) -> Self {
                it.word().to_owned()
            }
        }
    };
}

words! {
    /// What a note is about. Stored as its word.
    NoteKind {
        CutShort = "cut short",
        Settle = "settle",
        /// The settle phase waited until little was left over.
        LeftOver = "left over",
        /// The settle phase reached its limit with more left over.
        NotDrained = "not drained",
        WarmedUp = "warmed up",
        /// The warm-up reached its limit before the rate was steady.
        NotSteady = "not steady",
        /// Fewer operations were done than arrived.
        RateNotSustained = "rate not sustained",
        /// The limit on response time was not kept in the measured window.
        LimitNotKept = "limit not kept",
        /// A rate that was tried where the highest was looked for.
        Ramp = "ramp",
        /// An operation under way at the end of the window was longer than all that ended.
        CutOff = "cut off",
        ConnectionsLost = "connections lost",
        RowsNotCounted = "rows not counted",
        SentAsText = "sent as text",
        NotPipelined = "not pipelined",
        NoRowsFound = "no rows found",
        WrongAnswer = "wrong answer",
        Script = "script",
        /// Of costs that are not per operation, as an import says.
        Costs = "costs",
        ImportedFrom = "imported from",
    }
}

shown!(NoteKind, |kind| kind.word());

/// What is known of the server of a trial and of the way to it, in the order in which it was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Provenance(pub Vec<(Fact, String)>);

impl Provenance {
    pub fn get(&self, fact: &Fact) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == fact).map(|(_, value)| value.as_str())
    }
}

words! {
    /// A fact of a trial's provenance. Stored as its word.
    Fact {
        ServerVersion = "server version",
        /// The program's own `--version` line.
        Program = "program",
        Authentication = "authentication",
        /// What serves `malloc`, and the file that does.
        Allocator = "allocator",
        /// What the program says that it was built with.
        Compiler = "compiler",
        /// The version of TLS, or `off`.
        Tls = "TLS",
        Transport = "transport",
        Cloned = "cloned",
        ConfigFile = "config file",
        /// A setting of which the server took another value.
        Adjusted = "changed setting",
        Template = "template",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_stored_as_pairs_of_texts() {
        let known = Note::new(NoteKind::NotDrained, "WAL frames 7");
        let other = Note::new("rows per query", "9.5 of 10");
        let stored = serde_json::to_string(&[&known, &other]).unwrap();
        assert_eq!(stored, r#"[["not drained","WAL frames 7"],["rows per query","9.5 of 10"]]"#);
        let read: [Note; 2] = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, [known, other]);
        assert_eq!(NoteKind::from("rows per query"), NoteKind::Other("rows per query".to_owned()));
    }

    #[test]
    fn provenance_is_stored_as_pairs_of_texts() {
        let stored = r#"[["TLS","off"],["allocator","jemalloc"]]"#;
        let provenance: Provenance = serde_json::from_str(stored).unwrap();
        assert_eq!(provenance.get(&Fact::Tls), Some("off"));
        assert_eq!(provenance.get(&"allocator".into()), Some("jemalloc"));
        assert_eq!(provenance.get(&Fact::Transport), None);
        assert_eq!(serde_json::to_string(&provenance).unwrap(), stored);
    }
}
