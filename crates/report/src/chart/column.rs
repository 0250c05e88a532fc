//! What a picture is set in: drawings and lines of text, one below the other.

use maud::{Markup, html};

use super::svg::px;
use super::words;

/// How a text looks. The classes are those of `chart.css`; sizes are here, because lines are broken by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Title,
    /// Names of systems, and what is said of them.
    Body,
    Key,
    Note,
    Source,
}

impl Look {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Body => "body",
            Self::Key => "key",
            Self::Note => "note",
            Self::Source => "source",
        }
    }

    pub(crate) const fn size(self) -> f64 {
        match self {
            Self::Title => 18.0,
            Self::Body | Self::Key => 13.0,
            Self::Note => 12.0,
            Self::Source => 11.0,
        }
    }

    /// From one line to the next, in pixels.
    pub(crate) const fn leading(self) -> f64 {
        match self {
            Self::Title => 24.0,
            Self::Body | Self::Key => 18.0,
            Self::Note => 16.0,
            Self::Source => 15.0,
        }
    }

    /// About how wide a text is that looks so. Bold letters are wider.
    pub(crate) fn width(self, text: &str) -> f64 {
        words::width(text, self.weighed())
    }

    /// Its lines, none wider than `most` pixels.
    pub(crate) fn lines(self, text: &str, most: f64) -> Vec<String> {
        words::lines(text, self.weighed(), most)
    }

    /// The size of a font of usual weight that is as wide.
    fn weighed(self) -> f64 {
        match self {
            Self::Title | Self::Key => 1.15 * self.size(),
            Self::Body | Self::Note | Self::Source => self.size(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    width: f64,
    height: f64,
    drawn: Vec<Markup>,
}

impl Column {
    pub(crate) const fn new(width: f64) -> Self {
        Self { width, height: 0.0, drawn: Vec::new() }
    }

    pub(crate) const fn width(&self) -> f64 {
        self.width
    }

    /// Pixels that are filled.
    pub(crate) const fn height(&self) -> f64 {
        self.height
    }

    pub(crate) fn drawn(&self) -> Markup {
        html! { @for one in &self.drawn { (one) } }
    }

    /// Nothing, so many pixels high.
    pub(crate) fn space(&mut self, height: f64) {
        self.height += height;
    }

    pub(crate) fn text(&mut self, look: Look, text: &str) {
        self.lines(look, 0.0, &look.lines(text, self.width));
    }

    /// Lines that begin so many pixels from the left.
    pub(crate) fn lines(&mut self, look: Look, left: f64, lines: &[String]) {
        for line in lines {
            self.line(look, |baseline| {
                html! {
                    text class=(look.class()) font-size=(px(look.size())) x=(px(left)) y=(px(baseline)) { (line) }
                }
            });
        }
    }

    /// The room of one line, and what is drawn there: its text stands on the baseline that `draw` is given.
    pub(crate) fn line(&mut self, look: Look, draw: impl FnOnce(f64) -> Markup) {
        let descent = 0.3 * look.size();
        self.drawn.push(draw(self.height + look.leading() - descent));
        self.height += look.leading();
    }

    /// A drawing that is as wide as the column. Its horizontal positions may be per cent.
    pub(crate) fn drawing(&mut self, class: &str, height: f64, drawn: &Markup) {
        self.drawn.push(html! {
            svg class=(class) x="0" y=(px(self.height)) width=(px(self.width)) height=(px(height)) overflow="visible" {
                (drawn)
            }
        });
        self.height += height;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_later_stands_lower() {
        let mut column = Column::new(100.0);
        column.text(Look::Note, "ratio to <a>, from zero, with an interval");
        let lines = column.height() / Look::Note.leading();
        assert!(lines >= 2.0, "{lines}");
        column.space(4.0);
        column.drawing("strip", 26.0, &html! { line x1="0" x2="100%" {} });
        assert!((column.height() - lines * 16.0 - 30.0).abs() < 1e-9);
        let drawn = column.drawn().0;
        assert!(drawn.contains("&lt;a&gt;"), "{drawn}");
        assert!(
            drawn.ends_with(
                r#"width="100" height="26" overflow="visible"><line x1="0" x2="100%"></line></svg>"#
            ),
            "{drawn}"
        );
    }
}
