//! The sources that paths of the command line stand for.

use std::path::{Path, PathBuf};

use ::import::{File, FileKind, Source, tables};
use anyhow::{Context, Result, anyhow, bail};

use super::text;

const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 16;

#[derive(Default)]
pub(super) struct SourcesFound {
    pub(super) sources: Vec<Source>,
    /// Was a folder searched? Then the order of the files says nothing.
    pub(super) is_searched: bool,
    /// What was passed over in folders: files that hold no results, tables of ratios and copies of tables, and tables
    /// made of results that are imported.
    others: usize,
    derived: usize,
    seen: usize,
}

/// A path as it is named: `NAME=PATH@CLIENTS`.
struct Named<'a> {
    system: Option<&'a str>,
    clients: Vec<u32>,
    path: &'a Path,
}

impl<'a> Named<'a> {
    /// What is there by the whole name is meant by it.
    fn parse(named: &'a str) -> Self {
        let is_there = |path: &str| Path::new(path).exists();
        let parts = named.rsplit_once('@').filter(|_| !is_there(named));
        let parts = parts.and_then(|(path, numbers)| Some((path, counts(numbers)?)));
        let (named, clients) = parts.unwrap_or((named, Vec::new()));
        let parts = named.split_once('=').filter(|_| !is_there(named));
        let (system, path) = parts.map_or((None, named), |(system, path)| (Some(system), path));
        Self { system, clients, path: Path::new(path) }
    }

    fn source(&self, kind: FileKind, path: &Path, files: Vec<File>) -> Source {
        Source {
            kind,
            system: self.system.map(str::to_owned),
            clients: self.clients.clone(),
            origin: path.display().to_string(),
            files,
        }
    }
}

/// `40`, or `1,2,4`; from one to a million.
fn counts(numbers: &str) -> Option<Vec<u32>> {
    let number = |text: &str| {
        let number = text.parse().ok()?;
        (1..=1_000_000).contains(&number).then_some(number)
    };
    numbers.split(',').map(number).collect()
}

impl SourcesFound {
    /// Adds what a path stands for: a file, a directory of raw output, or a folder of such directories and of tables.
    pub(super) fn add(&mut self, named: &str, kind: Option<FileKind>) -> Result<()> {
        let named = Named::parse(named);
        let path = named.path;
        if !path.is_dir() {
            let file = text::read(path)?;
            if file.text.trim().is_empty() {
                bail!("{}: the file is empty", path.display());
            }
            let Some(kind) = kind.or_else(|| FileKind::of(&file)) else {
                bail!(
                    "{}: neither name nor contents tell the kind of this file; give it with --as KIND",
                    path.display()
                );
            };
            self.push_file(&named, kind, path, file);
            return Ok(());
        }
        let before = self.sources.len();
        self.search(&named, path, 0, false)?;
        match self.sources.len() - before {
            0 => bail!(
                "{}: no file in it has the name or contents of known results; name the files to import",
                path.display()
            ),
            1 => {}
            several if named.system.is_some() => bail!(
                "{}: it has {several} results, and NAME= names one system; name the directory of each system",
                path.display()
            ),
            _ => {}
        }
        Ok(())
    }

    /// What was passed over in folders, for a note; `None` where nothing was.
    pub(super) fn passed_over(&self) -> Option<String> {
        let all = [
            (self.derived, "made of results that are imported, or ratios"),
            (self.others, "without results that are known"),
        ];
        let said = all.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(count, what)| format!("{count} {what}")).collect();
        (!said.is_empty()).then(|| format!("files passed over: {}", said.join("; ")))
    }

    /// Adds a file. A table of rates with commas has its systems in its twin with tabs.
    fn push_file(&mut self, named: &Named<'_>, kind: FileKind, path: &Path, file: File) {
        let mut source = named.source(kind, path, vec![file]);
        if kind == FileKind::QpsTable && source.system.is_none() {
            let twin = twin(path).and_then(|twin| text::read(&twin).ok());
            source.system = twin.and_then(|twin| tables::qps::systems_of_legend(&twin));
        }
        self.sources.push(source);
    }

    /// Adds all that is below a directory. `is_raw_known`: are results there that tables below are made of?
    fn search(
        &mut self,
        named: &Named<'_>,
        directory: &Path,
        depth: usize,
        is_raw_known: bool,
    ) -> Result<()> {
        if depth > DEEPEST {
            bail!("{}: more than {DEEPEST} directories within each other", directory.display());
        }
        let entries = entries(directory)?;
        let raw: Vec<&PathBuf> = entries.iter().filter(|path| is_raw_output(path)).collect();
        if !raw.is_empty() {
            let files = raw.into_iter().map(|path| self.read(path));
            let files: Result<Vec<File>> = files.collect();
            self.sources.push(named.source(FileKind::SysbenchDirectory, directory, files?));
            return Ok(());
        }
        self.is_searched = true;
        let (directories, files): (Vec<&PathBuf>, Vec<&PathBuf>) = entries
            .iter()
            .filter(|path| !path.is_symlink() || !path.is_dir())
            .partition(|path| path.is_dir());
        let mut is_raw_known =
            is_raw_known || files.iter().any(|path| name(path).starts_with("o.sum"));
        for below in &directories {
            is_raw_known |= self::entries(below)?.iter().any(|path| is_raw_output(path));
        }
        for path in files {
            self.look_at(named, path, is_raw_known)?;
        }
        for below in directories {
            self.search(named, below, depth + 1, is_raw_known)?;
        }
        Ok(())
    }

    /// A file in a folder: it is read where it is known, and passed over where it is not.
    fn look_at(&mut self, named: &Named<'_>, path: &Path, is_raw_known: bool) -> Result<()> {
        let name = name(path);
        let is_ratio = ["qps.rel", "o.qps.rel", "rel."].iter().any(|start| name.starts_with(start));
        if is_ratio || twin(path).is_some() || is_packed_copy(path) {
            self.derived += 1;
            return Ok(());
        }
        let file = if path.is_file() { self.read(path).ok() } else { None };
        let known = file.and_then(|file| Some((FileKind::known(&file)?, file)));
        let Some((kind, file)) = known else {
            self.others += 1;
            return self.check_seen(path);
        };
        let is_table =
            matches!(kind, FileKind::QpsTable | FileKind::MetTable | FileKind::InsertTable);
        if is_table && is_raw_known {
            self.derived += 1;
        } else {
            self.push_file(named, kind, path, file);
        }
        Ok(())
    }

    fn read(&mut self, path: &Path) -> Result<File> {
        self.seen += 1;
        self.check_seen(path)?;
        text::read(path)
    }

    fn check_seen(&self, path: &Path) -> Result<()> {
        if self.seen > MOST_FILES {
            let path = path.display();
            bail!("{path}: more than {MOST_FILES} files; name the folders of the campaigns");
        }
        Ok(())
    }
}

/// The table with tabs that has the legend of a table with commas, where it lies beside it.
fn twin(path: &Path) -> Option<PathBuf> {
    let bare = name(path);
    let bare = bare.strip_suffix(".gz").unwrap_or(bare).strip_suffix(".csv")?;
    let is_table = ["qps.", "o.qps."].iter().any(|start| bare.starts_with(start));
    let beside = [".tsv", ".tsv.gz"].map(|end| path.with_file_name(format!("{bare}{end}")));
    beside.into_iter().find(|path| is_table && path.is_file())
}

/// Does the same file lie beside it, not packed?
fn is_packed_copy(path: &Path) -> bool {
    let bare = name(path).strip_suffix(".gz");
    bare.is_some_and(|bare| path.with_file_name(bare).exists())
}

/// Is it a file of raw output that is read? The others of raw output are passed over.
fn is_raw_output(path: &Path) -> bool {
    let starts = ["sb.o.", "sb.met.", "sb.vm.", "sb.io.", "sb.prepare."];
    let name = name(path);
    starts.iter().any(|start| name.starts_with(start)) && !is_packed_copy(path)
}

/// The last part of a path; [`entries`] has looked at it.
fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// What a directory holds, by name, without what is hidden.
fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let what = || format!("cannot read {}", directory.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(what)? {
        let path = entry.with_context(what)?.path();
        utf_8(&path)?;
        if !name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The path as text: it becomes names in reports.
pub(super) fn utf_8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let bytes = path.as_os_str().as_encoded_bytes().escape_ascii();
        anyhow!("{}: this path is not UTF-8 ({bytes}); import it by another name", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_name_its_system_and_its_clients() {
        let of = |named: &'static str| {
            let named = Named::parse(named);
            (named.system, named.clients, named.path.to_str().unwrap())
        };
        assert_eq!(of("a/qps.abs"), (None, vec![], "a/qps.abs"));
        assert_eq!(of("a/qps.abs@40"), (None, vec![40], "a/qps.abs"));
        assert_eq!(of("o.qps.abs@1,2,4"), (None, vec![1, 2, 4], "o.qps.abs"));
        assert_eq!(of("my8=a.txt@8"), (Some("my8"), vec![8], "a.txt"));
        assert_eq!(of("my8=me@home.txt"), (Some("my8"), vec![], "me@home.txt"));
        assert_eq!(of("a@0"), (None, vec![], "a@0"));
    }
}
