//! The derivatives of the logarithm of the gamma function.

pub(crate) use statrs::function::gamma::digamma;

/// From here on the asymptotic series has the digits of a double.
const FAR: f64 = 12.0;

/// Steps after which Newton's method has long arrived.
const MOST_STEPS: u32 = 60;

/// The second derivative of ln Γ at `x` > 0.
///
/// Abramowitz & Stegun 1964, *Handbook of Mathematical Functions*: upwards by 6.4.6, then the
/// series 6.4.12.
pub(crate) fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < FAR {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + (1.0 + 0.5 / x + y * series) / x
}

/// The third derivative of ln Γ at `x` > 0: that of the recurrence and of the series above.
fn tetragamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < FAR {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = 0.5 - y * (1.0 / 6.0 - y * (1.0 / 6.0 - y * (3.0 / 10.0 - y * 5.0 / 6.0)));
    sum - y * (1.0 + 1.0 / x + y * series)
}

/// The `y` > 0 whose [`trigamma`] is `x` > 0.
///
/// Smyth 2004 (see `moderate.rs`), appendix: Newton's method on 1 / trigamma, which is nearly
/// straight and convex, from a start from which it only rises.
pub(crate) fn trigamma_inverse(x: f64) -> f64 {
    if x > 1e7 {
        return 1.0 / x.sqrt();
    }
    if x < 1e-6 {
        return 1.0 / x;
    }
    let mut y = 0.5 + 1.0 / x;
    for _ in 0..MOST_STEPS {
        let value = trigamma(y);
        let step = value * (1.0 - value / x) / tetragamma(y);
        y += step;
        if step.abs() < 1e-10 * y {
            break;
        }
    }
    y
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }

    /// Abramowitz & Stegun 1964, 6.3.2, 6.3.3, 6.4.2, 6.4.4 and table 6.1.
    #[test]
    fn published_values() {
        close(digamma(1.0), -0.577_215_664_902);
        close(digamma(0.5), -1.963_510_026_021);
        close(digamma(1.5), 0.036_489_973_979);
        close(trigamma(1.0), PI * PI / 6.0);
        close(trigamma(0.5), PI * PI / 2.0);
        close(trigamma(1.5), PI * PI / 2.0 - 4.0);
        close(trigamma(2.0), PI * PI / 6.0 - 1.0);
        // -2 ζ(3).
        close(tetragamma(1.0), -2.404_113_806_319);
        close(trigamma(100.0), 0.010_050_166_663);
    }

    #[test]
    fn the_inverse_is_one() {
        for y in [1e-5, 0.01, 0.3, 1.0, 1.5, 5.289, 40.0, 1e4, 3e6] {
            let back = trigamma_inverse(trigamma(y));
            assert!((back / y - 1.0).abs() < 1e-6, "{y} {back}");
        }
    }
}
