//! SQLite's functions as a table: those that are built in, or those of a library of this machine.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use rusqlite::ffi::{self, sqlite3, sqlite3_destructor_type, sqlite3_stmt};

use crate::{Result, SessionError};

/// Declares the table, that of the functions that are built in, and how that of a library is made.
macro_rules! functions {
    (
        needed { $($name:ident($($type:ty),*) -> $out:ty;)* }
        optional { $($extra:ident($($of_extra:ty),*) -> $out_extra:ty;)* }
    ) => {
        /// The functions of one SQLite; those that early versions lack may be missing.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> $out,)*
            $(pub(super) $extra: Option<unsafe extern "C" fn($($of_extra),*) -> $out_extra>,)*
        }

        pub(super) static BUILT_IN: Functions = Functions {
            $($name: ffi::$name,)*
            $($extra: Some(ffi::$extra),)*
        };

        impl Functions {
            /// Fails with the name of the first function that the library lacks.
            ///
            /// # Safety
            /// What the library has under these names must be SQLite's, and it must stay loaded.
            #[expect(unsafe_code, reason = "only the caller knows that the library is SQLite")]
            unsafe fn of(library: &Library) -> Result<Self, &'static str> {
                // SAFETY: as the caller promises; each type is that of the declaration in `sqlite3.h`.
                Ok(unsafe { Self {
                    $($name: *library.get(stringify!($name)).map_err(|_| stringify!($name))?,)*
                    $($extra: library.get(stringify!($extra)).ok().map(|found| *found),)*
                } })
            }
        }
    };
}

functions! {
    needed {
        sqlite3_bind_int64(*mut sqlite3_stmt, c_int, i64) -> c_int;
        sqlite3_bind_parameter_count(*mut sqlite3_stmt) -> c_int;
        sqlite3_bind_text(*mut sqlite3_stmt, c_int, *const c_char, c_int, sqlite3_destructor_type) -> c_int;
        sqlite3_busy_timeout(*mut sqlite3, c_int) -> c_int;
        sqlite3_changes(*mut sqlite3) -> c_int;
        sqlite3_close(*mut sqlite3) -> c_int;
        sqlite3_column_bytes(*mut sqlite3_stmt, c_int) -> c_int;
        sqlite3_column_count(*mut sqlite3_stmt) -> c_int;
        sqlite3_column_double(*mut sqlite3_stmt, c_int) -> f64;
        sqlite3_column_int64(*mut sqlite3_stmt, c_int) -> i64;
        sqlite3_column_blob(*mut sqlite3_stmt, c_int) -> *const std::ffi::c_void;
        sqlite3_column_text(*mut sqlite3_stmt, c_int) -> *const c_uchar;
        sqlite3_column_type(*mut sqlite3_stmt, c_int) -> c_int;
        sqlite3_errmsg(*mut sqlite3) -> *const c_char;
        sqlite3_extended_errcode(*mut sqlite3) -> c_int;
        sqlite3_extended_result_codes(*mut sqlite3, c_int) -> c_int;
        sqlite3_finalize(*mut sqlite3_stmt) -> c_int;
        sqlite3_libversion() -> *const c_char;
        sqlite3_open_v2(*const c_char, *mut *mut sqlite3, c_int, *const c_char) -> c_int;
        sqlite3_prepare_v2(*mut sqlite3, *const c_char, c_int, *mut *mut sqlite3_stmt, *mut *const c_char) -> c_int;
        sqlite3_reset(*mut sqlite3_stmt) -> c_int;
        sqlite3_sourceid() -> *const c_char;
        sqlite3_step(*mut sqlite3_stmt) -> c_int;
        sqlite3_threadsafe() -> c_int;
        sqlite3_total_changes(*mut sqlite3) -> c_int;
    }
    optional {
        // Since 3.38.0.
        sqlite3_error_offset(*mut sqlite3) -> c_int;
        // Since 3.20.0.
        sqlite3_prepare_v3(*mut sqlite3, *const c_char, c_int, c_uint, *mut *mut sqlite3_stmt, *mut *const c_char) -> c_int;
    }
}

/// Libraries are never unloaded: SQLite keeps the locks of files for the whole process.
static LOADED: Mutex<BTreeMap<PathBuf, &'static Functions>> = Mutex::new(BTreeMap::new());

/// The functions of the library at `path`, which is loaded once in the life of this process. Fails with
/// [`SessionError::Library`] when it is none for this machine, or no SQLite that sessions can use.
#[expect(unsafe_code, reason = "the code of a library runs when it is loaded")]
pub(super) fn load(path: &Path) -> Result<&'static Functions> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(functions) = loaded.get(path) {
        return Ok(*functions);
    }
    let unusable = |cause: String| SessionError::Library { path: path.to_owned(), cause };
    // SAFETY: the user named this library as SQLite, or the compiler made it from SQLite's source.
    let library = unsafe { Library::new(path) }.map_err(|error| unusable(reason(path, &error)))?;
    // SAFETY: as above; it is kept below, and lost only where it is not used.
    let functions = unsafe { Functions::of(&library) }.map_err(|name| {
        unusable(format!("it has no function `{name}`, which SQLite has since 3.6.18"))
    })?;
    // SAFETY: takes nothing and only reads a constant.
    if unsafe { (functions.sqlite3_threadsafe)() } == 0 {
        return Err(unusable(
            "it was compiled for one thread: compile it without SQLITE_THREADSAFE=0".to_owned(),
        ));
    }
    std::mem::forget(library);
    let functions: &'static Functions = Box::leak(Box::new(functions));
    loaded.insert(path.to_owned(), functions);
    Ok(functions)
}

/// What the loader says, without the path with which it begins.
fn reason(path: &Path, error: &libloading::Error) -> String {
    let text =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let begin = format!("{}: ", path.display());
    text.strip_prefix(&begin).unwrap_or(&text).to_owned()
}

impl Functions {
    /// `3.46.0`.
    pub(super) fn version(&self) -> &'static str {
        constant(self.sqlite3_libversion)
    }

    /// The version and the commit that it was made from.
    pub(super) fn line(&self) -> String {
        let source = constant(self.sqlite3_sourceid);
        format!("SQLite {} {}", self.version(), source.get(..COMMIT).unwrap_or(source))
    }
}

/// How much of a source's id tells it from others: date, time, ten digits of the commit.
const COMMIT: usize = 30;

#[expect(unsafe_code, reason = "the text lies in a library")]
fn constant(function: unsafe extern "C" fn() -> *const c_char) -> &'static str {
    // SAFETY: the functions given here return a constant of the library, which stays loaded.
    let text = unsafe { CStr::from_ptr(function()) };
    text.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_sqlite_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("libsqlite3.so");
        let refused = |expected: &str| {
            let said = load(&path).unwrap_err().to_string();
            let begin = format!("{} is not a usable SQLite library: {expected}", path.display());
            assert!(said.starts_with(&begin), "{said}");
        };
        refused("cannot open shared object file: No such file");
        std::fs::write(&path, "this is no library\n".repeat(100)).unwrap();
        refused("invalid ELF header");
        // One that this test has loaded already, and that has other functions.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let other = maps.split_whitespace().find(|word| word.contains("/libgcc_s")).unwrap();
        std::fs::copy(other, &path).unwrap();
        refused("it has no function `sqlite3_bind_int64`, which SQLite has since 3.6.18");
    }

    #[test]
    fn what_is_built_in_has_every_function() {
        assert!(BUILT_IN.line().starts_with(&format!("SQLite {} 20", BUILT_IN.version())));
        assert!(BUILT_IN.sqlite3_prepare_v3.is_some() && BUILT_IN.sqlite3_error_offset.is_some());
    }
}
