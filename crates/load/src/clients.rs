//! The clients of a step, what they note, and steps whose clients have a fixed amount of work.

use std::sync::{Arc, Mutex};

use model::{KindSpec, Note, NoteKind, StepRecord};

use crate::engine::{Blind, Client, End, Observer, Role, run};
use crate::{Result, StepClock, Stop, lock};

pub type Clients = Vec<(Role, Box<dyn Client>)>;

/// Facts that clients find out, each with the name that it stands under where that is not its step's.
pub type Notes = Arc<Mutex<Vec<(Option<NoteKind>, String)>>>;

pub fn note(notes: &Notes, text: String) {
    lock(notes).push((None, text));
}

/// All notes, which are taken; `what` the step's are about.
pub fn taken(notes: &Notes, what: &NoteKind) -> Vec<Note> {
    let notes = std::mem::take(&mut *lock(notes)).into_iter();
    notes.map(|(own, text)| Note::new(own.unwrap_or_else(|| what.clone()), text)).collect()
}

pub fn bounded(name: String, client: impl Client + 'static) -> (Role, Box<dyn Client>) {
    let role = Role { name, bounded: true };
    (role, Box::new(client))
}

/// Runs clients with a fixed amount of work, and closes their sessions. The record's time is that of `clock`.
pub fn fixed_work(
    kinds: &[KindSpec],
    mut clients: Clients,
    clock: &StepClock,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord> {
    let record = run(kinds, &mut clients, End::AllDone { limit: None }, stop, observer)?;
    drop(clients);
    Ok(StepRecord { elapsed: clock.now(), ..record })
}

/// Runs clients whose work is no result: nobody looks at its rate. The kind of their operations is `kind`.
pub fn unseen(kind: &str, clients: Clients, stop: &Stop) -> Result {
    fixed_work(&[KindSpec::unscheduled(kind)], clients, &stop.clock(), stop, &mut Blind).map(drop)
}
