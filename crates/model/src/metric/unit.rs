//! Units of metrics.

use std::fmt;

use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    #[serde(rename = "ops/s")]
    OpsPerSecond,
    #[serde(rename = "rows/s")]
    RowsPerSecond,
    #[serde(rename = "1/min")]
    PerMinute,
    /// Megabytes (1000 KB of 1024 bytes) per second, as `iostat` and the published tables have them.
    #[serde(rename = "MB/s")]
    MbPerSecond,
    /// Kilobytes (1024 bytes) per second over operations per minute, as published tables have them.
    #[serde(rename = "KB/s/tpmc")]
    KbPerSecondPerTpmc,
    /// Millionths of a per cent of all CPUs over operations per minute, as published tables have them.
    #[serde(rename = "µ%/tpmc")]
    MicroPercentPerTpmc,
    #[serde(rename = "µs")]
    Micros,
    #[serde(rename = "µs/op")]
    MicrosPerOp,
    #[serde(rename = "1/op")]
    PerOp,
    /// Kilobytes (1024 bytes) per operation.
    #[serde(rename = "KB/op")]
    KbPerOp,
    #[serde(rename = "GiB")]
    Gib,
    #[serde(rename = "%")]
    Percent,
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// As it is printed and stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpsPerSecond => "ops/s",
            Self::RowsPerSecond => "rows/s",
            Self::PerMinute => "1/min",
            Self::MbPerSecond => "MB/s",
            Self::KbPerSecondPerTpmc => "KB/s/tpmc",
            Self::MicroPercentPerTpmc => "µ%/tpmc",
            Self::Micros => "µs",
            Self::MicrosPerOp => "µs/op",
            Self::PerOp => "1/op",
            Self::KbPerOp => "KB/op",
            Self::Gib => "GiB",
            Self::Percent => "%",
            Self::Count => "count",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        // The words are those that serde knows.
        Self::deserialize(StrDeserializer::<Unknown>::new(name)).ok()
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
