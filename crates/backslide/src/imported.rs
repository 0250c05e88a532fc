//! What was imported before. The digest of each file stands with its run, below the command that imported it.

use std::fmt::Write;

use ::import::Source;
use anyhow::{Result, bail};
use lab::Lab;
use model::RunInfo;
use sha2::{Digest, Sha256};

/// How a line with a digest begins; the path follows it.
const DIGEST: &str = "sha256 ";

/// A line for each file or directory: `sha256 2cf24d…  results.csv`. That of a file is the one that `sha256sum` prints;
/// that of a directory is made of the names and digests of the files that are read.
pub(crate) fn provenance(sources: &[Source]) -> String {
    let mut text = String::new();
    for source in sources {
        let (digest, origin) = (digest(source), source.origin.escape_default());
        let _infallible = writeln!(text, "{DIGEST}{digest}  {origin}");
    }
    text
}

/// Refuses what a run of the lab holds already.
pub(crate) fn refuse(lab: &Lab, sources: &[Source]) -> Result<()> {
    let runs = lab.store.runs()?;
    for source in sources {
        let digest = digest(source);
        let mut infos = runs.iter().map(|run| &run.info);
        if let Some(RunInfo { id, .. }) = infos.find(|info| holds(info, &digest)) {
            bail!(
                "{}: run {id} has this already; `backslide show {id}` shows it, --again imports it once more",
                source.origin
            );
        }
    }
    Ok(())
}

fn holds(info: &RunInfo, digest: &str) -> bool {
    let mut lines = info.plan.source.lines();
    info.is_imported()
        && lines.any(|line| {
            let known = line.strip_prefix(DIGEST);
            known.is_some_and(|known| known.starts_with(digest))
        })
}

fn digest(source: &Source) -> String {
    match source.files.as_slice() {
        [file] => sha256(&file.text),
        files => {
            let lines =
                files.iter().map(|file| format!("{}  {}\n", sha256(&file.text), file.name()));
            sha256(&lines.collect::<String>())
        }
    }
}

fn sha256(text: &str) -> String {
    let digits = Sha256::digest(text.as_bytes());
    digits.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
