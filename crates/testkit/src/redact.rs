//! Redacts the parts of texts that differ every time.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns to replace, in this order: dates before the numbers in them.
const CHANGING: [(&str, &str); 7] = [
    (r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ| \d\d:\d\d\b)", "DATE"),
    (r"\d[\d,.]* (?:rows|ops|queries)/s", "RATE"),
    (r"\d+(?:\.\d+)? (?:B|[KMGT]iB)\b", "SIZE"),
    (r"\b(?:\d+h\d\dm|\d+m\d\ds|\d+(?:\.\d+)?(?:ns|µs|ms|s))\b", "TIME"),
    (r"\bprocess \d+", "process PID"),
    (r"\bpid \d+", "pid PID"),
    (r"\br\d+\b", "RUN"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compiled = CHANGING.iter().filter_map(|(pattern, name)| {
        let regex = Regex::new(pattern).ok()?;
        Some((regex, *name))
    });
    compiled.collect()
});

/// The text with a word for each date, rate, size, time, process and run id.
pub fn redact(text: &str) -> String {
    PATTERNS.iter().fold(text.to_owned(), |text, (pattern, name)| {
        pattern.replace_all(&text, *name).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_replaced_and_nothing_else() {
        assert_eq!(PATTERNS.len(), CHANGING.len());
        let table = [
            ("r12 started 2026-11-21T10:00:00Z", "RUN started DATE"),
            ("insert  2026-11-21 10:00  finished", "insert  DATE  finished"),
            ("done in 2.05s, 3m12s left, 18.3µs each", "done in TIME, TIME left, TIME each"),
            ("about 1h04m and 1.46 MiB; 512 B free", "about TIME and SIZE; SIZE free"),
            ("12,345 rows/s in qr100", "RATE in qr100"),
            ("(process 4711), pid 12", "(process PID), pid PID"),
            ("round 2 of 3: 8 trials", "round 2 of 3: 8 trials"),
        ];
        for (text, redacted) in table {
            assert_eq!(redact(text), redacted);
        }
    }
}
