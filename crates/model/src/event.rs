//! What happens while a plan is carried out. Progress, log and store are consumers of one stream.

use serde::{Deserialize, Serialize};

use crate::{
    Capture, Interval, Moment, Outcome, Provenance, SliceSeries, Step, StepId, StepRecord,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialKey {
    pub round: u32,
    /// Place within its round, from 1.
    pub position: u32,
    pub system: String,
}

/// The two edges of a step's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Clients are connected and wait; nothing has been sent.
    Open,
    /// The last bounded client has its last reply.
    Close,
}

#[derive(Clone, Debug)]
pub enum Event {
    /// The template of a system is being loaded; its steps follow.
    TemplateStarted { system: String },
    /// The template of a system is there: loaded now, or by an earlier run; its size, when and how it was loaded.
    TemplateReady { system: String, summary: String },
    /// A trial begins; `of` is the number of trials in the run, `index` counts from 1.
    TrialStarted { trial: TrialKey, index: u32, of: u32 },
    /// What follows is of this trial, which began before: where a round is run in slices, several trials are
    /// under way. A trial that begins has its turn at once.
    Turn { trial: TrialKey },
    /// The server answers; what it said of itself.
    ServerReady { provenance: Provenance },
    /// What it will do.
    StepStarted { step: Box<Step> },
    /// A second of it is over.
    IntervalClosed { interval: Box<Interval> },
    /// Something was read from the server.
    Captured { step: StepId, moment: Moment, capture: Capture },
    /// The step, which is about to finish, was measured in slices.
    Sliced { series: Vec<SliceSeries> },
    /// What it measured.
    StepFinished { record: Box<StepRecord> },
    /// The trial has an outcome.
    TrialFinished { trial: TrialKey, outcome: Outcome },
    /// The run was looked at after so many undisturbed rounds: are more needed? Of the comparisons so many are undecided.
    Looked { rounds: u32, most: u32, undecided: u32, goes_on: bool },
    /// The planned round `disturbed` was, and `round` takes its place; its trials follow. That is the `times`-th time,
    /// of `most`.
    RoundAgain { round: u32, disturbed: u32, times: u32, most: u32 },
    /// Something that the user should know and that stops nothing: what, and what to do.
    Warning { text: String },
}
