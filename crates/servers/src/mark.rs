//! What tells a program from another one that says the same of itself.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::Dbms;

use crate::dbms::product;
use crate::installation::find_program;

/// Length and time of the server program at `path`: after a new compile of the same version they are
/// others. Empty where there is no program; whoever starts it says so.
pub fn program_mark(dbms: Dbms, path: &Path) -> String {
    product(dbms)
        .and_then(|product| find_program(path, &[product]).ok())
        .and_then(|program| fs::metadata(program).ok())
        .map_or_else(String::new, |metadata| {
            format!(
                "{} bytes of {}.{:09}",
                metadata.len(),
                metadata.mtime(),
                metadata.mtime_nsec()
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_compile_is_another_program() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/postgres");
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(&program, "one").unwrap();
        let mut permissions = fs::metadata(&program).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&program, permissions).unwrap();
        let first = program_mark(Dbms::Postgres, root.path());
        assert!(first.starts_with("3 bytes of "), "{first}");
        assert_eq!(first, program_mark(Dbms::Postgres, root.path()));
        fs::write(&program, "three").unwrap();
        assert_ne!(first, program_mark(Dbms::Postgres, root.path()));
        assert_eq!(program_mark(Dbms::Mysql, root.path()), "");
        assert_eq!(program_mark(Dbms::Sqlite, root.path()), "");
    }
}
