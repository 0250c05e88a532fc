//! As whom a server runs.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::error::{Result, ServerError};

/// Accounts to run a server as that refuses root, the best first.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunAs {
    Ourselves,
    /// In a user namespace that maps root to user 1000: the server sees no root, its files stay ours,
    /// and nothing needs to change its owner.
    Namespace,
    /// As another account of the host, which must own the files.
    Account(Account),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl RunAs {
    /// The way to run a server: as ourselves unless we are root and it refuses that; then in a namespace
    /// where `namespace_works`, otherwise as an account that exists.
    pub(crate) fn choose(
        refuses_root: bool,
        namespace_works: impl FnOnce() -> bool,
        build: &str,
    ) -> Result<Self> {
        if !refuses_root || !rustix::process::geteuid().is_root() {
            return Ok(Self::Ourselves);
        }
        if namespace_works() {
            return Ok(Self::Namespace);
        }
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        ACCOUNTS
            .iter()
            .find_map(|name| find_account(&accounts, name))
            .map(Self::Account)
            .ok_or_else(|| ServerError::NoAccount { build: build.to_owned() })
    }

    pub(crate) fn give(&self, path: &Path) -> Result<()> {
        match self {
            Self::Ourselves | Self::Namespace => Ok(()),
            Self::Account(account) => chown(path, Some(account.uid), Some(account.gid))
                .map_err(ServerError::io("change the owner of", path)),
        }
    }

    /// Can the server enter every existing directory on the way to `directory`? Only another account
    /// can be shut out.
    pub(crate) fn check_reach(&self, directory: &Path) -> Result<()> {
        self.closed_on_the_way_to(directory).map_or(Ok(()), |(directory, user)| {
            Err(ServerError::NotTraversable { directory, user })
        })
    }

    /// Can the server enter every directory on the way to its own program?
    pub(crate) fn check_program(&self, program: &Path) -> Result<()> {
        self.closed_on_the_way_to(program).map_or(Ok(()), |(directory, user)| {
            Err(ServerError::ProgramOutOfReach { program: program.to_owned(), directory, user })
        })
    }

    /// A directory on the way to `path` that the server cannot enter, and the server's account.
    fn closed_on_the_way_to(&self, path: &Path) -> Option<(PathBuf, String)> {
        let Self::Account(account) = self else {
            return None;
        };
        let closed = path.ancestors().skip(1).find(|ancestor| {
            // Missing directories will be created, open to all.
            fs::metadata(ancestor).is_ok_and(|metadata| !account.may_enter(&metadata))
        })?;
        Some((closed.to_owned(), account.name.clone()))
    }
}

impl Account {
    /// The classes exclude each other: an owner without the right has none by his group.
    fn may_enter(&self, metadata: &fs::Metadata) -> bool {
        let bit = if metadata.uid() == self.uid {
            0o100
        } else if metadata.gid() == self.gid {
            0o010
        } else {
            0o001
        };
        metadata.mode() & bit != 0
    }
}

/// The account with this name in the text of `/etc/passwd`.
fn find_account(accounts: &str, name: &str) -> Option<Account> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        Some(Account {
            name: name.to_owned(),
            uid: fields.nth(1)?.parse().ok()?,
            gid: fields.next()?.parse().ok()?,
        })
    })
}

/// The two maps of a namespace with the calling user as user 1000, made before the fork: after it
/// nothing may allocate.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceMaps {
    users: String,
    groups: String,
}

impl NamespaceMaps {
    pub(crate) fn of_caller() -> Self {
        Self {
            users: format!("1000 {} 1\n", rustix::process::geteuid().as_raw()),
            groups: format!("1000 {} 1\n", rustix::process::getegid().as_raw()),
        }
    }

    /// Moves the calling process, which has a single thread, into a new namespace. Allocates nothing.
    #[expect(unsafe_code, reason = "a new user namespace can be had by unshare alone")]
    pub(crate) fn enter(&self) -> io::Result<()> {
        // SAFETY: unsharing the user namespace closes no descriptor and shares no memory; the flag that
        // makes the call unsafe (FILES) is not given.
        unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
        // The kernel asks for the denial before it lets an unprivileged process map its group.
        write_whole(c"/proc/self/setgroups", b"deny")?;
        write_whole(c"/proc/self/uid_map", self.users.as_bytes())?;
        write_whole(c"/proc/self/gid_map", self.groups.as_bytes())
    }
}

fn write_whole(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    // These files take their content in one write or not at all.
    rustix::io::write(&file, text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn accounts_are_read_from_passwd() {
        let text =
            "root:x:0:0:root:/root:/bin/sh\npostgres:x:105:113:PostgreSQL:/var:/bin/sh\nbroken:x:";
        let account = find_account(text, "postgres").unwrap();
        assert_eq!((account.uid, account.gid), (105, 113));
        assert_eq!(find_account(text, "post"), None);
        assert_eq!(find_account(text, "broken"), None);
    }

    #[test]
    fn only_a_server_that_refuses_root_runs_as_another() {
        let chosen = RunAs::choose(false, || panic!("nothing to try"), "b").unwrap();
        assert_eq!(chosen, RunAs::Ourselves);
        let chosen = RunAs::choose(true, || true, "b").unwrap();
        let root = rustix::process::geteuid().is_root();
        assert_eq!(chosen, if root { RunAs::Namespace } else { RunAs::Ourselves });
    }

    #[test]
    fn a_closed_parent_is_named() {
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let stranger =
            RunAs::Account(Account { name: "stranger".to_owned(), uid: 4_000_001, gid: 4_000_001 });
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let instance = root.path().join("a/b");
        let program = stranger.check_program(&instance).unwrap_err().to_string();
        assert!(program.contains("BACKSLIDE_CACHE") && program.contains("a/b is:"), "{program}");
        let message = stranger.check_reach(&instance).unwrap_err().to_string();
        assert!(
            message.contains(&format!("cannot enter {}: choose", root.path().display())),
            "{message}"
        );
        assert!(RunAs::Namespace.check_reach(&instance).is_ok());
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o711)).unwrap();
        assert!(stranger.check_reach(&instance).is_ok());
    }
}
