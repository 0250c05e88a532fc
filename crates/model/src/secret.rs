//! Hides passwords, keys and tokens in servers' variables and status.
//!
//! A listing of variables or statements may carry the credentials of its server: a standby's connection
//! string, a command with a key, a `CREATE USER`. They are hidden by the variable's name and by the shape of
//! the text. In doubt more is hidden than necessary.

use crate::Capture;

pub const HIDDEN: &str = "(hidden)";

/// Variables that are hidden whole: commands and connection strings, which carry secrets in any shape.
const SECRET_VARIABLES: &str = "archive_cleanup_command archive_command primary_conninfo recovery_end_command \
     restore_command ssl_passphrase_command wsrep_notify_cmd";

/// Ends of names that stand for a secret, without the `_`, `-` and `.` within.
const SECRET_NAMES: &str = "accesskey accountkey apikey authorization conninfo credential credentials encryptionkey \
     filekey passphrase passwd password privatekey pwd salt secret secretkey sharedaccesssignature sstauth token";

/// Values that say whether there is a secret, and are none.
const PLAIN_VALUES: &[&str] =
    &["", "(disabled)", "disabled", "false", "no", "none", "null", "off", "on", "true", "yes"];

/// Bytes of an address, about. Longer texts without a blank are lists, and are not searched again and again.
const LONGEST_ADDRESS: usize = 2_048;

/// Quotes around values, those first whose beginning looks like another's: within a quoted text they are doubled or
/// escaped.
const QUOTES: [&str; 5] = ["''", "\\\"", "'", "\"", "`"];

impl Capture {
    /// The same without secrets; twice changes nothing more. The first column is a name, the second its value.
    #[must_use]
    pub fn without_secrets(mut self) -> Self {
        for row in &mut self.rows {
            let name = row.first().cloned().flatten().unwrap_or_default();
            if let Some(Some(value)) = row.get_mut(1)
                && is_secret_variable(&name)
                && !is_plain(value)
            {
                HIDDEN.clone_into(value);
            }
            for text in row.iter_mut().flatten() {
                *text = hide_secrets(text);
            }
        }
        self
    }
}

/// The text with [`HIDDEN`] for what looks like a secret: values of `password=…`, passwords in addresses, private keys.
pub fn hide_secrets(text: &str) -> String {
    let text = hide_private_keys(text);
    let mut scanner =
        Scanner { rest: &text, out: String::with_capacity(text.len()), identified: false };
    while !scanner.rest.is_empty() {
        scanner.step();
    }
    scanner.out
}

fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Counters of statements: `Com_set_password`.
    !name.starts_with("com_")
        && (SECRET_VARIABLES.split_whitespace().any(|known| known == name) || is_secret_name(&name))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.trim_end_matches(['_', '-', '.']);
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | '.'));
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    SECRET_NAMES.split_whitespace().any(|end| name.ends_with(end))
}

fn is_plain(value: &str) -> bool {
    let value = value.trim().trim_end_matches([',', ';', '}']);
    PLAIN_VALUES.contains(&value.to_ascii_lowercase().as_str()) || value == HIDDEN
}

fn hide_private_keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "PRIVATE KEY-----";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let line = block.find('\n').unwrap_or(block.len());
        if let Some(at) = block[..line].find(END) {
            let body = &block[at + END.len()..];
            out.extend([before, HIDDEN]);
            rest = body.split_once(END).map_or("", |(_, after)| after);
        } else {
            out.extend([before, BEGIN]);
            rest = block;
        }
    }
    out + rest
}

struct Scanner<'a> {
    rest: &'a str,
    out: String,
    /// Is this the part of a statement that says how a user is identified?
    identified: bool,
}

impl Scanner<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("://") {
            return self.address();
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let word = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        if word > 0 {
            return self.word(word);
        }
        if self.identified && self.rest.starts_with(['\'', '"']) {
            return self.hide_value();
        }
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let is_over = self.rest.starts_with([',', ';'])
            || self.rest.starts_with('\n') && !self.awaits_a_value();
        self.identified &= !is_over;
        self.copy(first);
    }

    /// Has a statement said only so far that a secret follows, as in `IDENTIFIED BY`?
    fn awaits_a_value(&self) -> bool {
        let last = self.out.trim_end().rsplit(char::is_whitespace).next();
        last.is_some_and(|last| {
            let is = |word: &str| last.eq_ignore_ascii_case(word);
            is("by") || is("as") || is("identified")
        })
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// Puts [`HIDDEN`] in place of the next bytes, between `quotes`.
    fn hide(&mut self, length: usize, quotes: &str) {
        self.out.extend([quotes, HIDDEN, quotes]);
        self.rest = &self.rest[length..];
    }

    /// `://user:password@host`. The password may hold every character that no address can. To a web server the user is
    /// hidden too, because there it may be a token.
    fn address(&mut self) {
        let ends_with = |scheme: &str| {
            let from = self.out.len().saturating_sub(scheme.len());
            self.out.get(from..).is_some_and(|end| end.eq_ignore_ascii_case(scheme))
        };
        let is_web = ends_with("http") || ends_with("https");
        self.copy("://".len());
        let is_end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"');
        let end = self.rest.char_indices().find(|(at, c)| *at >= LONGEST_ADDRESS || is_end(*c));
        let address = &self.rest[..end.map_or(self.rest.len(), |(at, _)| at)];
        let Some((login, _)) = address.rsplit_once('@') else { return };
        match login.split_once(':') {
            Some(_) if is_web => self.hide(login.len(), ""),
            Some((user, password)) if !password.is_empty() => {
                self.copy(user.len() + 1);
                self.hide(password.len(), "");
            }
            None if is_web && !login.is_empty() && !login.contains(['/', '?', '#']) => {
                self.hide(login.len(), "");
            }
            _ => {}
        }
    }

    fn word(&mut self, length: usize) {
        let word = &self.rest[..length];
        if self.identified && word.starts_with("0x") {
            return self.hide(length, "");
        }
        self.copy(length);
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        let of_user = || self.rest.trim_start().get(..4).map(str::to_ascii_lowercase);
        self.identified |=
            is("identified") || is("password") && of_user().as_deref() == Some("for ");
        if !is_secret_name(word) {
            return;
        }
        if let Some(gap) = gap(self.rest, word) {
            self.copy(gap);
            if word.to_ascii_lowercase().ends_with("authorization") {
                let end = self.rest.find(['\'', '"', '\n']).unwrap_or(self.rest.len());
                if end > 0 {
                    self.hide(end, "");
                    return;
                }
            }
            self.hide_value();
        }
    }

    fn hide_value(&mut self) {
        for quotes in QUOTES {
            if let Some(inner) = self.rest.strip_prefix(quotes)
                && opens(quotes, inner)
            {
                let (value, length) = quoted(inner, quotes);
                return if is_plain(value) {
                    self.copy(quotes.len() + length);
                } else {
                    self.hide(quotes.len() + length, quotes);
                };
            }
        }
        let length = bare(self.rest);
        if is_plain(&self.rest[..length]) {
            self.copy(length);
        } else {
            self.hide(length, "");
        }
    }
}

/// The bytes between a secret's name and its value; `None` where no value follows.
fn gap(after: &str, word: &str) -> Option<usize> {
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let is_quoted = |text: &str| QUOTES.iter().any(|quotes| text.starts_with(quotes));
    if after.starts_with("://") {
        return None;
    }
    // The end of a quoted name.
    let mut gap = ["\\\"", "\"", "'", "`", "]"]
        .iter()
        .find(|quote| after.starts_with(**quote))
        .map_or(0, |quote| quote.len());
    let space = blanks(&after[gap..]);
    gap += space;
    let rest = &after[gap..];
    if rest.starts_with([':', '=']) {
        // `:=` and `=>`, unless the second sign begins the value.
        let after = rest.strip_prefix(":=").or_else(|| rest.strip_prefix("=>"));
        let is_long = after.is_some_and(|after| blanks(after) > 0 || is_quoted(after));
        let sign = if is_long { 2 } else { 1 };
        return Some(gap + sign + blanks(&rest[sign..]));
    }
    if let Some(inner) = rest.strip_prefix('(') {
        let skipped = blanks(inner);
        return is_quoted(&inner[skipped..]).then_some(gap + 1 + skipped);
    }
    // `PASSWORD 'x'`, on two lines too, and `--password x`.
    let lines = rest.len() - rest.trim_start().len();
    let quoted = is_quoted(&rest[lines..]) && space + lines > 0;
    if quoted {
        return Some(gap + lines);
    }
    (space > 0 && word.starts_with("--")).then_some(gap)
}

fn opens(quotes: &str, inner: &str) -> bool {
    match quotes {
        // An empty value, unless something follows at once.
        "''" => inner
            .chars()
            .next()
            .is_some_and(|c| !c.is_whitespace() && !matches!(c, ',' | ';' | ')' | '\'')),
        "\\\"" => inner.contains(quotes),
        _ => true,
    }
}

/// A value up to its closing quotes, and the bytes up to there. A backslash escapes; doubled quotes are part of it.
fn quoted<'a>(inner: &'a str, quotes: &str) -> (&'a str, usize) {
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        if let Some(after) = rest.strip_prefix(quotes) {
            if quotes.len() > 1 || !after.starts_with(quotes) {
                return (&inner[..at], at + quotes.len());
            }
            at += 2 * quotes.len();
        } else {
            at += escaped(rest);
        }
    }
    (inner, inner.len())
}

/// The bytes of a value without quotes: up to the first blank that is neither escaped nor quoted on its line.
fn bare(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next().filter(|c| !c.is_whitespace()) {
        let rest = &text[at + c.len_utf8()..];
        let end = matches!(c, '\'' | '"').then(|| rest.find([c, '\n'])).flatten();
        at += match end {
            Some(end) if rest[end..].starts_with(c) => end + 2,
            _ => escaped(&text[at..]),
        };
    }
    at
}

/// The bytes of the first character, with the one that it escapes.
fn escaped(text: &str) -> usize {
    let mut chars = text.chars();
    let first = chars.next().map_or(0, char::len_utf8);
    match (text.starts_with('\\'), chars.next()) {
        (true, Some(second)) => first + second.len_utf8(),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(name: &str, value: &str) -> Vec<Option<String>> {
        vec![Some(name.to_owned()), Some(value.to_owned()), None]
    }

    fn value(name: &str, text: &str) -> String {
        let capture = Capture {
            name: "variables".to_owned(),
            columns: Vec::new(),
            rows: vec![row(name, text)],
        };
        capture.without_secrets().rows[0][1].clone().unwrap()
    }

    #[test]
    fn variables_are_hidden_by_their_names() {
        for (name, text) in [
            ("primary_conninfo", "user=repl password=s3cret host=h"),
            ("archive_command", "aws s3 cp %p s3://b/%f --sse-c-key s3cret"),
            ("restore_command", "mysql -ps3cret"),
            ("ssl_passphrase_command", "echo s3cret"),
            ("report_password", "12345"),
            ("app.jwt_secret", "s3cret"),
            ("wsrep_sst_auth", "sst:s3cret"),
            ("hashicorp_key_management_token", "s3cret"),
            ("file_key_management_filekey", "s3cret"),
        ] {
            assert_eq!(value(name, text), HIDDEN, "{name}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for (name, text) in [
            ("archive_command", "(disabled)"),
            ("primary_conninfo", ""),
            ("password_encryption", "scram-sha-256"),
            ("default_authentication_plugin", "caching_sha2_password"),
            ("disconnect_on_expired_password", "ON"),
            ("validate_password.length", "8"),
            ("Com_set_password", "3"),
            ("ssl_key", "/etc/server.key"),
            ("innodb_buffer_pool_size", "134217728"),
            ("search_path", "\"$user\", public"),
            ("secure_file_priv", "/var/lib/x"),
            ("token_bucket", "a=b"),
            ("x", "the password is unknown"),
            ("x", "http://[::1]:8080/a@b"),
        ] {
            let expected = match text {
                // In doubt more is hidden than necessary.
                "http://[::1]:8080/a@b" => "http://(hidden)@b",
                plain => plain,
            };
            assert_eq!(value(name, text), expected, "{name}");
        }
    }

    #[test]
    fn shapes_of_secrets() {
        let table = [
            ("host=h password=a\\ b user=u", "host=h password=(hidden) user=u"),
            ("password = 'a\\'b c' x=1", "password = '(hidden)' x=1"),
            ("primary_conninfo = 'user=u password=''a b'' x=1'", "primary_conninfo = '(hidden)'"),
            ("c = 'user=u password=''a b'' x=1'", "c = 'user=u password=''(hidden)'' x=1'"),
            ("password='' user=u", "password='' user=u"),
            ("postgres://u:p/w@d@host/db", "postgres://u:(hidden)@host/db"),
            ("redis://:pw@host", "redis://:(hidden)@host"),
            ("postgres://user@host", "postgres://user@host"),
            ("https://ghp_x1@host/r.git", "https://(hidden)@host/r.git"),
            (
                "git clone git+HTTPS://ghp_x1:x-oauth-basic@host",
                "git clone git+HTTPS://(hidden)@host",
            ),
            ("http://ghp_x1:@host", "http://(hidden)@host"),
            ("https://host/@user https://host/?a=b@c", "https://host/@user https://host/?a=b@c"),
            ("\"password\"=>\"x y\", a := 'b c'", "\"password\"=>\"(hidden)\", a := 'b c'"),
            ("token := 'b c'", "token := '(hidden)'"),
            ("x --password=pw y", "x --password=(hidden) y"),
            ("x --password pw y", "x --password (hidden) y"),
            ("PGPASSWORD=pw cp", "PGPASSWORD=(hidden) cp"),
            ("AWS_SECRET_ACCESS_KEY=a+/b cp", "AWS_SECRET_ACCESS_KEY=(hidden) cp"),
            ("{\"api_key\" : \"a b\", \"n\": 1}", "{\"api_key\" : \"(hidden)\", \"n\": 1}"),
            ("{\\\"token\\\": \\\"a b\\\"}", "{\\\"token\\\": \\\"(hidden)\\\"}"),
            ("-H 'Authorization: Bearer a.b c'", "-H 'Authorization: (hidden)'"),
            (
                "CREATE USER 'a'@'h' IDENTIFIED WITH p AS 'x', 'b' IDENTIFIED BY \"y\"; SELECT 'z'",
                "CREATE USER 'a'@'h' IDENTIFIED WITH p AS '(hidden)', 'b' IDENTIFIED BY \"(hidden)\"; SELECT 'z'",
            ),
            ("IDENTIFIED WITH p AS 0x2441", "IDENTIFIED WITH p AS (hidden)"),
            ("ALTER ROLE r PASSWORD 'x''y'", "ALTER ROLE r PASSWORD '(hidden)'"),
            ("SET PASSWORD = PASSWORD('x')", "SET PASSWORD = (hidden)"),
            (
                "CHANGE MASTER TO MASTER_PASSWORD='x', a=1",
                "CHANGE MASTER TO MASTER_PASSWORD='(hidden)', a=1",
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMII=\n-----END RSA PRIVATE KEY-----\nb",
                "a\n(hidden)\nb",
            ),
            ("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"),
        ];
        for (text, expected) in table {
            assert_eq!(hide_secrets(text), expected, "{text}");
        }
    }

    /// Escapes a value of a connection string.
    fn escape(value: &str, more: &[char]) -> String {
        let escaped = value.chars().map(|c| match c {
            '\\' | '\'' => format!("\\{c}"),
            c if more.contains(&c) => format!("\\{c}"),
            c => c.to_string(),
        });
        escaped.collect()
    }

    /// Text with secrets at any place.
    fn fragments() -> impl Strategy<Value = String> {
        let words = prop::sample::select(vec![
            "password",
            "=",
            "'",
            "\"",
            " ",
            "://",
            "@",
            ":",
            "IDENTIFIED",
            "BY",
            "\\",
            "a",
            "\n",
            "é",
            "token",
            "https",
            "--password",
            "(",
            ",",
            "`",
            "-----BEGIN PRIVATE KEY-----",
            "authorization",
            "0x1",
        ]);
        prop::collection::vec(words, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn a_password_in_a_connection_string_is_hidden_whole(secret in "[ -~é]{0,12}[a-z]") {
            let quoted = format!("host=h password='{}' user=u", escape(&secret, &[]));
            prop_assume!(!is_plain(&secret));
            prop_assert_eq!(hide_secrets(&quoted), "host=h password='(hidden)' user=u");
            let bare = format!("host=h password={} user=u", escape(&secret, &[' ', '"']));
            // `=>"a` is a long sign with a quoted value: its `>` stays.
            prop_assume!(!secret.starts_with(['"', '`', '>']));
            prop_assert_eq!(hide_secrets(&bare), "host=h password=(hidden) user=u");
        }

        #[test]
        fn a_password_in_an_address_is_hidden_whole(secret in "[!#-&(-~]{1,12}") {
            let text = format!("a postgres://u:{secret}@host:1/d b");
            prop_assert_eq!(hide_secrets(&text), "a postgres://u:(hidden)@host:1/d b");
        }

        #[test]
        fn hiding_twice_changes_nothing_more(text in fragments()) {
            let once = hide_secrets(&text);
            prop_assert_eq!(hide_secrets(&once), once);
        }

        #[test]
        fn text_without_names_of_secrets_stays(text in "[0-9 ='\",é\\\\()]{0,40}") {
            prop_assert_eq!(hide_secrets(&text), text);
        }
    }
}
