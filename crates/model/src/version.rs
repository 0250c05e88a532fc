//! Versions of servers: numbers that order, and the text they came from.

use std::cmp::Ordering;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A server version such as `8.0.33`, `10.11.18`, `18.6` or `19rc1`.
///
/// Orders by its numeric parts; a pre-release (`19rc1`, `19beta2`) orders before its release.
#[derive(Clone, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    text: String,
    parts: Vec<u32>,
    /// Place in [`STAGES`], and number.
    pre: Option<(usize, u32)>,
}

/// Pre-releases in order: `19devel`, `19alpha1`, `19beta1`, `19rc1`.
const STAGES: [&str; 4] = ["devel", "alpha", "beta", "rc"];

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a version: expected numbers with dots, such as 8.0.33 or 19rc1")]
pub struct VersionError(String);

impl Version {
    /// `0`, of a server that reports no version.
    pub fn unknown() -> Self {
        Self { text: "0".to_owned(), parts: vec![0], pre: None }
    }

    /// The numeric parts, most significant first; never empty.
    pub fn parts(&self) -> &[u32] {
        &self.parts
    }

    pub fn major(&self) -> u32 {
        self.parts[0]
    }

    /// Is `self` within `prefix`, as `8.0.33` is within `8.0` and `8`?
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.parts.starts_with(&prefix.parts) && (prefix.pre.is_none() || self.pre == prefix.pre)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let fail = || VersionError(text.to_owned());
        let number_end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (numbers, tail) = text.split_at(number_end);
        let parts = numbers
            .trim_end_matches(['-', '~'])
            .split('.')
            .map(|part| part.parse::<u32>().map_err(|_| fail()))
            .collect::<Result<Vec<_>, _>>()?;
        let digits = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (word, number) = tail.split_at(digits);
        let stage = STAGES.iter().position(|known| *known == word);
        let pre = match (stage, number) {
            _ if tail.is_empty() => None,
            (None, _) => return Err(fail()),
            (Some(stage), "") => Some((stage, 0)),
            (Some(stage), number) => Some((stage, number.parse().map_err(|_| fail())?)),
        };
        Ok(Self { text: text.to_owned(), parts, pre })
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

shown!(Version, |version| &version.text);

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |version: &Self| version.pre.unwrap_or((STAGES.len(), 0));
        self.parts.cmp(&other.parts).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn orders_by_number_not_by_letter() {
        assert!(v("10.2.11") < v("10.11.5"));
        assert!(v("5.7.44") < v("8.0.0"));
        assert!(v("19devel") < v("19alpha1"));
        assert!(v("19alpha1") < v("19beta1"));
        assert!(v("19beta2") < v("19rc1"));
        assert!(v("19rc1") < v("19"));
        assert!(v("19rc1") < v("19.1"));
    }

    #[test]
    fn prefixes() {
        assert!(v("8.0.33").starts_with(&v("8.0")));
        assert!(!v("8.0.33").starts_with(&v("8.0.3")));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x", "8..0", "8.0-foo", "8.0.33-log"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
