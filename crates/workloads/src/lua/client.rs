//! A client that runs events of a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use lua::{Outcome, Script, Sent, SentKind};
use model::Nanos;

use super::{failed, keep_printed};
use load::{Arrival, Client, ClientContext, Notes, Queue, Result, Shared, StepError, note};

/// The number of the kind of events; those of `read`, `write` and `other` follow.
pub(super) const EVENTS: usize = 0;

/// What the clients of a step share.
#[derive(Default)]
pub(super) struct Common {
    /// The queue of arrivals; `None` in a closed loop.
    pub(super) queue: Option<Queue>,
    pub(super) notes: Notes,
    /// Events of the measured window at most; 0 for any number.
    most: u64,
    begun: AtomicU64,
    /// Clients whose scripts want no further event.
    pub(super) ended: AtomicU32,
    /// The same, when the measured window opened.
    pub(super) ended_before: AtomicU32,
    /// How often scripts have connected anew.
    pub(super) reconnects: AtomicU64,
    /// Events under way, in an open loop.
    pub(super) under_way: AtomicU32,
}

impl Common {
    pub(super) fn new(queue: Option<Queue>, most: u64) -> Self {
        Self { queue, most, ..Self::default() }
    }

    /// May another event begin? Then it has begun.
    fn begins(&self) -> bool {
        self.most == 0 || self.begun.fetch_add(1, Ordering::Relaxed) < self.most
    }
}

impl Shared for Common {
    fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    fn opens(&self) {
        self.begun.store(0, Ordering::Relaxed);
        self.reconnects.store(0, Ordering::Relaxed);
        self.ended_before.store(self.ended.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

pub(super) struct EventClient {
    script: Script,
    number: u32,
    common: Arc<Common>,
    sent: Vec<Sent>,
    /// Has the script said that no further event follows?
    is_ended: bool,
}

impl Client for EventClient {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        // What `thread_init` has sent.
        self.script.sent(&mut self.sent);
        let common = Arc::clone(&self.common);
        match &common.queue {
            None => self.closed_loop(context)?,
            Some(queue) => self.open_loop(queue, context)?,
        }
        context.recorder.abandoned();
        Ok(())
    }
}

impl EventClient {
    pub(super) fn new(script: Script, number: u32, common: &Arc<Common>) -> Self {
        Self { script, number, common: Arc::clone(common), sent: Vec::new(), is_ended: false }
    }

    fn closed_loop(&mut self, context: &mut ClientContext<'_>) -> Result {
        let mut started = context.recorder.begin();
        while !self.is_ended && !context.is_over_at(started) && self.common.begins() {
            let Some(ended) = self.operate(context, started, None)? else { break };
            started = context.recorder.begin_after(ended);
        }
        Ok(())
    }

    fn open_loop(&mut self, queue: &Queue, context: &mut ClientContext<'_>) -> Result {
        let mut now = context.recorder.clock().now();
        while !self.is_ended
            && !context.is_over()
            && self.common.begins()
            && let Some(Arrival { due, started }) = Arrival::next(queue, now, context)
        {
            self.common.under_way.fetch_add(1, Ordering::Relaxed);
            let done = self.operate(context, started, Some(due));
            self.common.under_way.fetch_sub(1, Ordering::Relaxed);
            let Some(ended) = done? else { break };
            now = ended;
        }
        Ok(())
    }

    /// Runs one event and records it with its statements; when it ended, or `None` where the step was over before.
    /// Repeated tries count into its time. As sysbench, it does not count the event that says that no other follows.
    fn operate(
        &mut self,
        context: &mut ClientContext<'_>,
        started: Nanos,
        intended: Option<Nanos>,
    ) -> Result<Option<Nanos>> {
        let origin = self.script.now();
        loop {
            match self.script.event() {
                Ok(Outcome::Done) => break,
                Ok(Outcome::Last) => {
                    self.is_ended = true;
                    self.common.ended.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Ok(Outcome::Restart(code)) => {
                    context.recorder.failed(EVENTS, &code, true);
                    if context.is_over() {
                        context.recorder.cut_off(EVENTS);
                        return Ok(None);
                    }
                }
                Err(_) if context.is_interrupted() => return Err(StepError::Interrupted),
                Err(error) => return Err(failed(self.number)(error)),
            }
        }
        self.script.sent(&mut self.sent);
        let rows = self.sent.iter().map(|sent| sent.rows).sum();
        let ended = if self.is_ended {
            context.recorder.clock().now()
        } else {
            context.recorder.done(EVENTS, started, intended, rows)
        };
        // The clocks of script and recorder have different origins.
        let at = |moment: Nanos| (started + moment.saturating_sub(origin)).min(ended);
        for sent in &self.sent {
            let (from, to) = (at(sent.started), at(sent.ended));
            match sent.kind {
                SentKind::Read => context.recorder.record(EVENTS + 1, from, None, to, sent.rows),
                SentKind::Write => context.recorder.record(EVENTS + 2, from, None, to, sent.rows),
                SentKind::Other => context.recorder.record(EVENTS + 3, from, None, to, sent.rows),
                SentKind::Error => context.recorder.failed(EVENTS, "script", true),
                SentKind::Reconnect => {
                    self.common.reconnects.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Ok(Some(ended))
    }
}

impl Drop for EventClient {
    /// Its thread is done; what fails then no longer changes a result.
    fn drop(&mut self) {
        if let Err(error) = self.script.call("thread_done") {
            note(&self.common.notes, format!("thread_done failed: {error}"));
        }
        keep_printed(&self.script, &self.common.notes);
    }
}
