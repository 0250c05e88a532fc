//! `report --charts`: each chart of a run as a file, SVG always, PNG where the system has a font.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use report::ChartFile;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Style};
use resvg::usvg::{Options, TextRendering, Tree};

use crate::output;

/// Pixels of a PNG for each of the SVG, across and down: screens have fine ones.
const SCALE: f32 = 2.0;

/// Said where there are no PNG.
pub(crate) const NO_FONT: &str = "warning: no font was found, so the charts are written as SVG only; install one \
                                  (`apt-get install fonts-dejavu-core`) and write them again for PNG";

/// Charts that were written.
#[derive(Debug)]
pub(crate) struct Written {
    files: Vec<ChartFile>,
    directory: PathBuf,
    has_png: bool,
}

/// Writes them into the directory, which is made where it is missing: all of them, or none that was not there
/// before, as when the disk is full. Each file is whole; others are left alone.
pub(crate) fn write(files: Vec<ChartFile>, directory: &Path) -> Result<Written> {
    let mut made = Made::default();
    made.directory(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
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
    Ok(Written {
        files,
        directory: directory.to_owned(),
        has_png: painter.is_some(),
    })
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
    /// How many.
    pub(crate) const fn count(&self) -> usize {
        self.files.len()
    }

    /// Is each a PNG too?
    pub(crate) const fn has_png(&self) -> bool {
        self.has_png
    }

    /// The charts as images of a Markdown report that is written there.
    pub(crate) fn links(&self, output: &Path) -> Result<String> {
        let ending = if self.has_png { "png" } else { "svg" };
        let directory = seen_from(output, &self.directory)?;
        Ok(report::chart_links(&self.files, &directory, ending))
    }
}

/// The way from a file to a directory, both of which are on this machine. What goes to stdout is where we are.
fn seen_from(output: &Path, directory: &Path) -> Result<String> {
    let beside = output
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let (from, to) = (real(beside.unwrap_or(Path::new(".")))?, real(directory)?);
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    Ok(if way.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        way.to_string_lossy().into_owned()
    })
}

fn real(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))
}

/// Makes PNG of SVG.
struct Painter {
    options: Options<'static>,
}

impl Painter {
    /// With the fonts of the system; `None` where it has none: text would be missing, and nobody told.
    fn new() -> Option<Self> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        Self::with(fonts)
    }

    fn with(mut fonts: Database) -> Option<Self> {
        // What the system says is its usual font need not be installed.
        let family = family(&fonts)?;
        fonts.set_sans_serif_family(family.clone());
        fonts.set_serif_family(family.clone());
        Some(Self {
            options: Options {
                font_family: family,
                fontdb: Arc::new(fonts),
                text_rendering: TextRendering::GeometricPrecision,
                ..Options::default()
            },
        })
    }

    fn png(&self, svg: &str) -> Result<Vec<u8>> {
        let tree = Tree::from_str(svg, &self.options)?;
        let pixels = |length: f32| (length * SCALE).ceil() as u32;
        let (width, height) = (tree.size().width(), tree.size().height());
        let mut pixmap = Pixmap::new(pixels(width), pixels(height))
            .with_context(|| format!("{width} × {height} pixels are too many"))?;
        let scale = Transform::from_scale(SCALE, SCALE);
        resvg::render(&tree, scale, &mut pixmap.as_mut());
        Ok(pixmap.encode_png()?)
    }
}

/// Families without serifs that systems have, the most usual first.
const FAMILIES: [&str; 8] = [
    "Noto Sans",
    "DejaVu Sans",
    "Liberation Sans",
    "Arial",
    "Helvetica",
    "Helvetica Neue",
    "FreeSans",
    "Nimbus Sans",
];

/// One of these that is here, else any that is upright and has letters of different widths, else any.
fn family(fonts: &Database) -> Option<String> {
    let all = || {
        fonts.faces().filter_map(|face| {
            let (name, _) = face.families.first()?;
            Some((
                name.as_str(),
                face.style == Style::Normal && !face.monospaced,
            ))
        })
    };
    let usual = FAMILIES
        .into_iter()
        .find(|family| all().any(|(name, _)| name == *family));
    let upright = || all().find(|(_, is_usable)| *is_usable);
    let any = || upright().or_else(|| all().next()).map(|(name, _)| name);
    usual.or_else(any).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use crate::made_up::{self, Shape, micro::Micro, tpcc::Tpcc};
    use model::RunData;
    use report::Input;
    use resvg::tiny_skia::Rect;
    use resvg::usvg::{Group, Node};

    fn charts(data: &RunData) -> Vec<ChartFile> {
        report::charts(&Input::new(data, &made_up::comparisons(data)))
    }

    fn all() -> Vec<ChartFile> {
        let sweep = Micro {
            tests: 4,
            ..Micro::sweep(&[1, 8])
        };
        let mut all = inserts();
        all.extend(charts(&made_up::micro::run(&sweep)));
        all.extend(charts(&made_up::tpcc::run(&Tpcc::usual())));
        all
    }

    /// Of the Insert Benchmark, with a name that is no fit text for anything.
    fn inserts() -> Vec<ChartFile> {
        let mut shape = Shape::usual();
        shape.systems[1].0 = "<b>&\"\u{1}\0</b>".to_owned();
        charts(&made_up::run(&shape))
    }

    /// Paths of a group and of all below it.
    fn paths(group: &Group) -> usize {
        let nodes = group.children().iter();
        nodes
            .map(|node| match node {
                Node::Group(group) => paths(group),
                Node::Path(_) => 1,
                Node::Image(_) | Node::Text(_) => 0,
            })
            .sum()
    }

    /// Where its texts are.
    fn texts(group: &Group) -> Vec<Rect> {
        let nodes = group.children().iter();
        nodes
            .flat_map(|node| match node {
                Node::Group(group) => texts(group),
                Node::Text(text) => vec![text.abs_bounding_box()],
                Node::Path(_) | Node::Image(_) => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn every_chart_is_an_svg_that_has_all_its_parts() {
        let options = Options::default();
        for file in all() {
            let tree = Tree::from_str(&file.svg, &options);
            let tree = tree.unwrap_or_else(|error| panic!("{}: {error}", file.name));
            // White, an axis, a strip or a line, ticks.
            assert!(paths(tree.root()) > 5, "{}", file.name);
            assert!(tree.size().width() > 700.0 && tree.size().height() > 100.0);
        }
    }

    #[test]
    fn no_text_is_cut() {
        let Some(painter) = Painter::new() else {
            eprintln!("skipped: no font");
            return;
        };
        for file in all() {
            let tree = Tree::from_str(&file.svg, &painter.options).unwrap();
            let (width, height) = (tree.size().width(), tree.size().height());
            let texts = texts(tree.root());
            assert!(texts.len() > 3, "{}", file.name);
            for at in texts {
                let within = at.left() >= 0.0 && at.right() <= width;
                assert!(within && at.bottom() <= height, "{}: {at:?}", file.name);
            }
        }
    }

    #[test]
    fn without_a_font_nothing_is_painted() {
        assert!(Painter::with(Database::new()).is_none());
    }

    #[test]
    fn a_painted_chart_has_colours() {
        let Some(painter) = Painter::new() else {
            eprintln!("skipped: no font");
            return;
        };
        let chart = inserts().swap_remove(0);
        let png = painter.png(&chart.svg).unwrap();
        let painted = Pixmap::decode_png(&png).unwrap();
        assert_eq!(painted.width(), 1600);
        let pixels = painted.pixels().iter();
        let colours: HashSet<[u8; 3]> = pixels
            .map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
            .collect();
        assert!(colours.len() > 20, "{}", colours.len());
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

    /// What is in a directory, by name.
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
        assert_eq!(
            error.to_string(),
            format!("cannot write {}", second.display())
        );
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
