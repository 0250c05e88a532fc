//! A system for the tests of this crate.

use model::{Build, BuildSource, Dbms, System};

/// A system of that family as it comes, which would be started from this machine's own programs.
pub(crate) fn system(dbms: Dbms) -> System {
    let source = BuildSource::Path("/usr".to_owned());
    System::new("a", Build::new(dbms, "1.2".parse().unwrap(), source))
}
