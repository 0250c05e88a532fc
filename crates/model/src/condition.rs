//! What a comparison must keep equal, unless it is what the comparison is about.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// What survives a crash once a commit is reported.
    Durability,
    /// Is a page that a crash left half written repaired?
    TornPages,
    /// Is there a binary log beside the engine's own, and what goes to it?
    BinaryLog,
    /// Which changes of others a transaction sees.
    Isolation,
    CharacterSet,
    Collation,
    Tls,
    /// Over what the session that measures runs, and how.
    Connection,
    /// What the server counts and times of each statement.
    Instrumentation,
}

impl Condition {
    /// All of them, the heaviest first.
    pub const ALL: [Self; 9] = [
        Self::Durability,
        Self::TornPages,
        Self::BinaryLog,
        Self::Isolation,
        Self::CharacterSet,
        Self::Collation,
        Self::Tls,
        Self::Connection,
        Self::Instrumentation,
    ];

    pub const fn name(self) -> &'static str {
        self.words().0
    }

    pub const fn why(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Durability => (
                "durability of a commit",
                "A commit that waits for the disk costs far more than one that does not.",
            ),
            Self::TornPages => ("protection from torn pages", "The protection writes pages twice."),
            Self::BinaryLog => {
                ("log for replicas", "It is written, and may be synced, at each commit.")
            }
            Self::Isolation => (
                "isolation level",
                "It decides which row versions are kept and which locks are taken.",
            ),
            Self::CharacterSet => ("character set", "It decides how many bytes text takes."),
            Self::Collation => ("collation", "It decides what sorting and indexing text costs."),
            Self::Tls => ("TLS of the session", "Encryption costs CPU for every packet."),
            Self::Connection => (
                "connection",
                "TCP, compression, pipelining and described portals change what each statement costs on both sides.",
            ),
            Self::Instrumentation => {
                ("instrumentation", "Counting and timing costs CPU in every statement.")
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
