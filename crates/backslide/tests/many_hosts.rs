//! Campaigns through the binary, with a Slurm and an `ssh` that run everything here. `bench/slurm.sh` and
//! `bench/ssh.sh` have real ones.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use common::{Bench, Ran, WORKLOAD, names, plan};
use rustix::process::{Pid, Signal, kill_process_group};

const SYSTEMS: [&str; 2] =
    ["build = \"sqlite\"\nconfig = \"wal\"", "build = \"sqlite\"\nconfig = \"rollback\""];

/// Runs the elements of an array one after the other; the job ends with it.
const SBATCH: &str = r#"#!/bin/sh
list=$(sed -n 's/^#SBATCH --array=\([0-9,-]*\).*/\1/p' "$2")
case $list in 1-*) list=$(seq "${list#1-}") ;; *) list=$(echo "$list" | tr , ' ') ;; esac
for part in $list; do
    SLURM_ARRAY_TASK_ID=$part SLURM_JOB_ID=7$part sh "$2" >&2 || exit 1
done
echo "7;cluster"
"#;

/// The host `down` does not answer, and `faint` is lost when another one has measured its part. At `far`, as with a
/// real `ssh`, the shell is in another session, and what it writes goes through this one.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in
down) echo "connect to host down: No route" >&2; exit 255 ;;
bare) echo "sh: 1: backslide: not found" >&2; exit 127 ;;
old) mkdir -p old; printf '#!/bin/sh\necho backslide 0.0.1\n' >old/backslide; chmod +x old/backslide; PATH=old:$PATH ;;
noisy) echo "Welcome!" ;;
far) shift 2; { setsid "$@" 2>&1 >&3 3>&- | cat >&2; } 3>&1; exit ;;
faint) until ls lab/campaigns/*/parts | grep -q '^[12]$'; do sleep 0.1; done; exit 255 ;;
esac
shift 2
exec "$@"
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("tiny.toml", &plan(WORKLOAD, 2, &SYSTEMS));
    fs::create_dir(bench.path("bin")).unwrap();
    for (name, text) in [("sbatch", SBATCH), ("squeue", "#!/bin/sh\n"), ("ssh", SSH)] {
        let path = bench.write(&format!("bin/{name}"), text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_backslide"), bench.path("bin/backslide")).unwrap();
    bench
}

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bench.path("bin").display());
    bench.command(arguments).env("PATH", path).spawn().unwrap()
}

fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    common::end(start(bench, arguments))
}

/// The rounds of this test that are being measured by a shell of `submit`.
fn rounds(bench: &Bench) -> Vec<u32> {
    let lab = format!("{}/backslide.", bench.directory.path().display());
    processes(&[&lab, " run "])
}

/// The processes whose command line contains all of these texts.
fn processes(texts: &[&str]) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    all.filter(|(_, line)| texts.iter().all(|text| line.contains(text)))
        .map(|(pid, _)| pid)
        .collect()
}

#[test]
fn slurm_measures_each_round_and_the_result_is_that_of_a_merge_by_hand() {
    let bench = bench();
    let script = run(&bench, &["submit", "tiny.toml", "--to", "slurm", "--dry-run"]).fine();
    assert!(script.contains("#SBATCH --array=1-2\n") && script.contains("#SBATCH --exclusive\n"));
    assert!(!bench.lab().join("campaigns").exists());

    let submit = ["submit", "tiny.toml", "--to", "slurm", "--nodes", "2", "--partition", "bench"];
    assert_eq!(run(&bench, &submit).fine(), "tiny\n");
    let campaign = bench.lab().join("campaigns/tiny");
    assert_eq!(names(&campaign.join("parts")), ["1", "2"]);
    let twice = run(&bench, &submit);
    assert_eq!(twice.code(), 1);
    assert!(twice.stderr.contains("was submitted already"), "{}", twice.stderr);

    for _ in 0..2 {
        assert_eq!(run(&bench, &["submit", "--status", "tiny"]).fine(), "r1\n");
        assert_eq!(bench.journal("r1").len(), 4);
    }
    let parts = ["lab/campaigns/tiny/parts/2", "lab/campaigns/tiny/parts/1"];
    run(&bench, &["merge", parts[0], parts[1], "-o", "hand"]).fine();
    let compare = ["compare", "--metric", "all", "--format", "json"];
    let by_hand = run(&bench, &[&["--lab", "hand"][..], &compare].concat());
    assert_eq!(run(&bench, &compare).stdout, by_hand.stdout);
    assert!(by_hand.stdout.contains("\"rounds\": 2") || by_hand.stdout.contains("\"rounds\":2"));
}

#[test]
fn a_lost_part_is_reported_and_measured_again() {
    let bench = bench();
    run(&bench, &["submit", "tiny.toml", "--to", "slurm"]).fine();
    fs::remove_dir_all(bench.lab().join("campaigns/tiny/parts/2")).unwrap();
    let told = run(&bench, &["submit", "--status", "tiny"]);
    assert_eq!((told.code(), told.stdout.as_str()), (1, "r1\n"));
    assert!(told.stderr.contains("part 2/2: not measured; it has not begun\n"), "{}", told.stderr);
    assert!(told.stderr.contains("with the same plan measures the missing parts"), "{told:?}");
    fs::write(bench.lab().join("campaigns/tiny/2.log"), "").unwrap();
    let told = run(&bench, &["submit", "--status", "tiny"]);
    assert!(told.stderr.contains("part 2/2: not measured; its log: "), "{}", told.stderr);
    run(&bench, &["--lab", "again", "run", "tiny.toml", "--rounds-of", "2/2"]).fine();
    run(&bench, &["merge", "again", "-o", "lab"]).fine();
    assert_eq!(bench.journal("r1").len(), 4);
    let nothing = run(&bench, &["run", "--resume", "r1"]);
    assert!(nothing.stderr.contains("r1 is finished"), "{}", nothing.stderr);
}

#[test]
fn ssh_gives_the_rounds_of_a_host_that_fails_to_the_others() {
    let bench = bench();
    let to = |hosts| ["submit", "tiny.toml", "--campaign", "night", "--to", hosts];
    let nobody = run(&bench, &to("ssh:down"));
    assert_eq!(nobody.code(), 1);
    assert!(nobody.stderr.contains("no host measured a part"), "{}", nobody.stderr);
    let parts = bench.lab().join("campaigns/night/parts");
    fs::create_dir(parts.join(".arriving-of-one-that-was-killed")).unwrap();
    let measured = run(&bench, &to("ssh:down,up"));
    assert!(measured.stderr.contains("down gets no further parts"), "{}", measured.stderr);
    assert_eq!(measured.fine(), "r1\n");
    assert_eq!(names(&parts), ["1", "2"]);
    assert_eq!(bench.journal("r1").len(), 4);
}

#[test]
fn a_trial_that_failed_on_a_host_is_reported_and_kept() {
    let bench = bench();
    // Twenty pages hold no table of 2,000 rows.
    let full = "build = \"sqlite\"\nset = { max_page_count = 20 }";
    bench.write("tiny.toml", &plan(WORKLOAD, 1, &[SYSTEMS[0], full]));
    for arguments in
        [&["submit", "tiny.toml", "--to", "ssh:up"][..], &["submit", "--status", "tiny"]]
    {
        let ran = run(&bench, arguments);
        assert_eq!((ran.code(), ran.stdout.as_str()), (20, "r1\n"), "{ran:?}");
        assert!(ran.stderr.contains("1 trial failed: `backslide show r1` says why"), "{ran:?}");
    }
    assert_eq!(bench.journal("r1").len(), 2);
}

#[test]
fn a_part_that_is_given_back_last_is_measured_too() {
    let bench = bench();
    let measured = run(&bench, &["submit", "tiny.toml", "--to", "ssh:faint,up"]);
    assert!(measured.stderr.contains("faint gets no further parts"), "{}", measured.stderr);
    assert_eq!(measured.fine(), "r1\n");
    assert_eq!(bench.journal("r1").len(), 4);
}

#[test]
fn what_failed_at_slurm_is_submitted_again_and_by_the_same_plan() {
    let bench = bench();
    let submit = ["submit", "tiny.toml", "--to", "slurm"];
    run(&bench, &submit).fine();
    fs::remove_dir_all(bench.lab().join("campaigns/tiny/parts/2")).unwrap();
    bench.write("tiny.toml", &plan(WORKLOAD, 2, &SYSTEMS).replace("rows = 2_000", "rows = 2_001"));
    for to in ["slurm", "ssh:up"] {
        let other = run(&bench, &["submit", "tiny.toml", "--to", to]);
        assert_eq!(other.code(), 1);
        assert!(other.stderr.contains("measured by another plan"), "{}", other.stderr);
    }
    bench.write("tiny.toml", &plan(WORKLOAD, 2, &SYSTEMS));
    let again = run(&bench, &submit);
    assert!(again.stderr.contains("submitted 1 part as job 7"), "{}", again.stderr);
    assert_eq!(run(&bench, &["submit", "--status", "tiny"]).fine(), "r1\n");
    assert_eq!(bench.journal("r1").len(), 4);
}

#[test]
fn a_part_that_is_refused_keeps_no_other_one_back() {
    let bench = bench();
    run(&bench, &["submit", "tiny.toml", "--to", "slurm"]).fine();
    let part = bench.lab().join("campaigns/tiny/parts/2");
    fs::remove_dir_all(&part).unwrap();
    bench.write("tiny.toml", &plan(WORKLOAD, 2, &SYSTEMS).replace("rows = 2_000", "rows = 2_001"));
    run(&bench, &["--lab", "other", "run", "tiny.toml", "--rounds-of", "2/2"]).fine();
    run(&bench, &["merge", "other", "-o", part.to_str().unwrap()]).fine();
    let told = run(&bench, &["submit", "--status", "tiny"]);
    assert_eq!((told.code(), told.stdout.as_str()), (1, "r1\n"), "{told:?}");
    assert!(told.stderr.contains("part 2 is left out: "), "{}", told.stderr);
    assert_eq!(bench.journal("r1").len(), 2);
}

/// A terminal's ^C ends everything that holds the connection. A broken connection must not end the shell before it
/// tidies up.
#[test]
fn who_ends_a_submit_over_ssh_ends_the_rounds_of_its_hosts() {
    for host in ["ssh:up", "ssh:far"] {
        let bench = bench();
        let long = WORKLOAD.replace("query_seconds = 1", "query_seconds = 300");
        bench.write("tiny.toml", &plan(&long, 2, &SYSTEMS));
        let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = bench.command(&["submit", "tiny.toml", "--to", host]);
        let child = command.env("PATH", path).process_group(0).spawn().unwrap();
        common::wait_for("a round", || (!rounds(&bench).is_empty()).then_some(()));
        kill_process_group(Pid::from_child(&child), Signal::TERM).unwrap();
        assert!(common::end(child).status.signal().is_some());
        common::wait_for("its end", || rounds(&bench).is_empty().then_some(()));
        common::wait_for("an empty disk", || {
            let left = names(bench.directory.path());
            (!left.iter().any(|name| name.starts_with("backslide."))).then_some(())
        });
    }
}

#[test]
fn a_host_that_cannot_measure_a_round_is_named_with_what_is_wrong() {
    let bench = bench();
    for (host, says) in [
        ("down", "(exit status: 255: connect to host down: No route); its log: "),
        ("down", "1.log; `ssh down backslide --version` must work without a password"),
        ("bare", "(exit status: 127: sh: 1: backslide: not found); its log: "),
        ("old", "error: this host has backslide 0.0.1, and backslide "),
        (
            "noisy",
            "did not arrive whole from `noisy`; is this disk full, or does a shell there print",
        ),
    ] {
        let ran = run(&bench, &["submit", "tiny.toml", "--to", &format!("ssh:{host}")]);
        assert_eq!(ran.code(), 1, "{ran:?}");
        assert!(ran.stderr.contains(says), "{host}: {}", ran.stderr);
    }
}

/// A shell on a host that ends while its round goes on would remove the round's lab under it.
#[test]
fn a_shell_of_submit_that_is_ended_ends_its_round_first() {
    let bench = bench();
    let long = WORKLOAD.replace("query_seconds = 1", "query_seconds = 300");
    bench.write("tiny.toml", &plan(&long, 2, &SYSTEMS));
    let child = start(&bench, &["submit", "tiny.toml", "--to", "ssh:up"]);
    common::wait_for("a round", || (!rounds(&bench).is_empty()).then_some(()));
    let shells = processes(&["sh -s 1"]).into_iter();
    let mut shells = shells.filter(|pid| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|it| it == bench.directory.path())
    });
    let shell = shells.next().unwrap();
    let pid = Pid::from_raw(shell as i32).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let left = common::wait_for("the shell's end", || {
        let left = rounds(&bench);
        let has_ended = fs::read(format!("/proc/{shell}/cmdline"))
            .is_ok_and(|line| line.is_empty())
            || !fs::exists(format!("/proc/{shell}")).unwrap();
        has_ended.then_some(left)
    });
    assert_eq!(left, [0; 0], "the round ends before its shell");
    let ran = common::end(child);
    assert!(ran.stderr.contains("up gets no further parts"), "{ran:?}");
}

#[test]
fn two_submits_of_a_campaign_and_a_damaged_plan_are_refused() {
    let bench = bench();
    let submit = ["submit", "tiny.toml", "--to", "ssh:up"];
    let campaign = bench.lab().join("campaigns/tiny");
    fs::create_dir_all(&campaign).unwrap();
    let lock = fs::File::create(campaign.join("lock")).unwrap();
    lock.try_lock().unwrap();
    let second = run(&bench, &submit);
    assert_eq!(second.code(), 1);
    assert!(second.stderr.contains("another `submit` of campaign `tiny` is at work"), "{second:?}");
    drop(lock);
    fs::write(campaign.join("plan.json"), "{").unwrap();
    let damaged = run(&bench, &submit);
    assert_eq!(damaged.code(), 1);
    assert!(damaged.stderr.contains("plan.json is damaged"), "{damaged:?}");
}

#[test]
fn a_merge_that_is_killed_in_the_middle_leaves_the_target_as_it_was() {
    let bench = bench();
    for (lab, part) in [("a", "1/2"), ("b", "2/2")] {
        run(&bench, &["--lab", lab, "run", "tiny.toml", "--rounds-of", part]).fine();
    }
    run(&bench, &["merge", "a", "-o", "lab"]).fine();
    let before = run(&bench, &["show", "--format", "json"]).fine();
    // The kernel kills it as soon as a file has 100 KiB.
    let killed = Command::new("sh")
        .args(["-c", "ulimit -c 0; ulimit -f 200; exec \"$@\"", "sh"])
        .args([env!("CARGO_BIN_EXE_backslide"), "merge", "b", "-o", "lab"])
        .current_dir(bench.directory.path())
        .output()
        .unwrap();
    assert!(killed.status.signal().is_some(), "{killed:?}");
    assert!(names(&bench.lab()).contains(&"lab.sqlite.merging".to_owned()));
    assert_eq!(run(&bench, &["show", "--format", "json"]).fine(), before);
    run(&bench, &["merge", "b", "-o", "lab"]).fine();
    assert_eq!(bench.journal("r1").len(), 4);
    assert!(!names(&bench.lab()).contains(&"lab.sqlite.merging".to_owned()));
}

#[test]
fn what_makes_no_sense_is_an_error_with_a_remedy() {
    let bench = bench();
    for (arguments, says) in [
        (&["run", "tiny.toml", "--rounds-of", "3/2"][..], "I from 1 to N"),
        (&["run", "tiny.toml", "--rounds-of", "1/3"], "too few for 3 parts"),
        (&["submit", "tiny.toml", "--to", "ssh:"], "expected `slurm` or `ssh:HOST,HOST`"),
        (&["submit", "tiny.toml", "--to", "slurm", "--campaign", "../x"], "cannot name a campaign"),
        (&["submit", "--status", "none"], "this lab has no campaign `none`"),
        (&["merge", "nowhere", "-o", "all"], "is not a lab"),
    ] {
        let ran = run(&bench, arguments);
        assert_ne!(ran.code(), 0, "{ran:?}");
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    }
}
