//! Two thousand clients in one process: they begin and end quickly, cost nothing while they wait and take
//! little memory. Alone in its program: other tests would take memory and time too.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use load::{Client, ClientContext, End, Observer, Role, StepError, Stop, run};
use model::{Edge, Interval, KindSpec, Nanos};
use rustix::time::{ClockId, clock_gettime};

const CLIENTS: usize = 2_000;
const OPERATIONS: u64 = 100;
const SECONDS: u64 = 4;
const KIB: u64 = 1 << 10;

/// Does its operations at once, then waits for what never comes.
struct Quick;

impl Client for Quick {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let mut started = context.recorder.begin();
        for _ in 0..OPERATIONS {
            let end = context.recorder.done(0, started, None, 1);
            started = context.recorder.begin_after(end);
        }
        context.recorder.abandoned();
        assert!(!context.wait_until(Nanos(u64::MAX)));
        Ok(())
    }
}

/// What the process had used at one moment.
#[derive(Clone, Copy, Debug)]
struct Used {
    memory: u64,
    cpu: Duration,
}

impl Used {
    fn now() -> Self {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Self {
            memory: pages * rustix::param::page_size() as u64,
            cpu: Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32),
        }
    }
}

/// Looks at the process at the window's edges and after each second.
#[derive(Default)]
struct Watch {
    used: Vec<Used>,
    closed: Option<Instant>,
    operations: u64,
}

impl Observer for Watch {
    fn edge(&mut self, edge: Edge) {
        match edge {
            Edge::Open => self.used.push(Used::now()),
            Edge::Close => self.closed = Some(Instant::now()),
        }
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        self.used.push(Used::now());
        self.operations += interval.kinds.iter().map(|kind| kind.ops).sum::<u64>();
        ControlFlow::Continue(())
    }
}

#[test]
fn two_thousand_clients_begin_wait_and_end() {
    let clients = (1..=CLIENTS).map(|number| {
        let role = Role { name: format!("client {number}"), bounded: false };
        (role, Box::new(Quick) as Box<dyn Client>)
    });
    let kinds = [KindSpec { name: "query".to_owned(), scheduled: false }];
    let mut clients: Vec<_> = clients.collect();
    let end = End::After(Nanos::from_secs(SECONDS));
    let mut watch = Watch::default();
    let (before, began) = (Used::now(), Instant::now());
    let record = match run(&kinds, &mut clients, end, &Stop::default(), &mut watch) {
        Err(error @ StepError::Thread { .. }) => {
            println!("skipped: {error}");
            return;
        }
        result => result.unwrap(),
    };
    let ended = watch.closed.unwrap().elapsed();
    let whole = began.elapsed();
    let began_in = whole.saturating_sub(ended + Duration::from(record.window));
    assert_eq!(watch.operations, CLIENTS as u64 * OPERATIONS);
    assert_eq!(record.kinds[0].sums.ops, watch.operations);
    assert_eq!(record.window, Nanos::from_secs(SECONDS));
    let highest = watch.used.iter().map(|used| used.memory).max().unwrap();
    let each = (highest - before.memory) / CLIENTS as u64;
    // Of the seconds after the first, in which all of them only wait.
    let [early, late] = [watch.used[1], watch.used[SECONDS as usize - 1]];
    let idle = late.cpu.saturating_sub(early.cpu);
    println!(
        "began in {began_in:?}, ended in {ended:?}, {each} bytes each, {idle:?} CPU while idle"
    );
    assert!(each < 64 * KIB, "{each} bytes for a client");
    assert!(idle < Duration::from_millis(100), "{idle:?} in two seconds");
    // Half a second on a quiet machine.
    assert!(began_in < Duration::from_secs(20) && ended < Duration::from_secs(20));
}
