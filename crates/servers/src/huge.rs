//! Huge pages of the kernel's pool: are there enough for a server's buffers?

use std::fs;

use model::{HugePages, Setting};

use crate::dbms::is_named;
use crate::error::HugePagesError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pool {
    total: u64,
    free: u64,
    page_kib: u64,
}

/// What the server's largest buffer takes, by its settings; `None` where they do not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// The setting and its value, for people.
    setting: String,
    pub(crate) bytes: u64,
}

/// The buffer that a server of this family makes under these settings.
pub(crate) fn buffer(traits: &HugePages, settings: &[Setting]) -> Option<Buffer> {
    // The last one wins.
    let given = settings.iter().rfind(|setting| is_named(&setting.name, &[&traits.buffer]));
    let Some(setting) = given else {
        return Some(Buffer {
            setting: format!("{} (by default {} MiB)", traits.buffer, traits.default_mib),
            bytes: traits.default_mib << 20,
        });
    };
    Some(Buffer {
        setting: setting.to_string(),
        bytes: size(setting.value.as_deref()?, traits.unit)?,
    })
}

pub(crate) fn check(traits: &HugePages, buffer: Option<&Buffer>) -> Result<(), HugePagesError> {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let pool = Pool::parse(&meminfo).ok_or(HugePagesError::None)?;
    buffer.map_or(Ok(()), |buffer| pool.check(traits, buffer))
}

impl Pool {
    fn parse(meminfo: &str) -> Option<Self> {
        let number = |name: &str| {
            let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
            let number = line.trim().trim_end_matches(" kB");
            number.parse::<u64>().ok()
        };
        Some(Self {
            total: number("HugePages_Total:")?,
            free: number("HugePages_Free:")?.saturating_sub(number("HugePages_Rsvd:")?),
            page_kib: number("Hugepagesize:").filter(|size| *size > 0)?,
        })
    }

    fn check(self, traits: &HugePages, buffer: &Buffer) -> Result<(), HugePagesError> {
        let pages = |bytes: u64| bytes.div_ceil(self.page_kib * 1024);
        let needed = pages(buffer.bytes);
        if needed <= self.free {
            return Ok(());
        }
        // Descriptors of its pages, and other buffers that the server puts there.
        let all = pages(buffer.bytes + buffer.bytes / 16 + (traits.others_mib << 20));
        Err(HugePagesError::TooFew {
            setting: buffer.setting.clone(),
            needed,
            page_kib: self.page_kib,
            free: self.free,
            suggested: self.total - self.free.min(self.total) + all,
        })
    }
}

/// Bytes of a size such as `2G`, `512MB` or, in units, `16384`.
fn size(text: &str, unit: u64) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let factor = match text.get(digits..)?.trim().to_ascii_uppercase().as_str() {
        "" => unit,
        "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        "T" | "TB" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(factor).filter(|bytes| *bytes < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits() -> &'static HugePages {
        &model::Dbms::Mysql.product().options.huge_pages
    }

    fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
        let setting = |(name, value): &(&str, &str)| Setting {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
        };
        pairs.iter().map(setting).collect()
    }

    #[test]
    fn sizes_as_servers_write_them() {
        let table = [
            ("2G", Some(2 << 30)),
            ("128m", Some(128 << 20)),
            ("512MB", Some(512 << 20)),
            ("16384", Some(16_384 * 8192)),
            (" 1 GB", Some(1 << 30)),
            ("1.5GB", None),
            ("lots", None),
            ("", None),
            ("99999999999999999999", None),
            ("99999999999T", None),
        ];
        for (text, bytes) in table {
            assert_eq!(size(text, 8192), bytes, "{text}");
        }
    }

    #[test]
    fn the_last_setting_of_the_buffer_counts_and_else_its_default() {
        let bytes = |pairs: &[(&str, &str)]| buffer(traits(), &settings(pairs)).map(|b| b.bytes);
        assert_eq!(bytes(&[]), Some(128 << 20));
        let twice = [("innodb-buffer-pool-size", "1G"), ("loose_innodb_buffer_pool_size", "2G")];
        assert_eq!(bytes(&twice), Some(2 << 30));
        assert_eq!(bytes(&[("innodb_buffer_pool_size", "half")]), None);
    }

    #[test]
    fn a_pool_that_is_too_small_says_what_to_run() {
        let meminfo = "MemTotal: 9 kB\nHugePages_Total:     100\nHugePages_Free:       90\n\
                       HugePages_Rsvd:       30\nHugepagesize:       2048 kB\n";
        let pool = Pool::parse(meminfo).unwrap();
        assert_eq!((pool.total, pool.free), (100, 60));
        let check = |pairs: &[(&str, &str)]| {
            pool.check(traits(), &buffer(traits(), &settings(pairs)).unwrap())
        };
        assert_eq!(check(&[("innodb_buffer_pool_size", "120M")]), Ok(()));
        // 40 in use, and of 2048 kB: 64 + 4 + 128.
        insta::assert_snapshot!(check(&[]).unwrap_err(), @"innodb_buffer_pool_size (by default 128 MiB) needs 64 huge pages of 2048 kB and more, and 60 are free: run `sysctl -w vm.nr_hugepages=236` as root, or leave `huge_pages` out");
        insta::assert_snapshot!(check(&[("innodb_buffer_pool_size", "1G")]).unwrap_err(), @"innodb_buffer_pool_size = 1G needs 512 huge pages of 2048 kB and more, and 60 are free: run `sysctl -w vm.nr_hugepages=712` as root, or leave `huge_pages` out");
        assert_eq!(Pool::parse("MemTotal: 9 kB\n"), None);
    }
}
