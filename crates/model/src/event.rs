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

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// The template of a system is being loaded; its steps follow.
    TemplateStarted {
        system: String,
    },
    /// The template of a system is there: loaded now, or by an earlier run.
    TemplateReady {
        system: String,
        /// Its size, and when and how it was loaded.
        summary: String,
    },
    /// A trial begins; `of` is the number of trials in the run, `index` counts from 1.
    TrialStarted {
        trial: TrialKey,
        /// Its number in the run, from 1.
        index: u32,
        of: u32,
    },
    /// What follows is of this trial, which began before: where a round is run in slices, several trials are
    /// under way. A trial that begins has its turn at once.
    Turn {
        trial: TrialKey,
    },
    /// The server answers; what it said of itself.
    ServerReady {
        provenance: Provenance,
    },
    StepStarted {
        step: Box<Step>,
    },
    /// A second of it is over.
    IntervalClosed {
        interval: Box<Interval>,
    },
    /// Something was read from the server.
    Captured {
        step: StepId,
        moment: Moment,
        capture: Capture,
    },
    /// The step, which is about to finish, was measured in slices.
    Sliced {
        /// What came of each.
        series: Vec<SliceSeries>,
    },
    StepFinished {
        record: Box<StepRecord>,
    },
    /// The trial has an outcome.
    TrialFinished {
        trial: TrialKey,
        outcome: Outcome,
    },
    /// The run was looked at, to see whether more rounds are needed.
    Looked {
        /// Rounds that are done and were not disturbed.
        rounds: u32,
        most: u32,
        /// Comparisons that are not decided yet.
        undecided: u32,
        /// Is there to be another round?
        goes_on: bool,
    },
    /// A round was disturbed and is run again; its trials follow.
    RoundAgain {
        /// The number of the round that takes its place.
        round: u32,
        /// The planned round that was disturbed.
        disturbed: u32,
        /// How often that has been run again, this time counted.
        times: u32,
        /// How often it may be.
        most: u32,
    },
    /// Something that the user should know and that stops nothing.
    Warning {
        /// What, and what to do.
        text: String,
    },
}
