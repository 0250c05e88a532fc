#!/usr/bin/env bash
# Two nodes of Slurm on the loopback interface, from Debian's packages, unpacked into a scratch directory: nothing is
# installed, no service of the system is touched.
#
#   bench/slurm.sh start DIR      then: source DIR/env
#   bench/slurm.sh stop DIR
#   bench/slurm.sh test BACKSLIDE DIR
#
# `test` runs a plan of 8 rounds on both nodes and kills one of them in the middle. The merged comparison must equal, to
# the digit, that of the same parts merged by hand. Then it cancels another campaign in the middle, which must keep its
# finished rounds, and submits the rest.
set -euo pipefail

fail() {
    printf 'slurm.sh: %s\n' "$*" >&2
    exit 1
}

packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins libmunge2 libhwloc15 libfreeipmi17)

unpack() {
    [[ -d $root/usr/sbin ]] && return
    mkdir -p "$dir/debs" "$root"
    (cd "$dir/debs" && apt-get download "${packages[@]}" >/dev/null 2>&1) ||
        fail "cannot download ${packages[*]}: run apt-get update, or use Debian or Ubuntu"
    local deb
    for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$root"; done
}

configure() {
    local plugins=$root/usr/lib/x86_64-linux-gnu/slurm-wlm
    mkdir -p "$dir"/{state,tmp}
    cat >"$dir/slurm.conf" <<EOF
ClusterName=loopback
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=26817
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
PluginDir=$plugins
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
SelectType=select/cons_tres
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=5
KillWait=2
MinJobAge=300
SchedulerParameters=sched_interval=2,batch_sched_delay=0
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=26818 CPUs=1
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=26819 CPUs=1
PartitionName=bench Nodes=n1,n2 Default=YES State=UP
EOF
    printf 'CgroupPlugin=cgroup/v1\n' >"$dir/cgroup.conf"
    cat >"$dir/env" <<EOF
export SLURM_CONF=$dir/slurm.conf
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$plugins
export PATH=$root/usr/bin:\$PATH
EOF
}

# Starts one daemon in a session of its own, and keeps its process id.
daemon() {
    local name=$1
    shift
    setsid "$@" >"$dir/$name.out" 2>&1 </dev/null &
    echo $! >"$dir/$name.id"
    disown
}

# Each node has a host name of its own where that is allowed, so that reports tell the hosts apart.
start_node() {
    local named=()
    mkdir -p "$dir/spool-$1"
    if unshare --uts true 2>/dev/null; then
        # shellcheck disable=SC2016
        named=(unshare --uts sh -c 'hostname "$0" && exec "$@"' "$1")
    fi
    daemon "$1" "${named[@]}" "$root/usr/sbin/slurmd-wlm" -D -N "$1" -d "$root/usr/sbin/slurmstepd-wlm"
}

# Ends a daemon and the jobs of its node, as a power cut would, and takes away what only a reboot would clear. A job's processes are those in the session of the
# script, which is in the node's own spool directory.
cut_off() {
    local id sid own
    own=$(ps -o sid= $$)
    id=$(cat "$dir/$1.id" 2>/dev/null) || return 0
    kill -KILL -- "-$id" 2>/dev/null || true
    for sid in $(ps -eo sid=,args= | SPOOL="$dir/spool-$1/" awk '/slurm_script/ && index($0, ENVIRON["SPOOL"]) { print $1 }' | sort -u); do
        [[ $sid -ne $own ]] || continue
        ps -o pid= -s "$sid" | xargs -r kill -KILL 2>/dev/null || true
    done
    rm -rf "$dir/$1.id" "$dir/spool-$1"
}

await() {
    local what=$1 seconds=$2
    shift 2
    for ((i = 0; i < seconds; i++)); do
        if "$@"; then return; fi
        sleep 1
    done
    fail "$what took more than $seconds s; logs: $dir"
}

both_idle() { [[ $(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c idle) == 2 ]]; }

start() {
    unpack
    configure
    # shellcheck disable=SC1091
    source "$dir/env"
    daemon slurmctld "$root/usr/sbin/slurmctld-wlm" -D -c
    start_node n1
    start_node n2
    await "starting two nodes" 60 both_idle
}

stop() { for name in n1 n2 slurmctld; do cut_off "$name"; done; }

over() { [[ -z $(squeue --noheader) ]]; }
is_running() { squeue --noheader --states=R --format=%N | grep -q "$1"; }
some_done() { compgen -G "$1/parts/*/lab.sqlite" >/dev/null; }

test_it() {
    local backslide=$1 lab=$dir/lab
    trap stop EXIT
    start
    # The disks of the nodes.
    export TMPDIR=$dir/tmp
    {
        echo 'name = "night"'
        echo 'rounds = 8'
        echo 'quarantine = false'
        echo 'workload = { kind = "micro", tests = ["point-query", "update-index"], rows = 1000, read_seconds = 1, write_seconds = 1, warm_ups = false, warmup = "fixed", warmup_seconds = 0, settle = 0 }'
        printf '[[system]]\nbuild = "sqlite"\nconfig = "%s"\n' wal rollback
    } >"$dir/night.toml"
    rm -rf "$lab" "$dir/by-hand"
    "$backslide" --lab "$lab" submit "$dir/night.toml" --to slurm --partition bench
    local campaign=$lab/campaigns/night
    await "the first part" 120 some_done "$campaign"
    await "a part on n1" 60 is_running n1
    echo "killing node n1"
    cut_off n1
    "$backslide" --lab "$lab" submit --status night
    # Slurm notices after SlurmdTimeout, and the node comes back.
    await "noticing the dead node" 90 is_down
    start_node n1
    await "the rest" 300 over
    "$backslide" --lab "$lab" submit --status night
    "$backslide" merge "$campaign"/parts/* -o "$dir/by-hand"
    for one in lab by-hand; do
        # The exit status says whether anything regressed.
        "$backslide" --lab "$dir/$one" compare --metric all --format json >"$dir/$one.json" || [[ $? -ge 10 ]]
    done
    cmp "$dir/lab.json" "$dir/by-hand.json" || fail "merged by Slurm and by hand, the comparison differs"
    "$backslide" --lab "$lab" show | grep -q 'finished, 8 rounds' || fail "the run is not whole"
    echo "8 rounds on two nodes, one of them killed: the same comparison"
    test_cancel
}

# A cancelled campaign keeps its finished rounds; a second submit measures the rest.
test_cancel() {
    local submit=("$backslide" --lab "$dir/cancelled" submit) said status=0
    # Leftovers of the killed node.
    rm -rf "$dir/cancelled" "$TMPDIR"/backslide.*
    "${submit[@]}" "$dir/night.toml" --to slurm --partition bench
    await "the first part" 120 some_done "$dir/cancelled/campaigns/night"
    "${submit[@]}" --cancel night
    await "the end of a cancelled job" 60 over
    said=$("${submit[@]}" --status night 2>&1) || status=$?
    printf '%s\n' "$said"
    [[ $status == 1 && $said == *': done'*'not measured'*'unfinished'* ]] ||
        fail "the status of a cancelled campaign"
    [[ -z $(ls -A "$TMPDIR") ]] || fail "a cancelled round has left its lab in $TMPDIR"
    "${submit[@]}" "$dir/night.toml" --to slurm --partition bench
    await "the rest of a cancelled campaign" 120 over
    "${submit[@]}" --status night
    "$backslide" --lab "$dir/cancelled" show | grep -q 'finished, 8 rounds' || fail "a cancelled campaign is not whole"
    echo "a cancelled campaign kept its rounds and was finished later"
}

is_down() { sinfo --noheader --Node --format='%N %T' | grep -q '^n1 down'; }

[[ $# -ge 2 ]] || fail "usage: slurm.sh start DIR | stop DIR | test BACKSLIDE DIR"
dir=$(realpath -m "${!#}")
root=$dir/root
case $1 in
    start) start ;;
    stop) stop ;;
    test) test_it "$(realpath "$2")" ;;
    *) fail "unknown command $1" ;;
esac
