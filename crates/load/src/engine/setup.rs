//! When a step ends, and who sees it run.

use std::ops::ControlFlow;

use model::{Edge, Interval, Nanos};
use serde::{Deserialize, Serialize};

use crate::turns::Quota;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// When the last bounded client is done, or at the limit. The last interval is as long as is left.
    AllDone { limit: Option<Nanos> },
    /// After exactly this time, whoever is done, bounded or not. What ended by then counts; what is under
    /// way then is late. With whole seconds, all intervals are whole.
    After(Nanos),
    /// After this time, or when the last bounded client wants to do no more, if that is before.
    DoneOrAfter(Nanos),
}

impl End {
    pub const fn at_latest(self) -> Nanos {
        match self {
            Self::AllDone { limit: None } => Nanos(u64::MAX),
            Self::AllDone { limit: Some(at) } | Self::After(at) | Self::DoneOrAfter(at) => at,
        }
    }

    /// The same where clients have a quota, and the quota if it decides: it takes the place of a time.
    pub(super) fn with(self, quota: Option<Quota>) -> (Self, Option<Quota>) {
        match (self, quota) {
            (Self::After(_) | Self::DoneOrAfter(_), Some(_)) => {
                (Self::AllDone { limit: None }, quota)
            }
            (end, _) => (end, None),
        }
    }

    /// Is it the time that ends it, rather than an amount of work?
    pub const fn is_timed(self) -> bool {
        !matches!(self, Self::AllDone { .. })
    }

    /// May bounded clients close the window?
    pub const fn when_done(self) -> bool {
        !matches!(self, Self::After(_))
    }
}

/// Sees a step: `Open`, each interval, `Close`, the last intervals, the end. Called on the thread that runs it.
pub trait Observer {
    /// The window opens after this returns, or has just closed: the moment to read the probes.
    fn edge(&mut self, edge: Edge);

    /// A second is over. `Break` gives the step up.
    fn interval(&mut self, interval: Interval) -> ControlFlow<()>;

    /// All clients have ended: what the step does now belongs to no window.
    fn ended(&mut self) {}
}

pub struct Blind;

impl Observer for Blind {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
