//! `kill -9` in the middle of writing.

use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

/// Tells the test below, run in a process of its own, where its lab is.
const LAB: &str = "BACKSLIDE_STORE_TEST_LAB";

/// What the killed process does. Ignored, because it never ends by itself.
#[test]
#[ignore = "the child of `a_killed_writer_leaves_all_that_it_committed`"]
fn writes_until_killed() {
    let Ok(path) = std::env::var(LAB) else {
        return;
    };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let run = store.latest_run().unwrap().unwrap();
    let trial = store.begin_trial(&run, &key(1, "a"), STARTED).unwrap();
    let step = store.begin_step(trial, &planned("l.i0", 0, &["insert", "query"])).unwrap();
    for index in 0.. {
        store.add_interval(step, &interval(index)).unwrap();
        writeln!(stdout(), "\ncommitted {index}").unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_all_that_it_committed() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let path = lab.store.path().to_owned();
    for (attempt, patience) in (1..).zip([1, 7, 40]) {
        let committed = kill_after(&path, patience);
        assert!(committed >= patience, "{committed}");
        // As after a crash: what was open is opened anew.
        lab = lab.reopened();
        let found = lab.intervals(&run);
        let numbers: Vec<u32> = found.iter().map(|i| i.index).collect();
        assert!(numbers.len() as u32 >= committed, "attempt {attempt}");
        assert!(numbers.iter().copied().eq(0..numbers.len() as u32));
        assert!(found.iter().all(|i| *i == interval(i.index)));
        assert!(lab.store.journal(&run).unwrap().is_empty());
    }
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    assert_eq!(lab.store.journal(&run).unwrap().len(), 1);
}

/// Starts a writer, kills it once it has committed `patience` intervals, and says how many it
/// had reported by its end.
fn kill_after(path: &Path, patience: u32) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::kill::writes_until_killed", "--ignored", "--nocapture"])
        .env(LAB, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut committed = 0;
    let output = child.stdout.take().unwrap();
    for line in BufReader::new(output).lines() {
        if line.unwrap().starts_with("committed ") {
            committed += 1;
            if committed == patience {
                child.kill().unwrap();
            }
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success(), "it ended by itself: {status}");
    committed
}
