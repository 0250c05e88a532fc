//! The directory of a campaign: its script and job, what each part said, and the labs of the parts that are done.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use model::Plan;

pub(super) const SCRIPT: &str = "job.sh";
/// What the parts measure, expanded.
const PLAN: &str = "plan.json";
const LOCK: &str = "lock";
/// Number of parts, and the id of the job at Slurm.
pub(super) const JOB: &str = "job";

/// Where a campaign is kept.
pub(super) struct Place {
    pub(super) name: String,
    pub(super) directory: PathBuf,
}

impl Place {
    pub(super) fn of(root: &Path, name: &str) -> Result<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        ensure!(
            name.chars().all(is_plain) && !name.starts_with(['.', '-']) && !name.is_empty(),
            "`{name}` cannot name a campaign: use letters, digits, `.`, `-` and `_` (--campaign)"
        );
        Ok(Self { name: name.to_owned(), directory: root.join("campaigns").join(name) })
    }

    /// Keeps any other `submit` of the campaign away until it is dropped: parts of two plans would mix.
    pub(super) fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.directory)
            .with_context(|| format!("cannot create {}", self.directory.display()))?;
        let path = self.directory.join(LOCK);
        let failed = || format!("cannot lock {}", path.display());
        let file = File::create(&path).with_context(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => bail!(
                "another `submit` of campaign `{}` is at work: wait for it, or name another campaign (--campaign)",
                self.name
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(failed),
        }
    }

    pub(super) fn prepare(&self, script: &str, plan: &Plan) -> Result<()> {
        fs::create_dir_all(self.directory.join("parts"))
            .with_context(|| format!("cannot create {}", self.directory.display()))?;
        self.write(PLAN, &serde_json::to_string(plan)?)?;
        self.write(SCRIPT, script)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.directory.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(super) fn job(&self) -> Result<(u32, Option<String>)> {
        let text = fs::read_to_string(self.directory.join(JOB));
        let text = text.with_context(|| format!("this lab has no campaign `{}`", self.name))?;
        let mut words = text.split_whitespace();
        let parts = words.next().and_then(|word| word.parse().ok());
        let parts = parts.with_context(|| {
            format!("{} is damaged: expected a number of parts", self.directory.join(JOB).display())
        })?;
        Ok((parts, words.next().map(str::to_owned)))
    }

    /// The lab of a part that is done.
    pub(super) fn part(&self, part: u32) -> PathBuf {
        self.directory.join("parts").join(part.to_string())
    }

    pub(super) fn is_done(&self, part: u32) -> bool {
        self.part(part).join("lab.sqlite").is_file()
    }

    /// Of so many parts, those that are not done.
    pub(super) fn missing(&self, parts: u32) -> Vec<u32> {
        (1..=parts).filter(|part| !self.is_done(*part)).collect()
    }

    /// Refuses another plan than that by which parts were measured that are here.
    pub(super) fn check_plan(&self, plan: &Plan) -> Result<()> {
        let path = self.directory.join(PLAN);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let kept: Plan = serde_json::from_slice(&text).with_context(|| {
            format!("{} is damaged: name another campaign (--campaign)", path.display())
        })?;
        if kept == *plan {
            return Ok(());
        }
        let parts = kept.planned_cycles();
        ensure!(
            self.missing(parts).len() == parts as usize,
            "campaign `{}` has parts that were measured by another plan, or with other builds: name another \
             campaign (--campaign)",
            self.name
        );
        Ok(())
    }

    pub(super) fn log(&self, part: u32) -> PathBuf {
        self.directory.join(format!("{part}.log"))
    }
}
