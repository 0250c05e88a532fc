//! The progress of a run, for people: step, round, rate, time left.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Counts, Event, Nanos, Outcome, Plan};

use crate::printer::Printer;

/// Shows events as they come: one live line on a terminal, a line a trial elsewhere.
pub(crate) struct Progress {
    printer: Printer,
    bar: ProgressBar,
    /// Expected length of the whole run.
    expected: Duration,
    begun: Instant,
    trial: String,
    trial_begun: Instant,
    /// Trials done in this session, and all that this session began with.
    done: u32,
    left_at_start: u32,
    step: String,
    /// What the last step came to.
    last: String,
    /// Index of the operation kind that the step is about.
    subject: usize,
    counts: Counts,
}

impl Progress {
    pub(crate) fn new(printer: Printer, plan: &Plan, trials_done: u32) -> Self {
        let total = plan.systems.len() as u32 * plan.rounds;
        let left = total.saturating_sub(trials_done);
        let estimate = plan::estimate(plan).time;
        let expected = Duration::from(estimate) * left / total.max(1);
        let bar = ProgressBar::with_draw_target(Some(u64::from(total)), target(printer));
        if let Ok(style) = ProgressStyle::with_template("{prefix:.bold} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_position(u64::from(trials_done));
        Self {
            printer,
            bar,
            expected,
            begun: Instant::now(),
            trial: String::new(),
            trial_begun: Instant::now(),
            done: 0,
            left_at_start: left,
            step: String::new(),
            last: String::new(),
            subject: 0,
            counts: Counts::Operations,
        }
    }

    /// Takes note of an event.
    pub(crate) fn see(&mut self, event: &Event) {
        match event {
            Event::TemplateStarted { system } => {
                self.trial = format!("template of {system}");
                self.bar.set_prefix("[template]");
                self.show("starting");
            }
            Event::TemplateReady { system, summary } => {
                self.say(&format!("template of {system}: {summary}"));
                self.templates_done();
            }
            Event::TrialStarted { trial, index, of } => {
                self.trial = format!("round {} · {}", trial.round, trial.system);
                self.trial_begun = Instant::now();
                self.bar.set_prefix(format!("[{index}/{of}]"));
                self.show("starting");
            }
            Event::StepStarted {
                step,
                kinds,
                subject,
                ..
            } => {
                step.0.clone_into(&mut self.step);
                let position = kinds.iter().position(|kind| *kind == subject.kind);
                self.subject = position.unwrap_or(0);
                self.counts = subject.counts;
                self.show(&format!("… {}", self.last));
            }
            Event::IntervalClosed { interval } if interval.length >= Nanos::SECOND => {
                let kind = &interval.kinds[self.subject.min(interval.kinds.len() - 1)];
                let count = self.counts.count(kind.ops, kind.rows);
                self.show(&self.rate(count as f64));
            }
            Event::TrialFinished { outcome, .. } => self.trial_finished(outcome),
            Event::Warning { text } => self.say(&format!("warning: {text}")),
            Event::StepFinished { record } if record.measured => {
                let seconds = record.window.as_secs_f64().max(1e-9);
                let rate = record.subject_count() as f64 / seconds;
                self.last = format!("(after {}: {})", record.step, self.rate(rate));
            }
            Event::ServerReady { .. }
            | Event::IntervalClosed { .. }
            | Event::Captured { .. }
            | Event::StepFinished { .. } => {}
        }
    }

    /// Takes the live line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// What is left is trials: how long they take is told by their own time.
    fn templates_done(&mut self) {
        if self.done == 0 {
            self.expected = self.expected.saturating_sub(self.begun.elapsed());
            self.begun = Instant::now();
        }
    }

    fn trial_finished(&mut self, outcome: &Outcome) {
        self.done += 1;
        let took = Nanos::from(self.trial_begun.elapsed());
        let prefix = self.bar.prefix();
        match outcome {
            Outcome::Completed => self.say(&format!("{prefix} {}: done in {took}", self.trial)),
            Outcome::Failed { step, reason, .. } => {
                let at = step
                    .as_ref()
                    .map_or(String::new(), |step| format!(" in {step}"));
                self.say(&format!("{prefix} {}: FAILED{at}: {reason}", self.trial));
            }
        }
        self.bar.inc(1);
    }

    fn rate(&self, rate: f64) -> String {
        let unit = if self.counts.is_rows() {
            "rows/s"
        } else {
            "ops/s"
        };
        format!("{} {unit}", report::format::count(rate as u64))
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| self.printer.note(line));
    }

    fn show(&self, what: &str) {
        let left = Nanos::from(self.time_left());
        self.bar.set_message(format!(
            "{} · {} · {what} · about {left} left",
            self.trial, self.step
        ));
    }

    /// From what this session took so far, once a trial is done; from the plan's estimate before.
    fn time_left(&self) -> Duration {
        let gone = self.begun.elapsed();
        if self.done == 0 {
            return self.expected.saturating_sub(gone);
        }
        let whole = self.trial_begun.duration_since(self.begun) / self.done * self.left_at_start;
        whole.saturating_sub(gone)
    }
}

fn target(printer: Printer) -> ProgressDrawTarget {
    if printer.is_quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    }
}
