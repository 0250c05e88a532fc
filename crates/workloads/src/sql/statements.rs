//! The prepared statements of a session.

use std::collections::BTreeSet;
use std::sync::Mutex;

use drivers::{Session, StatementId};
use model::{Note, NoteKind};

use super::compile::{Operation, Program, Statement};
use load::{Refused, lock};

/// Codes of servers that cannot prepare a statement which they would execute: MySQL's
/// `ER_UNSUPPORTED_PS`, PostgreSQL's `feature_not_supported`.
const CANNOT_BE_PREPARED: [&str; 2] = ["1295", "0A000"];

/// Ids of a session's prepared statements, by their place in the program.
#[derive(Debug)]
pub(super) struct Ids {
    /// `None` where a statement is sent as text.
    pub(super) places: Vec<Option<StatementId>>,
    /// For each operation: is all of it sent before the first answer is read?
    pub(super) pipelined: Vec<bool>,
}

/// Facts about a step's statements, told once however many clients find them out.
#[derive(Debug, Default)]
pub(super) struct Facts(Mutex<BTreeSet<(NoteKind, String)>>);

impl Facts {
    fn tell(&self, what: NoteKind, text: String) {
        lock(&self.0).insert((what, text));
    }

    pub(super) fn add_all(&self, notes: Vec<Note>) {
        lock(&self.0).extend(notes.into_iter().map(|note| (note.what, note.text)));
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        let facts = lock(&self.0);
        facts.iter().map(|(what, text)| Note::new(what.clone(), text.as_str())).collect()
    }
}

impl Ids {
    /// Prepares in `session` what client `client` will send. What the server cannot prepare is left to be
    /// sent as text. `pipeline` says whether operations are pipelined where they can be.
    pub(super) fn prepare(
        program: &Program,
        facts: &Facts,
        pipeline: bool,
        client: u32,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        let mut ids = Self { places: vec![None; program.places], pipelined: Vec::new() };
        for statement in &program.statements {
            for copy in statement.copies(client) {
                let (sql, types) = statement.to_prepare(program.dialect, copy);
                match session.prepare(&sql, &types) {
                    Ok(id) => ids.places[statement.place(copy)] = Some(id),
                    Err(error) if CANNOT_BE_PREPARED.contains(&error.code()) => {
                        // That MySQL cannot prepare BEGIN is known and no news.
                        if !statement.is_control {
                            facts.tell(
                                NoteKind::SentAsText,
                                format!("`{}`: {error}", statement.name),
                            );
                        }
                    }
                    Err(source) => {
                        let statement = statement.name.clone();
                        return Err(Refused { statement, source });
                    }
                }
            }
        }
        let can = |operation| pipeline && ids.can_pipeline(program, facts, operation, client);
        ids.pipelined = program.operations.iter().map(can).collect();
        Ok(ids)
    }

    fn can_pipeline(
        &self,
        program: &Program,
        facts: &Facts,
        operation: &Operation,
        client: u32,
    ) -> bool {
        if operation.sends.len() < 2 {
            return false;
        }
        let mut statements = operation.sends.iter().map(|s| &program.statements[s.statement]);
        let why = if !operation.may_be_pipelined(program.dialect) {
            Some("an error in the middle would leave a part of its changes".to_owned())
        } else {
            let text = statements.find(|statement| !self.is_prepared(statement, client));
            text.map(|statement| format!("`{}` is not prepared", statement.name))
        };
        if let Some(why) = &why {
            let text = format!("`{}` is sent statement by statement: {why}", operation.name);
            facts.tell(NoteKind::NotPipelined, text);
        }
        why.is_none()
    }

    fn is_prepared(&self, statement: &Statement, client: u32) -> bool {
        let mut copies = statement.copies(client).peekable();
        copies.peek().is_some() && copies.all(|copy| self.places[statement.place(copy)].is_some())
    }
}
