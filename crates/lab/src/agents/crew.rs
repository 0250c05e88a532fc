//! The clients of a step that agents have, as the conductor's workload sees them: one crew.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use load::{Crew, Observer, Result, StepError, Stop, Window, monotonic};
use model::{Edge, Interval, KindSpec, Nanos, Note, StepRecord};

use super::clock::CLOSE;
use super::link::{Links, PATIENCE};
use super::merge::Merge;
use super::protocol::{Answer, Request};

/// Between the last look at the clocks and the opening of a window, besides the time that a message takes.
const LEAD: Nanos = Nanos::from_millis(20);

/// How late an agent may open a window: a quarter of an interval. A busy host wakes a process that much later.
const OPENS_LATE: Nanos = Nanos::from_millis(250);

/// How long after its end an interval may come: a later one would have another second's counters.
const LATE: Duration = Duration::from_secs(1);

pub(super) struct HostsCrew<'a> {
    pub(super) links: MutexGuard<'a, Links>,
    pub(super) places: Vec<usize>,
    pub(super) kinds: Vec<KindSpec>,
    /// The longest that clients may still be at work when a window has closed.
    pub(super) patience: Duration,
}

impl Crew for HostsCrew<'_> {
    fn kinds(&self) -> &[KindSpec] {
        &self.kinds
    }

    fn window(
        &mut self,
        window: Window,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let Self { links, places, kinds, patience } = self;
        let is_ready = |answer: &Answer| matches!(answer, Answer::Ready);
        links.ask_all(places, |_| Request::Run(window), PATIENCE, is_ready)?;
        links.follow_clocks(places, false)?;
        observer.edge(Edge::Open);
        let opens = monotonic() + links.farthest(places) + LEAD;
        for place in &*places {
            let at = links.says_at(*place, opens);
            links.tell(*place, &Request::Open(at))?;
        }
        let each = stop.turns().length();
        let merge = Merge::new(places.len(), kinds);
        let is_closed = vec![false; places.len()];
        let mut open = OpenWindow {
            links,
            places,
            patience: *patience,
            window,
            opens,
            each,
            merge,
            is_closed,
            latest: None,
        };
        open.watch(observer)?;
        let note = open.note();
        let mut record = open.merge.record(kinds, window.end.is_timed());
        record.notes.extend(note);
        links.follow_clocks(places, true)?;
        Ok(record)
    }

    fn end(mut self: Box<Self>) -> Result<Vec<String>> {
        let Self { links, places, .. } = &mut *self;
        let is_report = |answer: &Answer| matches!(answer, Answer::Report(_));
        let answers = links.ask_all(places, |_| Request::Report, PATIENCE, is_report)?;
        let texts = answers.into_iter().filter_map(|answer| match answer {
            Answer::Report(text) => Some(text),
            _ => None,
        });
        Ok(texts.collect())
    }
}

struct OpenWindow<'a> {
    links: &'a mut Links,
    places: &'a [usize],
    patience: Duration,
    window: Window,
    /// When it opens, by our clock.
    opens: Nanos,
    each: Nanos,
    merge: Merge,
    is_closed: Vec<bool>,
    /// Who opened it last, and how late.
    latest: Option<(Nanos, usize)>,
}

impl OpenWindow<'_> {
    /// Hands out intervals until all agents have ended the window.
    fn watch(&mut self, observer: &mut dyn Observer) -> Result {
        // The edge is ours, so that the probes are read then and not when the last agent has told.
        let closes = Nanos(self.opens.0.saturating_add(self.window.end.at_latest().0));
        let mut closed = None;
        loop {
            let now = monotonic();
            if closed.is_none() && (now >= closes || self.is_closed.iter().all(|is| *is)) {
                observer.edge(Edge::Close);
                closed = Some(now);
            }
            while self.merge.has_next() && (closed.is_some() || !self.is_next_last()) {
                if let Some(interval) = self.merge.hand_out()
                    && observer.interval(interval).is_break()
                {
                    return Err(StepError::Interrupted);
                }
            }
            if closed.is_some() && self.merge.have_all_ended() {
                return Ok(());
            }
            self.hear(closed, closes)?;
        }
    }

    /// Does the window close with the next interval? Then the edge comes first.
    fn is_next_last(&self) -> bool {
        self.end_of_next() >= self.window.end.at_latest()
    }

    /// When the next interval ends, since the window opened.
    fn end_of_next(&self) -> Nanos {
        Nanos(self.each.0 * (u64::from(self.merge.next_index()) + 1))
    }

    /// Takes the next answer, if one comes before the window closes.
    fn hear(&mut self, closed: Option<Nanos>, closes: Nanos) -> Result {
        let due = match closed {
            None => self.opens + self.end_of_next() + Nanos::from(self.late_by()),
            Some(at) => at + Nanos::from(self.patience),
        };
        let until = if closed.is_none() { due.min(closes) } else { due };
        let now = monotonic();
        let until = Instant::now() + Duration::from(until.saturating_sub(now));
        match self.links.hear(until)? {
            Some((place, answer)) => self.take(place, answer),
            None if monotonic() < due => Ok(()),
            None => Err(self.late()),
        }
    }

    /// How late the next interval may be. A closed window's last intervals come only after its last operation ends.
    fn late_by(&self) -> Duration {
        let mut closed = (0..self.places.len()).filter(|part| self.is_closed[*part]);
        if closed.any(|part| self.merge.awaits(part)) { self.patience } else { LATE }
    }

    /// Worth a word where it is more than clocks may be apart.
    fn note(&self) -> Option<Note> {
        let (late, place) = self.latest.filter(|(late, _)| *late > CLOSE)?;
        let host = self.links.host(place);
        Some(Note::new("load hosts", format!("`{host}` opened its window {late} late")))
    }

    fn late(&self) -> StepError {
        let late = self.places.iter().enumerate().find(|(part, _)| self.merge.awaits(*part));
        let place = late.map_or(0, |(_, place)| *place);
        let second = self.merge.next_index() + 1;
        self.links.trouble(place, format!(
            "second {second} of the window has not come in time: is that host overloaded, or cut off?"
        ))
    }

    fn take(&mut self, place: usize, answer: Answer) -> Result {
        let Some(part) = self.places.iter().position(|own| *own == place) else {
            return Err(self.links.nonsense(place));
        };
        match answer {
            Answer::Opened { late } if late > OPENS_LATE => Err(self.links.trouble(place, format!(
                "it opened the window {late} late, so its intervals are not those of the others: is that \
                 host overloaded?"
            ))),
            Answer::Opened { late } => {
                self.latest = self.latest.max(Some((late, place)));
                Ok(())
            }
            Answer::Interval(sent) => {
                let is_next =
                    Interval::try_from(*sent).is_ok_and(|interval| self.merge.add(part, interval));
                if is_next { Ok(()) } else { Err(self.links.nonsense(place)) }
            }
            Answer::Closed => {
                self.is_closed[part] = true;
                Ok(())
            }
            Answer::Ended(ended) => {
                self.merge.end(part, *ended);
                Ok(())
            }
            Answer::Greeting(_)
            | Answer::Time(_)
            | Answer::Reached
            | Answer::Recognized
            | Answer::Connected
            | Answer::Ready
            | Answer::Report(_)
            | Answer::Watching(_)
            | Answer::Readings(_)
            | Answer::Failed(_) => Err(self.links.nonsense(place)),
        }
    }
}
