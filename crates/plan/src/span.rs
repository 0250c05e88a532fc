//! Ranges of versions, as the catalog writes them.

use std::fmt;

use model::Version;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first version; where something came to several series at once, the first one of each series,
    /// in order, of which the last one stands for all that follow. Empty for all versions.
    pub(crate) since: Vec<Version>,
    /// The first version that is outside again.
    pub(crate) until: Option<Version>,
}

impl Span {
    /// Is `version` inside? A pre-release counts as its release, which has the same options.
    pub(crate) fn contains(&self, version: &Version) -> bool {
        let after = |bound: &Version| version.parts() >= bound.parts();
        let begun = match self.since.split_last() {
            None => true,
            Some((last, earlier)) => {
                let backport = |first: &Version| in_series(version, first) && after(first);
                after(last) || earlier.iter().any(backport)
            }
        };
        begun && !self.until.as_ref().is_some_and(after)
    }

    pub(crate) fn is_limited(&self) -> bool {
        !self.since.is_empty() || self.until.is_some()
    }

    /// Is there a version in it? No other check of a catalog file sees that there is none.
    pub(crate) fn is_sound(&self) -> bool {
        let rising = self.since.windows(2).all(|pair| pair[0] < pair[1]);
        let begins_before = |until| self.since.last().is_none_or(|since| since < until);
        rising && self.until.as_ref().is_none_or(begins_before)
    }
}

/// Is `version` of the series of `first`: 10.6.20 of that of 10.6.18?
fn in_series(version: &Version, first: &Version) -> bool {
    first.parts().split_last().is_some_and(|(_, series)| version.parts().starts_with(series))
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since: Vec<String> = self.since.iter().map(ToString::to_string).collect();
        match (since.join(", "), &self.until) {
            (since, Some(until)) if since.is_empty() => write!(f, "until {until}"),
            (since, None) if since.is_empty() => f.write_str("in all versions"),
            (since, Some(until)) => write!(f, "since {since}, until {until}"),
            (since, None) => write!(f, "since {since}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(since: &[&str], until: Option<&str>) -> Span {
        let version = |text: &str| text.parse().unwrap();
        Span { since: since.iter().map(|text| version(text)).collect(), until: until.map(version) }
    }

    fn inside(span: &Span, versions: &[&str]) -> Vec<bool> {
        let versions = versions.iter().map(|text| text.parse().unwrap());
        versions.map(|version| span.contains(&version)).collect()
    }

    #[test]
    fn the_first_is_inside_and_the_last_is_not() {
        let span = span(&["5.6"], Some("8.0.3"));
        assert_eq!(
            inside(&span, &["5.5.62", "5.6.0", "5.6", "8.0.2", "8.0.3", "9.7"]),
            [false, true, true, true, false, false]
        );
        assert_eq!(span.to_string(), "since 5.6, until 8.0.3");
    }

    #[test]
    fn a_backport_counts_in_its_series_only() {
        let span = span(&["10.6.18", "10.11.8", "11.4.2"], None);
        assert_eq!(
            inside(
                &span,
                &["10.6.17", "10.6.18", "10.7.9", "10.11.7", "10.11.19", "11.4.1", "12.0"]
            ),
            [false, true, false, false, true, false, true]
        );
        assert_eq!(span.to_string(), "since 10.6.18, 10.11.8, 11.4.2");
    }

    #[test]
    fn a_pre_release_has_the_options_of_its_release() {
        assert_eq!(inside(&span(&["19"], None), &["19rc1", "18.6"]), [true, false]);
    }

    #[test]
    fn an_empty_range_is_not_sound() {
        assert!(span(&["5.6"], Some("5.7")).is_sound());
        assert!(span(&[], Some("5.7")).is_sound());
        assert!(!span(&["5.7"], Some("5.7")).is_sound());
        assert!(!span(&["11.4.2", "10.6.18"], None).is_sound());
    }
}
