//! The progress of a run, for people: step, round, rate, time left.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use model::{Counts, Event, Interval, Nanos, NoteKind, Outcome, Plan, StepRecord, TrialKey};
use report::printable;

use crate::disturbed;
use crate::printer::Printer;
use crate::wrap;

/// Lines of a step that a script printed and that are shown at once; `show` has more.
const MOST_PRINTED: usize = 20;

/// Shows events as they come: one live line on a terminal, a line a trial elsewhere.
pub(crate) struct Progress {
    printer: Printer,
    bar: ProgressBar,
    expected: Duration,
    begun: Instant,
    /// The round of what has its turn, as `round 3 · `; empty for the loading of a template.
    round: String,
    /// What has its turn: the system of a trial, or the loading of a template.
    trial: String,
    /// The trials that are under way: one, or all of a round that is run in slices.
    under_way: Vec<UnderWay>,
    trial_begun: Instant,
    /// Trials done in this session, those done before it, and all that there may be.
    done: u32,
    done_before: u32,
    of: u32,
    /// May the run end before it has all of them?
    ends_early: bool,
    /// Was a round disturbed, now or before this session? The first one is told with what to do.
    has_lost: bool,
    reruns: u32,
    step: String,
    /// What the last step came to.
    last: String,
    /// Index of the operation kind that the step is about.
    subject: usize,
    counts: Counts,
}

struct UnderWay {
    key: TrialKey,
    /// Its number in the run: `3/24`.
    number: String,
    begun: Instant,
}

impl Progress {
    pub(crate) fn new(printer: Printer, plan: &Plan, done: &[(TrialKey, Outcome)]) -> Self {
        let trials_done = done.len() as u32;
        let total = trials_done + trials_left(plan, done);
        let bar = printer.live_line(Some(u64::from(total)));
        bar.set_position(u64::from(trials_done));
        Self {
            printer,
            bar,
            expected: time_of_rest(plan, done).into(),
            begun: Instant::now(),
            round: String::new(),
            trial: String::new(),
            under_way: Vec::new(),
            trial_begun: Instant::now(),
            done: 0,
            done_before: trials_done,
            of: total,
            ends_early: plan.course.first_look.is_some(),
            has_lost: done.iter().any(|(_, outcome)| outcome.is_quarantined()),
            reruns: plan.course.reruns(),
            step: String::new(),
            last: String::new(),
            subject: 0,
            counts: Counts::Operations,
        }
    }

    pub(crate) fn see(&mut self, event: &Event) {
        match event {
            Event::TemplateStarted { system } => {
                self.round.clear();
                self.trial = format!("template of {system}");
                self.bar.set_prefix("[template]");
                self.show("starting");
            }
            Event::TemplateReady { system, summary } => {
                self.say(&format!("template of {system}: {summary}"));
                self.templates_done();
            }
            Event::TrialStarted { trial, index, of } => self.trial_started(trial, *index, *of),
            Event::Turn { trial } => self.turn_to(trial),
            Event::StepStarted { step } => {
                step.id.0.clone_into(&mut self.step);
                let position = step.kinds.iter().position(|kind| kind.name == step.subject.kind);
                self.subject = position.unwrap_or(0);
                self.counts = step.subject.counts;
                self.show(&format!("… {}", self.last));
            }
            Event::IntervalClosed { interval } => self.interval(interval),
            Event::TrialFinished { trial, outcome } => self.trial_finished(trial, outcome),
            Event::Looked { rounds, most, undecided, goes_on } => self.say(&looked(*rounds, *most, *undecided, *goes_on)),
            Event::RoundAgain {
                round,
                disturbed,
                times,
                most,
            } => self.say(&format!(
                "round {disturbed} was disturbed: round {round} takes its place (re-run {times} of at most {most})"
            )),
            Event::Warning { text } => self.say(&format!("warning: {text}")),
            Event::StepFinished { record } => self.step_finished(record),
            Event::ServerReady { .. }
            | Event::Captured { .. }
            | Event::Sliced { .. }
            | Event::Profiled { .. } => {}
        }
    }

    fn step_finished(&mut self, record: &StepRecord) {
        let printed = record.notes.iter().filter(|note| note.what == NoteKind::Script);
        for note in printed.take(MOST_PRINTED) {
            self.say(&format!("{}: {}", record.step, printable(&note.text)));
        }
        if record.measured {
            let rate = record.subject_count() as f64 / record.window.as_secs_f64().max(1e-9);
            self.last = format!("(after {}: {})", record.step, self.rate(rate));
        }
    }

    fn trial_started(&mut self, trial: &TrialKey, index: u32, of: u32) {
        self.trial_begun = Instant::now();
        self.step.clear();
        self.under_way.push(UnderWay {
            key: trial.clone(),
            number: format!("{index}/{of}"),
            begun: self.trial_begun,
        });
        self.turn_to(trial);
        // Rounds that are run again are more than were planned.
        self.of = self.of.max(of);
        self.bar.set_length(u64::from(self.of));
        self.show("starting");
    }

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

    fn turn_to(&mut self, trial: &TrialKey) {
        self.round = format!("round {} · ", trial.round);
        self.trial.clone_from(&trial.system);
        if let Some(under_way) = self.under_way.iter().find(|one| one.key == *trial) {
            self.bar.set_prefix(format!("[{}]", under_way.number));
        }
    }

    /// Shows the rate, unless this is the little that is left of a window.
    fn interval(&self, interval: &Interval) {
        let last = interval.kinds.len().saturating_sub(1);
        if let Some(kind) = interval.kinds.get(self.subject.min(last))
            && interval.length >= SHORTEST
        {
            let count = self.counts.count(kind.ops, kind.rows);
            self.show(&self.rate(count as f64 / interval.length.as_secs_f64()));
        }
    }

    fn trial_finished(&mut self, trial: &TrialKey, outcome: &Outcome) {
        self.done += 1;
        let place = self.under_way.iter().position(|one| one.key == *trial);
        let Some(UnderWay { number, begun, .. }) = place.map(|at| self.under_way.remove(at)) else {
            return;
        };
        let took = Nanos::from(begun.elapsed());
        let line = format!("{} round {} · {}", self.ended(&number), trial.round, trial.system);
        match outcome {
            Outcome::Completed => self.say(&format!("{line}: done in {took}")),
            Outcome::Profiled => self.say(&format!("{line}: profiled in {took}")),
            Outcome::Quarantined { reason } => {
                self.say(&format!("{line}: quarantined: {reason}"));
                if !std::mem::replace(&mut self.has_lost, true) {
                    self.say(&disturbed::lost(trial.round, reason, self.reruns));
                }
            }
            Outcome::Failed { step, reason, .. } => {
                let at = step.as_ref().map_or(String::new(), |step| format!(" in {step}"));
                self.say(&format!("{line}: FAILED{at}: {reason}"));
            }
        }
        self.bar.inc(1);
    }

    /// How the line of a trial that has ended begins: with its number, and where there is no live line with the time
    /// that is left.
    fn ended(&self, number: &str) -> String {
        // What is run in slices ends together.
        let ended = self.done + self.under_way.len() as u32;
        let left =
            left_after(self.begun.elapsed(), ended, self.of.saturating_sub(self.done_before));
        if !self.bar.is_hidden() || left.is_zero() {
            return format!("[{number}]");
        }
        format!("[{number}, {} {} left]", self.about(), Nanos::from(left))
    }

    const fn about(&self) -> &'static str {
        if self.ends_early { "at most about" } else { "about" }
    }

    fn rate(&self, rate: f64) -> String {
        let unit = if self.counts.is_rows() { "rows/s" } else { "ops/s" };
        format!("{} {unit}", report::format::count(rate as u64))
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| self.printer.note(line));
    }

    fn show(&self, what: &str) {
        let live = Live {
            round: &self.round,
            trial: &printable(&self.trial),
            step: &printable(&self.step),
            what: &printable(what),
            left: format!("{} {} left", self.about(), Nanos::from(self.time_left())),
        };
        // One column stands between the number of the trial and this.
        let taken = wrap::length(&self.bar.prefix()) + 1;
        let room = usize::from(self.printer.live_width()).saturating_sub(taken);
        self.bar.set_message(live.text(room));
    }

    /// From what this session took so far, once a trial is done; from the plan's estimate before.
    fn time_left(&self) -> Duration {
        let gone = self.begun.elapsed();
        if self.done == 0 {
            return self.expected.saturating_sub(gone);
        }
        let all = self.of.saturating_sub(self.done_before);
        let whole = self.trial_begun.duration_since(self.begun) / self.done * all;
        whole.saturating_sub(gone)
    }
}

struct Live<'a> {
    round: &'a str,
    trial: &'a str,
    step: &'a str,
    what: &'a str,
    left: String,
}

impl Live<'_> {
    /// All of it in so many columns, else without what matters less: the round, whose trial has a number; the end of
    /// the system's name; the system; the rate; the step. The time that is left is always there.
    fn text(&self, room: usize) -> String {
        let Self { round, trial, step, what, left } = self;
        // Before its first step a trial starts.
        let step = if step.is_empty() { String::new() } else { format!("{step} · ") };
        let after = format!(" · {step}{what} · {left}");
        let cut = shortened(trial, room.saturating_sub(wrap::length(&after)));
        let ways = [
            format!("{round}{trial}{after}"),
            format!("{trial}{after}"),
            cut.map_or_else(String::new, |cut| format!("{cut}{after}")),
            format!("{step}{what} · {left}"),
            format!("{step}{left}"),
        ];
        let fits = |way: &String| !way.is_empty() && wrap::length(way) <= room;
        ways.into_iter().find(fits).unwrap_or_else(|| left.clone())
    }
}

/// The fewest columns in which the beginning of a name says something.
const SHORTEST_NAME: usize = 8;

/// The beginning of a name in so many columns; `None` where it would say nothing.
fn shortened(name: &str, room: usize) -> Option<String> {
    let beginning = name.chars().take(room.checked_sub(1)?).collect::<String>();
    (room >= SHORTEST_NAME).then(|| format!("{beginning}…"))
}

/// Trials of a plan that are not done, without those that are run again.
fn trials_left(plan: &Plan, done: &[(TrialKey, Outcome)]) -> u32 {
    let rounds = plan.judged_rounds().chain(plan.profiled_rounds());
    let all = rounds.count() as u32 * plan.trials_a_round();
    let is_open = |round| plan.judged_rounds().contains(&round) || plan.is_profiled(round);
    let ended = done.iter().filter(|(trial, _)| is_open(trial.round));
    all.saturating_sub(ended.count() as u32)
}

/// How long the planned trials take that are not done.
pub(crate) fn time_of_rest(plan: &Plan, done: &[(TrialKey, Outcome)]) -> Nanos {
    // An estimate is of all parts of a run.
    let planned = plan.trials_a_round() * plan.last_planned_round();
    let all = Duration::from(plan::estimate(plan).time);
    Nanos::from(all * trials_left(plan, done) / planned.max(1))
}

/// The time that is left of `all` trials, of which so many have ended in `gone`.
fn left_after(gone: Duration, ended: u32, all: u32) -> Duration {
    (gone / ended.max(1) * all).saturating_sub(gone)
}

/// The shortest interval whose rate is shown; slices and turns are longer.
const SHORTEST: Nanos = Nanos::from_millis(4);

fn looked(rounds: u32, most: u32, undecided: u32, goes_on: bool) -> String {
    let comparisons = report::format::plural(undecided as usize, "comparison");
    let found = match (undecided, goes_on) {
        (_, true) => format!("{comparisons} not decided yet"),
        (0, false) => "everything is decided".to_owned(),
        (_, false) => format!("{comparisons} not decided, and no round left"),
    };
    format!("{rounds} of at most {most} rounds: {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(left_after(minutes(1), 1, 6), minutes(5));
        assert_eq!(left_after(minutes(6), 4, 6), minutes(3));
        assert_eq!(left_after(minutes(6), 6, 6), Duration::ZERO);
        // There are more trials than were planned.
        assert_eq!(left_after(minutes(7), 7, 6), Duration::ZERO);
    }

    #[test]
    fn the_time_that_is_left_is_always_there() {
        let live = Live {
            round: "round 3 · ",
            trial: "mysql-8.0.31/innodb/z12a_c8r32",
            step: "points-notcovered-si_range=100",
            what: "12,345 ops/s",
            left: "at most about 2h 13m left".to_owned(),
        };
        let shown = [140, 100, 80, 60, 30].map(|room| {
            let text = live.text(room);
            assert!(wrap::length(&text) <= room, "{text}");
            text
        });
        insta::assert_snapshot!(shown.join("\n"), @"
        round 3 · mysql-8.0.31/innodb/z12a_c8r32 · points-notcovered-si_range=100 · 12,345 ops/s · at most about 2h 13m left
        mysql-8.0.31/innodb/z12… · points-notcovered-si_range=100 · 12,345 ops/s · at most about 2h 13m left
        points-notcovered-si_range=100 · 12,345 ops/s · at most about 2h 13m left
        points-notcovered-si_range=100 · at most about 2h 13m left
        at most about 2h 13m left
        ");
        assert_eq!(live.text(10), live.left);
        let starting = Live { trial: "a", step: "", what: "starting", ..live };
        assert_eq!(starting.text(80), "round 3 · a · starting · at most about 2h 13m left");
    }

    #[test]
    fn a_look_says_what_it_found_and_whether_it_goes_on() {
        assert_eq!(looked(3, 12, 5, true), "3 of at most 12 rounds: 5 comparisons not decided yet");
        assert_eq!(looked(4, 12, 0, false), "4 of at most 12 rounds: everything is decided");
        assert_eq!(
            looked(12, 12, 1, false),
            "12 of at most 12 rounds: 1 comparison not decided, and no round left"
        );
    }
}
