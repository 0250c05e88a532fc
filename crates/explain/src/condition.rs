//! What a comparison must keep equal, unless it is what the comparison is about.

use std::fmt;

use model::Dialect;
use serde::{Serialize, Serializer};

/// What a comparison must keep equal, unless it is what the comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// What survives a crash once a commit is reported.
    Durability,
    /// Is a page that a crash left half written repaired?
    TornPages,
    /// Is there a binary log beside the engine's own, and what goes to it?
    BinaryLog,
    /// Which changes of others a transaction sees.
    Isolation,
    /// How text is stored.
    CharacterSet,
    /// How text is compared.
    Collation,
    /// TLS of the session that measures.
    Tls,
    /// Over what that session runs, and how.
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

    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Durability => "durability of a commit",
            Self::TornPages => "protection from torn pages",
            Self::BinaryLog => "log for replicas",
            Self::Isolation => "isolation level",
            Self::CharacterSet => "character set",
            Self::Collation => "collation",
            Self::Tls => "TLS of the session",
            Self::Connection => "connection",
            Self::Instrumentation => "instrumentation",
        }
    }

    /// Why it must be equal.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Durability => {
                "A commit that waits for the disk costs far more than one that does not."
            }
            Self::TornPages => "The protection writes pages twice.",
            Self::BinaryLog => "It is written, and may be synced, at each commit.",
            Self::Isolation => "It decides which row versions are kept and which locks are taken.",
            Self::CharacterSet => "It decides how many bytes text takes.",
            Self::Collation => "It decides what sorting and indexing text costs.",
            Self::Tls => "Encryption costs CPU for every packet.",
            Self::Connection => {
                "TCP, compression, pipelining and described portals change what each statement costs on both sides."
            }
            Self::Instrumentation => "Counting and timing costs CPU in every statement.",
        }
    }

    /// The settings that decide it; empty where none does.
    pub const fn settings(self, dialect: Dialect) -> &'static [&'static str] {
        match (self, dialect) {
            (Self::Durability, Dialect::Mysql) => {
                &["innodb_flush_log_at_trx_commit", "sync_binlog"]
            }
            (Self::Durability, Dialect::Postgres) => &["synchronous_commit", "fsync"],
            (Self::Durability, Dialect::Sqlite) => &["synchronous", "journal_mode"],
            (Self::TornPages, Dialect::Mysql) => &["innodb_doublewrite"],
            (Self::TornPages, Dialect::Postgres) => &["full_page_writes"],
            (Self::BinaryLog, Dialect::Mysql) => &["log_bin", "sync_binlog", "binlog_format"],
            (Self::BinaryLog, Dialect::Postgres) => &["wal_level"],
            (Self::Isolation, Dialect::Mysql) => {
                &["transaction_isolation", "innodb_snapshot_isolation"]
            }
            (Self::Isolation, Dialect::Postgres) => &["default_transaction_isolation"],
            (Self::CharacterSet, Dialect::Mysql) => &["character_set_server"],
            (Self::Collation, Dialect::Mysql) => &["collation_server"],
            (Self::Tls, Dialect::Mysql) => &["skip_ssl", "tls_version"],
            (Self::Tls, Dialect::Postgres) => &["ssl"],
            (Self::Instrumentation, Dialect::Mysql) => &["performance_schema"],
            (Self::Instrumentation, Dialect::Postgres) => {
                &["track_io_timing", "shared_preload_libraries"]
            }
            (
                Self::TornPages
                | Self::BinaryLog
                | Self::Isolation
                | Self::CharacterSet
                | Self::Collation
                | Self::Tls
                | Self::Instrumentation,
                Dialect::Sqlite,
            )
            | (Self::CharacterSet | Self::Collation, Dialect::Postgres)
            | (Self::Connection, Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite) => &[],
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
