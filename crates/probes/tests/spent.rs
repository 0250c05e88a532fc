//! What the server probes say of a real process, against what the kernel says of it at its end. One
//! test only: the kernel adds up all children of this process.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use model::{Counter, CounterKind, Readings};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use probes::{Detail, Probe, ProbeError, Watch, all, read_all};
use rustix::time::{ClockId, clock_gettime};

const COMMANDS: &str = "BACKSLIDE_TEST_SPENDER";

/// Not a test: the process that the test watches is this very program, told to run only this. It
/// does what it reads from its input.
#[test]
#[ignore = "not a test; `totals_are_true_to_the_end` runs it as a child"]
fn spender() {
    if std::env::var_os(COMMANDS).is_none() {
        return;
    }
    for command in std::io::stdin().lines() {
        match command.unwrap().as_str() {
            "thread" => std::thread::spawn(|| burn(60)).join().unwrap(),
            "process" => {
                let mut child = spawn();
                tell(child.stdin.as_mut().unwrap(), "thread");
                drop(child.stdin.take());
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success());
            }
            other => panic!("unknown command {other}"),
        }
        println!("\ndone");
    }
}

/// Burns CPU time of this thread.
fn burn(millis: u64) {
    let spent = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    while spent() < Duration::from_millis(millis) {
        std::hint::black_box((0..1000u64).sum::<u64>());
    }
}

fn spawn() -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "spender", "--ignored", "--nocapture"])
        .env(COMMANDS, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn tell(stdin: &mut ChildStdin, command: &str) {
    writeln!(stdin, "{command}").unwrap();
}

fn wait_until_done(stdout: &mut BufReader<ChildStdout>) {
    let mut line = String::new();
    while line.trim_end() != "done" {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the child ended");
    }
}

fn assert_totals_rise(before: &Readings, after: &Readings) {
    for (id, counter) in &after.0 {
        if counter.kind == CounterKind::Total
            && let Some(earlier) = before.get(id)
        {
            assert!(counter.value >= earlier, "{id}: {} < {earlier}", counter.value);
        }
    }
}

#[test]
fn totals_are_true_to_the_end() {
    let mut child = spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let watch = Watch { host: true, server: Some(child.id()), ..Watch::default() };
    let mut probes: Vec<Box<dyn Probe>> = all(&watch);
    probes.retain(|probe| probe.name().starts_with("server"));
    assert_eq!(probes.len(), 2);
    let (opening, errors) = read_all(&mut probes, Detail::Edge);
    assert!(errors.is_empty(), "{errors:?}");

    let mut last = opening.clone();
    for round in 0..4 {
        for command in ["thread", "process"] {
            tell(&mut stdin, command);
            if round % 2 == 1 {
                // A look in the middle of the work; in the other rounds what works is gone unseen.
                std::thread::sleep(Duration::from_millis(30));
                let (middle, _) = read_all(&mut probes, Detail::Second);
                assert_totals_rise(&last, &middle);
                last.extend(middle);
            }
            wait_until_done(&mut stdout);
            let (now, errors) = read_all(&mut probes, Detail::Edge);
            assert!(errors.is_empty(), "{errors:?}");
            assert_totals_rise(&last, &now);
            last = now;
        }
    }

    let spent = |id| last.since(&opening).get(id).unwrap();
    // Eight times 60 ms; a process that nobody saw alive is known in ticks of 10 ms only.
    assert!(spent(Counter::SERVER_CPU) > 440_000_000);
    assert!(spent(Counter::SERVER_USER) + spent(Counter::SERVER_SYSTEM) > 400_000_000);
    assert!(spent(Counter::SERVER_MINFLT) > 100);
    assert!(spent(Counter::SERVER_CS) >= 8);
    assert!(last.get(Counter::SERVER_RSS) > Some(500_000));
    assert!(last.get(Counter::SERVER_RSS_MAX) >= last.get(Counter::SERVER_RSS));

    let total = last.get(Counter::SERVER_CPU).unwrap() as f64;
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let truth = (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e3;
    let error = (total - truth).abs();
    assert!(error < 0.05 * truth + 20e6, "read {total}, it was {truth}");

    let (readings, errors) = read_all(&mut probes, Detail::Second);
    assert!(readings.0.is_empty(), "{readings:?}");
    assert_eq!(errors.len(), 2);
    assert!(errors.iter().all(|e| matches!(e, ProbeError::Gone { .. })));
}
