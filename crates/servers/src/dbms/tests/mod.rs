//! Families and products.

mod mariadb;

use model::{Build, BuildSource, Config};

use super::*;

#[test]
fn every_server_has_a_family_and_those_like_another_come_first() {
    let names: Vec<&str> = servers().into_iter().map(Dbms::name).collect();
    assert_eq!(names, ["mariadb", "mysql", "postgres"]);
    for dbms in Dbms::all() {
        assert_eq!(family(dbms).is_some(), !dbms.is_embedded(), "{dbms}");
        let product = dbms.product();
        assert!(dbms.is_embedded() || product.engine.contains_key(&dbms.default_engine()));
    }
}

#[test]
fn unusable_settings_are_refused_with_their_name() {
    let check = |name: &str, value: &str| {
        let settings = [Setting { name: name.to_owned(), value: Some(value.to_owned()) }];
        let source = BuildSource::Path("/usr".to_owned());
        let build = Build::new(Dbms::Mysql, "8.0.33".parse().unwrap(), source);
        let config = Config { settings: settings.into(), ..Config::default() };
        check_settings(&System { config, ..System::new("a", build) }).map_err(|e| e.to_string())
    };
    assert_eq!(check("a_b.c-d", "1 # 2"), Ok(()));
    assert!(check("a b", "1").is_err());
    assert!(check("", "1").is_err());
    insta::assert_snapshot!(check("x", "1\n[client]").unwrap_err(), @"setting `x` has a line break or another control character in its value");
    assert!(check("loose_data-dir", "/").is_ok() && check("loose_datadir", "/").is_err());
    insta::assert_snapshot!(check("DataDir", "/").unwrap_err(), @"setting `DataDir` belongs to backslide, which isolates its servers with it: leave it out");
}
