//! Whether systems take their settings, found out before anything of a run is made.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use model::{BuildSource, RefusedSetting, System};
use servers::Instance;

use crate::embedded::Embedded;
use crate::own;
use crate::site::Site;

/// The longest wait for an embedded database that is opened to try its settings.
const OPEN_LIMIT: Duration = Duration::from_secs(5);

/// The first setting that a system does not take, as its build says where that is here. What keeps the build
/// from being asked is for the run to report.
pub fn refused_setting(system: &System) -> Option<RefusedSetting> {
    let spec = || own::spec(system, &scratch());
    match &system.build.source {
        BuildSource::Embedded => of_embedded(system),
        // Not installed yet.
        BuildSource::Installed { directory, .. } if directory.is_empty() => {
            Instance::check_settings(&spec())
        }
        BuildSource::Path(_) | BuildSource::Installed { .. } => {
            let refused = Instance::check_settings(&spec());
            refused.or_else(|| Instance::examine(spec()).ok().flatten())
        }
        BuildSource::Connect(_) | BuildSource::Imported(_) => None,
    }
}

/// The settings are set one after the other on a new database: the first without which it opens is the one.
fn of_embedded(system: &System) -> Option<RefusedSetting> {
    let directory = scratch();
    let settings = &system.config.settings;
    (1..=settings.len()).find_map(|count| {
        let mut tried = system.clone();
        tried.config.settings.truncate(count);
        let opened = Embedded::open(&tried, &directory, OPEN_LIMIT);
        let error = opened.and_then(|site| Box::new(site).remove()).err()?;
        if let Some(directory) = &error.directory {
            let _leftover = std::fs::remove_dir_all(directory);
        }
        Some(RefusedSetting::Refused {
            option: settings.get(count - 1)?.name.clone(),
            problem: format!("is refused: {}", error.reason),
        })
    })
}

/// A directory that does not exist yet.
fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("backslide-settings-{}-{number}", std::process::id());
    std::env::temp_dir().join(name)
}
