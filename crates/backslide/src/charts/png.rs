//! PNG of SVG.

use std::sync::Arc;

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Style};
use resvg::usvg::{Options, TextRendering, Tree};

/// Pixels of a PNG for each of the SVG, across and down: screens have fine ones.
const SCALE: f32 = 2.0;

pub(super) struct Painter {
    options: Options<'static>,
}

impl Painter {
    /// With the fonts of the system; `None` where it has none: text would be missing, and nobody told.
    pub(super) fn new() -> Option<Self> {
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

    pub(super) fn png(&self, svg: &str) -> Result<Vec<u8>> {
        let tree = Tree::from_str(svg, &self.options)?;
        let pixels = |length: f32| (length * SCALE).ceil() as u32;
        let (width, height) = (tree.size().width(), tree.size().height());
        let mut pixmap = Pixmap::new(pixels(width), pixels(height))
            .with_context(|| format!("{width} × {height} pixels are too many"))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
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
            Some((name.as_str(), face.style == Style::Normal && !face.monospaced))
        })
    };
    let usual = FAMILIES.into_iter().find(|family| all().any(|(name, _)| name == *family));
    let upright = || all().find(|(_, is_usable)| *is_usable);
    let any = || upright().or_else(|| all().next()).map(|(name, _)| name);
    usual.or_else(any).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use report::ChartFile;
    use resvg::tiny_skia::Rect;
    use resvg::usvg::{Group, Node};

    use super::*;
    use crate::charts::tests::{charts, inserts};
    use testkit::made_up::{self, micro::Micro, tpcc::Tpcc};

    fn all() -> Vec<ChartFile> {
        let sweep = Micro { tests: 4, ..Micro::sweep(&[1, 8]) };
        let mut all = inserts();
        all.extend(charts(&made_up::micro::run(&sweep)));
        all.extend(charts(&made_up::tpcc::run(&Tpcc::usual())));
        all
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
        let colours: HashSet<[u8; 3]> =
            pixels.map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
        assert!(colours.len() > 20, "{}", colours.len());
    }
}
