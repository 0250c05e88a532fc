//! The disk of the lab gets full in the middle of a run.
//!
//! The test runs a second time in a mount namespace of its own, where it may have a small disk.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Bench, LOAD_ONLY, plan};
use lab::{Ended, LabError};
use load::Stop;
use model::Event;
use store::StoreError;
use testkit::{FakeProvider, Fault};

/// Where the small disk is, for the second run.
const DISK: &str = "BACKSLIDE_TEST_DISK";
/// More than the plan's estimate, which is checked before it begins.
const SIZE: &str = "size=64m";

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut small_disk = Command::new("unshare");
    small_disk
        .args(["--map-root-user", "--mount", "sh", "-c"])
        .arg(r#"mount -t tmpfs -o "$1" none "$2" || exit 77; exec "$3" --ignored --nocapture"#)
        .args(["sh", SIZE])
        .arg(directory.path())
        .arg(std::env::current_exe().unwrap())
        .env(DISK, directory.path());
    let output = match small_disk.output() {
        Ok(output) if output.status.code() != Some(77) => output,
        Ok(_) | Err(_) => {
            eprintln!("skipped: no mount namespace");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("unshare"), "{told}");
        eprintln!("skipped: no mount namespace");
        return;
    }
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "needs the small disk that the other test makes"]
fn inside_the_small_disk() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        eprintln!("skipped: no small disk");
        return;
    };
    let mut bench = Bench::at(&disk);
    let plan = plan(8, LOAD_ONLY);
    let run = bench.begin(&plan);
    let provider = FakeProvider::default();
    let filler = disk.join("filler");
    let error = bench
        .listen(&run, &provider, &Stop::default(), &mut |event| {
            if matches!(event, Event::TrialStarted { index: 3, .. }) {
                let _bytes = fill(&filler);
            }
        })
        .unwrap_err();
    assert!(matches!(error, LabError::Store(StoreError::Full { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("is full") && text.ends_with("make room"));
    let kept = bench.lab.store.journal(&run).unwrap();
    assert!(kept.len() >= 2 && kept.len() < 16, "{}", kept.len());
    assert!(kept.iter().all(|(_, outcome)| outcome.is_completed()));
    assert!(bench.instances().is_empty());

    std::fs::remove_file(&filler).unwrap();
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let journal = bench.lab.store.journal(&run).unwrap();
    assert_eq!(journal.len(), 16);
    assert_eq!(journal[..kept.len()], kept);
    a_server_finds_no_room(&disk);
}

/// The store can write, but the server cannot: its trial has no outcome.
fn a_server_finds_no_room(disk: &Path) {
    let filler = disk.join("filler");
    let mut bench = Bench::at(&disk.join("second"));
    let plan = plan(3, LOAD_ONLY);
    let run = bench.begin(&plan);
    let system = plan.systems[0].name.clone();
    let provider = FakeProvider::default().with(&system, Fault::NeverReady);
    let error = bench
        .listen(&run, &provider, &Stop::default(), &mut |event| {
            if matches!(event, Event::TrialStarted { index: 1, .. }) {
                let left = fill(&filler) - (2 << 20);
                File::options().write(true).open(&filler).unwrap().set_len(left).unwrap();
            }
        })
        .unwrap_err();
    assert!(matches!(error, LabError::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("make room, then resume the run"), "{error}");
    std::fs::remove_file(&filler).unwrap();
    let ended = bench.carry_out(&run, &FakeProvider::default()).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });
}

/// Fills the disk with a file; returns its size in bytes.
fn fill(path: &Path) -> u64 {
    let mut file = File::create(path).unwrap();
    let block = vec![0u8; 4096];
    while file.write_all(&block).is_ok() {}
    file.metadata().unwrap().len()
}
