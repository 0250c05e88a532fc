#!/bin/sh
# Runs the benches of backslide, builds what they need, and prints a Markdown table for each:
#   bench/run.sh [pacing|clients|insert|probes|sampling|frozen|report|instructions|clone|all]... [--out FILE]
#   bench/run.sh [tpcc|tpcc-instructions|tpcc-load|tpcc-ten|tpcc-share|lab]... [--out FILE]
# With --out the tables go into FILE too. The big run that `report` reads and the large lab of `lab` take
# minutes to make; they are kept in BACKSLIDE_BENCH_DATA and beside it, BACKSLIDE_BENCH_DATA-lab, where that is
# set, else in the temporary directory. `lab` fails where a goal is missed; of `all` it is the last.
set -eu

# Paths that the caller gave are relative to where the caller is; the benches run elsewhere.
absolute() {
    case "$1" in
        /*) echo "$1" ;;
        *) echo "$PWD/$1" ;;
    esac
}
data="$(absolute "${BACKSLIDE_BENCH_DATA:-${TMPDIR:-/tmp}/backslide-bench-data}")"

# KiB that the large lab takes while it is made: 4 GiB and a log.
lab_needs=$((6 << 20))

all="pacing clients insert probes sampling frozen report instructions clone tpcc lab"
chosen=""
out=""
while [ $# -gt 0 ]; do
    case "$1" in
        all) chosen="$all" ;;
        pacing | clients | insert | probes | sampling | frozen | report | instructions | clone | lab) chosen="$chosen $1" ;;
        tpcc | tpcc-instructions | tpcc-load | tpcc-ten | tpcc-share) chosen="$chosen $1" ;;
        --out)
            [ $# -ge 2 ] || { echo "bench/run.sh: --out needs a file" >&2; exit 2; }
            out="$(absolute "$2")"
            shift
            ;;
        *)
            echo "usage: bench/run.sh [pacing|clients|insert|probes|sampling|frozen|report|instructions|clone|all]... [--out FILE]" >&2
            echo "       bench/run.sh [tpcc|tpcc-instructions|tpcc-load|tpcc-ten|tpcc-share|lab]... [--out FILE]" >&2
            exit 2
            ;;
    esac
    shift
done

[ -z "${CARGO_TARGET_DIR:-}" ] || CARGO_TARGET_DIR="$(absolute "$CARGO_TARGET_DIR")"
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"

big_run() {
    cargo build --release --quiet --package backslide
    # One that was interrupted while it was written has no mark.
    if [ ! -e "$data/complete" ]; then
        rm -rf "$data"
        mkdir -p "$data"
        cargo run --release --quiet --package bench --example big_run -- "$data" >&2
        touch "$data/complete"
    fi
}

large_lab() {
    cargo build --release --quiet --package backslide
    if [ ! -e "$data-lab/complete" ]; then
        rm -rf "$data-lab"
        mkdir -p "$data-lab"
        free=$(df -Pk "$data-lab" | awk 'NR == 2 { print $4 }')
        echo "a lab of about 4 GiB is made in $data-lab, where $((free >> 20)) GiB are free: a minute or two" >&2
        if [ "$free" -lt "$lab_needs" ]; then
            echo "bench/run.sh: it needs $((lab_needs >> 20)) GiB: set BACKSLIDE_BENCH_DATA" >&2
            exit 1
        fi
        cargo run --release --quiet --package bench --example big_lab -- "$data-lab" >&2
        touch "$data-lab/complete"
    fi
}

run() {
    for name in ${chosen:-$all}; do
        set --
        case "$name" in
            report)
                big_run
                set -- "$data" "$target/release/backslide"
                ;;
            lab)
                large_lab
                set -- "$data-lab" "$target/release/backslide"
                ;;
            tpcc-*)
                set -- "${name#tpcc-}"
                name=tpcc
                ;;
        esac
        cargo bench --quiet --package bench --bench "$name" -- "$@"
    done
}

if [ -n "$out" ]; then
    # A pipe hides the status of its first command, so the file is written first and shown then, also where
    # a bench fails.
    trap 'cat "$out"' EXIT
    run > "$out"
else
    run
fi
