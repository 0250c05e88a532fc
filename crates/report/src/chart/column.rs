//! What a picture is set in: drawings and lines of text, one below the other; where no browser tells how wide a text is.

use maud::{Markup, html};

use super::style::px;

/// How a text looks. The classes are those of `chart.css`; sizes are here, because lines are broken by them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    class: &'static str,
    /// Of its font, in pixels.
    pub(crate) size: f64,
    /// Pixels from one line to the next.
    pub(crate) leading: f64,
    /// How much wider its letters are than those of usual weight: bold ones are wider.
    weight: f64,
}

impl Look {
    pub(crate) const TITLE: Self = Self { class: "title", size: 18.0, leading: 24.0, weight: 1.15 };
    /// Names of systems, and what is said of them.
    pub(crate) const BODY: Self = Self { class: "body", size: 13.0, leading: 18.0, weight: 1.0 };
    pub(crate) const KEY: Self = Self { class: "key", weight: 1.15, ..Self::BODY };
    pub(crate) const NOTE: Self = Self { class: "note", size: 12.0, leading: 16.0, weight: 1.0 };
    pub(crate) const SOURCE: Self =
        Self { class: "source", size: 11.0, leading: 15.0, weight: 1.0 };

    pub(crate) fn width(self, text: &str) -> f64 {
        text_width(text, self.weight * self.size)
    }

    pub(crate) fn lines(self, text: &str, most: f64) -> Vec<String> {
        text_lines(text, self.weight * self.size, most)
    }
}

pub(crate) struct Column {
    pub(crate) width: f64,
    /// Pixels that are filled.
    pub(crate) height: f64,
    drawn: Vec<Markup>,
}

impl Column {
    pub(crate) const fn new(width: f64) -> Self {
        Self { width, height: 0.0, drawn: Vec::new() }
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
                html! { text class=(look.class) font-size=(px(look.size)) x=(px(left)) y=(px(baseline)) { (line) } }
            });
        }
    }

    /// The room of one line, and what is drawn there: its text stands on the baseline that `draw` is given.
    pub(crate) fn line(&mut self, look: Look, draw: impl FnOnce(f64) -> Markup) {
        let descent = 0.3 * look.size;
        self.drawn.push(draw(self.height + look.leading - descent));
        self.height += look.leading;
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

/// In pixels, rather too wide: the reader's font is not known, and what is cut cannot be read.
fn text_width(text: &str, size: f64) -> f64 {
    size * text.chars().map(em).sum::<f64>()
}

/// The lines of a text, none wider than `most` pixels. Words are broken only where one is wider than a line.
fn text_lines(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut text_lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0.0;
    for part in text.split_inclusive([' ', '/', '_', '-']) {
        let mut ends_before = taken + text_width(part.trim_end(), size) > most;
        for c in part.chars() {
            let wide = size * em(c);
            // A space may stand beyond the end of a line, where nobody sees it.
            if taken > 0.0 && (ends_before || (taken + wide > most && c != ' ')) {
                text_lines.push(std::mem::take(&mut line));
                taken = 0.0;
            }
            ends_before = false;
            line.push(c);
            taken += wide;
        }
    }
    text_lines.push(line);
    text_lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// The advance of a character in ems, as in the widest of the usual fonts without serifs.
fn em(c: char) -> f64 {
    match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' => 0.35,
        '(' | ')' | '[' | ']' | '{' | '}' | '!' | '"' | '/' | '-' | 'f' | 'r' | 't' | 'I' | 'J' => {
            0.46
        }
        'm' | 'M' | 'W' | '%' | '@' => 1.0,
        'a'..='v' | 'x'..='z' | '0'..='9' | '_' | '$' | '?' => 0.65,
        c if c.is_ascii() => 0.86,
        _ => 1.05,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_later_stands_lower() {
        let mut column = Column::new(100.0);
        column.text(Look::NOTE, "ratio to <a>, from zero, with an interval");
        let lines = column.height / Look::NOTE.leading;
        assert!(lines >= 2.0, "{lines}");
        column.space(4.0);
        column.drawing("strip", 26.0, &html! { line x1="0" x2="100%" {} });
        assert!((column.height - lines * 16.0 - 30.0).abs() < 1e-9);
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

#[cfg(test)]
mod tests_of_words {
    use super::*;

    #[test]
    fn wide_letters_count_more() {
        assert!(text_width("WWW", 10.0) > 2.0 * text_width("iii", 10.0));
        assert!((text_width("il", 10.0) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn lines_end_after_words_and_after_the_parts_of_names() {
        let broken = text_lines("mysql-8.0.31/innodb/z12a against the base", 10.0, 130.0);
        assert_eq!(broken, ["mysql-8.0.31/innodb/", "z12a against the base"]);
        assert!(broken.iter().all(|line| text_width(line, 10.0) <= 130.0));
        assert_eq!(text_lines("  short ", 10.0, 100.0), ["short"]);
        assert!(text_lines("", 10.0, 100.0).is_empty());
    }

    #[test]
    fn a_word_that_is_wider_than_a_line_is_broken_anywhere() {
        let broken = text_lines(&"x".repeat(30), 10.0, 66.0);
        assert_eq!(broken, ["x".repeat(10), "x".repeat(10), "x".repeat(10)]);
        // Narrower than any letter: one a line, and no endless loop.
        assert_eq!(text_lines("ab", 10.0, 1.0), ["a", "b"]);
    }
}
