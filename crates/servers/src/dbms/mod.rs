//! What differs between families of servers: one file for each protocol. What differs within a family is data,
//! [`model::Product`].

mod family;
mod mysql;
mod postgres;
#[cfg(test)]
mod tests;

use model::{Dbms, Dialect, Setting, System, Version};

pub(crate) use family::{
    Copied, DATA, Family, INIT_LOG, Init, InitCommand, Input, engine_lines, files, uses_tcp,
};
pub use family::{Files, Layout, TOKUDB_UNVERIFIED, is_named};

use crate::error::SettingError;

/// The products that have servers. One that is like another stands before it: it knows fewer version lines.
pub(crate) fn servers() -> Vec<Dbms> {
    let mut all = Dbms::all();
    all.retain(|dbms| !dbms.is_embedded());
    all.sort_by_key(|dbms| std::cmp::Reverse(dbms.product().depth));
    all
}

/// The family of a product's servers; `None` for an embedded one.
pub(crate) fn family(dbms: Dbms) -> Option<&'static dyn Family> {
    match dbms.dialect() {
        Dialect::Mysql => Some(&mysql::Mysql),
        Dialect::Postgres => Some(&postgres::Postgres),
        Dialect::Sqlite => None,
    }
}

/// The version in a line that a server printed when asked for it; `None` for a line of another product.
pub(crate) fn version_in(dbms: Dbms, line: &str) -> Option<Version> {
    let is_own = dbms.product().program.banner.fits(line);
    family(dbms).filter(|_| is_own)?.parse_version(line)
}

/// Refuses settings that no version of the product can be given; needs no installation.
pub(crate) fn check_settings(system: &System) -> Result<(), SettingError> {
    let Some(family) = family(system.build.dbms) else {
        return Ok(());
    };
    system.config.settings.iter().try_for_each(|setting| {
        check_setting(setting, system)?;
        family.check_setting(setting)
    })
}

/// Refuses names and values that no server's configuration file can hold, what isolation owns, and what
/// `huge_pages` or `tls` of the plan says.
fn check_setting(setting: &Setting, system: &System) -> Result<(), SettingError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let value = setting.value.as_deref().unwrap_or_default();
    let options = &system.build.dbms.product().options;
    let is_of = |names: &[String]| is_named(&setting.name, names);
    let problem = if setting.name.is_empty() || !setting.name.chars().all(is_name) {
        "is not a name: letters, digits, `_`, `-` and `.` only"
    } else if value.chars().any(char::is_control) {
        "has a line break or another control character in its value"
    } else if is_of(&options.reserved) {
        "belongs to backslide, which isolates its servers with it: leave it out"
    } else if uses_tcp(system) && is_of(&options.reserved_on_tcp) {
        "would let others on this host log in over TCP: leave it out, or remove \
         `transport = \"tcp\"` from the plan"
    } else if system.huge_pages && is_of(&options.huge_pages.names) {
        "duplicates the plan's `huge_pages = true`: remove one of the two"
    } else if system.connection.tls && is_of(&options.tls) {
        "duplicates the plan's `tls = true`: remove one of the two"
    } else {
        return Ok(());
    };
    Err(SettingError { name: setting.name.clone(), problem })
}
