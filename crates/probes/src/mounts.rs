//! The mounts of this process: `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

pub(crate) const PATH: &str = "/proc/self/mountinfo";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) point: PathBuf,
    pub(crate) filesystem: String,
    pub(crate) source: PathBuf,
    /// Options of the mount, then those of the filesystem that are not among them.
    pub(crate) options: String,
}

/// The mount that holds `path`, which must be absolute and without symlinks: the deepest, and the
/// last of several on one point, which hides the others.
pub(crate) fn holding(mountinfo: &str, path: &Path) -> Option<Mount> {
    mountinfo
        .lines()
        .filter_map(parse)
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// `id parent major:minor root point options [optional …] - filesystem source options`.
fn parse(line: &str) -> Option<Mount> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(2);
    let (major, minor) = place.next()?.split_once(':')?;
    let point = unescape(place.nth(1)?);
    let options = place.next()?;
    let mut kind = kind.split(' ');
    Some(Mount {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        point,
        filesystem: kind.next()?.to_owned(),
        source: unescape(kind.next()?),
        options: joined(options, kind.next().unwrap_or_default()),
    })
}

fn joined(mount: &str, filesystem: &str) -> String {
    let mut all: Vec<&str> = mount.split(',').collect();
    for option in filesystem.split(',').filter(|option| !option.is_empty()) {
        if !all.contains(&option) {
            all.push(option);
        }
    }
    all.join(",")
}

/// The kernel writes space, tab, newline and backslash as `\` and three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] if *first == b'\\' => {
                bytes.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOUNTS: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/root rw,discard,errors=remount-ro
98 27 253:3 / /var/lib/my\040data rw,noatime shared:32 master:7 - xfs /dev/mapper/vg0-data rw,attr2,inode64
99 27 0:45 /@home /home rw,relatime shared:40 - btrfs /dev/sda2 rw,compress=zstd:3,subvol=/@home
100 27 0:50 / /scratch rw - tmpfs tmpfs rw,size=4k
101 27 259:1 / /scratch ro - ext4 /dev/nvme0n1p1 ro
102 27 0:60 / /merged rw,relatime - overlay overlay rw,lowerdir=/a:/b
short line
103 27 x:y / /broken rw - ext4 /dev/sdb rw
";

    fn at(path: &str) -> Mount {
        holding(MOUNTS, Path::new(path)).unwrap()
    }

    #[test]
    fn the_deepest_and_last_mount_holds_a_path() {
        assert_eq!(at("/work").filesystem, "ext4");
        assert_eq!(at("/").minor, 0);
        assert_eq!(at("/homestead").point, Path::new("/"));
        assert_eq!(at("/home/me").filesystem, "btrfs");
        assert_eq!(at("/scratch/x").source, Path::new("/dev/nvme0n1p1"));
        assert_eq!(at("/broken").point, Path::new("/"));
        assert_eq!(holding("", Path::new("/")), None);
    }

    #[test]
    fn optional_fields_are_passed_over_and_escapes_undone() {
        let mount = at("/var/lib/my data/instance");
        assert_eq!(
            mount,
            Mount {
                major: 253,
                minor: 3,
                point: "/var/lib/my data".into(),
                filesystem: "xfs".to_owned(),
                source: "/dev/mapper/vg0-data".into(),
                options: "rw,noatime,attr2,inode64".to_owned(),
            }
        );
        assert_eq!(at("/merged").options, "rw,relatime,lowerdir=/a:/b");
    }

    proptest! {
        #[test]
        fn any_path_survives_escaping(path in "[a-z \t\n\\\\0-9/é]{0,20}") {
            let escaped = path
                .replace('\\', "\\134")
                .replace(' ', "\\040")
                .replace('\t', "\\011")
                .replace('\n', "\\012");
            prop_assert_eq!(unescape(&escaped), PathBuf::from(path));
        }

        #[test]
        fn any_line_is_survived(line in ".{0,80}") {
            let _ = holding(&line, Path::new("/"));
        }
    }
}
