//! The charts of a report, each as a picture that stands alone: for a blog post or slides.

mod name;
mod picture;
mod style;

use std::fmt::Write;

use crate::Report;
use crate::markdown::escape;
use crate::page::all_figures;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// Its name without an ending: lower-case letters, digits, `.`, `_` and `-`, beginning with a letter. No
    /// two charts of a run have the same.
    pub name: String,
    pub title: String,
    /// The picture, with its title, its legend and where it comes from. It needs nothing else.
    pub svg: String,
}

impl Report<'_> {
    /// Every chart of a run that is not empty.
    pub fn charts(&self) -> Vec<ChartFile> {
        let figures = all_figures(self);
        let names = name::names(figures.iter().map(|figure| figure.name.as_str()));
        let files = figures.into_iter().zip(names).map(|(figure, name)| {
            let svg = picture::picture(self, &figure);
            ChartFile { name, title: figure.title, svg }
        });
        files.collect()
    }
}

/// The charts as images, to stand at the end of a report in Markdown. `directory` is where they lie, seen from
/// that report; `ending` is that of the files.
pub fn chart_links(charts: &[ChartFile], directory: &str, ending: &str) -> String {
    let directory = encoded(directory);
    let mut text = String::from("\n## Charts\n");
    for chart in charts {
        let _infallible =
            write!(text, "\n![{}]({directory}/{}.{ending})\n", escape(&chart.title), chart.name);
    }
    text
}

fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._~-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_directories_do_not_end_a_link() {
        let chart = ChartFile {
            name: "ratio-l.i0".into(),
            title: "l.i0 ](x) · <b>".into(),
            svg: String::new(),
        };
        assert_eq!(
            chart_links(&[chart], "../my (charts)", "png"),
            "\n## Charts\n\n![l.i0 \\](x) · &lt;b&gt;](../my%20%28charts%29/ratio-l.i0.png)\n"
        );
    }
}
