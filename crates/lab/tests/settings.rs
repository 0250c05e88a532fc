//! Settings that a system does not take are found before a run: with `SQLite`, with the servers of this machine,
//! and with the builds that are installed.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::every_server;
use lab::{Builds, refused_setting};
use model::{Build, Bytes, Dbms, HostShape};
use plan::{Catalog, PlanError};

const HOST: HostShape = HostShape { cpus: 2, memory: Bytes(8 << 30) };

/// A plan of one system, which is `build` with these lines, the first of which is line 6; what is refused.
fn checked(build: &Build, lines: &str) -> Result<(), PlanError> {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
         [[system]]\nbuild = \"{}\"\n{lines}",
        build.dbms
    );
    let file = plan::read(&text, "my.toml").unwrap();
    let catalog = Catalog::embedded().unwrap();
    let plan = plan::expand(&file, &catalog, &|_| Ok(build.clone()), HOST)?;
    plan::check_settings(&file, &plan, &refused_setting)
}

fn told(build: &Build, lines: &str) -> String {
    checked(build, lines).unwrap_err().to_string()
}

#[test]
fn sqlite_names_the_line_of_a_pragma_that_it_ignores() {
    let sqlite = Builds::embedded().unwrap();
    let refused = told(&sqlite, "set = { synchronous = \"OFF\", jurnal_mode = \"WAL\" }");
    assert!(
        refused.starts_with("my.toml:6: sqlite-") && refused.contains("`jurnal_mode`"),
        "{refused}"
    );
    checked(&sqlite, "set = { synchronous = \"OFF\" }").unwrap();
}

#[test]
fn servers_name_the_line_and_the_nearest_setting() {
    for build in every_server(&Builds::of_user().unwrap()) {
        let (wrong, meant) = if build.dbms == Dbms::Postgres {
            ("shared_buffer", "shared_buffers")
        } else {
            ("innodb_bufer_pool_size", "innodb_buffer_pool_size")
        };
        let id = build.id();
        assert_eq!(
            told(&build, &format!("config = \"default\"\nset = {{ {wrong} = \"256MB\" }}")),
            format!("my.toml:7: {id} has no setting `{wrong}`; did you mean `{meant}`?")
        );
    }
}

#[test]
fn postgres_refuses_values_too() {
    let builds = every_server(&Builds::of_user().unwrap()).into_iter();
    for build in builds.filter(|build| build.dbms == Dbms::Postgres) {
        let refused = told(&build, "set = { work_mem = \"lots\" }");
        let problem = "setting `work_mem` has a value that the server refuses: invalid value for parameter \"work_mem\": \"lots\"";
        assert_eq!(refused, format!("my.toml:6: {}: {problem}", build.id()));
    }
}

#[test]
fn what_isolates_servers_is_refused_before_a_build_is_installed() {
    let absent = |dbms: Dbms, version: &str| {
        let source = model::BuildSource::Obtainable { origin: String::new() };
        Build::new(dbms, version.parse().unwrap(), source)
    };
    let mysql = absent(Dbms::Mysql, "8.0.33");
    for option in
        ["datadir", "port", "socket", "pid-file", "log_error", "bind-address", "initialize"]
    {
        let refused = told(&mysql, &format!("set = {{ {option} = \"x\" }}"));
        let begin = format!("my.toml:6: mysql-8.0.33: setting `{option}` belongs to backslide");
        assert!(refused.starts_with(&begin), "{refused}");
    }
    let postgres = absent(Dbms::Postgres, "18.6");
    for option in
        ["data_directory", "port", "unix_socket_directories", "external_pid_file", "include"]
    {
        let refused = told(&postgres, &format!("set = {{ {option} = \"x\" }}"));
        let begin = format!("my.toml:6: postgres-18.6: setting `{option}` belongs to backslide");
        assert!(refused.starts_with(&begin), "{refused}");
    }
    let refused = told(&postgres, "set = { work_mem = \"4MB\\nport = 1\" }");
    assert_eq!(
        refused,
        "my.toml:6: postgres-18.6: setting `work_mem` has a line break or another control character in its value"
    );
    // The name of a setting that no build is asked about passes here.
    checked(&postgres, "set = { shared_buffer = \"1GB\" }").unwrap();
}

#[test]
fn every_config_of_the_catalog_is_taken_by_the_servers_of_this_machine() {
    every_config_is_taken_by(Builds::of_user().unwrap().found());
}

#[test]
#[ignore = "takes minutes: asks every installed build about every config"]
fn every_config_of_the_catalog_is_taken_by_the_installed_builds() {
    every_config_is_taken_by(&every_server(&Builds::of_user().unwrap()));
}

/// Settings with values that a build may be without.
const COMPILED_IN: [&str; 2] = ["io_method", "wal_compression"];

fn every_config_is_taken_by(builds: &[Build]) {
    let catalog = Catalog::embedded().unwrap();
    let mut taken = 0;
    for build in builds {
        let modifiers = catalog.modifier_names(build.dbms).into_iter();
        let modified = modifiers.map(|word| format!("quick_{word}"));
        let names = catalog.config_names(build.dbms).into_iter();
        for config in names.map(str::to_owned).chain(modified) {
            match checked(build, &format!("config = \"{config}\"")) {
                Ok(()) => taken += 1,
                // The catalog knows that the version is too old for it.
                Err(PlanError::UnknownOption { .. }) => {}
                // Compiled without the library for this value, so that it would not start.
                Err(PlanError::RefusedSetting { option, .. })
                    if COMPILED_IN.contains(&option.as_str()) => {}
                Err(error) => panic!("{} with {config}: {error}", build.id()),
            }
        }
    }
    assert!(taken >= builds.len());
}
