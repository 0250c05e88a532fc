//! Available builds: stanzas of the catalog as recipes.

use model::{BuildFacts, Bytes, Dbms, Engine, Helper, Recipe, Version};

use crate::fields::{Fields, Item};
use crate::parcel::{self, Layouts, PARCEL_KEYS};
use crate::{Result, config, document};

const FILE: &str = "builds";
const SUPPORTED: &str = "supported";
const LAYOUT: &str = "layout";
const BUILD: &str = "build";
const BUILD_KEYS: [&str; 9] =
    ["name", "version", "download", "size", "compiler", "allocator", "symbols", "engines", "note"];
const HELPER: &str = "helper";

/// `builds/<dbms>.toml`.
pub(crate) struct Builds {
    pub(crate) since: Version,
    /// Available builds, the oldest version first.
    pub(crate) recipes: Vec<Recipe>,
}

pub(crate) fn builds(dbms: Dbms, text: &str, origin: &str) -> Result<Builds> {
    let root = document::parse(text, origin)?;
    let file = Fields::new(&root, FILE, &[SUPPORTED, LAYOUT, BUILD])?;
    let since = since(&file)?;
    let layouts = parcel::layouts(&file)?;
    let mut recipes =
        stanzas(&file, BUILD, |it| recipe(dbms, &since, it, &layouts), |it: &Recipe| &it.name)?;
    // Builds of one version stay in the order of the file.
    recipes.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(Builds { since, recipes })
}

/// `helpers.toml`.
pub(crate) fn helpers(text: &str, origin: &str) -> Result<Vec<Helper>> {
    let root = document::parse(text, origin)?;
    let file = Fields::new(&root, FILE, &[LAYOUT, HELPER])?;
    let layouts = parcel::layouts(&file)?;
    stanzas(&file, HELPER, |it| helper(it, &layouts), |it: &Helper| &it.name)
}

fn since(file: &Fields<'_>) -> Result<Version> {
    let table = file.need(SUPPORTED)?;
    let fields = Fields::new(table.node, SUPPORTED, &["since"])?;
    config::version(fields.need("since")?)
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
    let fields = Fields::new(stanza.node, BUILD, &with_parcel(&BUILD_KEYS))?;
    let (name, version) = name_and_version(dbms, &fields)?;
    if version < *since {
        return Err(stanza.node.place.unsupported(dbms, &version, since));
    }
    Ok(Recipe {
        name,
        dbms,
        version,
        parcel: parcel::parcel(stanza, &fields, layouts)?,
        download: size(fields.need("download")?)?,
        size: size(fields.need("size")?)?,
        facts: facts(dbms, &fields)?,
    })
}

fn helper(stanza: Item<'_>, layouts: &Layouts) -> Result<Helper> {
    let fields = Fields::new(stanza.node, HELPER, &with_parcel(&["name"]))?;
    let name = fields.need("name")?.fitting("the name of a file", is_file_name)?;
    Ok(Helper { name, parcel: parcel::parcel(stanza, &fields, layouts)? })
}

fn with_parcel(keys: &[&'static str]) -> Vec<&'static str> {
    keys.iter().chain(&PARCEL_KEYS).copied().collect()
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
        assert_snapshot!(named("layout = \"zonki\""), @"b.toml:11: no layout `zonki`; nearest `zonky`; there are: zonky");
        assert_snapshot!(named("layout = \"zonky\"\nplace = [{ from = \"a\" }]"), @"b.toml:12: a stanza has `layout` or `place`, not both");
        assert_snapshot!(named("engines = [\"heaps\"]"), @"b.toml:11: no engine `heaps`; nearest `heap`; there are: innodb, myrocks, tokudb, heap, btree");
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
