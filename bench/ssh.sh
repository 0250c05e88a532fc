#!/usr/bin/env bash
# Two hosts behind a real ssh: two sshd on the loopback interface, with keys made for them. The script neither reads nor
# writes the user's own ssh files.
#
#   bench/ssh.sh start BACKSLIDE DIR      then: source DIR/env; node1 and node2 are hosts
#   bench/ssh.sh stop BACKSLIDE DIR
#   bench/ssh.sh test BACKSLIDE DIR
#
# `test` measures a plan on both hosts with `submit`, and a MariaDB with clients on both; each also while one host is
# cut off. Errors must name a misconfigured host and its problem.
set -euo pipefail

fail() {
    printf 'ssh.sh: %s\n' "$*" >&2
    exit 1
}

# The options of an sshd that may listen beside the system's own.
configure_host() {
    local name=$1 port=$2
    mkdir -p "$dir/$name/bin" "$dir/$name/tmp"
    ln -sfn "$backslide" "$dir/$name/bin/backslide"
    cat >"$dir/$name/sshd.conf" <<END
ListenAddress 127.0.0.1
Port $port
PidFile $dir/$name/sshd.pid
HostKey $dir/host-key
AuthorizedKeysFile $dir/key.pub
StrictModes no
UsePAM no
PasswordAuthentication yes
SetEnv PATH=$dir/$name/bin:/usr/bin:/bin TMPDIR=$dir/$name/tmp
END
}

# The aliases: two hosts, and misconfigured ones.
configure_client() {
    printf '[127.0.0.1]:%s %s\n' 26822 "$(cut -d ' ' -f 1,2 "$dir/host-key.pub")" \
        26823 "$(cut -d ' ' -f 1,2 "$dir/host-key.pub")" >"$dir/known_hosts"
    : >"$dir/empty"
    cat >"$dir/config" <<END
Host node1 locked stranger
    Port 26822
Host node2
    Port 26823
Host nobody
    Port 26824
Host locked
    PubkeyAuthentication no
Host stranger
    UserKnownHostsFile $dir/empty
Host *
    HostName 127.0.0.1
    IdentityFile $dir/key
    IdentitiesOnly yes
    UserKnownHostsFile $dir/known_hosts
END
    mkdir -p "$dir/bin"
    # The user's own `ssh`, with these aliases for `~/.ssh/config`.
    printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$dir/config" >"$dir/bin/ssh"
    chmod +x "$dir/bin/ssh"
    printf 'export PATH=%s:$PATH\n' "$dir/bin" >"$dir/env"
}

start_host() {
    /usr/sbin/sshd -f "$dir/$1/sshd.conf" -E "$dir/$1/sshd.log" || fail "no sshd: see $dir/$1/sshd.log"
}

start() {
    [[ -x /usr/sbin/sshd ]] || fail "needs an sshd: apt-get install openssh-server"
    # Its service would create this directory.
    [[ $EUID -ne 0 ]] || mkdir -p /run/sshd
    mkdir -p "$dir"
    [[ -e $dir/host-key ]] || ssh-keygen -q -t ed25519 -N '' -f "$dir/host-key"
    [[ -e $dir/key ]] || ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
    configure_host node1 26822
    configure_host node2 26823
    configure_client
    start_host node1
    start_host node2
}

# A process and its descendants.
tree() {
    local child
    echo "$1"
    for child in $(ps -o pid= --ppid "$1"); do tree "$child"; done
}

# Kills an sshd and everything that it started, as a power cut would.
cut_off() {
    local id
    id=$(cat "$dir/$1/sshd.pid" 2>/dev/null) || return 0
    tree "$id" | xargs -r kill -KILL 2>/dev/null || true
    rm -f "$dir/$1/sshd.pid"
}

stop() {
    local name
    for name in node1 node2; do cut_off "$name"; done
    [[ ! -e $dir/db.pid ]] || kill -KILL "$(cat "$dir/db.pid")" 2>/dev/null || true
    rm -rf "$dir/db" "$dir/db.pid"
}

await() {
    local what=$1 seconds=$2
    shift 2
    for ((i = 0; i < 10 * seconds; i++)); do
        if "$@"; then return; fi
        sleep 0.1
    done
    fail "$what took more than $seconds s; logs: $dir"
}

has_begun() { compgen -G "$dir/$1/tmp/backslide.*/lab/instances/*" >/dev/null; }
is_tidy() { [[ -z $(ls -A "$dir/node1/tmp" "$dir/node2/tmp" | grep backslide) ]]; }
is_up() { [[ -S $dir/db/socket ]]; }
# Counts the sessions of MariaDB except its own.
sessions() {
    mariadb --no-defaults -S "$dir/db/socket" -u root -Ne \
        "SELECT count(*) FROM information_schema.processlist WHERE user = 'root' AND id <> connection_id()"
}
is_measured() { [[ $(sessions) -ge 6 ]]; }
is_left_alone() { [[ $(sessions) == 0 ]]; }

in_lab() {
    local name=$1
    shift
    "$backslide" --lab "$dir/labs/$name" "$@"
}

# refuses STATUS TEXT COMMAND: the command must fail with this status and print this text.
refuses() {
    local status=$1 text=$2 found=0 said
    shift 2
    said=$("$@" 2>&1) || found=$?
    [[ $found == "$status" && $said == *"$text"* ]] ||
        fail "expected status $status and \`$text\`, got $found from $*: $said"
    echo "ok: $text"
}

# workload SECONDS: every plan's workload, which queries for SECONDS.
workload() {
    printf 'quarantine = false\nworkload = { %s, %s, clients = 6, read_seconds = %s }\n[[system]]\n' \
        'kind = "micro", tests = ["point-query"], rows = 1000, warm_ups = false, settle = 0' \
        'warmup = "fixed", warmup_seconds = 0' "$1"
}

# Tests `submit`: undisturbed, with one host cut off, and abandoned.
test_submit() {
    local id
    { printf 'name = "night"\nrounds = 4\n' && workload 1 && printf 'build = "sqlite"\n'; } >"$dir/night.toml"
    in_lab whole submit "$dir/night.toml" --to ssh:node1,node2
    in_lab by-hand merge "$dir"/labs/whole/campaigns/night/parts/* -o "$dir/labs/by-hand"
    for lab in whole by-hand; do in_lab "$lab" export r1 --format csv >"$dir/$lab.csv"; done
    cmp "$dir/whole.csv" "$dir/by-hand.csv" || fail "submit and a merge by hand give different results"

    sed 's/read_seconds = 1/read_seconds = 4/' "$dir/night.toml" >"$dir/long.toml"
    in_lab cut submit "$dir/long.toml" --to ssh:node1,node2 &
    await "a round on node2" 30 has_begun node2
    cut_off node2
    wait $! || fail "the rounds of a host that was cut off are missing"
    in_lab cut show | grep -q 'finished, 4 rounds' || fail "the run is not whole"
    rm -rf "$dir"/node2/tmp/*
    start_host node2

    # As when a terminal is closed: its processes end, and the connections break.
    setsid "$backslide" --lab "$dir/labs/left" submit "$dir/long.toml" --to ssh:node1,node2 &
    id=$!
    disown
    await "a round on node1" 30 has_begun node1
    await "a round on node2" 30 has_begun node2
    kill -HUP -- "-$id"
    await "the end of abandoned rounds" 20 is_tidy
}

# Errors must name a host that cannot take part, and its problem.
test_refusals() {
    local name text old=$dir/old
    while IFS='|' read -r name text; do
        refuses 1 "$text" in_lab "not-$name" submit "$dir/night.toml" --to "ssh:$name"
        load_plan node1 "$name" 1 >"$dir/load.toml"
        refuses 1 "$text" in_lab "not-$name" run "$dir/load.toml"
    done <<'END'
nobody|Connection refused
locked|Permission denied
stranger|Host key verification failed
END
    printf '#!/bin/sh\necho backslide 0.0.1\n' >"$old"
    chmod +x "$old"
    ln -sfn "$old" "$dir/node2/bin/backslide"
    refuses 1 'this host has backslide 0.0.1' in_lab old submit "$dir/night.toml" --to ssh:node2
    rm "$dir/node2/bin/backslide"
    refuses 1 'not found' in_lab bare submit "$dir/night.toml" --to ssh:node2
    load_plan node1 node2 1 >"$dir/load.toml"
    refuses 1 'not found' in_lab bare run "$dir/load.toml"
    ln -sfn "$backslide" "$dir/node2/bin/backslide"
}

start_database() {
    local options=(--no-defaults --user="$(id -un)" --datadir="$dir/db/data")
    mkdir -p "$dir/db"
    mariadb-install-db "${options[@]}" --auth-root-authentication-method=normal --skip-test-db \
        >"$dir/db/install.log" 2>&1 || fail "no MariaDB: see $dir/db/install.log"
    "$(PATH=$PATH:/usr/sbin command -v mariadbd)" "${options[@]}" --socket="$dir/db/socket" \
        --bind-address=127.0.0.1 --port=26825 >"$dir/db/log" 2>&1 &
    echo $! >"$dir/db.pid"
    disown
    await "starting MariaDB" 30 is_up
}

# load_plan A B SECONDS: a plan with the load hosts A and B, which queries for SECONDS.
load_plan() {
    printf 'name = "load"\nrounds = 1\nload_hosts = ["ssh:%s", "ssh:%s"]\n' "$1" "$2"
    workload "$3"
    printf 'build = "mariadb"\nconnect = "root@127.0.0.1:26825"\nserver_host = "ssh:node1"\n'
}

# Tests clients on both hosts: undisturbed, and with one host cut off.
test_load() {
    local status=0 said
    load_plan node1 node2 2 >"$dir/load.toml"
    in_lab load run "$dir/load.toml"
    said=$(in_lab load report r1 -o -)
    [[ $said == *'node1 (CPUs: '*'node2 (CPUs: '* && $said == *"node1: process $(cat "$dir/db.pid")"* ]] ||
        fail "the report does not name the hosts"
    load_plan node1 node2 60 >"$dir/load.toml"
    in_lab load run "$dir/load.toml" &
    await "the step of both hosts" 30 is_measured
    cut_off node2
    wait $! || status=$?
    [[ $status == 20 ]] || fail "the exit status is $status for a load host that was cut off"
    said=$(in_lab load show r2 | tr -s ' \n' ' ')
    [[ $said == *'host `node2`: its agent was killed, or the connection to it broke'* ]] ||
        fail "no host is named: $said"
    await "the end of all sessions" 20 is_left_alone
}

test_it() {
    trap stop EXIT
    rm -rf "$dir/labs"
    start
    # shellcheck disable=SC1091
    source "$dir/env"
    start_database
    test_submit
    test_refusals
    test_load
    echo "rounds and clients on two hosts behind ssh: measured, cut off, refused by name"
}

[[ $# -eq 3 ]] || fail "usage: ssh.sh start|stop|test BACKSLIDE DIR"
backslide=$(realpath "$2")
dir=$(realpath -m "$3")
case $1 in
    start) start ;;
    stop) stop ;;
    test) test_it ;;
    *) fail "unknown command $1" ;;
esac
