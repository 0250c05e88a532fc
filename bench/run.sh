#!/bin/sh
# Runs the benches of backslide, builds what they need, and prints a Markdown table for each:
#   bench/run.sh [pacing|clients|insert|probes|report|instructions|clone|all]... [--out FILE]
#   bench/run.sh [tpcc|tpcc-instructions|tpcc-load|tpcc-ten|tpcc-share]... [--out FILE]
# With --out the tables go into FILE too. The big run that `report` reads takes minutes to make; it is
# kept in BACKSLIDE_BENCH_DATA where that is set, else in the temporary directory.
set -eu

# Paths that the caller gave are relative to where the caller is; the benches run elsewhere.
absolute() {
    case "$1" in
        /*) echo "$1" ;;
        *) echo "$PWD/$1" ;;
    esac
}
data="$(absolute "${BACKSLIDE_BENCH_DATA:-${TMPDIR:-/tmp}/backslide-bench-data}")"

all="pacing clients insert probes report instructions clone tpcc"
chosen=""
out=""
while [ $# -gt 0 ]; do
    case "$1" in
        all) chosen="$all" ;;
        pacing | clients | insert | probes | report | instructions | clone) chosen="$chosen $1" ;;
        tpcc | tpcc-instructions | tpcc-load | tpcc-ten | tpcc-share) chosen="$chosen $1" ;;
        --out)
            [ $# -ge 2 ] || { echo "bench/run.sh: --out needs a file" >&2; exit 2; }
            out="$(absolute "$2")"
            shift
            ;;
        *)
            echo "usage: bench/run.sh [pacing|clients|insert|probes|report|instructions|clone|all]... [--out FILE]" >&2
            echo "       bench/run.sh [tpcc|tpcc-instructions|tpcc-load|tpcc-ten|tpcc-share]... [--out FILE]" >&2
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
        cargo run --release --quiet --package store --example big_run -- "$data" >&2
        touch "$data/complete"
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
            tpcc-*)
                set -- "${name#tpcc-}"
                name=tpcc
                ;;
        esac
        cargo bench --quiet --package bench --bench "$name" -- "$@"
    done
}

if [ -n "$out" ]; then
    # A pipe hides the status of its first command, so the file is written first and shown then.
    run > "$out"
    cat "$out"
else
    run
fi
