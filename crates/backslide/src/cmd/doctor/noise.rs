//! The host's own noise: a loop beside itself, SQLite beside a copy of itself, and which changes rounds can tell
//! that are as noisy as these.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lab::{Builds, Ended, Lab, Providers};
use load::Stop;
use model::{Evidence, Nanos, Outcome, Scatter};
use probes::{Finding, Noise, Status};
use stats::{Calling, Selection};

use crate::cmd::run;
use crate::{foreseen, runs};

/// Rounds in which SQLite is compared with a copy of itself; each takes about three seconds.
const ROUNDS: u32 = 8;

/// The numbers of rounds for which it is told what they show.
const TOLD: [u32; 3] = [4, 8, 16];

pub(super) fn of_loop(noise: &Noise) -> Finding {
    let what = format!("the same loop varies by {:.2} % ({} pairs)", noise.sd_percent, noise.pairs);
    let sd = noise.sd_percent / 100.0;
    // A single loop has neither windows nor pairs.
    let scatter = Scatter { between: sd * sd, within: 0.0, excess: 0.0, prior_df: 0.0 };
    finding("noise", &what, sd, &scatter)
}

/// What is found of SQLite, kept in the lab; `None` when the user asked to stop.
pub(super) fn of_sqlite(root: &Path, stop: &Stop) -> Option<Finding> {
    const NAME: &str = "noise of SQLite";
    let spread = spread_of_sqlite(ROUNDS, stop).and_then(|evidence| {
        let Some(evidence) = evidence else { return Ok(None) };
        let scatter = stats::scatter(&evidence, Some(Nanos::SECOND));
        foreseen::keep(&scatter, root)?;
        Ok(Some((evidence.sd, scatter)))
    });
    match spread {
        Ok(None) => None,
        Ok(Some((sd, scatter))) => {
            let what = format!(
                "SQLite and a copy of it differ by {:.2} % from round to round ({ROUNDS} rounds)",
                100.0 * sd
            );
            Some(finding(NAME, &what, sd, &scatter))
        }
        Err(error) => Some(Finding {
            name: NAME,
            status: Status::Unknown,
            found: format!("{error:#}"),
            advice: None,
        }),
    }
}

/// `sd` is the standard deviation of the logarithm of a round's ratio, with windows of a second.
fn finding(name: &'static str, what: &str, sd: f64, scatter: &Scatter) -> Finding {
    // Of one step alone, without a margin.
    let alone = Calling { steps: 1, margin: 0.0, first_look: None };
    let effects = TOLD.map(|rounds| {
        let percent = 100.0 * stats::detectable(scatter, 1.0, rounds, &alone);
        format!("{percent:.1} % in {rounds}")
    });
    let status = match 100.0 * sd {
        ..1.5 => Status::Good,
        1.5..4.0 => Status::Warn,
        _ => Status::Bad,
    };
    Finding {
        name,
        status,
        found: format!(
            "{what}; smallest change detectable at this noise, by rounds: {}",
            effects.join(", ")
        ),
        advice: (status != Status::Good).then(|| {
            "Fix the findings above, plan more rounds, and do not expect to detect smaller effects."
                .to_owned()
        }),
    }
}

/// A plan that compares SQLite with a copy of itself, in short slices.
const PLAN: &str = include_str!("sqlite.toml");

/// By how much the throughput of two copies of SQLite differs from round to round. `None` when the user asked to stop.
fn spread_of_sqlite(rounds: u32, stop: &Stop) -> Result<Option<Evidence>> {
    let scratch = Scratch::in_directory(&std::env::temp_dir())?;
    // Not the directory itself, which is locked: opening a lab takes a lock of its own.
    let mut lab = Lab::open(&scratch.path.join("lab"))?;
    let file = plan::read(&format!("rounds = {rounds}\n{PLAN}"), "doctor")?;
    let plan = run::expand(&file, &Builds::of_user()?, lab.host()?.shape)?;
    let run = lab.begin(&plan, env!("CARGO_PKG_VERSION"))?;
    let ended = lab.carry_out(&run, &Providers::default(), stop, &mut |_| ())?;
    if ended == Ended::Interrupted {
        return Ok(None);
    }
    let data = lab.store.load(&run, runs::NUMBERS)?;
    for trial in &data.trials {
        if let Outcome::Failed { reason, .. } = &trial.outcome {
            bail!("SQLite could not be compared with a copy of itself: {reason}");
        }
    }
    let compared = runs::compare(&data, None, Selection::Deciding, None)?;
    let mut evidence = compared.into_iter().filter_map(|c| c.evidence);
    evidence.next().context("SQLite and its copy have no round in common").map(Some)
}

const SCRATCH: &str = "backslide-doctor-";

/// A directory that is gone with this; the next one removes it where this process was killed.
struct Scratch {
    path: PathBuf,
    /// Says that it is in use, until this process ends.
    _lock: File,
}

impl Scratch {
    fn in_directory(all: &Path) -> Result<Self> {
        remove_left(all);
        let path = all.join(format!("{SCRATCH}{}", std::process::id()));
        // One that is there already is somebody else's.
        let mut builder = DirBuilder::new();
        let locked = builder.mode(0o700).create(&path).and_then(|()| {
            let lock = File::open(&path)?;
            lock.try_lock()?;
            Ok(lock)
        });
        let lock = locked.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path, _lock: lock })
    }
}

/// Removes the scratch directories of processes that were killed. Those of other users stay: they cannot be opened.
fn remove_left(all: &Path) {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_left(&entry.file_name())) {
        // A link leads elsewhere; a directory that is locked is in use.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = is_directory.then(|| File::open(entry.path()));
        if let Some(Ok(lock)) = lock
            && lock.try_lock().is_ok()
        {
            // What cannot be removed is in a directory for such files.
            let _leftover = fs::remove_dir_all(entry.path());
        }
    }
}

/// Is it the name of a scratch directory whose process has ended?
fn is_left(name: &OsStr) -> bool {
    let pid = name.to_str().and_then(|name| name.strip_prefix(SCRATCH));
    let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in a directory for such files.
        let _leftover = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_can_tell_follows_from_how_much_they_vary() {
        let noise = |sd_percent| Noise { sd_percent, pairs: 60 };
        insta::assert_snapshot!(of_loop(&noise(0.5)).found, @"the same loop varies by 0.50 % (60 pairs); smallest change detectable at this noise, by rounds: 1.9 % in 4, 0.8 % in 8, 0.5 % in 16");
        for (sd, status) in [(0.1, Status::Good), (1.5, Status::Warn), (4.0, Status::Bad)] {
            let found = of_loop(&noise(sd));
            assert_eq!(found.status, status);
            assert_eq!(found.advice.is_some(), status != Status::Good);
        }
    }

    #[test]
    fn the_directory_of_a_killed_check_up_goes_with_the_next() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        // No process has this id: it is above the kernel's largest.
        for name in ["backslide-doctor-4999999", "backslide-doctor-x", "other-4999999"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("lab.sqlite"), "").unwrap();
        }
        let used = at("backslide-doctor-4999998");
        fs::create_dir(&used).unwrap();
        let lock = File::open(&used).unwrap();
        lock.lock().unwrap();
        let scratch = Scratch::in_directory(all.path()).unwrap();
        assert!(!at("backslide-doctor-4999999").exists());
        assert!(at("backslide-doctor-x").exists() && at("other-4999999").exists());
        assert!(used.exists(), "it was in use");
        drop(scratch);
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 3);
    }

    #[test]
    fn sqlite_is_compared_with_a_copy_of_itself_and_nothing_stays() {
        let sd = spread_of_sqlite(3, &Stop::default()).unwrap().unwrap().sd;
        assert!(sd.is_finite() && sd > 0.0, "{sd}");
        // Nobody is in the way of the next.
        let next = Scratch::in_directory(&std::env::temp_dir()).unwrap();
        assert!(fs::read_dir(&next.path).unwrap().next().is_none());
        let asked = Stop::default();
        asked.ask();
        drop(next);
        assert_eq!(spread_of_sqlite(3, &asked).unwrap(), None);
    }
}
