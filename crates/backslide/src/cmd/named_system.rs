//! A system as a command line names it.

use anyhow::{Result, bail};
use model::Engine;
use plan::{Argument, SystemArguments};

const SYSTEM: &str = "SYSTEM";

/// `BUILD[/ENGINE][/CONFIG]`.
pub(super) fn system_of(name: &str) -> Result<SystemArguments<'_>> {
    let argument = |text| Argument { name: SYSTEM, text };
    let usual = |c: char| c.is_ascii_alphanumeric() || "-_.+~/".contains(c);
    let mut parts = name.split('/');
    let build = parts.next().unwrap_or_default();
    if build.is_empty() || !name.chars().all(usual) {
        bail!("`{name}` is not a system: write BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG");
    }
    if build.starts_with(|c: char| c.is_ascii_digit()) {
        bail!(
            "no run of this lab has exactly one system that `{name}` matches; to start one, add the Dbms: \
             mysql-{build}"
        );
    }
    let mut system = SystemArguments::of(argument(build));
    for part in parts {
        let is_engine = Engine::ALL.iter().any(|engine| engine.name() == part);
        let place = if is_engine { &mut system.engine } else { &mut system.config };
        if place.replace(argument(part)).is_some() {
            bail!("`{name}` is not a system: write BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG");
        }
    }
    Ok(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_a_build_with_an_engine_and_a_config() {
        let shown = |name: &str| match system_of(name) {
            Ok(system) => {
                let text =
                    |part: Option<Argument<'_>>| part.map_or("-", |part| part.text).to_owned();
                let parts = [Some(system.build), system.engine, system.config].map(text);
                parts.join(" ")
            }
            Err(error) => error.to_string(),
        };
        insta::assert_snapshot!(shown("mysql-8.0.33"), @"mysql-8.0.33 - -");
        insta::assert_snapshot!(shown("postgres-18/x10a"), @"postgres-18 - x10a");
        insta::assert_snapshot!(shown("mariadb-11.8/myrocks/z12a"), @"mariadb-11.8 myrocks z12a");
        insta::assert_snapshot!(shown("8.0.33"), @"no run of this lab has exactly one system that `8.0.33` matches; to start one, add the Dbms: mysql-8.0.33");
        insta::assert_snapshot!(shown("mysql/a/b"), @"`mysql/a/b` is not a system: write BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG");
        insta::assert_snapshot!(shown("my\"sql"), @"`my\"sql` is not a system: write BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG");
        insta::assert_snapshot!(shown(""), @"`` is not a system: write BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG");
    }
}
