use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::*;

/// A shell that counts into a file, with a child that counts into another one and has left its group.
struct Family {
    child: Child,
    /// Its processes, found while all of them ran.
    tree: Tree,
    directory: tempfile::TempDir,
}

impl Family {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let script = "count() { n=0; while :; do n=$((n+1)); echo $n > \"$1\"; sleep 0.002; done; }
            (setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > b; sleep 0.002; done') &
            count a";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(directory.path()).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        let tree = Tree::new(Identity::of(child.id()).unwrap());
        let mut family = Self { child, tree, directory };
        family.wait_until_counting();
        family.tree.processes();
        family
    }

    fn identity(&self) -> Identity {
        Identity::of(self.child.id()).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn counts(&self) -> [String; 2] {
        ["a", "b"].map(|name| fs::read_to_string(self.file(name)).unwrap_or_default())
    }

    fn wait_until_counting(&self) {
        let [a, b] = self.counts();
        for _ in 0..2_000 {
            let [now_a, now_b] = self.counts();
            if now_a != a && now_b != b && !now_a.is_empty() && !now_b.is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("they do not count: {:?}", self.counts());
    }

    fn stands_still(&self) -> bool {
        let before = self.counts();
        thread::sleep(Duration::from_millis(100));
        before == self.counts()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        for process in self.tree.processes() {
            thaw_for_its_end(&process);
            process.signal(Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Both means where this process may make control groups, otherwise signals alone.
fn freezers(family: &Family) -> Vec<Freezer> {
    let server = family.identity();
    vec![Freezer::with_signals(&server), Freezer::new(&server)]
}

#[test]
fn a_frozen_server_and_all_that_it_started_stand_still_until_they_are_thawed() {
    let family = Family::new();
    for mut freezer in freezers(&family) {
        for _ in 0..3 {
            freezer.freeze(|| {}).unwrap();
            assert!(family.stands_still(), "{:?}", freezer.how);
            freezer.thaw().unwrap();
            family.wait_until_counting();
        }
    }
}

#[test]
fn dropping_the_freezer_thaws_the_server_and_leaves_no_group() {
    let family = Family::new();
    for mut freezer in freezers(&family) {
        freezer.freeze(|| {}).unwrap();
        drop(freezer);
        family.wait_until_counting();
    }
    assert!(Group::of(&family.identity()).is_none());
}

#[test]
fn a_server_that_was_left_frozen_is_thawed_and_ended_by_the_next_process() {
    let mut family = Family::new();
    let server = family.identity();
    let mut freezer = Freezer::new(&server);
    freezer.freeze(|| {}).unwrap();
    // As after SIGKILL of the process that froze it.
    std::mem::forget(freezer);
    thaw_for_its_end(&server);
    family.wait_until_counting();
    server.signal(Signal::KILL);
    assert!(!family.child.wait().unwrap().success());
}

#[test]
fn a_server_whose_freezer_was_killed_goes_on_and_gets_its_signal() {
    for make in [Freezer::with_signals, Freezer::new] {
        let mut family = Family::new();
        let mut freezer = make(&family.identity());
        freezer.freeze(|| {}).unwrap();
        family.identity().signal(Signal::TERM);
        assert!(family.stands_still(), "{:?}", freezer.how);
        freezer.guard.as_mut().unwrap().fire().unwrap();
        // Dropping it would thaw the server, too.
        std::mem::forget(freezer);
        assert!(!family.child.wait().unwrap().success());
    }
}

#[test]
fn the_groups_that_killed_processes_left_are_removed() {
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let family = Family::new();
    let Ok(group) = Group::make(&family.identity()) else { return };
    let left = group.directory.with_file_name(format!("backslide-{}-7", gone.id()));
    fs::create_dir(&left).unwrap();
    drop(group);
    let again = Group::make(&family.identity()).unwrap();
    assert!(again.directory.is_dir() && !left.exists());
}

#[test]
fn a_busy_process_runs_until_it_is_frozen() {
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    // Signals alone remain where this process may not make control groups.
    if let Ok(group) = Group::make(&Identity::of(busy.id()).unwrap()) {
        assert!(group.runs());
        assert!(group.freeze(LIMIT, || {}).unwrap());
        assert!(!group.runs());
    }
    busy.kill().unwrap();
    busy.wait().unwrap();
}

#[test]
fn one_that_has_ended_is_not_frozen() {
    let mut family = Family::new();
    let mut freezers = freezers(&family);
    let pid = family.child.id();
    family.child.kill().unwrap();
    family.child.wait().unwrap();
    for freezer in &mut freezers {
        assert!(
            matches!(freezer.freeze(|| {}), Err(FreezeError::Ended { pid: ended }) if ended == pid)
        );
        freezer.thaw().unwrap();
    }
}
