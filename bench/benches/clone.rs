//! Cloning a template: `clone_tree` beside `cp --reflink=auto -a`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use bench::{Scratch, Spread, Table, heading, note, servers, within};
use model::Bytes;
use rustix::fs::{Advice, fadvise};

/// The time of `clone_tree` over that of `cp`.
const GOAL: f64 = 1.0;
const PAIRS: usize = 5;

const MEASURES: &str = "Wall time of cloning the template of a server (200,000 rows with three indexes) \
     within the lab's filesystem, by `clone_tree` and by `cp --reflink=auto -a`, in turns; which is \
     first changes from pair to pair. Everything earlier is on the disk before a clone begins. Warm: \
     all files of the template have just been read; cold: they were dropped from the page cache. \
     Neither waits until the clone is on the disk. No clone is removed before the last one is made: ext4 is \
     slow to make files for a minute after many were removed, whoever makes them. The ratio is taken within a pair. Median [min–max].";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Cloning beside cp", MEASURES)?;
    let mut table = Table::new([
        "template",
        "size",
        "files",
        "page cache",
        "clone_tree, ms",
        "cp, ms",
        "ratio",
        "at most 1",
    ]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

fn plan(server: &str) -> String {
    format!(
        r#"
        name = "clone"
        rounds = 1
        quarantine = false
        template = true
        [workload]
        kind = "insert"
        scale = "tiny"
        rows = 200_000
        rates = [100]
        queries = ["point"]
        query_seconds = 1
        settle = 0
        [[system]]
        build = "{server}"
        config = "quick"
        "#
    )
}

fn measure(server: &str, table: &mut Table<8>) -> Result<()> {
    let mut scratch = Scratch::new()?;
    note(&format!("{server}: the template is loaded"));
    scratch.carry_out(&plan(server), &mut |_| ())?;
    let template = template(&scratch.lab.root().join("templates"))?;
    let clones = scratch.directory().join("clones");
    for (name, prepare) in [("warm", warm as fn(&Path) -> Result<()>), ("cold", cold)] {
        let (mut ours, mut theirs) = (Spread::default(), Spread::default());
        let mut last = servers::Cloned::default();
        fs::create_dir(&clones)?;
        for pair in 0..PAIRS {
            note(&format!("{server}, {name}: pair {} of {PAIRS}", pair + 1));
            for turn in 0..2 {
                let target = clones.join(format!("{pair}-{turn}"));
                servers::write_back(&clones)?;
                prepare(&template)?;
                let begin = Instant::now();
                let side = if (pair + turn) % 2 == 0 {
                    last = servers::clone_tree(&template, &target)?;
                    &mut ours
                } else {
                    copy(&template, &target)?;
                    &mut theirs
                };
                side.add(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
        fs::remove_dir_all(&clones)?;
        let ratio = ours.over(&theirs);
        let how = if last.reflinked { "shared blocks" } else { "copied" };
        table.row([
            format!("{server}, {how}"),
            Bytes(last.bytes).to_string(),
            last.files.to_string(),
            name.to_owned(),
            format!("{ours:.0}"),
            format!("{theirs:.0}"),
            format!("{ratio:.2}"),
            within(ratio.median() <= GOAL),
        ]);
    }
    Ok(())
}

/// The data of the only template.
fn template(shelf: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(shelf)?.next().context("no template was made")?;
    Ok(entry?.path().join("data"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut cp = Command::new("cp");
    let status = cp.args(["--reflink=auto", "-a"]).arg(from).arg(to).status()?;
    if !status.success() {
        bail!("cp: {status}");
    }
    Ok(())
}

fn warm(template: &Path) -> Result<()> {
    for path in files(template)? {
        io::copy(&mut File::open(path)?, &mut io::sink())?;
    }
    Ok(())
}

fn cold(template: &Path) -> Result<()> {
    for path in files(template)? {
        fadvise(File::open(path)?, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut open = vec![directory.to_owned()];
    let mut files = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
