//! Where scripts of sysbench are: as sysbench looks for them, and beside the plan.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Where distributions install sysbench's own scripts.
const INSTALLED: [&str; 2] = ["/usr/share/sysbench", "/usr/local/share/sysbench"];

/// The file of a script that a plan names, and the directories of what it requires. `path` are those that the plan
/// names, `plan` is its own file.
pub(crate) fn find(name: &str, path: &[String], plan: &Path) -> Result<(PathBuf, Vec<String>)> {
    let places = places(plan.parent().unwrap_or(Path::new("")), path);
    let shown = |places: &[PathBuf]| -> Vec<String> {
        places.iter().map(|place| place.display().to_string()).collect()
    };
    let Some(found) = places.iter().find_map(|place| found_in(place, name)) else {
        bail!("no script `{name}` in {}; give its path, or `path`", shown(&places).join(", "));
    };
    let found = std::path::absolute(found)?;
    let beside = found.parent().map(Path::to_path_buf);
    let directories: Vec<PathBuf> = beside.into_iter().chain(places).collect();
    Ok((found, shown(&directories)))
}

/// The directories to look in, in order: the plan's, those that it names, the working directory, those of `LUA_PATH`
/// and sysbench's own.
fn places(plan: &Path, named: &[String]) -> Vec<PathBuf> {
    let named = named.iter().map(|place| plan.join(lab::expanded(place)));
    let templates = std::env::var("LUA_PATH").unwrap_or_default();
    let templates = templates.split(';').filter_map(|template| template.strip_suffix("/?.lua"));
    let mut places = vec![plan.to_owned()];
    places.extend(named.chain([PathBuf::from(".")]));
    places.extend(templates.map(PathBuf::from).chain(INSTALLED.map(PathBuf::from)));
    let absolute = places.into_iter().filter_map(|place| std::path::absolute(place).ok());
    let mut places: Vec<PathBuf> = absolute.collect();
    places.dedup();
    places
}

/// As sysbench, without the ending too.
fn found_in(place: &Path, name: &str) -> Option<PathBuf> {
    let with_ending = format!("{name}.lua");
    [name, &with_ending].into_iter().map(|name| place.join(name)).find(|path| path.is_file())
}
