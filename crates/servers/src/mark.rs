//! What tells a program from another one that says the same of itself.

use std::path::Path;

use model::Dbms;

use crate::digest::sha256_of;
use crate::installation::find_program;

/// SHA-256 of the server program at `path`: after a new compile of the same version it is another. Empty
/// where no program can be read; whoever starts it says so.
pub fn program_digest(dbms: Dbms, path: &Path) -> String {
    find_program(path, &[dbms])
        .ok()
        .and_then(|program| sha256_of(&program, &program).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_compile_is_another_program() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/postgres");
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(&program, "one").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let first = program_digest(Dbms::Postgres, root.path());
        assert_eq!(first.len(), 64);
        assert_eq!(first, program_digest(Dbms::Postgres, root.path()));
        fs::write(&program, "three").unwrap();
        assert_ne!(first, program_digest(Dbms::Postgres, root.path()));
        assert_eq!(program_digest(Dbms::Mysql, root.path()), "");
        assert_eq!(program_digest(Dbms::Sqlite, root.path()), "");
    }
}
