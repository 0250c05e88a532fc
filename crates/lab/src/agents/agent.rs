//! The agent: a process on a load host that runs a share of the clients. It has no lab and writes no file.

use std::io::{self, BufReader, StdoutLock};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use load::{Crew, Observer, Share, Stop, Window, monotonic};
use model::{Edge, Interval, Readings, Step, StepId, StepRecord, Subject};
use probes::{Detail, Probe, Watch};
use workloads::Part;

use super::protocol::{self, Answer, Ended, Greeting, LONGEST, Request, SILENCE, Server, VERSION};
use super::server_host;
use crate::capacity::raise_limits;
use crate::conductor::place_client;
use crate::foreign::{self, Sessions};
use crate::marker::Owner;
use crate::reach::{ForeignAddress, Secrets};
use crate::site::{Result, SiteError};

/// Does what the process asks that started this one over `ssh`, until that closes our input.
///
/// # Errors
/// Nobody reads the answers, or the questions are of no such process.
pub fn run_agent() -> Result<()> {
    let requests = listen();
    let mut agent = Agent {
        requests,
        output: io::stdout().lock(),
        server: None,
        part: None,
        watched: Vec::new(),
    };
    let cpus = probes::allowed().len() as u32;
    let program = protocol::program()?;
    agent.say(&Answer::Greeting(Greeting { version: VERSION.to_owned(), program, cpus }))?;
    while let Ok(request) = agent.requests.recv() {
        let answer =
            request.map_err(|text| unreadable(&text)).and_then(|request| agent.answer(request));
        agent.say(&answer.unwrap_or_else(|error| Answer::Failed(error.reason)))?;
    }
    Err(SiteError::new("this is part of backslide, which starts it itself on its load hosts"))
}

/// A request, or the text that is none.
type Heard = Result<Request, String>;

/// Requests as they come. When there are no more, nobody wants the clients' work, whatever they are doing.
#[expect(clippy::exit, reason = "clients have no other end than that of their window")]
fn listen() -> Receiver<Heard> {
    let (hear, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Some(request) = protocol::read(&mut input, LONGEST) {
            if hear.send(request).is_err() {
                return;
            }
        }
    });
    let (tell, requests) = mpsc::channel();
    thread::spawn(move || {
        pass_on(&heard, &tell, SILENCE);
        std::process::exit(0);
    });
    requests
}

/// Passes requests on until there are no more, or there is not even a sign of life for so long.
fn pass_on(heard: &Receiver<Heard>, tell: &Sender<Heard>, silence: Duration) {
    while let Ok(request) = heard.recv_timeout(silence) {
        if !matches!(request, Ok(Request::Alive)) && tell.send(request).is_err() {
            return;
        }
    }
}

struct Agent {
    requests: Receiver<Heard>,
    output: StdoutLock<'static>,
    server: Option<Server>,
    part: Option<Part>,
    /// Of a server on this host.
    watched: Vec<Box<dyn Probe>>,
}

impl Agent {
    fn say(&mut self, answer: &Answer) -> Result<()> {
        protocol::write(&mut self.output, answer)
            .map_err(|error| SiteError::new(format!("nobody hears this agent: {error}")))
    }

    fn answer(&mut self, request: Request) -> Result<Answer> {
        match request {
            Request::Time => Ok(Answer::Time(monotonic())),
            Request::Reach(server) => {
                let sessions = sessions(&server)?;
                sessions.first.connect()?;
                self.server = Some(*server);
                Ok(Answer::Reached)
            }
            Request::Recognize(owner) => self.recognize(&owner),
            Request::Connect { assignment, share, all_sessions } => {
                // Whatever is left of the step before.
                self.part = None;
                self.part = Some(self.connect(&assignment, share, all_sessions)?);
                Ok(Answer::Connected)
            }
            Request::Run(window) => {
                let mut part = self.part.take().ok_or_else(out_of_turn)?;
                let ended = self.run(&mut part, window)?;
                self.part = Some(part);
                Ok(Answer::Ended(Box::new(ended)))
            }
            Request::Open(_) | Request::Alive => Err(out_of_turn()),
            Request::Watch { address, addresses, dbms } => {
                let (server, probes) = server_host::watch(&address, &addresses, dbms);
                self.watched = probes;
                Ok(Answer::Watching(server))
            }
            Request::Read { is_edge } => {
                let detail = if is_edge { Detail::Edge } else { Detail::Second };
                // Skips unreadable counters.
                Ok(Answer::Readings(probes::read_all(&mut self.watched, detail).0))
            }
            Request::Report => {
                let Part { crew, report } = self.part.take().ok_or_else(out_of_turn)?;
                drop(crew);
                Ok(Answer::Report(report()?))
            }
        }
    }

    fn recognize(&self, owner: &Owner) -> Result<Answer> {
        let server = self.server.as_ref().ok_or_else(out_of_turn)?;
        let found = match sessions(server)?.read_owner() {
            Ok(Some(found)) if found == *owner => return Ok(Answer::Recognized),
            Ok(Some(found)) => format!("the database there belongs to {}", found.describe()),
            Ok(None) => "the marker there is empty".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(SiteError::new(format!(
            "`{}` leads it to another server than this host ({found}): give an address that names one server on \
             every host",
            server.address
        )))
    }

    fn connect(&self, assignment: &str, share: Share, all_sessions: u32) -> Result<Part> {
        let server = self.server.as_ref().ok_or_else(out_of_turn)?;
        let system = &server.system;
        let step = Step::new(StepId::new("the clients"), 0, all_sessions, Subject::default());
        raise_limits(&[step], &[system], false)?;
        place_client(system, &system.cpus.client)?;
        let target = sessions(server)?.target(system);
        Ok(workloads::part(assignment, &target, share, &Stop::default())?)
    }

    fn run(&mut self, part: &mut Part, window: Window) -> Result<Ended> {
        let mut probes = probes::all(&Watch::default());
        let mut teller = Teller {
            agent: self,
            probes: &mut probes,
            opened: None,
            last: None,
            closed: None,
            trouble: None,
        };
        let record = part.crew.window(window, &Stop::default(), &mut teller);
        let Teller { opened, closed, trouble, .. } = teller;
        match trouble {
            Some(trouble) => Err(trouble),
            None => Ok(ended(record?, opened, closed)),
        }
    }
}

fn sessions(server: &Server) -> Result<Sessions> {
    let Server { system, address, password, timeout_seconds } = server;
    let address = ForeignAddress::parse(address)?.with_password(password);
    let mut secrets = Secrets::default();
    secrets.keep(&address);
    Ok(foreign::sessions(system, &address, &secrets, Duration::from_secs(*timeout_seconds))?)
}

fn ended(record: StepRecord, opened: Option<Readings>, closed: Option<Readings>) -> Ended {
    let counters = closed.zip(opened).map(|(closed, opened)| closed.since(&opened));
    Ended {
        window: record.window,
        late: record.kinds.iter().map(|kind| kind.late).collect(),
        errors: record.errors,
        open_loop: record.open_loop,
        cut_short: record.cut_short,
        counters: counters.unwrap_or_default(),
    }
}

/// Tells the process that measures what happens in a window, and waits for it to say when the window opens.
struct Teller<'a> {
    agent: &'a mut Agent,
    probes: &'a mut [Box<dyn Probe>],
    opened: Option<Readings>,
    /// At the end of the last interval.
    last: Option<Readings>,
    closed: Option<Readings>,
    trouble: Option<SiteError>,
}

impl Teller<'_> {
    /// All clients wait; they begin when this returns.
    fn open(&mut self) -> Result<()> {
        self.agent.say(&Answer::Ready)?;
        let at = loop {
            let request = self.agent.requests.recv().map_err(|_| out_of_turn())?;
            match request.map_err(|text| unreadable(&text))? {
                Request::Open(at) => break at,
                Request::Time => self.agent.say(&Answer::Time(monotonic()))?,
                Request::Alive
                | Request::Reach(_)
                | Request::Recognize(_)
                | Request::Connect { .. }
                | Request::Run(_)
                | Request::Watch { .. }
                | Request::Read { .. }
                | Request::Report => return Err(out_of_turn()),
            }
        };
        self.opened = Some(self.read());
        self.last = self.opened.clone();
        thread::sleep(at.saturating_sub(monotonic()).into());
        let late = monotonic().saturating_sub(at);
        self.agent.say(&Answer::Opened { late })
    }

    fn tell(&mut self, mut interval: Interval) -> Result<()> {
        let now = self.closed.clone().unwrap_or_else(|| self.read());
        let before = self.last.replace(now.clone());
        interval.readings = before.map(|before| now.since(&before)).unwrap_or_default();
        self.agent.say(&Answer::Interval(Box::new(interval.into())))
    }

    /// Skips unreadable counters.
    fn read(&mut self) -> Readings {
        probes::read_all(self.probes, Detail::Second).0
    }
}

impl Observer for Teller<'_> {
    fn edge(&mut self, edge: Edge) {
        let done = match edge {
            Edge::Open => self.open(),
            Edge::Close => {
                self.closed = Some(self.read());
                self.agent.say(&Answer::Closed)
            }
        };
        self.trouble = self.trouble.take().or(done.err());
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if self.trouble.is_none() {
            self.trouble = self.tell(interval).err();
        }
        match self.trouble {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

fn unreadable(text: &str) -> SiteError {
    SiteError::new(format!("it was sent `{text}`, which is no request"))
}

fn out_of_turn() -> SiteError {
    SiteError::new("it was asked out of turn, which is a bug in backslide")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_passed_on_until_not_even_a_sign_of_life_comes() {
        let (hear, heard) = mpsc::channel();
        let (tell, requests) = mpsc::channel();
        for message in [Ok(Request::Alive), Ok(Request::Time), Err("Welcome!".to_owned())] {
            hear.send(message).unwrap();
        }
        pass_on(&heard, &tell, Duration::from_millis(10));
        assert!(matches!(requests.try_recv(), Ok(Ok(Request::Time))));
        assert!(matches!(requests.try_recv(), Ok(Err(text)) if text == "Welcome!"));
        assert!(requests.try_recv().is_err());
        drop(hear);
    }
}
