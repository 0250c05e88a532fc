//! A lab that its reader may not write to: results of a colleague, an archive, a read-only mount.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::{StoreError, Want};

/// Tells the child of a test where its lab is.
const LAB: &str = "BACKSLIDE_STORE_TEST_READ_ONLY_LAB";
/// What the child is to find: a run, or a refusal.
const FINDS: &str = "BACKSLIDE_STORE_TEST_FINDS";
/// A user without rights, on any system.
const NOBODY: u32 = 65_534;

/// Ignored, because it is nothing without its parent.
#[test]
#[ignore = "the child of the tests below, as a user without rights"]
fn reads_a_lab() {
    let (Ok(path), Ok(finds)) = (std::env::var(LAB), std::env::var(FINDS)) else {
        return;
    };
    match Store::open(Path::new(&path)) {
        Ok(mut store) => {
            assert_eq!(finds, "a run");
            let run = store.latest_run().unwrap().unwrap();
            assert_eq!(store.load(&run, Want::default()).unwrap().cells.len(), 1);
            let error = store.discard_run(&run).unwrap_err();
            assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        }
        Err(error) => assert!(error.to_string().contains(&finds), "{error}"),
    }
}

/// Runs the child as a user who may read the directory and not write to it.
fn read_without_rights(directory: &Path, finds: &str) {
    let program: PathBuf = directory.join("reader");
    // `cp` writes it: if this process did, a child of a parallel test could keep it open for writing (ETXTBSY).
    let copy = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
    assert!(copy.unwrap().success());
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mode = if path == program { 0o555 } else { 0o444 };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(directory, Permissions::from_mode(0o555)).unwrap();
    let mut child = Command::new(&program);
    child
        .args(["--exact", "tests::read_only::reads_a_lab", "--ignored"])
        .env(LAB, directory.join("lab.sqlite"))
        .env(FINDS, finds)
        .current_dir("/");
    if fs::metadata(directory).unwrap().uid() == 0 {
        child.uid(NOBODY).gid(NOBODY);
    }
    let output = child.output().unwrap();
    fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

/// A lab with a run.
fn lab_with_a_run() -> Lab {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    lab
}

#[test]
fn a_lab_that_was_closed_is_read_without_a_log() {
    let Lab { directory, store } = lab_with_a_run();
    drop(store);
    assert!(!directory.path().join("lab.sqlite-wal").exists());
    read_without_rights(directory.path(), "a run");
}

#[test]
fn a_lab_that_another_user_writes_to_is_read_with_its_log() {
    let lab = lab_with_a_run();
    assert!(lab.directory.path().join("lab.sqlite-wal").exists());
    read_without_rights(lab.directory.path(), "a run");
}

#[test]
fn a_log_without_its_index_is_not_passed_over() {
    let lab = lab_with_a_run();
    let copy = tempfile::tempdir().unwrap();
    for name in ["lab.sqlite", "lab.sqlite-wal"] {
        fs::copy(lab.directory.path().join(name), copy.path().join(name)).unwrap();
    }
    read_without_rights(copy.path(), "its latest changes are still in its log");
}

#[test]
fn an_old_lab_that_cannot_be_migrated_is_refused_with_the_reason() {
    let Lab { directory, store } = lab_with_a_run();
    store.connection.pragma_update(None, "user_version", 1).unwrap();
    drop(store);
    read_without_rights(directory.path(), "an older backslide wrote it");
}
