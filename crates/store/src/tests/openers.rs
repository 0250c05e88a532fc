//! Several processes that open a lab which is not there yet.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;

use super::*;
use crate::error::Result;

/// Tells the child of a test where its lab is.
const LAB: &str = "BACKSLIDE_STORE_TEST_NEW_LAB";
const OPENERS: usize = 6;

#[test]
fn threads_that_open_a_new_lab_together_all_succeed() {
    for repetition in 0..40 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lab.sqlite");
        let start = Barrier::new(OPENERS);
        let opened: Vec<Result<usize>> = thread::scope(|scope| {
            let openers = [(); OPENERS].map(|()| {
                scope.spawn(|| {
                    start.wait();
                    Store::open(&path).and_then(|store| Ok(store.runs()?.len()))
                })
            });
            openers.map(|opener| opener.join().unwrap()).into()
        });
        for outcome in opened {
            assert_eq!(outcome.unwrap(), 0, "repetition {repetition}");
        }
    }
}

/// Ignored, because it is nothing without its parent.
#[test]
#[ignore = "the child of `processes_that_open_a_new_lab_together_all_succeed`"]
fn opens_a_new_lab() {
    if let Ok(path) = std::env::var(LAB) {
        assert_eq!(Store::open(Path::new(&path)).unwrap().runs().unwrap(), []);
    }
}

#[test]
fn processes_that_open_a_new_lab_together_all_succeed() {
    for _ in 0..12 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lab.sqlite");
        let openers: Vec<Child> = (0..OPENERS)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "tests::openers::opens_a_new_lab", "--ignored"])
                    .env(LAB, &path)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for opener in openers {
            let output = opener.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{told}");
        }
    }
}
