//! Where the kernel tells of the control groups that this process is in.

use std::path::{Path, PathBuf};

/// Files of the groups that `groups` lists, which is the text of `/proc/self/cgroup`, and of all above them:
/// `second` of version 2 (`0::/path`), `first` of the controller of version 1 (`n:controller:/path`). In a
/// container the group's path may not exist below the mount; the mount's own files are then the group's.
pub(crate) fn files(groups: &str, controller: &str, second: &str, first: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let root = Path::new("/sys/fs/cgroup");
        let (mount, file) = if controllers.is_empty() {
            (root.to_owned(), second)
        } else if controllers.split(',').any(|name| name == controller) {
            (root.join(controller), first)
        } else {
            continue;
        };
        let below = Path::new(path.trim_start_matches('/'));
        let all = below.ancestors();
        files.extend(all.map(|group| mount.join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(groups: &str) -> Vec<String> {
        let files = files(groups, "cpu", "cpu.stat", "old.stat");
        files.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn files_of_both_versions_are_looked_for_up_to_the_mount() {
        assert_eq!(
            paths("0::/user.slice/me\n"),
            [
                "/sys/fs/cgroup/user.slice/me/cpu.stat",
                "/sys/fs/cgroup/user.slice/cpu.stat",
                "/sys/fs/cgroup/cpu.stat"
            ]
        );
        assert_eq!(
            paths("9:name=systemd:/\n4:cpu,cpuacct:/docker/ab:c\n1:memory:/x\nrubbish\n"),
            [
                "/sys/fs/cgroup/cpu/docker/ab:c/old.stat",
                "/sys/fs/cgroup/cpu/docker/old.stat",
                "/sys/fs/cgroup/cpu/old.stat"
            ]
        );
        assert_eq!(paths("0::/\n"), ["/sys/fs/cgroup/cpu.stat"]);
    }
}
