//! Starts the server of an instance, watches it until it answers, and looks at it when it is dead.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use model::{Cause, HugePages};

use super::{Instance, LOG_LINES, Ready, append};
use crate::crash;
use crate::error::{Fault, Result, ServerError};
use crate::huge;
use crate::maps::{huge_bytes, maps_file};
use crate::process::Running;
use crate::tail::{Leading, Tail};

const POLL: Duration = Duration::from_millis(10);

impl Instance {
    pub(super) fn launch(&mut self) -> Result<()> {
        if let Some(running) = &mut self.running
            && running.ended().is_none()
        {
            let pid = running.identity.pid;
            return Err(self.faulty(Fault::AlreadyRunning(pid), Tail::default()));
        }
        if let Some((traits, buffer)) = self.huge_buffer() {
            huge::check(traits, buffer.as_ref())
                .map_err(|cause| ServerError::HugePages { build: self.build(), cause })?;
        }
        self.socket.renew()?;
        self.run_as.give(&self.socket.path)?;
        if let Some(own) = self.family.own_socket(&self.layout) {
            let link = &self.layout.socket;
            symlink(own, link).map_err(ServerError::io("create", link))?;
        }
        let path = self.layout.log();
        let log = append(&path)?;
        let printed = log.metadata().map_err(ServerError::io("read", &path))?;
        self.log_start = printed.len();
        self.oom_kills = crash::oom_kills();
        let mut arguments = self.family.start(&self.layout);
        if !self.system.under.is_empty() {
            let product = self.system.build.dbms.product();
            arguments.extend(product.program.under_valgrind.iter().cloned());
        }
        let program = &self.layout.installation.program;
        let mut launch = self.launch_of(program, &arguments, self.family.traits().death);
        launch.under = &self.system.under;
        launch.cpus = self.cpus;
        launch.preload = self.preload.as_deref();
        launch.locks_memory = self.system.huge_pages;
        let running =
            launch.spawn(Stdio::null(), log).map_err(ServerError::cannot_execute(program))?;
        self.write_record(Some(running.identity.clone()))?;
        self.running = Some(running);
        Ok(())
    }

    pub(super) fn wait_until_ready(
        &mut self,
        ready: &mut Ready<'_>,
        begin: Instant,
        limit: Duration,
    ) -> Result<()> {
        let mut last = Cause::from("it has not opened its socket");
        loop {
            if let Some(status) = self.running.as_mut().and_then(Running::ended) {
                let tail = self.tail(Leading::Earliest);
                let status = self.how_ended(status, &tail);
                return Err(self.faulty(Fault::Died(status), tail));
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(self.faulty(Fault::Interrupted, Tail::default()));
            }
            if self.layout.socket.exists() {
                match ready() {
                    Ok(()) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            if begin.elapsed() >= limit {
                let tail = self.tail(Leading::Earliest);
                return Err(self.faulty(Fault::NotReady { limit, last }, tail));
            }
            thread::sleep(POLL);
        }
    }

    /// The server's largest buffer, where it is to lie in huge pages.
    fn huge_buffer(&self) -> Option<(&'static HugePages, Option<huge::Buffer>)> {
        let traits = &self.system.build.dbms.product().options.huge_pages;
        let buffer = || huge::buffer(traits, &self.system.config.settings);
        self.system.huge_pages.then(|| (traits, buffer()))
    }

    /// Has the server what it was started with? The loader passes over a library that it cannot
    /// preload, and MySQL over huge pages that it cannot have; both only say so in the log.
    pub(super) fn check_made_of(&self) -> Result<()> {
        let Some(pid) = self.pid() else {
            return Ok(());
        };
        let build = self.build();
        let unread =
            |file: &str| ServerError::io("read", Path::new(&format!("/proc/{pid}/{file}")));
        if let Some(library) = &self.preload
            && !maps_file(pid, library).map_err(unread("maps"))?
        {
            return Err(ServerError::NotPreloaded {
                build,
                library: library.clone(),
                tail: self.tail(Leading::Earliest),
            });
        }
        if let Some((_, buffer)) = self.huge_buffer() {
            let wanted = buffer.map_or(1, |buffer| buffer.bytes);
            let got = huge_bytes(pid).map_err(unread("smaps"))?;
            if got < wanted {
                return Err(ServerError::NotHuge {
                    build,
                    got_mib: got >> 20,
                    wanted_mib: wanted >> 20,
                    tail: self.tail(Leading::Earliest),
                });
            }
        }
        Ok(())
    }

    /// Waits for the end of a server that was asked to stop, and wakes it up where it may have slept through
    /// the request.
    pub(super) fn wait_for_end(
        &self,
        running: &mut Running,
        limit: Duration,
    ) -> Option<ExitStatus> {
        const SLEEP: Duration = Duration::from_secs(1);
        // Too few to fill the queue of a server that is truly stuck: then connecting blocks.
        const CALLS: u32 = 5;
        let begin = Instant::now();
        if self.family.traits().sleeps_through_stop {
            for _ in 0..CALLS {
                let left = limit.saturating_sub(begin.elapsed());
                let status = running.wait_unless(left.min(SLEEP), &self.stop);
                if status.is_some() || self.stop.load(Ordering::Relaxed) {
                    return status;
                }
                // It closes its socket as soon as it is awake; then there is nothing to connect to.
                drop(UnixStream::connect(&self.layout.socket));
            }
        }
        running.wait_unless(limit.saturating_sub(begin.elapsed()), &self.stop)
    }

    pub(super) fn faulty(&self, fault: Fault, tail: Tail) -> ServerError {
        let (build, directory) = (self.build(), self.layout.directory.clone());
        ServerError::Instance { build, directory, fault, tail }
    }

    /// How a process of this instance ended, in words.
    pub(super) fn how_ended(&self, status: ExitStatus, tail: &Tail) -> String {
        crash::describe(status, &self.core_places(), tail.lines(), self.oom_kills)
    }

    /// The end of what the server has printed since its last start.
    pub(super) fn tail(&self, leading: Leading) -> Tail {
        Tail::read(&self.layout.log(), self.log_start, LOG_LINES, leading)
    }

    /// Where a server of this instance leaves a core whose name is no path: servers work in their data
    /// directory, once they have got so far.
    pub(super) fn core_places(&self) -> [PathBuf; 2] {
        [self.layout.directory.clone(), self.layout.data()]
    }

    /// Removes the directory. What a killed server started may still write for a moment.
    pub(super) fn remove_directory(&self) -> Result<()> {
        const ATTEMPTS: u32 = 20;
        const PAUSE: Duration = Duration::from_millis(100);
        let directory = &self.layout.directory;
        let mut result = fs::remove_dir_all(directory);
        for _ in 1..ATTEMPTS {
            let again =
                result.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::DirectoryNotEmpty);
            if !again {
                break;
            }
            thread::sleep(PAUSE);
            result = fs::remove_dir_all(directory);
        }
        result.map_err(ServerError::io("remove", directory))
    }
}
