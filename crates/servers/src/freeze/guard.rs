//! Thaws a server once the process that froze it has been killed.
//!
//! The kernel then sends the server its death signal. A frozen server gets only SIGKILL. PostgreSQL's death signal is
//! another one, because its child processes would survive SIGKILL.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of this process, which closes the pipe, however it ends. ^C must not end the shell.
const WATCH: &str = "trap '' HUP INT TERM; read -r _; ";

/// A shell that waits for the end of this process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Writes a word into the file that freezes and thaws a control group.
    pub(super) fn of_group(switch: &Path, thaw: &str) -> io::Result<Self> {
        Self::start(
            Command::new("sh").args(["-c", &format!("{WATCH} echo \"$1\" >\"$2\"")]).args([
                "backslide-guard".as_ref(),
                thaw.as_ref(),
                switch.as_os_str(),
            ]),
        )
    }

    /// Continues a stopped process and its children: it may wait for one in `vfork`. It then ends what it started.
    pub(super) fn of_process(pid: u32) -> io::Result<Self> {
        let go_on = format!("{WATCH} kill -CONT {pid} $(cat /proc/{pid}/task/*/children)");
        Self::start(Command::new("sh").args(["-c", &go_on, "backslide-guard"]))
    }

    fn start(shell: &mut Command) -> io::Result<Self> {
        // Its own process group: a signal to ours does not reach it.
        let quiet = shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        quiet.stderr(Stdio::null()).spawn().map(Self)
    }

    /// As if this process had been killed; returns when the guard has done its work.
    #[cfg(test)]
    pub(super) fn fire(&mut self) -> io::Result<()> {
        drop(self.0.stdin.take());
        self.0.wait().map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
