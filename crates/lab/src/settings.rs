//! Whether systems take their settings, found out before anything of a run is made.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use model::{BuildSource, RefusedSetting, System};
use servers::Instance;

use crate::embedded::Embedded;
use crate::own;

/// The longest wait for an embedded database that is opened to try its settings.
const OPEN_LIMIT: Duration = Duration::from_secs(5);
/// Names that are tried for a directory, each because another process has the one before.
const NAMES: u32 = 1_000;

/// The first setting that a system does not take. What keeps the build from being asked is for the run to report.
pub fn refused_setting(system: &System) -> Option<RefusedSetting> {
    let scratch = Scratch::new().ok()?;
    match &system.build.source {
        BuildSource::Obtainable { .. } => Instance::check_settings(system),
        _ if system.build.dbms.is_embedded() => of_embedded(system, &scratch),
        BuildSource::Path(_) | BuildSource::Installed { .. } => {
            let spec = own::spec(system, &scratch.directory());
            let refused = Instance::check_settings(system);
            refused.or_else(|| Instance::examine(spec).ok().flatten())
        }
        BuildSource::Embedded | BuildSource::Connect(_) | BuildSource::Imported(_) => None,
    }
}

/// More and more settings are set on a new database: the last one of the first that does not open is refused.
fn of_embedded(system: &System, scratch: &Scratch) -> Option<RefusedSetting> {
    let settings = &system.config.settings;
    (1..=settings.len()).find_map(|count| {
        let mut tried = system.clone();
        tried.config.settings.truncate(count);
        let error = Embedded::open(&tried, &scratch.directory(), OPEN_LIMIT, None).err()?;
        Some(RefusedSetting::Refused {
            option: settings.get(count - 1)?.name.clone(),
            problem: format!("is refused: {}", error.reason),
        })
    })
}

/// A directory that is gone with this. Only this user can put anything into it: servers take their configuration there.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        let process = std::process::id();
        for number in 0..NAMES {
            let path = parent.join(format!("backslide-settings-{process}-{number}"));
            // Others may pass through: some servers run as another user.
            match DirBuilder::new().mode(0o711).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Where an instance may be made; it does not exist yet.
    fn directory(&self) -> PathBuf {
        self.0.join("instance")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It holds nothing that anybody needs.
        let _leftover = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn others_can_put_nothing_into_the_directory_and_it_goes() {
        let first = Scratch::new().unwrap();
        let second = Scratch::new().unwrap();
        assert_ne!(first.0, second.0);
        let mode = fs::metadata(&first.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{mode:o}");
        let path = first.0.clone();
        drop(first);
        assert!(!path.exists() && second.0.exists());
    }
}
