//! Units as types: integers inside, formatted in one place.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A span of time, or a point of time since an agreed zero, in whole nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    pub const SECOND: Self = Self(1_000_000_000);

    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - other`, or zero where `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(d.as_nanos() as u64)
    }
}

impl From<Nanos> for Duration {
    fn from(n: Nanos) -> Self {
        Self::from_nanos(n.0)
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits in the largest fitting unit: `412ns`, `18.3µs`, `2.05s`, `3m12s`, `1h04m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let (seconds, minutes) = (ns / 1_000_000_000, ns / 60_000_000_000);
        f.pad(&match ns {
            0..1_000 => format!("{ns}ns"),
            1_000..1_000_000 => format!("{}µs", three_digits(ns as f64 / 1e3)),
            1_000_000..1_000_000_000 => format!("{}ms", three_digits(ns as f64 / 1e6)),
            1_000_000_000..60_000_000_000 => format!("{}s", three_digits(ns as f64 / 1e9)),
            60_000_000_000..3_600_000_000_000 => format!("{minutes}m{:02}s", seconds % 60),
            _ => format!("{}h{:02}m", minutes / 60, minutes % 60),
        })
    }
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    pub fn as_gib_f64(self) -> f64 {
        self.0 as f64 / (1u64 << 30) as f64
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl fmt::Display for Bytes {
    /// Three significant digits in binary units: `512 B`, `1.46 MiB`, `23.5 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 {
            f.pad(&format!("{} B", self.0))
        } else {
            f.pad(&format!("{} {}", three_digits(value), UNITS[unit]))
        }
    }
}

/// The smallest relative change worth calling, in hundredths of a per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Margin(pub u32);

impl Margin {
    /// Hundredths of a per cent in one.
    pub const PER_PERCENT: u32 = 100;

    pub fn as_percent(self) -> f64 {
        f64::from(self.0) / f64::from(Self::PER_PERCENT)
    }

    pub fn as_fraction(self) -> f64 {
        // Divided once, so that it is the number that is written so.
        f64::from(self.0) / f64::from(100 * Self::PER_PERCENT)
    }
}

impl fmt::Display for Margin {
    /// Per cent with as many decimals as there are: `2 %`, `0.25 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", self.as_percent()))
    }
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A whole number with grouped thousands: `1,234,567`.
pub fn grouped(number: u64) -> String {
    group_digits(&number.to_string(), ',')
}

/// Decimal digits with a separator between groups of three.
pub fn group_digits(digits: &str, separator: char) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_reads_as_a_person_writes_it() {
        let table = [
            (412, "412ns"),
            (18_310, "18.3µs"),
            (999_960, "1000µs"),
            (2_050_000, "2.05ms"),
            (2_050_000_000, "2.05s"),
            (192_000_000_000, "3m12s"),
            (3_840_000_000_000, "1h04m"),
        ];
        for (ns, text) in table {
            assert_eq!(Nanos(ns).to_string(), text);
        }
    }

    #[test]
    fn sizes_use_binary_units() {
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(1_530_000).to_string(), "1.46 MiB");
        assert_eq!(Bytes(25_232_932_864).to_string(), "23.5 GiB");
    }

    #[test]
    fn margins_are_the_fractions_that_people_write() {
        let table = [
            (0, 0.0, "0 %"),
            (25, 0.0025, "0.25 %"),
            (70, 0.007, "0.7 %"),
            (200, 0.02, "2 %"),
            (10_000, 1.0, "100 %"),
        ];
        for (hundredths, fraction, text) in table {
            let margin = Margin(hundredths);
            assert_eq!(margin.as_fraction().to_bits(), f64::to_bits(fraction));
            assert_eq!(margin.to_string(), text);
        }
    }
}
