//! A system for the tests of this crate.

use model::{Build, BuildFacts, BuildSource, Config, Connection, Dbms, Placement, System};

/// A system of that family as it comes, which would be started from this machine's own programs.
pub(crate) fn system(dbms: Dbms) -> System {
    System {
        name: "a".to_owned(),
        build: Build {
            dbms,
            version: "1.2".parse().unwrap(),
            source: BuildSource::Path("/usr".to_owned()),
            version_line: String::new(),
            name: None,
            facts: BuildFacts::default(),
        },
        engine: dbms.default_engine(),
        config: Config {
            name: "default".to_owned(),
            summary: String::new(),
            settings: Vec::new(),
            left_out: Vec::new(),
        },
        set: std::collections::BTreeMap::new(),
        cpus: Placement::default(),
        connection: Connection::default(),
        preload: String::new(),
        huge_pages: false,
        control: false,
    }
}
