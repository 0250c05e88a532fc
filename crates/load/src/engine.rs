//! Runs the clients of one step: a thread each, one window, intervals of a second.

mod client;
mod collector;
mod setup;
mod shared;

use std::thread::{self, Scope};

use model::{Edge, KindSpec, KindTotals, Nanos, Note, NoteKind, StepRecord};

pub use self::client::{Client, ClientContext, Role};
use self::client::{ClientThread, Crew, Seat};
use self::collector::Collector;
pub use self::setup::{Blind, End, Observer};
use self::shared::Shared;
use crate::recorder::{MOST_KINDS, Recorder};
pub use crate::turns::{NAP, Stop};
use crate::{Result, StepError};

/// Stack of a client's thread: its own frames are shallow, and only touched pages cost memory.
pub const CLIENT_STACK: usize = 256 << 10;

/// Runs all clients once, from the opening of a window until every one has ended.
///
/// # Errors
/// What a client failed with first; [`StepError::Interrupted`] when the user or the observer ended the
/// step; [`StepError::Thread`] when there are too many clients for the system.
pub fn run(
    kinds: &[KindSpec],
    clients: &mut [(Role, Box<dyn Client>)],
    end: End,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord> {
    check_number(kinds)?;
    let (end, quota) = end.with(stop.quota());
    let recorder = Recorder::new(kinds.to_vec(), clients.len(), stop.turns().length());
    recorder.close_at(end.at_latest());
    let closes = |role: &Role| quota.is_some() || role.bounded && end.when_done();
    let awaited = clients.iter().filter(|(role, _)| closes(role)).count();
    let shared = Shared::new(clients.len(), awaited);
    let cut = thread::scope(|scope| {
        // Both end the clients when they are dropped, so that nobody waits for ever, whatever happens here.
        let mut crew = Crew { shared: &shared, threads: Vec::with_capacity(clients.len()) };
        let mut gate = shared.shut_gate();
        let of = clients.len();
        for (index, (role, client)) in clients.iter_mut().enumerate() {
            let (closes, until) = (closes(role), end.at_latest());
            let seat = Seat { closes, until, quota, shared: &shared, stop };
            let thread = ClientThread { index, role, recorder: &recorder, seat };
            spawn(scope, &mut crew, thread, &mut **client, of)?;
        }
        shared.wait(None, |s| s.not_ready == 0);
        observer.edge(Edge::Open);
        let clock = stop.clock();
        *gate = Some(clock.clone());
        drop(gate);
        let collector =
            Collector { recorder: &recorder, shared: &shared, crew: &crew, stop, clock };
        Ok(collector.run(end, observer))
    })?;
    // Whatever the step does now needs a turn.
    stop.turns().await_turn();
    // Whoever waits for others is told a failure later.
    shared.outcome(stop)?;
    observer.ended();
    // Somebody may have asked to stop meanwhile.
    shared.outcome(stop)?;
    let (kinds, errors) = recorder.totals();
    Ok(StepRecord {
        notes: cut_off(cut.under_way, &kinds).into_iter().collect(),
        window: cut.length,
        kinds,
        errors,
        timed: end.is_timed(),
        cut_short: cut.short,
        ..StepRecord::default()
    })
}

fn check_number(kinds: &[KindSpec]) -> Result {
    let number = kinds.len();
    let message = format!("a step with {number} kinds of operations; {MOST_KINDS} are possible");
    if number > MOST_KINDS { Err(StepError::Unsupported(message)) } else { Ok(()) }
}

/// What the end of a window cuts off is in no number. That is told of an operation so long, if it also took at least
/// twice as long as any that ended.
const LONG: Nanos = Nanos::SECOND;

fn cut_off(under_way: Nanos, kinds: &[KindTotals]) -> Option<Note> {
    let longest = kinds.iter().map(|kind| kind.sums.service.max()).max().unwrap_or_default();
    let text = format!(
        "an operation had taken {under_way} when the window closed; the longest that ended took {longest}"
    );
    let is_longer = under_way >= LONG && under_way.0 / 2 >= longest.0;
    is_longer.then(|| Note::new(NoteKind::CutOff, text))
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    crew: &mut Crew<'_>,
    thread: ClientThread<'scope>,
    client: &'scope mut dyn Client,
    of: usize,
) -> Result {
    let number = thread.index + 1;
    let builder = thread::Builder::new().stack_size(CLIENT_STACK).name(thread.role.name.clone());
    match builder.spawn_scoped(scope, move || thread.run(client)) {
        Ok(handle) => crew.threads.push(handle.thread().clone()),
        Err(cause) => return Err(StepError::Thread { client: number, of, cause }),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
