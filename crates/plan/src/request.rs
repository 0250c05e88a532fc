//! Builds as a plan asks for them.

use model::{Build, Dbms, Version};

use crate::catalog::Catalog;
use crate::fields::{Fields, Item};
use crate::{Place, PlanError};

/// A build that a plan asks for; the caller finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRequest {
    /// As the plan names it: `mariadb`, `postgres-15`, `postgres-15.18`, `sqlite`.
    pub name: String,
    /// The product family in it.
    pub dbms: Dbms,
    /// The version in it, or its first parts; `None` for whatever is found.
    pub version: Option<Version>,
    /// Where the plan says that it is: a directory with the server's files.
    pub path: Option<String>,
    /// The address of a running server that is not ours, as the plan gives it.
    pub connect: Option<String>,
}

impl BuildRequest {
    /// Reads `build`, `path` and `connect` of a `[[system]]`.
    pub(crate) fn read(fields: &Fields<'_>) -> Result<Self, PlanError> {
        let build = fields.need("build")?;
        let (dbms, version) = parse_name(&build)?;
        let text = |key: &str| fields.get(key).map(|item| item.text()).transpose();
        let (path, connect) = (text("path")?, text("connect")?);
        let elsewhere = fields.get("connect").or_else(|| fields.get("path"));
        if let Some(item) = elsewhere {
            if dbms.is_embedded() {
                return Err(item.conflict(format!(
                    "`{}` and `build = \"{dbms}\"`: {dbms} is part of backslide, there is no other",
                    item.key
                )));
            }
            if path.is_some() && connect.is_some() {
                return Err(item.conflict(
                    "`path` and `connect`: a server is either started from a path or connected to",
                ));
            }
        }
        Ok(Self {
            name: build.text()?.to_owned(),
            dbms,
            version,
            path: path.map(str::to_owned),
            connect: connect.map(str::to_owned),
        })
    }

    /// Is what was found what was asked for, and does backslide run it?
    pub(crate) fn check(
        &self,
        found: &Build,
        place: &Place,
        catalog: &Catalog,
    ) -> Result<(), PlanError> {
        let is_wanted = self
            .version
            .as_ref()
            .is_none_or(|v| found.version.starts_with(v));
        if found.dbms != self.dbms || !is_wanted {
            return Err(PlanError::WrongVersion {
                place: place.clone(),
                name: self.name.clone(),
                found: found.id(),
            });
        }
        match catalog.oldest_supported(found.dbms) {
            Some(since) if found.version < *since => Err(PlanError::UnsupportedVersion {
                place: place.clone(),
                dbms: found.dbms,
                version: found.version.to_string(),
                since: since.to_string(),
            }),
            _ => Ok(()),
        }
    }
}

/// `postgres-15.18` is a product family and a version; the version may be left out.
fn parse_name(item: &Item<'_>) -> Result<(Dbms, Option<Version>), PlanError> {
    let name = item.text()?;
    let (family, version) = match name.split_once('-') {
        Some((family, version)) => (family, Some(version)),
        None => (name, None),
    };
    let dbms = Dbms::from_name(family)
        .ok_or_else(|| item.unknown("DBMS", family, Dbms::ALL.map(Dbms::name)))?;
    let version = version
        .map(|text| {
            text.parse()
                .map_err(|_| item.wrong(&format!("\"{dbms}\", or \"{dbms}-\" and a version")))
        })
        .transpose()?;
    Ok((dbms, version))
}

/// The address without a password: `user:secret@host` becomes `user:***@host`.
pub(crate) fn without_password(connect: &str) -> String {
    let Some((login, address)) = connect.rsplit_once('@') else {
        return connect.to_owned();
    };
    let scheme = login.find("://").map_or(0, |at| at + 3);
    let (scheme, login) = login.split_at(scheme);
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}{user}:***@{address}"),
        None => connect.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_kept() {
        let table = [
            ("/run/mysqld/mysqld.sock", "/run/mysqld/mysqld.sock"),
            ("db1:3306", "db1:3306"),
            ("me@db1:3306", "me@db1:3306"),
            ("me:s3:cr@t@db1:3306/ib", "me:***@db1:3306/ib"),
            ("postgres://me:secret@db1/ib", "postgres://me:***@db1/ib"),
        ];
        for (given, kept) in table {
            assert_eq!(without_password(given), kept);
        }
    }
}
