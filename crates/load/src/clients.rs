//! The clients of a step, and what they note.

use std::sync::{Arc, Mutex};

use model::{Note, NoteKind};

use crate::Client;
use crate::engine::Role;

/// Clients of a step, with what they are to it.
pub type Clients = Vec<(Role, Box<dyn Client>)>;

/// Facts worth keeping that clients come across, each with the name that it stands under where that is not
/// its step's.
pub type Notes = Arc<Mutex<Vec<(Option<NoteKind>, String)>>>;

pub fn note(notes: &Notes, text: String) {
    if let Ok(mut notes) = notes.lock() {
        notes.push((None, text));
    }
}

/// All notes, which are taken; `what` the step's are about.
pub fn taken(notes: &Notes, what: &NoteKind) -> Vec<Note> {
    let notes = notes.lock().map(|mut notes| std::mem::take(&mut *notes));
    let notes = notes.unwrap_or_default().into_iter();
    notes.map(|(own, text)| Note::new(own.unwrap_or_else(|| what.clone()), text)).collect()
}

pub fn bounded(name: String, client: impl Client + 'static) -> (Role, Box<dyn Client>) {
    let role = Role { name, bounded: true };
    (role, Box::new(client))
}
