#!/usr/bin/env bash
# Measures the examples and writes their reports and tables into this directory. All ten take about six and a
# half hours on two cores; leave the machine alone meanwhile.
#
#   docs/examples/make.sh [PLAN…]       the lab is $BACKSLIDE_LAB, else the usual one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

plans=("$@")
[[ ${#plans[@]} -gt 0 ]] || plans=(mysql-5.6-to-9.7 mariadb-innodb-myrocks postgres-12-to-19
    micro-mysql-5.6-9.7 micro-postgres-12-18 micro-mariadb-10.5-11.8 micro-sqlite
    tpcc-mysql-5.6-9.7 mysql-5.6-to-9.7-control micro-mysql-5.6-9.7-control)
cargo build --release --quiet
# Without the fakes, which need the rest of the crates.
cargo build --release --quiet -p testkit --no-default-features --example referees
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for plan in "${plans[@]}"; do
    run=$(target/release/backslide run "$plan" | tail -n 1)
    target/release/backslide report "$run" --brief -o "docs/examples/$plan.html"
    # Its exit status is the verdict: 10 for a regression, 11 for something undecided.
    status=0
    target/release/backslide compare "$run" --all --format json >"docs/examples/$plan.json" || status=$?
    [[ $status == 0 || $status == 10 || $status == 11 ]] || exit "$status"
    # With a control there are the same systems as without.
    docs/examples/beside.py "${plan%-control}" "docs/examples/$plan.json" docs/examples/published.tsv \
        >"docs/examples/$plan.md"
    target/release/backslide export "$run" --format jsonl -o "$scratch/measurements.jsonl"
    target/release/examples/referees "$scratch/measurements.jsonl" "docs/examples/$plan.json" \
        >"docs/examples/$plan.referees.md"
    printf '%s: run %s\n' "$plan" "$run"
done
