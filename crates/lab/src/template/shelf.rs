//! The directory of a lab's templates: found, put there whole, evicted when they take too much.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;
use servers::PathError;

use super::inventory::Inventory;
use super::{Record, Template};
use crate::error::Result;
use crate::site::remove_all;

const RECORD: &str = "template.json";
const DATA: &str = "data";
const PARTIAL: &str = ".partial-";

/// The templates of a lab. Whoever uses it holds the lab's lock.
#[derive(Debug)]
pub(crate) struct Shelf {
    root: PathBuf,
    pub(crate) budget: Bytes,
}

impl Shelf {
    /// The shelf in `root`, made where there is none; half-made templates are removed.
    pub(crate) fn open(root: PathBuf, budget: Bytes) -> Result<Self> {
        fs::create_dir_all(&root).map_err(PathError::of("create", &root))?;
        let shelf = Self { root, budget };
        for name in shelf.names()? {
            if name.starts_with(PARTIAL) {
                remove(&shelf.root.join(name))?;
            }
        }
        Ok(shelf)
    }

    /// The template with this key, looked at, if there is one; the error says what is damaged.
    pub(crate) fn find(&self, key: &str) -> Result<Option<Template>, String> {
        let directory = self.root.join(key);
        if !directory.exists() {
            return Ok(None);
        }
        let record = read_record(&directory).map_err(|cause| format!("{RECORD}: {cause}"))?;
        let template = Template { record, data: directory.join(DATA) };
        let (found, _) = Inventory::of(&template.data).map_err(|cause| cause.to_string())?;
        let difference = template.record.inventory.difference(&found);
        difference.map_or(Ok(Some(template)), Err)
    }

    /// A directory for a template that is being made, to be filled with its data ([`data_of`]).
    pub(crate) fn stage(&self, key: &str) -> Result<PathBuf> {
        let directory = self.root.join(format!("{PARTIAL}{key}"));
        remove(&directory)?;
        fs::create_dir(&directory).map_err(PathError::of("create", &directory))?;
        Ok(directory)
    }

    pub(crate) fn put(&self, staged: &Path, record: Record) -> Result<Template> {
        let place = self.root.join(&record.key);
        self.discard(&record.key)?;
        write_record(staged, &record)?;
        servers::write_back(staged)?;
        fs::rename(staged, &place).map_err(PathError::of("rename", staged))?;
        Ok(Template { record, data: place.join(DATA) })
    }

    pub(crate) fn touch(&self, template: &mut Template, now: String) -> Result<()> {
        template.record.used = now;
        write_record(&self.root.join(&template.record.key), &template.record)
    }

    pub(crate) fn discard(&self, key: &str) -> Result<()> {
        let place = self.root.join(key);
        if !place.exists() {
            return Ok(());
        }
        // Under another name first: half a template must not be found.
        let partial = self.root.join(format!("{PARTIAL}gone-{key}"));
        remove(&partial)?;
        fs::rename(&place, &partial).map_err(PathError::of("rename", &place))?;
        remove(&partial)
    }

    /// Removes templates until `need` more fits into the budget, or only those of `keep` are left: the one
    /// first that was not used for longest. Those without a record that can be read go in any case.
    pub(crate) fn make_room(&self, need: Bytes, keep: &BTreeSet<String>) -> Result<()> {
        let mut total = 0;
        let mut whole = Vec::new();
        for key in self.names()?.into_iter().filter(|name| is_key(name)) {
            match read_record(&self.root.join(&key)) {
                Ok(Record { used, disk, .. }) => {
                    total += disk.0;
                    whole.push((used, key, disk));
                }
                // It cannot be used, and its disk usage is unknown.
                Err(_) => self.discard(&key)?,
            }
        }
        whole.sort();
        for (_, key, disk) in whole {
            if total.saturating_add(need.0) > self.budget.0 && !keep.contains(&key) {
                self.discard(&key)?;
                total -= disk.0;
            }
        }
        Ok(())
    }

    pub(crate) fn disk(&self, key: &str) -> Option<Bytes> {
        let record = read_record(&self.root.join(key)).ok()?;
        Some(record.disk)
    }

    fn names(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.root).map_err(PathError::of("read", &self.root))?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        Ok(names.collect::<io::Result<_>>().map_err(PathError::of("read", &self.root))?)
    }
}

pub(crate) fn remove(path: &Path) -> Result<()> {
    Ok(remove_all(path).map_err(PathError::of("remove", path))?)
}

/// Is it the name of a template? Other files there are not ours to remove.
fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

pub(crate) fn data_of(staged: &Path) -> PathBuf {
    staged.join(DATA)
}

fn read_record(directory: &Path) -> io::Result<Record> {
    Ok(serde_json::from_slice(&fs::read(directory.join(RECORD))?)?)
}

fn write_record(directory: &Path, record: &Record) -> Result<()> {
    let path = directory.join(RECORD);
    let new = directory.join(format!("{RECORD}.new"));
    let write = || {
        fs::write(&new, serde_json::to_vec_pretty(record)?)?;
        fs::rename(&new, &path)
    };
    Ok(write().map_err(PathError::of("write", &path))?)
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use tempfile::TempDir;

    use super::*;

    const BUDGET: Bytes = Bytes(100_000);

    fn shelf() -> (TempDir, Shelf) {
        let root = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(root.path().join("templates"), BUDGET).unwrap();
        (root, shelf)
    }

    fn key(letter: char) -> String {
        letter.to_string().repeat(64)
    }

    /// A template that was last used at `used` and is said to take `disk` bytes.
    fn put(shelf: &Shelf, letter: char, used: &str, disk: u64) -> Template {
        let staged = shelf.stage(&key(letter)).unwrap();
        let data = data_of(&staged);
        fs::create_dir(&data).unwrap();
        fs::write(data.join("t"), letter.to_string()).unwrap();
        let record = Record {
            format: 1,
            key: key(letter),
            system: "s".to_owned(),
            made: "2026-01-01T00:00:00Z".to_owned(),
            used: used.to_owned(),
            inventory: Inventory::of(&data).unwrap().0,
            disk: Bytes(disk),
            took: Nanos::from_secs(1),
            loading: Vec::new(),
            state: String::new(),
        };
        shelf.put(&staged, record).unwrap()
    }

    /// The letters of the present entries.
    fn there(shelf: &Shelf) -> String {
        let mut names = shelf.names().unwrap();
        names.sort();
        names.iter().filter_map(|name| name.chars().next()).collect()
    }

    #[test]
    fn what_was_put_is_found_and_what_changed_is_damaged() {
        let (_root, shelf) = shelf();
        assert!(shelf.find(&key('a')).unwrap().is_none());
        let template = put(&shelf, 'a', "1", 5);
        let Ok(Some(found)) = shelf.find(&key('a')) else {
            panic!("it is not found");
        };
        assert_eq!((found.record, found.data), (template.record, template.data.clone()));
        fs::write(template.data.join("t"), "xy").unwrap();
        let Err(reason) = shelf.find(&key('a')) else {
            panic!("the damage is not seen");
        };
        assert_eq!(reason, "expected 1 B in 1 file, found 2 B in 1 file");
        // One of the same key takes its place.
        put(&shelf, 'a', "2", 5);
        assert!(shelf.find(&key('a')).unwrap().is_some());
    }

    #[test]
    fn those_not_used_for_longest_go_first_and_only_as_many_as_must() {
        let (_root, shelf) = shelf();
        for (letter, used) in [('a', "2"), ('b', "1"), ('c', "3"), ('d', "4")] {
            put(&shelf, letter, used, 20_000);
        }
        let none = BTreeSet::new();
        shelf.make_room(Bytes(20_000), &none).unwrap();
        assert_eq!(there(&shelf), "abcd");
        shelf.make_room(Bytes(20_001), &none).unwrap();
        assert_eq!(there(&shelf), "acd");
        let Ok(Some(mut a)) = shelf.find(&key('a')) else {
            panic!("a is gone");
        };
        shelf.touch(&mut a, "5".to_owned()).unwrap();
        shelf.make_room(Bytes(60_000), &none).unwrap();
        assert_eq!(there(&shelf), "ad");
    }

    #[test]
    fn what_the_run_needs_and_what_is_no_template_stays() {
        let (_root, shelf) = shelf();
        for letter in ['a', 'b', 'c'] {
            put(&shelf, letter, "1", 20_000);
        }
        fs::create_dir(shelf.root.join("notes")).unwrap();
        let keep = BTreeSet::from([key('a'), key('c')]);
        shelf.make_room(BUDGET, &keep).unwrap();
        assert_eq!(there(&shelf), "acn");
        assert_eq!(shelf.disk(&key('a')), Some(Bytes(20_000)));
        assert_eq!(shelf.disk(&key('b')), None);
    }

    #[test]
    fn what_has_no_record_goes_first_even_where_there_is_room() {
        let (_root, shelf) = shelf();
        put(&shelf, 'a', "1", 20_000);
        let b = put(&shelf, 'b', "2", 20_000);
        fs::remove_file(b.data.with_file_name(RECORD)).unwrap();
        shelf.make_room(Bytes(0), &BTreeSet::new()).unwrap();
        assert_eq!(there(&shelf), "a");
    }

    #[test]
    fn what_is_not_whole_is_removed_when_the_shelf_is_opened() {
        let (_root, shelf) = shelf();
        put(&shelf, 'a', "1", 5);
        let staged = shelf.stage(&key('b')).unwrap();
        fs::create_dir(data_of(&staged)).unwrap();
        let again = Shelf::open(shelf.root.clone(), BUDGET).unwrap();
        assert!(!staged.exists());
        assert_eq!(there(&again), "a");
    }
}
