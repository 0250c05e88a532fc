//! Numbers as the original prints them: C's `printf`.

/// `%.Nf`: ties of what the binary number is exactly go to the even digit, in Rust as in C.
pub fn fixed(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}

/// `%.6g`: six significant digits, without zeros at the end.
pub fn six_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let digits = usize::try_from(5 - exponent).unwrap_or(0);
        without_zeros(&fixed(value, digits)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = without_zeros(mantissa);
        format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A ratio in the original's relative tables: two digits; 0/0 is `1`, anything else over zero `inf`.
pub fn relative(value: f64, base: f64) -> String {
    if base != 0.0 {
        fixed(value / base, 2)
    } else if value == 0.0 {
        "1".to_owned()
    } else {
        "inf".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_even_digit() {
        let pairs = [(3.5, "4"), (10.5, "10"), (17.5, "18"), (0.5, "0"), (2.5, "2")];
        for (value, text) in pairs {
            assert_eq!(fixed(value, 0), text);
        }
        assert_eq!(fixed(0.125, 2), "0.12");
        assert_eq!(fixed(0.375, 2), "0.38");
    }

    #[test]
    fn six_digits_are_those_of_c() {
        let pairs = [
            (0.0, "0"),
            (1.24, "1.24"),
            (0.104, "0.104"),
            (100_000.0, "100000"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e+06"),
            (0.0001, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (999_999.5, "1e+06"),
        ];
        for (value, text) in pairs {
            assert_eq!(six_digits(value), text);
        }
    }

    #[test]
    fn ratios_over_nothing_have_words() {
        assert_eq!(relative(0.0, 0.0), "1");
        assert_eq!(relative(0.001, 0.0), "inf");
        assert_eq!(relative(0.020, 0.009), "2.22");
        assert_eq!(relative(0.0, 0.001), "0.00");
    }
}
