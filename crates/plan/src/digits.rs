//! How messages write numbers.

/// Digits in groups, as TOML takes them: `1_000_000`.
pub(crate) fn grouped(number: impl Into<u128>) -> String {
    model::group_digits(&number.into().to_string(), '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_as_toml_takes_them() {
        let table = [(0u64, "0"), (999, "999"), (1000, "1_000"), (1_234_567, "1_234_567")];
        for (number, text) in table {
            assert_eq!(grouped(number), text);
        }
    }
}
