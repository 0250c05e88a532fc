//! Ends a server of ours under clients that wait for its answer, when the user asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::Stop;
use servers::ServerProcess;

/// How long clients may take to notice that they shall stop. They look after each statement.
const GRACE: Duration = Duration::from_secs(2);
/// How often the flags are looked at: nothing wakes this thread.
const NAP: Duration = Duration::from_millis(100);
/// The thread's stack: its frames are shallow.
const STACK: usize = 64 << 10;

/// Watches over one server until it is dropped.
#[derive(Debug)]
pub(crate) struct Guard(Arc<AtomicBool>);

impl Guard {
    /// Of a running server. Where the system has no thread to give, statements end by their own limit.
    pub(crate) fn of(process: Option<ServerProcess>, stop: Stop) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        if let Some(process) = process {
            let thread = thread::Builder::new().name("guard".to_owned());
            let _no_thread = thread.stack_size(STACK).spawn(move || watch(&process, &stop, &seen));
        }
        Self(is_over)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn watch(process: &ServerProcess, stop: &Stop, is_over: &AtomicBool) {
    let mut asked: Option<Instant> = None;
    while !is_over.load(Ordering::Relaxed) {
        if stop.is_asked() && asked.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            return process.end();
        }
        thread::sleep(NAP);
    }
}
