//! What is known of one system while it runs.

use std::collections::BTreeMap;

use model::{
    BuildSource, Capture, Dbms, Engine, Fact, Provenance, Setting, System, Transport, Version,
};

/// The listing that holds a server's variables.
const VARIABLES: &str = "variables";
/// Variables that hold a directory of the instance or the build, and what stands for it in others.
const DIRECTORIES: [(&str, &str); 3] =
    [("datadir", "<datadir>"), ("data_directory", "<datadir>"), ("basedir", "<basedir>")];
/// What the data directory is called within the directory of an instance of ours.
const DATA: &str = "/data";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub system: String,
    pub dbms: Dbms,
    pub version: Version,
    /// The build's id: two systems of one build have the same defaults.
    pub build: String,
    pub engine: Engine,
    /// What its config sets on purpose.
    pub settings: Vec<Setting>,
    pub variables: BTreeMap<String, Reading>,
    /// Of the session that measures: its version, or `off`; `None` where no session could have it.
    pub tls: Option<String>,
    /// How clients talk to it besides TLS: `socket`, `TCP, compressed`; `None` where there is no connection.
    pub connection: Option<String>,
}

/// A variable as a server told it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The value; empty for NULL.
    pub value: String,
    /// Where the value comes from, as PostgreSQL tells: `default`, `configuration file`.
    pub source: Option<String>,
}

impl Facts {
    /// `None` where its variables were not captured. `provenance` is what it said of itself and of the session.
    pub fn new(system: &System, captures: &[Capture], provenance: &Provenance) -> Option<Self> {
        let listing = captures.iter().find(|capture| capture.name == VARIABLES)?;
        let rows = listing.rows.iter().filter_map(|row| {
            let name = row.first()?.clone()?;
            let value = row.get(1).cloned().flatten().unwrap_or_default();
            let source = row.get(2).cloned().flatten();
            Some((name, Reading { value, source }))
        });
        let (name, build) = (system.name.clone(), &system.build);
        Some(Self {
            build: build.id(),
            engine: system.engine,
            settings: system.config.settings.clone(),
            tls: provenance.get(&Fact::Tls).map(str::to_owned),
            connection: connection(system),
            ..Self::of(name, build.dbms, build.version.clone(), rows.collect())
        })
    }

    /// A system with known variables, and nothing else known.
    pub fn of(
        system: String,
        dbms: Dbms,
        version: Version,
        variables: BTreeMap<String, Reading>,
    ) -> Self {
        Self {
            system,
            build: format!("{dbms}-{version}"),
            engine: dbms.default_engine(),
            dbms,
            version,
            settings: Vec::new(),
            variables: without_directories(variables),
            tls: None,
            connection: None,
        }
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|reading| reading.value.as_str())
    }
}

fn connection(system: &System) -> Option<String> {
    if system.build.dbms.is_embedded() {
        return None;
    }
    let transport = match (&system.build.source, system.connection.transport) {
        (BuildSource::Connect(_), _) => "as its address says",
        (_, Transport::Socket) => "socket",
        (_, Transport::Tcp) => "TCP",
    };
    let compressed = system.connection.compression.then_some("compressed");
    let pipelined = system.connection.pipeline.then_some("pipelined");
    let described = system.connection.describe.then_some("describing portals");
    let words = [Some(transport), compressed, pipelined, described];
    Some(words.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Puts `<datadir>` into values that begin with the instance's directories, so that only real differences are left.
fn without_directories(mut variables: BTreeMap<String, Reading>) -> BTreeMap<String, Reading> {
    for (name, instead) in DIRECTORIES {
        let Some(directory) = variables.get(name) else { continue };
        let directory = directory.value.trim_end_matches('/').to_owned();
        replace(&mut variables, name, &directory, instead);
        if let Some(instance) = directory.strip_suffix(DATA) {
            replace(&mut variables, name, instance, "<instance>");
        }
    }
    variables
}

/// Puts `instead` in place of `directory` where a value begins with it, except for that of `but`.
fn replace(variables: &mut BTreeMap<String, Reading>, but: &str, directory: &str, instead: &str) {
    if directory.is_empty() {
        return;
    }
    for (_, reading) in variables.iter_mut().filter(|(name, _)| *name != but) {
        if let Some(rest) = reading.value.strip_prefix(directory)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            reading.value = format!("{instead}{rest}");
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Build, Connection};

    use super::*;

    fn system(dbms: Dbms, source: BuildSource, connection: Connection) -> System {
        let build = Build::new(dbms, "1.0".parse().unwrap(), source);
        System { connection, ..System::new("s", build) }
    }

    #[test]
    fn a_connection_in_words() {
        let words = |dbms, source, connection| super::connection(&system(dbms, source, connection));
        let ours = || BuildSource::Path("/opt/server".to_owned());
        let all = Connection {
            transport: Transport::Tcp,
            tls: true,
            compression: true,
            pipeline: true,
            describe: true,
        };
        assert_eq!(
            words(Dbms::Mysql, ours(), all).unwrap(),
            "TCP, compressed, pipelined, describing portals"
        );
        let usual = Connection::default();
        assert_eq!(words(Dbms::Postgres, ours(), usual).unwrap(), "socket");
        let address = BuildSource::Connect("db1".to_owned());
        assert_eq!(words(Dbms::Mysql, address, usual).unwrap(), "as its address says");
        assert_eq!(words(Dbms::Sqlite, BuildSource::Embedded, usual), None);
    }
}
