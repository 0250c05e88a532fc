//! The command that is measured: clients run events for a time, or so many.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lua::ScriptError;
use model::{EVENT, Nanos, Note, StepRecord, WarmUpEnd};

use super::client::{Common, EVENTS, EventClient};
use super::reports::{Reports, Seen};
use super::{CommandRun, failed, keep_printed, name, printed, program, with_printed};
use load::measure::{Stream, Windows, ended};
use load::warm::WarmUp;
use load::{Clients, End, Observer, OwnCrew, Result, Role, Shared, StepError};

impl CommandRun<'_> {
    pub(super) fn events(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        let (spec, clock, program) =
            (self.spec, self.stop.clock(), program(self.spec, self.command));
        // The state of the program as a whole draws no number that is a client's.
        let whole = self.load(&program, 0, &mut self.seeds())?;
        whole.call("init").map_err(failed(0))?;
        if !whole.has_event().map_err(failed(0))? {
            return Err(StepError::Unsupported(ScriptError::without_event(&spec.script).message));
        }
        let stream = Stream::of(&spec.pace, EVENTS);
        let queue = stream.as_ref().map(|stream| stream.queue(self.seed));
        let common = Arc::new(Common::new(queue, spec.events));
        let mut seeds = self.seeds();
        let mut clients = Clients::new();
        for number in 0..spec.clients {
            let script = self.load(&program, number, &mut seeds)?;
            script.call("thread_init").map_err(failed(number))?;
            let role = Role { name: name(number), bounded: true };
            clients.push((role, Box::new(EventClient::new(script, number, &common))));
        }
        let length = Nanos::from_secs(spec.seconds.into());
        let windows = Windows {
            warmup: WarmUp::of(WarmUpEnd::Fixed, spec.warmup_seconds),
            end: match spec.events {
                0 if stream.is_some() => End::After(length),
                0 => End::DoneOrAfter(length),
                _ => End::AllDone { limit: Some(length) },
            },
            stream: stream.as_ref(),
            counted: &[EVENTS],
        };
        let shared: Arc<dyn Shared> = common.clone();
        let mut crew = OwnCrew { kinds: spec.kinds(), clients, shared: Some(shared) };
        let option = |name: &str| spec.options.get(name);
        let mut reports = Reports {
            observer,
            script: &whole,
            common: &common,
            clients: spec.clients,
            every: option("report_interval").and_then(|text| text.parse().ok()).unwrap_or(0),
            percentile: option("percentile").and_then(|text| text.parse().ok()),
            seen: Seen::default(),
        };
        let measured = windows.measure(&mut crew, self.stop, &mut reports);
        drop(crew);
        let mut record = measured.map_err(|error| with_printed(error, &common.notes))?;
        reports.cumulative(&record);
        whole.call("done").map_err(failed(0))?;
        keep_printed(&whole, &common.notes);
        record.elapsed = clock.now();
        if let Some(note) = self.all_ended(&common, &record)? {
            record.notes.push(note);
        }
        if common.ended.load(Ordering::Relaxed) == 0 {
            record.checks.push(ended(&record, EVENT));
        }
        record.notes.extend(printed(&common.notes));
        Ok(record)
    }

    /// What to say where no client wanted a further event; an error where the window then says nothing.
    fn all_ended(&self, common: &Common, record: &StepRecord) -> Result<Option<Note>> {
        let spec = self.spec;
        let refuse = |message: &str| {
            let text = format!("{}: {message}", spec.script);
            Err(StepError::Unsupported(text))
        };
        if common.ended_before.load(Ordering::Relaxed) == spec.clients {
            return refuse(
                "every client ended before the measured window: `event` returned true; set `warmup_seconds = 0`, and \
                 let it return true later",
            );
        }
        if common.ended.load(Ordering::Relaxed) < spec.clients {
            return Ok(None);
        }
        if common.queue.is_some() {
            return refuse(
                "every client ended before the window of the rate: `event` returned true; let it return true later, \
                 or give no rate",
            );
        }
        if record.window >= Nanos::from_secs(spec.seconds.into()) {
            return Ok(None);
        }
        let text = format!("{}, because `event` returned true in every client", record.window);
        Ok(Some(Note::new("window", text)))
    }
}
