//! Turns an empty directory into a data directory.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::Signal;

use super::{Instance, LOG_LINES, append};
use crate::account::RunAs;
use crate::clone::{Cloned, clone_tree};
use crate::dbms::{Copied, Init, InitCommand, Input};
use crate::error::{Fault, Result, ServerError};
use crate::record::remove;
use crate::tail::{Leading, Tail};

const INIT_LIMIT: Duration = Duration::from_mins(5);

impl Instance {
    pub(super) fn initialise(&self, init: &Init) -> Result<()> {
        if let Some(copy) = &init.copy {
            self.copy_seed(copy)?;
        }
        for directory in &init.directories {
            fs::create_dir_all(directory).map_err(ServerError::io("create", directory))?;
            self.run_as.give(directory)?;
        }
        for (path, content) in &init.files {
            self.write(path, content)?;
        }
        init.commands.iter().try_for_each(|command| self.initialise_by(command))
    }

    fn copy_seed(&self, copy: &Copied) -> Result<()> {
        clone_tree(&copy.from, &copy.to)
            .map_err(|cause| ServerError::Seed { build: self.build(), cause })?;
        for name in copy.without {
            let path = copy.to.join(name);
            if path.symlink_metadata().is_ok() {
                remove(&path)?;
            }
        }
        each_in(&copy.to, |path, metadata| {
            // An archive may hold read-only files.
            let mode = metadata.mode() | if metadata.is_dir() { 0o700 } else { 0o600 };
            fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))
                .map_err(ServerError::io("change the mode of", path))?;
            self.run_as.give(path)
        })
    }

    /// Makes a clone of `data` the data directory.
    pub(super) fn adopt(&self, data: &Path) -> Result<Cloned> {
        let own = self.layout.data();
        let cloned = clone_tree(data, &own)?;
        if matches!(self.run_as, RunAs::Account(_)) {
            self.give_all(&own)?;
        }
        Ok(cloned)
    }

    /// Makes a directory and all that is in it the server's own.
    pub(super) fn give_all(&self, directory: &Path) -> Result<()> {
        each_in(directory, |path, _| self.run_as.give(path))
    }

    fn initialise_by(&self, command: &InitCommand) -> Result<()> {
        let log = self.layout.init_log();
        let input = self.input_file(&command.input)?;
        let launch = self.launch_of(&command.program, &command.arguments, Signal::KILL);
        let mut running = launch
            .spawn(input, append(&log)?)
            .map_err(ServerError::cannot_execute(&command.program))?;
        let status = running.wait_unless(INIT_LIMIT, &self.stop);
        drop(running);
        let tail = Tail::read(&log, 0, LOG_LINES, Leading::Earliest);
        let fault = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => Fault::InitFailed(self.how_ended(status, &tail)),
            None if self.stop.load(Ordering::Relaxed) => {
                return Err(self.faulty(Fault::Interrupted, Tail::default()));
            }
            None => Fault::InitTimeout(INIT_LIMIT),
        };
        Err(self.faulty(fault, tail))
    }

    /// The pieces in one file that has no name any more when it is read: it is gone with its reader, and
    /// no one needs to write into a pipe that may block.
    fn input_file(&self, pieces: &[Input]) -> Result<Stdio> {
        if pieces.is_empty() {
            return Ok(Stdio::null());
        }
        let path = self.layout.directory.join("init.sql");
        let write = || -> io::Result<File> {
            let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
            fs::remove_file(&path)?;
            for piece in pieces {
                match piece {
                    Input::Text(text) => file.write_all(text.as_bytes())?,
                    Input::File(source) => {
                        io::copy(&mut File::open(source)?, &mut file)?;
                    }
                }
            }
            file.rewind()?;
            Ok(file)
        };
        write().map(Stdio::from).map_err(ServerError::io("write", &path))
    }
}

/// Calls `each` of a directory and of all that is in it but links, the outer first.
fn each_in(directory: &Path, each: impl Fn(&Path, &Metadata) -> Result<()>) -> Result<()> {
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).map_err(ServerError::io("read", &path))?;
        if metadata.is_symlink() {
            continue;
        }
        each(&path, &metadata)?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).map_err(ServerError::io("read", &path))? {
                open.push(entry.map_err(ServerError::io("read", &path))?.path());
            }
        }
    }
    Ok(())
}
