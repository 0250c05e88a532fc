//! `report --charts`: each chart of a run as a file, SVG always, PNG where it is built in and the system has a font.

#[cfg(feature = "png")]
mod png;

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use report::ChartFile;

use crate::output;

#[cfg(feature = "png")]
use png::Painter;

#[cfg(feature = "png")]
pub(crate) const NO_PNG: &str = "warning: no font was found, so the charts are written as SVG only; install one \
                                 (`apt-get install fonts-dejavu-core`) and write them again for PNG";
#[cfg(not(feature = "png"))]
pub(crate) const NO_PNG: &str = "built without PNG, so the charts are written as SVG only; \
                                 `cargo build --release --features png` makes a backslide that writes both";

/// Paints nothing: built without PNG.
#[cfg(not(feature = "png"))]
enum Painter {}

#[cfg(not(feature = "png"))]
impl Painter {
    const fn new() -> Option<Self> {
        None
    }

    fn png(&self, _: &str) -> Result<Vec<u8>> {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) files: Vec<ChartFile>,
    directory: PathBuf,
    pub(crate) has_png: bool,
}

/// Writes them into the directory, which is made where it is missing: all of them, or none that was not there
/// before, as when the disk is full. Each file is whole; others are left alone.
pub(crate) fn write(files: Vec<ChartFile>, directory: &Path) -> Result<Written> {
    let mut made = Made::default();
    made.directory(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let painter = Painter::new();
    for file in &files {
        made.file(directory, &file.name, "svg", file.svg.as_bytes())?;
        if let Some(painter) = &painter {
            let png = painter.png(&file.svg);
            let png = png.with_context(|| format!("cannot paint the chart {}", file.name))?;
            made.file(directory, &file.name, "png", &png)?;
        }
    }
    made.keep();
    Ok(Written { files, directory: directory.to_owned(), has_png: painter.is_some() })
}

/// What was made where nothing was before. It goes away again unless it is kept.
#[derive(Default)]
struct Made {
    /// The outer before the inner.
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    fn directory(&mut self, directory: &Path) -> io::Result<()> {
        let all = directory.ancestors();
        let missing = all.take_while(|at| !at.as_os_str().is_empty() && !is_there(at));
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        self.directories.extend(missing);
        fs::create_dir_all(directory)
    }

    fn file(&mut self, directory: &Path, name: &str, ending: &str, bytes: &[u8]) -> Result<()> {
        let path = directory.join(format!("{name}.{ending}"));
        let is_new = !is_there(&path);
        output::write(&path, |out| Ok(out.write_all(bytes)?))?;
        if is_new {
            self.files.push(path);
        }
        Ok(())
    }

    fn keep(mut self) {
        self.directories.clear();
        self.files.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // A leftover could not be helped. A directory in which somebody else put something stays.
        for file in &self.files {
            let _leftover = fs::remove_file(file);
        }
        for directory in self.directories.iter().rev() {
            let _leftover = fs::remove_dir(directory);
        }
    }
}

/// Is anything there, be it a link to nowhere?
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

impl Written {
    /// The charts as images of a Markdown report that is written there.
    pub(crate) fn links(&self, output: &Path) -> Result<String> {
        let ending = if self.has_png { "png" } else { "svg" };
        let directory = seen_from(output, &self.directory)?;
        Ok(report::chart_links(&self.files, &directory, ending))
    }
}

/// The way from a file to a directory, both of which are on this machine. What goes to stdout is where we are.
fn seen_from(output: &Path, directory: &Path) -> Result<String> {
    let beside = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let (from, to) = (real(beside.unwrap_or(Path::new(".")))?, real(directory)?);
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    Ok(if way.as_os_str().is_empty() { ".".to_owned() } else { way.to_string_lossy().into_owned() })
}

fn real(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    use model::RunData;
    use report::Input;
    use testkit::made_up::{self, Shape};

    pub(super) fn charts(data: &RunData) -> Vec<ChartFile> {
        report::Report::new(&Input::new(data, &made_up::comparisons(data))).charts()
    }

    /// Of the Insert Benchmark, with a name that is no fit text for anything.
    pub(super) fn inserts() -> Vec<ChartFile> {
        let mut shape = Shape::usual();
        shape.systems[1].0 = "<b>&\"\u{1}\0</b>".to_owned();
        charts(&made_up::run(&shape))
    }

    /// Two charts, of which the second cannot be written: there is no directory of its name.
    fn one_and_a_failure() -> Vec<ChartFile> {
        let mut files = inserts();
        files.truncate(2);
        for (file, name) in files.iter_mut().zip(["first", "none/second"]) {
            name.clone_into(&mut file.name);
        }
        files
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn where_a_chart_cannot_be_written_none_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let charts = directory.path().join("img/charts");
        let error = write(one_and_a_failure(), &charts).unwrap_err();
        let second = charts.join("none/second.svg");
        assert_eq!(error.to_string(), format!("cannot write {}", second.display()));
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn where_a_chart_cannot_be_written_what_was_there_stays() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["first.svg", "mine.txt"] {
            fs::write(at(name), "old").unwrap();
        }
        assert!(write(one_and_a_failure(), directory.path()).is_err());
        assert_eq!(names(directory.path()), ["first.svg", "mine.txt"]);
        assert_eq!(fs::read_to_string(at("mine.txt")).unwrap(), "old");
        let kept = one_and_a_failure().remove(0);
        write(vec![kept], &at("new")).unwrap();
        assert!(at("new/first.svg").exists());
    }

    #[test]
    fn the_way_to_the_charts() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at("c")).unwrap();
        let way = |output: &str, charts: &str| seen_from(&at(output), &at(charts)).unwrap();
        assert_eq!(way("a/post.md", "a/b"), "b");
        assert_eq!(way("a/b/post.md", "c"), "../../c");
        assert_eq!(way("a/post.md", "a"), ".");
        assert!(seen_from(&at("none/post.md"), &at("c")).is_err());
    }
}
