//! A file to import, its lines, the numbers in them, and what is wrong with them.

use model::is_unseen;

const LONGEST_QUOTE: usize = 40;
const LONGEST_NAME: usize = 200;
const MOST_COUNTED: u64 = 1_000_000;

/// A file that cannot be imported: which, where in it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {what}")]
pub struct ImportError {
    pub origin: String,
    /// The line, from 1; where something is missing, the last one.
    pub line: usize,
    pub what: String,
}

pub(crate) type Result<T, E = ImportError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub origin: String,
    pub text: String,
}

impl File {
    /// The last part of its path, without the `.gz` of what was packed.
    pub fn name(&self) -> &str {
        Self::name_of(&self.origin)
    }

    pub(crate) fn name_of(path: &str) -> &str {
        let path = path.trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".gz").unwrap_or(name)
    }

    /// The clients that its path states: `dop40/qps.abs`, `o.met.dop8`, `8u.1tno/mrg.l.i0`; `None` where it states none,
    /// or different ones.
    pub(crate) fn clients_of_path(path: &str) -> Option<u32> {
        let number = |part: &str| {
            let digits = part.strip_prefix("dop").or_else(|| part.strip_suffix('u'))?;
            let clients = digits.parse().ok()?;
            (1..=MOST_COUNTED).contains(&clients).then_some(clients)
        };
        let mut stated = path.split(['/', '.']).filter_map(number);
        let first = stated.next()?;
        u32::try_from(first).ok().filter(|_| stated.all(|other| other == first))
    }

    /// Its lines, without their ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = FileLine<'_>> {
        self.text.lines().zip(1..).map(|(text, number)| FileLine {
            origin: &self.origin,
            number,
            text,
        })
    }

    /// The place of what is missing: its last line.
    pub(crate) fn end(&self) -> FileLine<'_> {
        self.lines().last().unwrap_or(FileLine::at(&self.origin, 1))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLine<'a> {
    pub(crate) origin: &'a str,
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

impl<'a> FileLine<'a> {
    /// A place of which the text does not matter.
    pub(crate) const fn at(origin: &'a str, number: usize) -> Self {
        Self { origin, number, text: "" }
    }

    pub(crate) fn wrong(&self, what: impl Into<String>) -> ImportError {
        ImportError { origin: self.origin.to_owned(), line: self.number, what: what.into() }
    }

    /// A name as plans have it: it is printed in tables and used in paths, so all of it can be seen.
    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        let quoted = quote(name);
        if name.chars().any(is_unseen) {
            return Err(self.wrong(format!("a name has no invisible characters, not {quoted}")));
        }
        if name.chars().nth(LONGEST_NAME).is_some() {
            let what =
                format!("a name has at most {LONGEST_NAME} characters, not as many as {quoted}");
            return Err(self.wrong(what));
        }
        Ok(())
    }

    /// An error unless there are as many fields as columns; `columns` says which these are.
    pub(crate) fn expect_fields(&self, need: usize, columns: &str, found: usize) -> Result<()> {
        if need == found {
            return Ok(());
        }
        Err(self.wrong(format!("{need} fields belong here{columns}, not {found}")))
    }

    pub(crate) fn empty(&self, column: &str) -> ImportError {
        self.wrong(format!("the field {} is empty", quote(column)))
    }

    /// A number that is finite and not negative; `what` is its name.
    pub(crate) fn number(&self, what: &str, field: &str) -> Result<f64> {
        let value = field.trim().parse::<f64>().ok();
        value.filter(|v| v.is_finite() && v.is_sign_positive()).ok_or_else(|| {
            let field = quote(field);
            self.wrong(format!("{what} must be a number from zero up, not {field}"))
        })
    }

    pub(crate) fn whole(&self, what: &str, field: &str) -> Result<u64> {
        field.trim().parse().map_err(|_| {
            let field = quote(field);
            self.wrong(format!("{what} must be a whole number from zero up, not {field}"))
        })
    }

    /// A count of clients, rounds or CPUs: from 1, and not absurd.
    pub(crate) fn count(&self, what: &str, field: &str) -> Result<u32> {
        let value = self.whole(what, field)?;
        u32::try_from(value).ok().filter(|_| (1..=MOST_COUNTED).contains(&value)).ok_or_else(|| {
            self.wrong(format!("{what} must be from 1 to {MOST_COUNTED}, not {value}"))
        })
    }
}

/// The values after these labels, `P99: 4.1ms`: each label as it stands and as metrics call it, and its value.
pub(crate) fn labelled<'a>(
    text: &'a str,
    labels: &'a [(&str, &str)],
) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    let words = text.split_whitespace();
    words.clone().zip(words.skip(1)).filter_map(|(label, value)| {
        let (_, metric) = labels.iter().find(|(known, _)| *known == label)?;
        Some((label, *metric, value))
    })
}

/// A field as errors repeat it: between backticks, shortened, without what a terminal would obey.
pub(crate) fn quote(field: &str) -> String {
    let shown = |c: char| if is_unseen(c) { c.escape_default().to_string() } else { c.to_string() };
    let begins: String = field.chars().take(LONGEST_QUOTE).map(shown).collect();
    let more = if field.chars().nth(LONGEST_QUOTE).is_some() { "…" } else { "" };
    format!("`{begins}{more}`")
}

#[cfg(test)]
pub(crate) fn file(origin: &str, text: &str) -> File {
    File { origin: origin.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_name_file_and_line() {
        let file = file("dir/a.txt", "one\r\ntwo");
        let end = file.end();
        assert_eq!((file.name(), end.text), ("a.txt", "two"));
        for field in ["NaN", "inf", "-1", "", "1,5", "0x10"] {
            let error = end.number("the rate", field).unwrap_err().to_string();
            assert!(error.starts_with("dir/a.txt:2: the rate must"), "{error}");
        }
        assert_eq!(end.number("the rate", " 1.5 "), Ok(1.5));
        assert!(end.count("clients", "0").is_err());
        assert!(end.count("clients", "99999999999").is_err());
        assert_eq!(quote(&"x".repeat(50)).chars().count(), 43);
        assert_eq!(quote(&"ü".repeat(40)), format!("`{}`", "ü".repeat(40)));
    }

    #[test]
    fn paths_state_clients() {
        for (path, clients) in [
            ("mar25/dop40/qps.abs.in.tsv", Some(40)),
            ("o.met.cached.all.dop1", Some(1)),
            ("dop8/o.met.dop8", Some(8)),
            ("dop8/o.met.dop40", None),
            ("8u.1tno/20m.my5649.cx6d/mrg.l.i0", Some(8)),
            ("dop0/qps.abs", None),
            ("doping/menu.tsv", None),
            ("qps.abs", None),
        ] {
            assert_eq!(File::clients_of_path(path), clients, "{path}");
        }
    }

    #[test]
    fn invisible_characters_are_refused_in_names_and_shown_escaped() {
        let file = file("a.csv", "one");
        for (name, quoted) in [
            ("a\u{1b}[31m", "`a\\u{1b}[31m`"),
            ("a\nb", "`a\\nb`"),
            ("\u{7f}", "`\\u{7f}`"),
            ("\u{9b}2J", "`\\u{9b}2J`"),
            ("pg\u{200b}18", "`pg\\u{200b}18`"),
            ("\u{202e}81gp", "`\\u{202e}81gp`"),
        ] {
            assert_eq!(quote(name), quoted);
            let error = file.end().check_name(name).unwrap_err();
            assert!(error.what.ends_with(quoted), "{error}");
        }
        assert_eq!(file.end().check_name("mysql-9.7.4/<b>\"ü\", 2"), Ok(()));
        assert_eq!(file.end().check_name(&"ü".repeat(200)), Ok(()));
        assert!(file.end().check_name(&"x".repeat(201)).is_err());
    }

    #[test]
    fn an_empty_file_ends_at_its_first_line() {
        assert_eq!(file("e", "").end().number, 1);
    }
}
