//! The processes of a server: the first one and all that descend from it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use crate::error::{ProbeError, Result};
use crate::probe::Detail;
use crate::process::Stat;
use crate::read::{text, unless_vanished};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) stat: Stat,
}

/// Finds the processes of a server, again at each reading.
#[derive(Debug)]
pub(crate) struct Tree {
    root: u32,
    root_start: Option<u64>,
    /// Start of each process of the last reading, by its number.
    known: BTreeMap<u32, u64>,
    /// Processes that have had children. The others are asked for children at edges only: a server has
    /// hundreds of backends, and few processes that start more.
    parents: BTreeSet<u32>,
}

impl Tree {
    pub(crate) fn new(root: u32) -> Self {
        Self { root, root_start: None, known: BTreeMap::new(), parents: BTreeSet::from([root]) }
    }

    /// The processes now, every parent read before its children: what a child leaves to its parent
    /// when it ends between the two reads is then missing for a moment, and not counted twice.
    pub(crate) fn read(&mut self, detail: Detail) -> Result<Vec<Process>> {
        let root = self.read_root()?;
        let children = Children::open()?;
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([self.root]);
        let mut queue = VecDeque::from([root]);
        while let Some(process) = queue.pop_front() {
            found.push(process);
            if detail == Detail::Second && !self.parents.contains(&process.pid) {
                continue;
            }
            let below = children.of(process.pid, detail);
            if !below.is_empty() {
                self.parents.insert(process.pid);
            }
            queue.extend(below.into_iter().filter(|pid| seen.insert(*pid)).filter_map(alive));
        }
        // A process whose parent has ended belongs to the server still.
        found.extend(
            self.known.iter().filter(|(pid, _)| !seen.contains(pid)).filter_map(|(pid, start)| {
                alive(*pid).filter(|process| process.stat.start == *start)
            }),
        );
        self.known = found.iter().map(|p| (p.pid, p.stat.start)).collect();
        self.parents.retain(|pid| self.known.contains_key(pid));
        Ok(found)
    }

    fn read_root(&mut self) -> Result<Process> {
        let gone = ProbeError::Gone { pid: self.root };
        let Some(stat) = unless_vanished(Stat::of(self.root))? else {
            return Err(gone);
        };
        let start = *self.root_start.get_or_insert(stat.start);
        if stat.has_ended() || stat.start != start {
            return Err(gone);
        }
        Ok(Process { pid: self.root, stat })
    }
}

fn alive(pid: u32) -> Option<Process> {
    let stat = Stat::of(pid).ok()?;
    Some(Process { pid, stat })
}

enum Children {
    /// In `/proc/PID/task/TID/children`.
    Listed,
    /// In a table made from all processes, on a kernel that was built without those files.
    Scanned(BTreeMap<u32, Vec<u32>>),
}

impl Children {
    fn open() -> Result<Self> {
        if Path::new("/proc/thread-self/children").exists() {
            Ok(Self::Listed)
        } else {
            Self::scan()
        }
    }

    fn scan() -> Result<Self> {
        let mut table: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for process in numbers_in(Path::new("/proc"))?.into_iter().filter_map(alive) {
            table.entry(process.stat.parent).or_default().push(process.pid);
        }
        Ok(Self::Scanned(table))
    }

    /// The children of a process. Every second only those that its first thread started; at edges those
    /// of every thread.
    fn of(&self, pid: u32, detail: Detail) -> Vec<u32> {
        match (self, detail) {
            (Self::Scanned(table), _) => table.get(&pid).cloned().unwrap_or_default(),
            (Self::Listed, Detail::Second) => listed(pid, pid),
            (Self::Listed, Detail::Edge) => threads(pid)
                .unwrap_or_default()
                .into_iter()
                .flat_map(|thread| listed(pid, thread))
                .collect(),
        }
    }
}

fn listed(pid: u32, thread: u32) -> Vec<u32> {
    let list = text(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
    parse_children(&list)
}

fn parse_children(text: &str) -> Vec<u32> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

pub(crate) fn threads(pid: u32) -> Result<Vec<u32>> {
    numbers_in(Path::new(&format!("/proc/{pid}/task")))
}

/// The entries of a directory whose names are numbers.
pub(crate) fn numbers_in(path: &Path) -> Result<Vec<u32>> {
    let entries =
        fs::read_dir(path).map_err(|cause| ProbeError::Read { path: path.to_owned(), cause })?;
    // An entry that cannot be read belongs to something that ended during the listing.
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A shell with two children and a grandchild, which all wait for their input to end.
    fn family() -> Child {
        Command::new("sh")
            .args(["-c", "exec 3<&0; sh -c 'cat <&3; :' & cat; :"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn wait_for(count: usize, mut read: impl FnMut() -> Vec<u32>) -> Vec<u32> {
        for _ in 0..500 {
            let pids = read();
            if pids.len() == count {
                return pids;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("never {count} processes: {:?}", read());
    }

    fn pids(tree: &mut Tree, detail: Detail) -> Vec<u32> {
        let found = tree.read(detail).unwrap();
        found.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn children_are_a_list_of_numbers() {
        assert_eq!(parse_children("12 345 6 "), [12, 345, 6]);
        assert_eq!(parse_children(""), [0u32; 0]);
    }

    #[test]
    fn descendants_are_found_and_the_end_of_the_first_is_noticed() {
        let mut child = family();
        let mut tree = Tree::new(child.id());
        let found = wait_for(4, || pids(&mut tree, Detail::Edge));
        assert_eq!(found.first(), Some(&child.id()));
        assert_eq!(pids(&mut tree, Detail::Second), found);
        drop(child.stdin.take());
        let last = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            tree.read(Detail::Second).err()
        });
        // It has ended and was not waited for: a zombie counts as gone.
        assert!(matches!(last, Some(ProbeError::Gone { pid }) if pid == child.id()));
        child.wait().unwrap();
        assert!(matches!(tree.read(Detail::Second), Err(ProbeError::Gone { .. })));
    }

    #[test]
    fn a_scan_finds_the_same_children_as_the_list() {
        let mut child = family();
        let me = std::process::id();
        let scanned = Children::scan().unwrap().of(me, Detail::Second);
        let listed = Children::Listed.of(me, Detail::Edge);
        assert!(scanned.contains(&child.id()));
        assert!(listed.contains(&child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
