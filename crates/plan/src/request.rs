//! Builds as a plan asks for them.

use model::{Build, Dbms, Version};

use crate::document::Value;
use crate::fields::{Fields, Item};
use crate::{Place, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildRequest {
    /// As the plan names it: `mariadb`, `postgres-15`, `postgres-18.6deb`, `my-own-build`, `sqlite`.
    pub name: String,
    /// The product family in it; `None` where the name begins with none: then it is the name of one build.
    pub dbms: Option<Dbms>,
    /// The version in it, or its first parts; `None` for whatever is found, and for the name of one build.
    pub version: Option<Version>,
    /// Where the plan says that it is: a directory with the server's files.
    pub path: Option<String>,
    /// The address of a running server that is not ours, as the plan gives it.
    pub connect: Option<String>,
    pub source: Option<SourceRequest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRequest {
    /// The product whose recipe of the catalog compiles it.
    pub dbms: Dbms,
    /// The directory of the git repository; `~/` in it is the user's own.
    pub git: String,
    /// A commit, tag or branch.
    pub commit: String,
    /// In place of the recipe's options.
    pub configure: Option<Vec<String>>,
    /// In place of the recipe's flags.
    pub cflags: Option<Vec<String>>,
}

impl SourceRequest {
    /// Reads `{ source = "postgres", git = "~/src/postgres", commit = "REL_18_STABLE" }`.
    fn read(build: Item<'_>) -> Result<Self> {
        let keys = ["source", "git", "commit", "configure", "cflags"];
        let fields = Fields::new(build.node, "build", &keys)?;
        let source = fields.need("source")?;
        let name = source.text()?;
        let known = || source.unknown("product", name, Dbms::all().into_iter().map(Dbms::name));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        Ok(Self {
            dbms: Dbms::from_name(name).ok_or_else(known)?,
            git: fields.text("git")?.to_owned(),
            commit: fields.text("commit")?.to_owned(),
            configure: fields
                .maybe("configure", |list| list.each(|item| item.text().map(str::to_owned)))?,
            cflags: fields.maybe("cflags", |item| item.text().map(words))?,
        })
    }
}

impl BuildRequest {
    /// Reads `build`, `path` and `connect` of a `[[system]]`.
    pub(crate) fn read(fields: &Fields<'_>) -> Result<Self> {
        let build = fields.need("build")?;
        if matches!(build.node.value, Value::Table(_)) {
            let source = SourceRequest::read(build)?;
            if let Some(item) = fields.first(&["connect", "path"]) {
                return Err(item.conflict("a build from source has neither `path` nor `connect`"));
            }
            return Ok(Self { source: Some(source.clone()), ..Self::named(source.dbms.name()) });
        }
        let name = build.text()?;
        let text = |key| fields.maybe(key, |item| item.text().map(str::to_owned));
        let named = Self::named(name);
        let request = Self { path: text("path")?, connect: text("connect")?, ..named };
        let Self { dbms, version, .. } = &request;
        if let Some(item) = fields.first(&["connect", "path"]) {
            let Some(dbms) = dbms else {
                let family = name.split('-').next().unwrap_or(name);
                return Err(build.unknown("DBMS", family, Dbms::all().into_iter().map(Dbms::name)));
            };
            if version.is_none() && name != dbms.name() {
                return Err(build.wrong(&format!("\"{dbms}\", or \"{dbms}-\" and a version")));
            }
            if dbms.is_embedded() && request.connect.is_some() {
                return Err(item.conflict(format!(
                    "`connect` and `build = \"{dbms}\"`: {dbms} has no server; leave `connect` out"
                )));
            }
            if request.path.is_some() && request.connect.is_some() {
                return Err(item.conflict(
                    "`path` and `connect`: a server is either started from a path or connected to",
                ));
            }
        }
        Ok(request)
    }

    /// What a person means by `name` alone. Family and version may be missing; `postgres-18.6deb` has no version.
    pub fn named(name: &str) -> Self {
        let (family, version) = name.split_once('-').unwrap_or((name, ""));
        let dbms = Dbms::from_name(family);
        let version = version.parse().ok().filter(|_| dbms.is_some());
        Self { name: name.to_owned(), dbms, version, ..Self::default() }
    }

    /// Is it a family alone, or with (the first parts of) a version, so that several builds may be meant?
    pub fn is_general(&self) -> bool {
        self.dbms.is_some_and(|dbms| self.version.is_some() || self.name == dbms.name())
    }

    pub fn fits(&self, build: &Build) -> bool {
        self.dbms.is_none_or(|dbms| dbms == build.dbms)
            && self.version.as_ref().is_none_or(|wanted| build.version.starts_with(wanted))
    }

    /// Is what was found what was asked for, and does backslide run it?
    pub(crate) fn check(
        &self,
        found: &Build,
        place: &Place,
        oldest: Option<&Version>,
    ) -> Result<()> {
        if !self.fits(found) {
            let elsewhere = if place.is_argument() {
                "add it under another name (`backslide add`)"
            } else {
                "give its `path`"
            };
            return Err(place.conflict(format!(
                "`{}` was requested, but {} was found, which does not match; install the one that \
                 is meant, or {elsewhere}",
                self.name,
                found.id()
            )));
        }
        match oldest {
            Some(since) if found.version < *since => {
                Err(place.unsupported(found.dbms, &found.version, since))
            }
            _ => Ok(()),
        }
    }
}

/// The address without a password: `user:secret@host` becomes `user:***@host`.
pub(crate) fn without_password(connect: &str) -> String {
    let Some((login, address)) = connect.rsplit_once('@') else { return connect.to_owned() };
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
    fn a_build_may_be_a_commit() {
        let request = |build: &str| {
            let plan = format!(
                "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
                 [[system]]\nbuild = {build}\n"
            );
            crate::read(&plan, "p.toml").map(|file| file.requests().remove(0))
        };
        let commit = "source = \"postgres\", git = \"~/pg\", commit = \"REL_18_0\"";
        let found =
            request(&format!("{{ {commit}, configure = [\"--with-icu\"], cflags = \"-O3 -g\" }}"));
        let found = found.unwrap();
        assert_eq!((found.name.as_str(), found.dbms), ("postgres", Some(Dbms::Postgres)));
        let source = found.source.unwrap();
        assert_eq!((source.git.as_str(), source.commit.as_str()), ("~/pg", "REL_18_0"));
        assert_eq!(source.configure.unwrap(), ["--with-icu"]);
        assert_eq!(source.cflags.unwrap(), ["-O3", "-g"]);
        let plain = request(&format!("{{ {commit} }}")).unwrap().source.unwrap();
        assert_eq!((plain.configure, plain.cflags), (None, None));
        let error = |build: &str| request(build).unwrap_err().to_string();
        insta::assert_snapshot!(error("{ source = \"postgres\", git = \"~/pg\" }"), @"p.toml:5: build needs the key `commit`");
        insta::assert_snapshot!(error("{ source = \"postgre\", git = \"~/pg\", commit = \"a\" }"), @"p.toml:5: no product `postgre`; nearest `postgres`; available: mysql, mariadb, postgres, sqlite");
        insta::assert_snapshot!(error(&format!("{{ {commit} }}\npath = \"/x\"")), @"p.toml:6: a build from source has neither `path` nor `connect`");
    }

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
