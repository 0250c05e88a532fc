//! The processes of a server, to be stopped one by one.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::error::PathError;
use crate::identity::Identity;

/// After this time a thread that waits in the kernel counts as stopped: it does nothing of its own before it gets the
/// signal. One that waits for a stopped `vfork` child would never get it.
const IN_KERNEL: Duration = Duration::from_millis(50);

/// A server's first process and all that descend from it.
#[derive(Debug)]
pub(super) struct Tree {
    root: Identity,
    /// All that were ever seen, by pid: one whose parent has ended belongs to the server still.
    seen: BTreeMap<u32, Identity>,
}

impl Tree {
    pub(super) fn new(root: Identity) -> Self {
        Self { root, seen: BTreeMap::new() }
    }

    pub(super) fn processes(&mut self) -> Vec<Identity> {
        self.seen.retain(|_, process| process.is_alive());
        self.seen.entry(self.root.pid).or_insert_with(|| self.root.clone());
        let mut waiting: Vec<u32> = self.seen.keys().copied().collect();
        while let Some(parent) = waiting.pop() {
            for child in children(parent) {
                if !self.seen.contains_key(&child)
                    && let Ok(identity) = Identity::of(child)
                {
                    self.seen.insert(child, identity);
                    waiting.push(child);
                }
            }
        }
        self.seen.values().cloned().collect()
    }

    /// Stops all of them, those that they start meanwhile too; true once none runs any more.
    /// `told` is called when each has got the signal.
    pub(super) fn stop(&mut self, limit: Duration, told: impl FnOnce()) -> bool {
        let began = Instant::now();
        // It is the one that starts most.
        self.root.signal(Signal::STOP);
        self.processes().iter().for_each(|process| process.signal(Signal::STOP));
        told();
        loop {
            let in_kernel_counts = began.elapsed() >= IN_KERNEL;
            // Each thread stops when it comes out of the kernel.
            let stands_still = |state| state == 'T' || (state == 'D' && in_kernel_counts);
            let mut running = self.processes();
            running.retain(|process| !process.has_threads(stands_still));
            if running.is_empty() {
                return true;
            }
            if began.elapsed() >= limit {
                return false;
            }
            for process in running {
                process.signal(Signal::STOP);
            }
            thread::sleep(POLL);
        }
    }

    pub(super) fn go_on(&self) {
        for process in self.seen.values() {
            process.signal(Signal::CONT);
        }
    }
}

/// The children of a process, started by any of its threads.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    let mut found = Vec::new();
    for list in lists {
        match list {
            Ok(list) => found.extend(numbers(&list)),
            // A kernel without these files; of a thread that ended there is nothing to list.
            Err(_) => return scanned(pid),
        }
    }
    found
}

fn numbers(list: &str) -> impl Iterator<Item = u32> {
    list.split_ascii_whitespace().filter_map(|number| number.parse().ok())
}

fn scanned(pid: u32) -> Vec<u32> {
    let Ok(parent) = Identity::of(pid) else { return Vec::new() };
    parent.children().into_iter().map(|child| child.pid).collect()
}

/// How long all processes of a server may take to stand still.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// How often the kernel is asked meanwhile.
pub(super) const POLL: Duration = Duration::from_micros(100);

#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    #[error(transparent)]
    Io(#[from] PathError),
    #[error(
        "process {pid} still runs {} s after it was frozen",
        LIMIT.as_secs()
    )]
    StillRuns { pid: u32 },
    #[error("the server was not started")]
    NotStarted,
    #[error("process {pid} has ended")]
    Ended { pid: u32 },
}
