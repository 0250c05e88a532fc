//! The script that measures one part of a campaign, on a node of Slurm or through `ssh`.

use std::path::Path;

use report::format::in_shell_quotes as quoted;

/// What `backslide --version` must print on every host.
const PROGRAM: &str = concat!("backslide ", env!("CARGO_PKG_VERSION"));

/// What a script needs to know of a campaign.
pub(super) struct Campaign<'a> {
    pub(super) name: &'a str,
    pub(super) parts: u32,
    /// The arguments that a plan is run with.
    pub(super) with: Vec<String>,
}

/// What Slurm is asked for.
pub(super) struct Request<'a> {
    pub(super) nodes: Option<u32>,
    pub(super) partition: Option<&'a str>,
}

impl Campaign<'_> {
    /// An array job for the `missing` parts: each element measures one part on a node of its own, and copies its lab
    /// into `directory`.
    pub(super) fn for_slurm(
        &self,
        request: &Request<'_>,
        missing: &[u32],
        program: &Path,
        plan: &str,
        directory: &Path,
    ) -> String {
        let at_once = request.nodes.map_or(String::new(), |nodes| format!("%{nodes}"));
        let partition = request.partition.map(|name| format!("#SBATCH --partition={name}\n"));
        let directory = directory.display().to_string();
        let (name, parts) = (self.name, self.parts);
        let array = if missing.len() == parts as usize {
            format!("1-{parts}")
        } else {
            missing.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
        };
        // Slurm replaces what follows a percent sign.
        let log = quoted(&directory.replace('%', "%%"));
        let head = format!(
            "#!/bin/sh
#SBATCH --job-name=backslide-{name}
#SBATCH --array={array}{at_once}
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
{}#SBATCH --open-mode=append
#SBATCH --output={log}/%a.log
part=$SLURM_ARRAY_TASK_ID
echo \"part $part/{parts} on ${{SLURMD_NODENAME:-$(hostname)}}\"
",
            partition.unwrap_or_default()
        );
        let directory = quoted(&directory);
        let tail = format!(
            "cd {directory}/parts
mkdir -p \".$part.$SLURM_JOB_ID\"
cp \"$lab/part/lab.sqlite\" \".$part.$SLURM_JOB_ID/\"
rm -rf \"$part\"
mv \".$part.$SLURM_JOB_ID\" \"$part\"
"
        );
        let run = |run: &str| format!("{run} </dev/null || status=$?\n");
        head + &self.measure(&quoted(&program.display().to_string()), &quoted(plan), "", &run)
            + &tail
    }

    /// For `sh -s PART` on another host: reads the plan from its own text and prints the part's lab.
    pub(super) fn for_ssh(&self, plan: &str) -> String {
        // No line of a plan can end it: it would not be TOML.
        let prepare = format!(
            "# If the connection breaks, the shell still removes its lab.
trap '' PIPE
found=$(backslide --version)
if [ \"$found\" != {} ]; then
    echo \"error: this host has $found, and {PROGRAM} asks for the round: install the same version\"
    exit 1
fi
cat >\"$lab/plan.toml\" <<'== end of plan =='\n{plan}\n== end of plan ==\n",
            quoted(PROGRAM)
        );
        // The shell reads all of it before it begins, so that its input can tell when nobody waits any more.
        let run = |run: &str| {
            format!(
                "exec 4<&0
# $! is the round from the moment at which it exists.
trap 'kill \"${{!-}}\" || :; wait \"${{!-}}\" || :; exit 143' HUP INT TERM
(cat || :; kill $$) <&4 >/dev/null 2>&1 3>&- &
watch=$!
{run} </dev/null &
wait \"$!\" || status=$?
kill \"$watch\" || :
trap 'exit 143' HUP INT TERM
"
            )
        };
        let measure = self.measure("backslide", "\"$lab/plan.toml\"", &prepare, &run);
        format!(
            "measure() {{
part=$1
exec 3>&1 1>&2
{measure}cat \"$lab/part/lab.sqlite\" >&3
}}
measure \"$1\"; exit
"
        )
    }

    /// `prepare` comes first, when `$lab` is there. `run` makes of a command what runs it and sets `$status`.
    fn measure(
        &self,
        program: &str,
        plan: &str,
        prepare: &str,
        run: &dyn Fn(&str) -> String,
    ) -> String {
        let with: Vec<String> = self.with.iter().map(|argument| quoted(argument)).collect();
        let with = with.join(" ");
        let (name, parts) = (quoted(self.name), self.parts);
        let run = run(&format!(
            "{program} --lab \"$lab/lab\" run {plan} --rounds-of \"$part/{parts}\" --campaign {name} {with}"
        ));
        format!(
            "set -eu
lab=$(mktemp -d \"${{TMPDIR:-/tmp}}/backslide.XXXXXX\")
trap 'rm -rf \"$lab\"' EXIT
trap 'exit 143' HUP INT TERM
# What a killed program leaves here is removed with the lab.
export TMPDIR=\"$lab\"
{prepare}status=0
{run}# 20: a trial failed, which is a result.
case $status in 0 | 20) ;; *) exit $status ;; esac
# A copy without a journal, in one file.
{program} merge \"$lab/lab\" -o \"$lab/part\"
"
        )
    }
}
