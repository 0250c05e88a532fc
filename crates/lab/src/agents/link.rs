//! Agents as they are seen from here: started, asked, heard.

use std::io::BufReader;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use load::{NAP, Result, StepError, Stop, monotonic};
use model::Nanos;

use super::clock::{CLOSE, Clock, LOOKS};
use super::protocol::{
    self, Answer, Greeting, LONGEST, LONGEST_GREETING, Request, SIGN_EVERY, VERSION,
};
use super::sending::send;
use super::words::LastWords;
use crate::ssh::ssh;

const AGENT: &str = "agent";

/// How long an agent may take to start, and for any answer beside the time of statements.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long an agent may take to end.
const ENDS: Duration = Duration::from_secs(2);

pub(super) struct Links {
    all: Vec<Link>,
    heard: Receiver<(usize, Heard)>,
    stop: Stop,
}

/// One agent; it ends when this is dropped.
struct Link {
    host: String,
    process: Child,
    /// Lines of its input.
    requests: Option<Sender<Vec<u8>>>,
    words: LastWords,
    clock: Clock,
    /// Known once it has said so.
    cpus: Option<u32>,
}

enum Heard {
    Said(Answer),
    Unreadable(String),
    Ended,
}

impl Links {
    /// Starts an agent on each host, all at once, and looks at their clocks.
    pub(super) fn start(hosts: &[String], stop: &Stop) -> Result<Self> {
        let (tell, heard) = mpsc::channel();
        let links = hosts.iter().enumerate();
        let links = links.map(|(place, host)| Link::start(host, place, &tell));
        let mut links = Self { all: links.collect::<Result<_>>()?, heard, stop: stop.clone() };
        links.greet()?;
        for place in links.places() {
            links.all[place].clock = links.look_at_clock(place)?;
        }
        Ok(links)
    }

    pub(super) fn places(&self) -> std::ops::Range<usize> {
        0..self.all.len()
    }

    pub(super) fn described(&self) -> String {
        let each = self.all.iter().map(|link| {
            let Clock { off_by, .. } = link.clock;
            let cpus = link.cpus.unwrap_or_default();
            format!("{} (CPUs: {cpus}, clock known to {off_by})", link.host)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn host(&self, place: usize) -> &str {
        &self.all[place].host
    }

    /// When our clock will say `at`, what will that of an agent say?
    pub(super) fn says_at(&self, place: usize, at: Nanos) -> Nanos {
        self.all[place].clock.says_at(at)
    }

    /// How long the slowest of these needs to hear from us.
    pub(super) fn farthest(&self, places: &[usize]) -> Nanos {
        let each = places.iter().map(|place| self.all[*place].clock.off_by);
        Nanos(2 * each.max().unwrap_or_default().0)
    }

    /// Looks at the clocks of these agents again. Fails where one has moved while a window was open.
    pub(super) fn follow_clocks(&mut self, places: &[usize], was_open: bool) -> Result {
        for &place in places {
            let clock = self.look_at_clock(place)?;
            let moved = clock.moved_since(&self.all[place].clock);
            if was_open && moved > CLOSE {
                return Err(self.trouble(place, format!(
                    "its clock moved by {moved} against this host's during the window, so its intervals \
                     are not those of the others; look at its time service, and at this host's"
                )));
            }
            self.all[place].clock = clock;
        }
        Ok(())
    }

    fn look_at_clock(&mut self, place: usize) -> Result<Clock> {
        let mut best: Option<Clock> = None;
        for _ in 0..LOOKS {
            let asked = monotonic();
            let Answer::Time(theirs) = self.ask(place, &Request::Time, PATIENCE)? else {
                return Err(self.nonsense(place));
            };
            let seen = Clock::seen(asked, theirs, monotonic());
            best = best.filter(|best| best.off_by <= seen.off_by).or(Some(seen));
        }
        let clock = best.unwrap_or_default();
        if clock.off_by > CLOSE {
            return Err(self.trouble(place, format!(
                "its clock is known to {} only, because an answer takes {} at least; hosts must be known to \
                 {CLOSE}: use hosts that are nearer, or a quieter network",
                clock.off_by,
                Nanos(2 * clock.off_by.0)
            )));
        }
        Ok(clock)
    }

    /// Asks each of these agents the same; all answers must be what `is_right` wants.
    pub(super) fn ask_all(
        &mut self,
        places: &[usize],
        request: impl Fn(usize) -> Request,
        patience: Duration,
        is_right: fn(&Answer) -> bool,
    ) -> Result<Vec<Answer>> {
        for &place in places {
            self.tell(place, &request(place))?;
        }
        let until = Instant::now() + patience;
        let mut answers: Vec<Option<Answer>> = self.places().map(|_| None).collect();
        while let Some(silent) = places.iter().find(|place| answers[**place].is_none()) {
            let (place, answer) =
                self.hear(until)?.ok_or_else(|| self.silence(*silent, patience))?;
            if !is_right(&answer) || answers[place].is_some() {
                return Err(self.nonsense(place));
            }
            answers[place] = Some(answer);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    pub(super) fn ask(
        &mut self,
        place: usize,
        request: &Request,
        patience: Duration,
    ) -> Result<Answer> {
        self.tell(place, request)?;
        self.answer(place, patience)
    }

    fn answer(&mut self, place: usize, patience: Duration) -> Result<Answer> {
        match self.hear(Instant::now() + patience)? {
            Some((other, answer)) if other == place => Ok(answer),
            Some((other, _)) => Err(self.nonsense(other)),
            None => Err(self.silence(place, patience)),
        }
    }

    pub(super) fn tell(&mut self, place: usize, request: &Request) -> Result {
        let line = protocol::line(request).ok();
        let requests = self.all[place].requests.as_ref();
        match line.zip(requests).map(|(line, requests)| requests.send(line)) {
            Some(Ok(())) => Ok(()),
            // It has ended; why is in what it said last.
            Some(Err(_)) | None => Err(self.lost(place)),
        }
    }

    /// The next answer of any agent; `None` when none has come by then.
    pub(super) fn hear(&mut self, until: Instant) -> Result<Option<(usize, Answer)>> {
        match self.next(until)? {
            None => Ok(None),
            Some((place, Heard::Said(Answer::Failed(message)))) => {
                Err(self.trouble(place, message))
            }
            Some((place, Heard::Said(answer))) => Ok(Some((place, answer))),
            Some((place, Heard::Unreadable(text))) => Err(self.trouble(place, format!(
                "`{text}` came in place of an answer: nothing but its agent may print to that output"
            ))),
            Some((place, Heard::Ended)) => Err(self.lost(place)),
        }
    }

    fn next(&self, until: Instant) -> Result<Option<(usize, Heard)>> {
        loop {
            if self.stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(NAP)) {
                Ok(heard) => return Ok(Some(heard)),
                Err(_) if left.is_zero() => return Ok(None),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    fn greet(&mut self) -> Result {
        let ours = protocol::program().map_err(|error| {
            self.trouble(0, format!("cannot compare its program with this one: {error}"))
        })?;
        let until = Instant::now() + PATIENCE;
        while let Some(silent) = self.all.iter().position(|link| link.cpus.is_none()) {
            match self.next(until)? {
                None => return Err(self.silence(silent, PATIENCE)),
                Some((place, Heard::Said(Answer::Greeting(greeting)))) => {
                    self.check_program(place, &greeting, &ours)?;
                    self.all[place].cpus = Some(greeting.cpus);
                }
                Some((place, Heard::Said(_))) => return Err(self.nonsense(place)),
                Some((place, Heard::Unreadable(text))) => {
                    return Err(self.trouble(place, format!(
                        "it printed `{text}` before its agent could say anything: its shell must print \
                         nothing at login"
                    )));
                }
                Some((place, Heard::Ended)) => {
                    let host = &self.all[place].host;
                    let remedy = format!(
                        "`ssh {host} backslide --version` must print {VERSION}, without a password"
                    );
                    let words = self.all[place].last_words();
                    return Err(
                        self.trouble(place, format!("no agent started ({words}): {remedy}"))
                    );
                }
            }
        }
        Ok(())
    }

    /// Another build may draw other keys, or say other things.
    fn check_program(&self, place: usize, greeting: &Greeting, ours: &str) -> Result {
        let Greeting { version, program, .. } = greeting;
        let message = if version != VERSION {
            format!(
                "it has backslide {version}, and this is {VERSION}: install the same version there"
            )
        } else if program != ours {
            format!("it has another build of backslide {VERSION}: copy this program there")
        } else {
            return Ok(());
        };
        Err(self.trouble(place, message))
    }

    pub(super) fn trouble(&self, place: usize, message: String) -> StepError {
        StepError::Host { host: self.all[place].host.clone(), message }
    }

    fn lost(&mut self, place: usize) -> StepError {
        let words = self.all[place].last_words();
        self.trouble(place, format!(
            "its agent was killed, or the connection to it broke ({words}); look at the memory and the log of that \
             host, and at the network"
        ))
    }

    fn silence(&self, place: usize, patience: Duration) -> StepError {
        self.trouble(
            place,
            format!(
                "its agent said nothing for {}: is that host up, overloaded, or cut off?",
                Nanos::from(patience)
            ),
        )
    }

    pub(super) fn nonsense(&self, place: usize) -> StepError {
        self.trouble(place, "its agent broke the protocol, which is a bug in backslide".to_owned())
    }
}

impl Link {
    fn start(host: &str, place: usize, tell: &Sender<(usize, Heard)>) -> Result<Self> {
        let failed = |cause: std::io::Error| StepError::Host {
            host: host.to_owned(),
            message: format!("cannot start `ssh`: {cause}"),
        };
        let mut process = ssh(host)
            .args(["backslide", AGENT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A terminal's ^C is for us alone.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let words = LastWords::of(process.stderr.take());
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let sign = protocol::line(&Request::Alive).map_err(failed)?;
        let (requests, lines) = mpsc::channel();
        thread::spawn(move || input.map(|input| send(&lines, input, &sign, SIGN_EVERY)));
        let tell = tell.clone();
        thread::spawn(move || output.map(|output| listen(output, place, &tell)));
        let (requests, clock) = (Some(requests), Clock::default());
        Ok(Self { host: host.to_owned(), process, requests, words, clock, cpus: None })
    }

    /// How it ended, and what it said last.
    fn last_words(&mut self) -> String {
        let until = Instant::now() + ENDS;
        let words = self.words.get();
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if Instant::now() < until => thread::sleep(NAP),
                Ok(None) | Err(_) => break "it closed its output".to_owned(),
            }
        };
        if words.is_empty() { status } else { format!("{status}: {words}") }
    }
}

impl Drop for Link {
    /// An agent ends when its input does, also where only `ssh` is in this host's reach.
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn listen(output: ChildStdout, place: usize, tell: &Sender<(usize, Heard)>) {
    let mut output = BufReader::new(output);
    let mut longest = LONGEST_GREETING;
    while let Some(heard) = protocol::read(&mut output, longest) {
        longest = LONGEST;
        let heard = heard.map_or_else(Heard::Unreadable, Heard::Said);
        if tell.send((place, heard)).is_err() {
            return;
        }
    }
    let _ = tell.send((place, Heard::Ended));
}
