//! The switch of MySQL servers for `LOAD DATA LOCAL`: off by default since 8.0, on while tables are loaded.

use drivers::{Session, SessionError};
use model::{Dialect, LoadMethod};

use load::Target;
use load::clients::{Notes, note};

/// What was done to the switch.
#[derive(Debug)]
pub(super) struct LocalFiles {
    /// Was it off, and is it on now?
    switched: bool,
}

impl LocalFiles {
    /// Switches it on where it is off, the server is ours and the method needs it.
    /// What cannot be done is noted; the server then refuses the files.
    pub(super) fn allow(
        session: &mut dyn Session,
        target: &Target,
        method: LoadMethod,
        notes: &Notes,
    ) -> Self {
        let is_mysql = target.dialect == Dialect::Mysql;
        let switched = target.ours && is_mysql && method == LoadMethod::Bulk && {
            switch_on(session).unwrap_or_else(|error| {
                note(notes, format!("local_infile not switched on: {error}"));
                false
            })
        };
        if switched {
            note(notes, "local_infile was off, and on for the load".to_owned());
        }
        Self { switched }
    }

    /// Switches it on again: the server may have been restarted.
    pub(super) fn allow_again(&self, session: &mut dyn Session) {
        if self.switched {
            // A server that cannot refuses the files and says so.
            let _ = switch_on(session);
        }
    }

    /// Switches it back.
    pub(super) fn end(&self, session: &mut dyn Session, notes: &Notes) {
        if self.switched
            && let Err(error) = session.execute("SET GLOBAL local_infile = 0")
        {
            note(notes, format!("local_infile not switched off again: {error}"));
        }
    }
}

fn switch_on(session: &mut dyn Session) -> Result<bool, SessionError> {
    let mut is_off = false;
    session.query("SELECT @@GLOBAL.local_infile", &mut |row| {
        is_off = row.value(0).as_int() == Some(0);
    })?;
    if is_off {
        session.execute("SET GLOBAL local_infile = 1")?;
    }
    Ok(is_off)
}
