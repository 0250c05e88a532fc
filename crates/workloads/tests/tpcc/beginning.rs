//! Sessions that begin with a statement.

use std::sync::Arc;

use drivers::{Connector, Session, SessionError};
use load::Target;
use testkit::databases::behind;

struct Beginning {
    inner: Arc<dyn Connector>,
    sql: String,
}

impl Connector for Beginning {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        let mut session = self.inner.connect()?;
        session.execute(&self.sql)?;
        Ok(session)
    }
}

/// The same database for terminals whose sessions begin with `sql`.
pub(crate) fn beginning_with(target: &Target, sql: impl Into<String>) -> Target {
    let inner = Arc::clone(&target.connector);
    let sql = sql.into();
    behind(target, Arc::new(Beginning { inner, sql }))
}
