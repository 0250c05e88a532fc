//! A rule's verdict on a cell.

/// A rule's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Regressed,
    Improved,
    Unchanged,
    NoVerdict,
}

impl Word {
    /// The order of counts in tables.
    pub(crate) const ALL: [Self; 4] =
        [Self::Regressed, Self::Improved, Self::Unchanged, Self::NoVerdict];

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Unchanged => "unchanged",
            Self::NoVerdict => "no verdict",
        }
    }

    pub(crate) const fn is_change(self) -> bool {
        matches!(self, Self::Regressed | Self::Improved)
    }

    /// That of backslide's verdict.
    pub(crate) fn of(verdict: &str) -> Self {
        match verdict {
            "regressed" => Self::Regressed,
            "improved" => Self::Improved,
            "unchanged" => Self::Unchanged,
            _ => Self::NoVerdict,
        }
    }

    /// One word for all numbers of clients of a test: the worst first.
    pub(crate) fn of_all(words: &[Self]) -> Self {
        let order = [Self::Regressed, Self::Improved, Self::NoVerdict, Self::Unchanged];
        let said = order.into_iter().find(|word| words.contains(word));
        said.unwrap_or(Self::NoVerdict)
    }
}
