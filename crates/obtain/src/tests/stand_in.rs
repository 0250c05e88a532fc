//! Stand-ins for programs, for tests.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes `path` a script. Another process writes it: were it ours, a child that another test forks just
/// then would have it open for writing too, and the system runs no such file.
pub(crate) fn script(path: &Path, text: &str) {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    write!(input, "#!/bin/sh\n{text}\n").unwrap();
    drop(input);
    assert!(shell.wait().unwrap().success());
}
