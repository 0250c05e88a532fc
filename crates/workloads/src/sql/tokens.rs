//! A statement taken apart into words, as far as it takes to see which columns it reads and changes. What is
//! not understood here is left unchecked, never guessed.

use model::SqlPiece;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    Mark(char),
    Table,
    Draw(u32),
    /// Quoted text, a quoted name or a comment.
    Opaque,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own.eq_ignore_ascii_case(word))
    }
}

pub(super) fn tokens(pieces: &[SqlPiece]) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for piece in pieces {
        match piece {
            SqlPiece::Table => tokens.push(Token::Table),
            SqlPiece::Draw(draw) => tokens.push(Token::Draw(*draw)),
            SqlPiece::Text(text) => of_text(text, &mut tokens),
        }
    }
    tokens
}

fn of_text<'a>(text: &'a str, tokens: &mut Vec<Token<'a>>) {
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        let (token, length) = match first {
            '0'..='9' => {
                let length = span(rest, |c| c.is_ascii_digit() || c == '.');
                (Token::Number(&rest[..length]), length)
            }
            _ if is_word(first) => {
                let length = span(rest, is_word);
                (Token::Word(&rest[..length]), length)
            }
            '\'' | '"' | '`' => {
                let end = rest[1..].find(first).map(|at| at + 2);
                (Token::Opaque, end.unwrap_or(rest.len()))
            }
            _ if rest.starts_with("--") || rest.starts_with("/*") => (Token::Opaque, rest.len()),
            mark => (Token::Mark(mark), mark.len_utf8()),
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
}

/// Bytes of the characters that `belongs` holds for.
fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::tests::fixture::texts;

    #[test]
    fn a_statement_is_taken_apart() {
        let texts = texts("UPDATE {} SET k=k + 1, c = 'a,b' WHERE t.id = :0");
        let expected = [
            Token::Word("UPDATE"),
            Token::Table,
            Token::Word("SET"),
            Token::Word("k"),
            Token::Mark('='),
            Token::Word("k"),
            Token::Mark('+'),
            Token::Number("1"),
            Token::Mark(','),
            Token::Word("c"),
            Token::Mark('='),
            Token::Opaque,
            Token::Word("WHERE"),
            Token::Word("t.id"),
            Token::Mark('='),
            Token::Draw(0),
        ];
        assert_eq!(tokens(&texts.mysql), expected);
    }

    #[test]
    fn what_is_hidden_in_quotes_and_comments_is_not_looked_into() {
        let of = |text: &str| tokens(&[SqlPiece::Text(text.to_owned())]).len();
        assert_eq!(of("'ä; SET c = 1"), 1);
        assert_eq!(of("k -- SET c = 1"), 2);
        assert_eq!(of("k /* , c */"), 2);
        assert_eq!(of(""), 0);
    }
}
