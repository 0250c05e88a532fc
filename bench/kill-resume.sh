#!/usr/bin/env bash
# Kills a run with SIGKILL at random moments, resumes it, and checks that it completes, that no trial
# was done twice and that no server is left.
#
#   bench/kill-resume.sh [TIMES [PLAN]]      20 times the plan below, or one of your own
#
# Prints a line each time and closes with how many held.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plan=${2:-$work/plan.toml}
if [ $# -lt 2 ]; then
  cat >"$plan" <<'TOML'
name     = "kill"
workload = { kind = "insert", scale = "tiny", rows = 5_000, i1_rows = 1_000, i2_rows = 200, rates = [100] }
rounds   = 1
quarantine = false
[[system]]
build  = "mariadb"
config = "quick"
[[system]]
build  = "postgres"
config = "quick"
[[system]]
build  = "sqlite"
TOML
fi
cargo build --release --quiet
backslide=$PWD/target/release/backslide

# Processes whose command line names the lab: the instances' servers.
left_in() { pgrep -f "$1/instances" || true; }

held=0
for n in $(seq "$times"); do
  lab=$work/lab$n
  "$backslide" --lab "$lab" --quiet run "$plan" >/dev/null 2>&1 &
  pid=$!
  moment=$((RANDOM % 8000 + 100))
  sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
  if kill -9 "$pid" 2>/dev/null; then killed=killed; else killed="done before"; fi
  wait "$pid" 2>/dev/null || true
  sleep 1
  after_kill=$(left_in "$lab" | wc -l)
  if [ "$killed" = killed ] && [ -n "$("$backslide" --lab "$lab" list --format json | grep unfinished || true)" ]; then
    "$backslide" --lab "$lab" --quiet run --resume r1 >"$work/out" 2>"$work/err" || true
  elif [ -z "$("$backslide" --lab "$lab" list --format json | grep '"run"' || true)" ]; then
    # Killed before the run was journaled: nothing to resume, so it is begun.
    "$backslide" --lab "$lab" --quiet run "$plan" >"$work/out" 2>"$work/err" || true
  fi
  summary=$("$backslide" --lab "$lab" list --format json | grep -E '"(state|completed|failed|trials)"' | tr -d ' \n')
  left=$(left_in "$lab" | wc -l)
  instances=$(find "$lab/instances" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
  verdict=FAILED
  if [[ $summary == *'"state":"finished"'*'"trials":3'*'"completed":3'*'"failed":0'* ]] &&
    [ "$after_kill" = 0 ] && [ "$left" = 0 ] && [ "$instances" = 0 ]; then
    verdict=held
    held=$((held + 1))
  else
    cat "$work/err" 2>/dev/null || true
  fi
  echo "$n: $killed after ${moment} ms; servers left after the kill: $after_kill, at the end: $left; $verdict"
  rm -rf "$lab"
done
echo "$held of $times held"
[ "$held" = "$times" ]
