//! Other hosts, over `ssh`.

use std::process::Command;

/// Settings that the user's own do not replace. Runs are unattended, so a password prompt is an error; a terminal would
/// change what is sent, and banners would hide errors. A host that is cut off fails after 15 s.
const OPTIONS: [&str; 5] = [
    "BatchMode=yes",
    "LogLevel=ERROR",
    "ConnectTimeout=20",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
];

/// A command that runs what its further arguments say on `host`.
pub fn ssh(host: &str) -> Command {
    let mut command = Command::new("ssh");
    command.arg("-T").args(OPTIONS.iter().flat_map(|option| ["-o", option])).args(["--", host]);
    command
}
