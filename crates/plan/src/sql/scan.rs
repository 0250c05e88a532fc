//! Reading the text of a statement: where values and the table stand, and what it does.

use model::{Dialect, Verb};

/// Stands for the chosen copy of the table, as text and among words.
pub(crate) const TABLE: &str = "{table}";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Table,
    Draw(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    /// Its words outside of texts and comments, each with the parentheses around it.
    pub(crate) words: Vec<(String, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A quote or comment that has no end; how it begins.
    Open(&'static str),
    /// Braces around something else than `table`.
    Braces(String),
    Placeholder,
    Several,
}

/// Takes a text apart. Texts in quotes and comments stay as they are.
pub(crate) fn scan(text: &str, dialect: Dialect) -> Result<Scanned<'_>, Flaw> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let mut scanner =
        Scanner { text, dialect, at: 0, begun: 0, depth: 0, parts: Vec::new(), words: Vec::new() };
    while scanner.at < text.len() {
        scanner.step()?;
    }
    scanner.end_text(text.len());
    Ok(Scanned { parts: scanner.parts, words: scanner.words })
}

struct Scanner<'a> {
    text: &'a str,
    dialect: Dialect,
    /// Where the scanner stands; always between two characters.
    at: usize,
    /// Where the text that is no part yet begins.
    begun: usize,
    depth: u32,
    parts: Vec<Part<'a>>,
    words: Vec<(String, u32)>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// One quote, comment, word or other character.
    fn step(&mut self) -> Result<(), Flaw> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(()) };
        match first {
            '\'' => self.quoted('\'', "'")?,
            '"' => self.quoted('"', "\"")?,
            '`' => self.quoted('`', "`")?,
            '-' if self.begins_comment() => self.skip_line(),
            '#' if self.dialect == Dialect::Mysql => self.skip_line(),
            '/' if rest.starts_with("/*") => self.skip_past("*/", 2, "/*")?,
            '$' if self.dialect == Dialect::Postgres => self.dollar()?,
            '?' if self.dialect != Dialect::Postgres => return Err(Flaw::Placeholder),
            ':' => self.colon(),
            '{' => self.braces()?,
            ';' => return Err(Flaw::Several),
            _ if is_word(first) => self.word(),
            _ => self.pass(first),
        }
        Ok(())
    }

    /// A character without a meaning here, or a parenthesis.
    fn pass(&mut self, character: char) {
        self.at += character.len_utf8();
        match character {
            '(' => self.depth += 1,
            ')' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Two hyphens; MySQL wants a space after them, because `5--3` is a difference.
    fn begins_comment(&self) -> bool {
        let Some(after) = self.rest().strip_prefix("--") else { return false };
        self.dialect != Dialect::Mysql || after.is_empty() || after.starts_with(char::is_whitespace)
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Goes past `end`, which is looked for after so many bytes.
    fn skip_past(&mut self, end: &str, after: usize, begin: &'static str) -> Result<(), Flaw> {
        let found = self.rest().get(after..).and_then(|rest| rest.find(end));
        let found = found.ok_or(Flaw::Open(begin))?;
        self.at += after + found + end.len();
        Ok(())
    }

    /// A text, or a name in quotes, which counts as a word. A quote written twice reads as two texts in a row.
    fn quoted(&mut self, quote: char, begin: &'static str) -> Result<(), Flaw> {
        let is_text = quote == '\'' || (quote == '"' && self.dialect == Dialect::Mysql);
        let escapes = is_text && self.has_escapes();
        let inner = &self.rest()[1..];
        let mut is_escaped = false;
        for (at, character) in inner.char_indices() {
            if is_escaped {
                is_escaped = false;
            } else if escapes && character == '\\' {
                is_escaped = true;
            } else if character == quote {
                if !is_text {
                    self.words.push((inner[..at].to_owned(), self.depth));
                }
                self.at += at + 2;
                return Ok(());
            }
        }
        Err(Flaw::Open(begin))
    }

    /// Does a backslash protect the character after it? In MySQL always, in PostgreSQL in `E'…'`.
    fn has_escapes(&self) -> bool {
        match self.dialect {
            Dialect::Mysql => true,
            Dialect::Postgres => {
                let before = self.text[..self.at].strip_suffix(['e', 'E']);
                before.is_some_and(|before| !before.ends_with(is_word))
            }
            Dialect::Sqlite => false,
        }
    }

    /// PostgreSQL's `$1`, which is ours to write, and its texts between `$tag$`.
    fn dollar(&mut self) -> Result<(), Flaw> {
        let inner = &self.rest()[1..];
        let tag = inner.find(|c| !is_word(c)).unwrap_or(inner.len());
        if inner.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Flaw::Placeholder);
        }
        if !inner[tag..].starts_with('$') {
            self.pass('$');
            return Ok(());
        }
        let end = self.rest()[..tag + 2].to_owned();
        self.skip_past(&end, end.len(), "$")
    }

    /// `:name`, unless it is a cast: `::type`.
    fn colon(&mut self) {
        let rest = self.rest();
        let name = &rest[1..];
        let name = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
        if rest.starts_with("::") {
            self.at += 2;
        } else if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.part(Part::Draw(name), name.len() + 1);
        } else {
            self.pass(':');
        }
    }

    fn braces(&mut self) -> Result<(), Flaw> {
        if self.rest().starts_with(TABLE) {
            self.words.push((TABLE.to_owned(), self.depth));
            self.part(Part::Table, TABLE.len());
            return Ok(());
        }
        let rest = self.rest();
        let end = rest.find('}').map_or(rest.len(), |at| at + 1);
        Err(Flaw::Braces(rest[..end].to_owned()))
    }

    fn word(&mut self) {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        self.words.push((word.to_owned(), self.depth));
        self.at += word.len();
    }

    /// Ends the text before, and adds a part of so many bytes.
    fn part(&mut self, part: Part<'a>, length: usize) {
        self.end_text(self.at);
        self.parts.push(part);
        self.at += length;
        self.begun = self.at;
    }

    fn end_text(&mut self, end: usize) {
        if self.begun < end {
            self.parts.push(Part::Text(&self.text[self.begun..end]));
        }
    }
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const OF_TRANSACTIONS: [&str; 8] =
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"];

impl Scanned<'_> {
    fn has(&self, wanted: &str) -> bool {
        self.words.iter().any(|(word, _)| word.eq_ignore_ascii_case(wanted))
    }

    /// What it does to rows. After `WITH` the first word outside of parentheses decides.
    pub(crate) fn verb(&self) -> Verb {
        let is_with = |word: &str| word.eq_ignore_ascii_case("with");
        let mut words = self.words.iter();
        let Some((first, _)) = words.next() else { return Verb::Other };
        if !is_with(first) {
            return verb_of(first).unwrap_or(Verb::Other);
        }
        words
            .filter(|(_, depth)| *depth == 0)
            .find_map(|(word, _)| verb_of(word))
            .unwrap_or(Verb::Other)
    }

    /// The word, where it is one that begins or ends a transaction.
    pub(crate) fn of_transaction(&self) -> Option<&str> {
        let (first, _) = self.words.first()?;
        let is_first = |word: &&str| word.eq_ignore_ascii_case(first);
        OF_TRANSACTIONS.iter().find(|word| is_first(word)).copied()
    }

    /// May an INSERT change or replace rows that are there already?
    pub(crate) fn is_upsert(&self) -> bool {
        self.has("duplicate") || self.has("replace") || (self.has("conflict") && self.has("update"))
    }

    /// The table that rows are added to or removed from: what stands after INTO or FROM.
    pub(crate) fn target(&self, verb: Verb) -> Option<&str> {
        let before = match verb {
            Verb::Insert => "into",
            Verb::Delete => "from",
            Verb::Select | Verb::Update | Verb::Other => return None,
        };
        let at = self.words.iter().position(|(word, _)| word.eq_ignore_ascii_case(before))?;
        self.words.get(at + 1).map(|(word, _)| word.as_str())
    }
}

fn verb_of(word: &str) -> Option<Verb> {
    match word.to_ascii_uppercase().as_str() {
        "SELECT" | "VALUES" | "TABLE" | "SHOW" => Some(Verb::Select),
        "INSERT" | "REPLACE" => Some(Verb::Insert),
        "UPDATE" => Some(Verb::Update),
        "DELETE" => Some(Verb::Delete),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

    /// The names of the draws and tables in a text.
    fn marks(text: &str, dialect: Dialect) -> String {
        let scanned = match scan(text, dialect) {
            Ok(scanned) => scanned,
            Err(flaw) => return format!("{flaw:?}"),
        };
        let marks = scanned.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Table => Some("{}"),
            Part::Draw(name) => Some(name),
        });
        marks.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn draws_and_tables_stand_outside_of_quotes_and_comments() {
        let everywhere = [
            ("SELECT c FROM {table} WHERE id = :id", "{} id"),
            ("a=:a,b=:b_2)", "a b_2"),
            ("':a' || :b || 'it''s :c'", "b"),
            ("SELECT 1 -- :a\n, :b", "b"),
            ("SELECT /* :a {x} ; ? */ :b", "b"),
            ("x::int, y[1:2], :a", "a"),
            ("`:a {x}` \"{table}\" :b", "b"),
            ("'é' || :a || 'é'", "a"),
            ("SELECT :a;", "a"),
        ];
        for (text, expected) in everywhere {
            for dialect in ALL {
                assert_eq!(marks(text, dialect), expected, "{dialect:?} {text}");
            }
        }
    }

    #[test]
    fn each_dialect_has_quotes_of_its_own() {
        let [mysql, postgres, sqlite] = ALL;
        assert_eq!(marks(r"'it\'s :a' :b", mysql), "b");
        assert_eq!(marks(r"'\' :a", sqlite), "a");
        assert_eq!(marks(r"E'it\'s :a' :b", postgres), "b");
        assert_eq!(marks("$$ :a $$ :b", postgres), "b");
        assert_eq!(marks("$x$ :a $$ $x$ :b", postgres), "b");
        assert_eq!(marks("5--:a", mysql), "a");
        assert_eq!(marks("5--:a", postgres), "");
        assert_eq!(marks("1 # :a", mysql), "");
        assert_eq!(marks("a #> :a", postgres), "a");
        assert_eq!(marks("a ? :a", postgres), "a");
    }

    #[test]
    fn what_is_no_statement_is_told() {
        let [mysql, postgres, sqlite] = ALL;
        assert_eq!(marks("SELECT 'a", mysql), "Open(\"'\")");
        assert_eq!(marks("SELECT /* a", sqlite), "Open(\"/*\")");
        assert_eq!(marks("SELECT $a$ x", postgres), "Open(\"$\")");
        assert_eq!(marks("FROM {tabel} x", mysql), "Braces(\"{tabel}\")");
        assert_eq!(marks("FROM {", mysql), "Braces(\"{\")");
        assert_eq!(marks("id = ?", mysql), "Placeholder");
        assert_eq!(marks("id = $1", postgres), "Placeholder");
        assert_eq!(marks("SELECT 1; SELECT 2", mysql), "Several");
    }

    fn scanned(text: &str) -> Scanned<'_> {
        scan(text, Dialect::Postgres).unwrap()
    }

    #[test]
    fn the_first_word_says_what_it_does() {
        let table = [
            ("select 1", Verb::Select),
            ("(SELECT 1) UNION (SELECT 2)", Verb::Select),
            ("/* x */ Insert INTO t VALUES (1)", Verb::Insert),
            ("WITH a AS (SELECT 1) DELETE FROM t", Verb::Delete),
            ("with a as (delete from t returning id) select 1", Verb::Select),
            ("UPDATE t SET a = 1", Verb::Update),
            ("CALL p()", Verb::Other),
            ("", Verb::Other),
        ];
        for (text, verb) in table {
            assert_eq!(scanned(text).verb(), verb, "{text}");
        }
        assert_eq!(scanned("begin work").of_transaction(), Some("BEGIN"));
        assert_eq!(scanned("SELECT 1").of_transaction(), None);
    }

    #[test]
    fn rows_are_added_to_and_removed_from_a_table() {
        let target = |text: &str| {
            let scanned = scan(text, Dialect::Mysql).unwrap();
            scanned.target(scanned.verb()).map(str::to_owned)
        };
        assert_eq!(target("INSERT INTO {table} (a) VALUES (1)").unwrap(), TABLE);
        assert_eq!(target("INSERT IGNORE INTO `h` VALUES (1)").unwrap(), "h");
        assert_eq!(target("DELETE FROM h WHERE id = 1").unwrap(), "h");
        assert_eq!(target("UPDATE h SET a = 1"), None);
        assert!(
            scanned("INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1").is_upsert()
        );
        assert!(!scanned("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING").is_upsert());
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "[a-z :'\"`{}$?;#é\\\\/*-]{0,40}") {
            for dialect in ALL {
                if let Ok(scanned) = scan(&text, dialect) {
                    let whole: String = scanned.parts.iter().map(|part| match part {
                        Part::Text(text) => (*text).to_owned(),
                        Part::Table => TABLE.to_owned(),
                        Part::Draw(name) => format!(":{name}"),
                    }).collect();
                    prop_assert_eq!(whole, text.trim().trim_end_matches(';').trim_end());
                }
            }
        }
    }
}
