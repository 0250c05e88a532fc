//! What the name of a system says of it: `my8044_rel_o2nofp.z12a_c8r32`, `mysql-8.0.31/innodb/z12a`.

use model::{Build, BuildFacts, BuildSource, Config, Dbms, Engine, System, Version};

/// The system of this name, `None` if the name is empty; `usual` is the product where the name does not say it. Where
/// neither says one that backslide runs, it is another.
pub(crate) fn system(name: &str, usual: Option<Dbms>, origin: &str) -> Option<System> {
    let said = published(name).or_else(|| ours(name));
    let said = said.unwrap_or_else(|| of_product(name, usual.unwrap_or(Dbms::Other)));
    if name.is_empty() {
        return None;
    }
    let note = match (said.dbms, &said.version) {
        (Dbms::Other, _) => {
            "imported; not a product that backslide runs, or its name does not say which"
        }
        (_, Some(_)) => "imported; the version is what the name of the system says",
        (_, None) => "imported; the name of the system says no version",
    };
    let version = said.version.unwrap_or_else(Version::unknown);
    let engine = said.engine.unwrap_or_else(|| engine_of(name, said.dbms));
    let build = Build {
        version_line: "imported: the server was not asked".to_owned(),
        name: Some(build_name(name).to_owned()),
        facts: BuildFacts { note: Some(note.to_owned()), ..BuildFacts::default() },
        ..Build::new(said.dbms, version, BuildSource::Imported(origin.to_owned()))
    };
    Some(System {
        engine,
        config: Config {
            name: config_name(name).to_owned(),
            summary: "As the imported results name it; its settings are not known.".to_owned(),
            ..Config::default()
        },
        control: name == System::CONTROL,
        ..System::new(name, build)
    })
}

#[derive(Debug)]
struct Said {
    dbms: Dbms,
    engine: Option<Engine>,
    version: Option<Version>,
}

/// Names of published results: two letters, digits, and what follows.
fn published(name: &str) -> Option<Said> {
    let name = crate::insert::without_size(name);
    let products = Dbms::all().into_iter();
    let mut all =
        products.flat_map(|dbms| dbms.product().published.iter().map(move |of| (dbms, of)));
    let (digits, stage, dbms, of) = all.find_map(|(dbms, of)| {
        let rest = name.strip_prefix(of.letters.as_str())?;
        if !of.versioned {
            return Some(("", "", dbms, of));
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let (stage, after) = stage(after);
        let ends = after.is_empty() || after.starts_with(['_', '.', '-', '/']);
        (!digits.is_empty() && ends).then_some((digits, stage, dbms, of))
    })?;
    // FB MySQL has both engines; configs of InnoDB are called z12a, those of MyRocks za5 or y9c.
    let of_first = |config: &str| {
        let family = config.strip_prefix('c').unwrap_or(config);
        let number = of.default_engine_configs.as_deref().and_then(|z| family.strip_prefix(z));
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let engine = of.engine.filter(|_| !published_config(name).is_some_and(of_first));
    let product = dbms.product();
    let version = if !stage.is_empty() && product.digits.len() == 1 {
        format!("{digits}{stage}").parse().ok()
    } else if digits.starts_with('9') && !product.digits_of_9.is_empty() {
        cut(digits, &product.digits_of_9)
    } else {
        cut(digits, &product.digits)
    };
    Some(Said { dbms, engine, version })
}

/// What may follow the digits of a version, and the rest: `beta1` of a test release; another build of the same version,
/// `v2`, says nothing of the version.
fn stage(after: &str) -> (&str, &str) {
    let found = ["beta", "rc", "alpha", "v"].into_iter().find_map(|word| {
        let digits = after.strip_prefix(word)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        (end > 0).then_some((word, word.len() + end))
    });
    match found {
        Some(("v", end)) => ("", after.get(end..).unwrap_or_default()),
        Some((_, end)) => after.split_at(end),
        None => ("", after),
    }
}

/// Digits cut into parts of these lengths and a rest: `8044` by 1, 1 is 8.0.44.
fn cut(digits: &str, lengths: &[usize]) -> Option<Version> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = digits;
    for length in lengths.iter().chain([&usize::MAX]) {
        let (part, after) = rest.split_at_checked(*length).unwrap_or((rest, ""));
        if !part.is_empty() {
            // Without the zeros at its beginning.
            parts.push(part.parse::<u32>().ok()?.to_string());
        }
        rest = after;
    }
    parts.join(".").parse().ok()
}

/// Names of systems of a lab, `mysql-8.0.31/innodb/z12a`, `sqlite/wal`, and what people call theirs: `mysql-patched`,
/// `postgresql-18.1`. The version is what follows the product, where it is one.
fn ours(name: &str) -> Option<Said> {
    let build = build_name(name);
    let letters = build.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(build.len());
    let product = build.get(..letters).unwrap_or_default();
    let dbms = Dbms::from_alias(product)?;
    Some(of_product(name, dbms))
}

/// A system of this product; the version is what follows the letters of its name, where it is one.
fn of_product(name: &str, dbms: Dbms) -> Said {
    let rest = build_name(name).trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let rest = rest.trim_start_matches(['-', '_', '.', ' ']);
    let version = rest.parse().ok().or_else(|| leading_version(rest));
    Said { dbms, engine: None, version }
}

/// `8.0.31` of `8.0.31-patched`. A number without a point may be anything: a date, a build.
fn leading_version(text: &str) -> Option<Version> {
    let (numbers, _) = text.split_once(['-', '_', ' '])?;
    numbers.contains('.').then(|| numbers.parse().ok())?
}

fn engine_of(name: &str, dbms: Dbms) -> Engine {
    let mut parts = name.split('/');
    let named = parts.find_map(|part| {
        let all = Engine::ALL.into_iter();
        all.filter(|engine| engine.fits(dbms)).find(|engine| engine.name() == part)
    });
    named.unwrap_or_else(|| dbms.default_engine())
}

/// What stands before the first slash; of published names all before the last dot.
fn build_name(name: &str) -> &str {
    match name.split_once('/') {
        Some((build, _)) => build,
        None if published_config(name).is_some() => {
            name.rsplit_once('.').map_or(name, |(build, _)| build)
        }
        None => name,
    }
}

fn config_name(name: &str) -> &str {
    let last = name.rsplit_once('/').map(|(_, config)| config);
    last.or_else(|| published_config(name)).unwrap_or("unknown")
}

/// What follows the last dot, where it is no number: `z12a_c8r32`, `cx6d`.
fn published_config(name: &str) -> Option<&str> {
    let (_, config) = name.rsplit_once('.')?;
    config.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_product_version_engine_and_config() {
        let table = [
            ("my8044_rel_o2nofp.z12a_c8r32", "mysql 8.0.44 innodb z12a_c8r32"),
            ("my5651_rel_o2nofp.z12a_c8r32", "mysql 5.6.51 innodb z12a_c8r32"),
            ("20m.my5649.cx6d", "mysql 5.6.49 innodb cx6d"),
            ("my9400_rel.z12a", "mysql 9.4.0 innodb z12a"),
            ("pg1110.cx5", "postgres 11.10 heap cx5"),
            ("pg131.cx5", "postgres 13.1 heap cx5"),
            ("rx80.cx6a", "mysql 8.0 myrocks cx6a"),
            ("ma101107.z11a", "mariadb 10.11.7 innodb z11a"),
            ("mysql-8.0.31", "mysql 8.0.31 innodb unknown"),
            ("mariadb-11.8.9/myrocks/z12a", "mariadb 11.8.9 myrocks z12a"),
            ("sqlite/wal", "sqlite 0 btree wal"),
            ("mysql-patched", "mysql 0 innodb unknown"),
            ("mysql-8.0.31-patched", "mysql 8.0.31 innodb unknown"),
            ("mysql-20261101-nightly", "mysql 0 innodb unknown"),
            ("postgresql-18.1", "postgres 18.1 heap unknown"),
            ("fbmy8032_rel_o2nofp.za5", "mysql 8.0.32 myrocks za5"),
            ("fbmy8032_rel_o2nofp.z12a", "mysql 8.0.32 innodb z12a"),
            ("fbmy5635_rel_221222.y9c", "mysql 5.6.35 myrocks y9c"),
            ("pg18beta1_o2nofp.x10b", "postgres 18beta1 heap x10b"),
            ("pg174_o2nofp.x10a", "postgres 17.4 heap x10a"),
            ("pg_oriole_o2nofp.o10", "postgres 0 other o10"),
            ("my8406v2_rel.z12a", "mysql 8.4.6 innodb z12a"),
            ("rocksdb-8.0.0", "other 8.0.0 other unknown"),
            ("cockroach-24.1.2/tuned", "other 24.1.2 other tuned"),
            ("fast", "other 0 other unknown"),
        ];
        for (name, expected) in table {
            let is = system(name, None, "x").unwrap();
            let said =
                format!("{} {} {} {}", is.build.dbms, is.build.version, is.engine, is.config.name);
            assert_eq!(said, expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_says_no_product_is_of_another_unless_it_is_told() {
        assert!(system("", None, "x").is_none());
        for name in ["fast", "my", "mysterious", "pgx.1", "mysqld-8.0.31", "my80x"] {
            let another = system(name, None, "x").unwrap();
            assert_eq!(another.build.dbms, Dbms::Other, "{name}");
            assert_eq!(another.engine, Engine::Other, "{name}");
            let told = system(name, Some(Dbms::Postgres), "x").unwrap();
            assert_eq!(told.build.dbms, Dbms::Postgres);
        }
        let long = format!("my{}", "9".repeat(100));
        assert!(system(&long, None, "x").is_some());
    }
}
