#!/usr/bin/env bash
# Every check of this repository. Installs what is missing on Debian and Ubuntu; elsewhere it says
# what to install.
#
#   ./test.sh           all of it: what a change must pass
#   ./test.sh --quick   format, lints and unit tests only; installs nothing
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '\n==> %s\n' "$*"; }
fail() {
    printf 'test.sh: %s\n' "$*" >&2
    exit 1
}

has_mariadb() { command -v mariadbd || compgen -G '/usr/sbin/mariadbd'; }
has_postgres() { command -v postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres'; }

# Runs a command as root.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "needs root or sudo to run: $*"
    fi
}

# Installs packages without starting the services that they bring along: the tests start servers of
# their own. The file is how Debian is told so; one that is there already is left alone.
install_packages() {
    local policy=/usr/sbin/policy-rc.d ours=no
    as_root apt-get update
    if [[ ! -e $policy ]]; then
        ours=yes
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    local status=0
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
        status=$?
    if [[ $ours == yes ]]; then
        as_root rm -f "$policy"
    fi
    return "$status"
}

install_what_is_missing() {
    local missing=()
    { command -v cc && command -v make; } >/dev/null || missing+=(build-essential)
    has_mariadb >/dev/null || missing+=(mariadb-server)
    has_postgres >/dev/null || missing+=(postgresql)
    # Its scripts run on both sides of a test.
    command -v sysbench >/dev/null || missing+=(sysbench)
    command -v valgrind >/dev/null || missing+=(valgrind)
    # Two hosts of its own.
    command -v /usr/sbin/sshd >/dev/null || missing+=(openssh-server)
    # Pictures of charts need some font.
    compgen -G '/usr/share/fonts/*/*' >/dev/null || missing+=(fonts-dejavu-core)
    # The clients that builds come through.
    command -v mvn >/dev/null || missing+=(maven)
    command -v npm >/dev/null || missing+=(npm)
    command -v pip3 >/dev/null || missing+=(python3-pip)
    # What packages are made with.
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v dpkg-deb >/dev/null || missing+=(dpkg)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    command -v apt-get >/dev/null ||
        fail "install a C compiler, a MariaDB and a PostgreSQL server, mvn, npm and pip; missing: ${missing[*]}"
    say "installing ${missing[*]}"
    install_packages "${missing[@]}"
}

check_rust() {
    local needed found
    command -v cargo >/dev/null || fail "install a Rust toolchain: there is no cargo"
    needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    found=$(rustc --version | cut -d ' ' -f 2)
    [[ $(printf '%s\n' "$needed" "$found" | sort -V | head -n 1) == "$needed" ]] ||
        fail "needs Rust $needed or newer, this is $found"
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return
    command -v rustup >/dev/null || fail "needs rustfmt and clippy of Rust $found"
    rustup component add rustfmt clippy
}

# The product as a person uses it: a run, its report, and no server or instance left behind.
smoke() {
    local lab=$scratch/smoke run
    run=$("$backslide" --lab "$lab" run smoke | tail -n 1)
    "$backslide" --lab "$lab" report "$run" -o "$lab/smoke.html"
    grep -q '</html>' "$lab/smoke.html" || fail "the report of $run is not whole"
    [[ -z $(ls -A "$lab/instances") ]] || fail "$run left an instance behind"
}

# A version of SQLite that this machine's compiler makes in ten seconds, beside the one that is built in.
versions() {
    local lab=$scratch/versions run
    {
        echo 'name = "versions"'
        echo 'rounds = 1'
        echo 'quarantine = false'
        echo 'workload = { kind = "micro", tests = ["point-query", "update-index"], rows = 1000, read_seconds = 1, write_seconds = 1, warm_ups = false, warmup = "fixed", warmup_seconds = 0, settle = 0 }'
        printf '[[system]]\nbuild = "%s"\nconfig = "wal"\n' sqlite sqlite-3.7.17
    } >"$lab.toml"
    run=$("$backslide" --lab "$lab" run "$lab.toml" | tail -n 1)
    "$backslide" --lab "$lab" history "$run" -o "$lab.svg"
    grep -q 'sqlite-3.7.17' "$lab.svg" || fail "the history of $run is not whole"
}

# Tests that wait for servers and limits of time, most of the time. They run beside the others.
waiting=(connections counters crash_check hung intruder load_hosts many_hosts mysql servers template_servers tpcc turns)

# The names of all files of tests but those.
other_tests() {
    cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
targets = (target for package in json.load(sys.stdin)["packages"] for target in package["targets"])
names = {target["name"] for target in targets if target["kind"] == ["test"]}
missing = set(sys.argv[1:]) - names
assert not missing, f"no such tests: {missing}"
print(*sorted(names - set(sys.argv[1:])))' "${waiting[@]}"
}

run_tests() {
    local cargo_test=(cargo test --workspace --features backslide/png --no-fail-fast) others waiters status=0
    # Builds that the user has installed are not tested: they may be damaged, or change meanwhile.
    local -x BACKSLIDE_CACHE=$scratch/no-builds
    # The user's own settings.
    local -x GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    unset CLICOLOR_FORCE XDG_RUNTIME_DIR
    read -ra others < <(other_tests)
    [[ ${#others[@]} -gt 0 ]] || fail "cannot list the tests"
    "${cargo_test[@]}" --no-run
    "${cargo_test[@]}" "${waiting[@]/#/--test=}" >"$scratch/waiting.log" 2>&1 &
    waiters=$!
    "${cargo_test[@]}" --lib --bins "${others[@]/#/--test=}" || status=$?
    "${cargo_test[@]}" --doc || status=$?
    wait "$waiters" || status=$?
    cat "$scratch/waiting.log"
    return "$status"
}

# A build of each generation: fetched, installed, initialised, started, loaded, restarted, stopped. About
# 350 MB the first time; `backslide try --all` does it for every build of the catalog.
generations=(
    mysql-5.6.24 mysql-5.7.22 mysql-8.0.31 mysql-9.7.4
    mariadb-10.1.23 mariadb-10.5.23 mariadb-11.8.9
    postgres-9.6.24 postgres-12.22 postgres-18.6 postgres-19rc1
)
try_generations() {
    local lab=$scratch/generations
    "$backslide" --lab "$lab" try "${generations[@]}"
    "$backslide" --lab "$lab" try mariadb-10.5.23 mariadb-11.8.9 --engine myrocks --config z12a
    [[ -z $(ls -A "$lab/instances") ]] || fail "a tryout left an instance behind"
}

quick=no
case "$*" in
    '') ;;
    --quick) quick=yes ;;
    *) fail "usage: ./test.sh [--quick]" ;;
esac

# Of a hook that calls this: the tests have repositories of their own.
unset "${!GIT_@}"

scratch=$(mktemp -d)
# Ends what still runs beside, and waits until it has cleaned up.
finish() {
    local beside
    beside=$(jobs -p)
    [[ -z $beside ]] || kill $beside 2>/dev/null || true
    wait
    rm -rf "$scratch"
}
trap finish EXIT

[[ $quick == yes ]] || install_what_is_missing
check_rust

say "format"
cargo fmt --all --check
python3 tools/house.py --undeclared || fail "no module declares these files: nothing compiles them"
say "lints"
cargo clippy --workspace --all-targets --features backslide/png -- -D warnings

if [[ $quick == yes ]]; then
    say "unit tests"
    cargo test --workspace --lib --bins --features backslide/png
    say "quick checks passed; ./test.sh runs the rest"
    exit
fi

say "tests"
# Here nothing that needs a server or published results is skipped. The results are not ours to carry along.
export BACKSLIDE_NO_SKIPS=1
# The same random cases each time: a change is judged by its own faults.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-2026}
if [[ -z ${BACKSLIDE_PUBLISHED:-} && -d ../shared/data ]]; then
    BACKSLIDE_PUBLISHED=$(realpath ../shared/data)
    export BACKSLIDE_PUBLISHED
fi
[[ -n ${BACKSLIDE_PUBLISHED:-} ]] || say "no BACKSLIDE_PUBLISHED: published results are checked by a few facts"
run_tests
say "fuzzers"
cargo check --manifest-path fuzz/Cargo.toml --target-dir target/fuzz
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
say "packages"
./package.sh --try
backslide=$(./package.sh --binary)
say "smoke run"
smoke
say "versions of SQLite"
versions
# It waits for the most part: for jobs, and until a node is given up.
bench/slurm.sh test "$backslide" "$scratch/slurm" >"$scratch/slurm.log" 2>&1 &
slurm=$!
say "builds of each generation"
try_generations
say "two hosts behind ssh, one of which is cut off"
bench/ssh.sh test "$backslide" "$scratch/ssh"
say "logins without a password on each generation"
cargo test -p lab --test intruder
say "two nodes of Slurm, one of which is killed"
status=0
wait "$slurm" || status=$?
cat "$scratch/slurm.log"
[[ $status == 0 ]] || fail "the campaign on Slurm failed"
say "all checks passed"
