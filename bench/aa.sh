#!/usr/bin/env bash
# Does backslide keep quiet where nothing differs, and find a known slow-down? On real servers: six runs of
# a server against its own copy (A/A), then as many against a copy that tools/slowdown slows down by 3 % of the
# throughput of point selects, and against one that it slows down by 1 % of the server's CPU for one.
#
#   bench/aa.sh [aa|rate|cpu]... [--out FILE]      all unless told; the last two need the lab of an `aa` before
#
# Prints Markdown tables and exits with 0 if the promises held. Eight steps, in slices of a tenth of a second
# that alternate between two servers which are up at once. Two starts of one server differ by half a per cent, so
# that 1 % needs many short rounds: twelve, each a start of both. A run takes eight minutes on two cores, all of
# them two hours and a half. Leave the machine alone meanwhile. The runs stay in the lab BACKSLIDE_AA_LAB, else in
# the temporary directory; its path must have no blank or colon. Needs a C compiler. From the environment:
#   AA_SERVERS         builds [mysql-8.0.31 postgres-18.6]
#   AA_TIMES           runs of each [3]
#   AA_ROUNDS          rounds of each run [12]
#   AA_PLAN_KEYS       lines for the head of each plan, \n between them [server and client on one CPU, in slices]
#   AA_WORKLOAD_KEYS   lines for its workload [short tests without warm-ups: see `short` below]
#   AA_TESTS           its tests, in quotes and with commas [eight]
#   AA_WORKLOAD        all lines of another workload, instead of the last two
#   AA_POINT           the step that is slowed down [point-query.pre]
#   AA_PERCENT         the share of its throughput that is removed [3]
#   AA_RECEIVES        receives of the server for one of its operations [1 on PostgreSQL, else 2]
#
# Four longer rounds find 3 % as well, and 1 % of CPU seldom:
#   AA_ROUNDS=4 AA_WORKLOAD_KEYS='read_seconds = 4\nwrite_seconds = 4\nwarmup_seconds = 1\nsettle = 1' bench/aa.sh
# A test that writes, in turns:
#   AA_POINT=update-index AA_TESTS='"update-index"' AA_ROUNDS=6 \
#   AA_PLAN_KEYS='placement = "together"\ninterleave = "turns"' \
#   AA_WORKLOAD_KEYS='write_seconds = 12\nwarm_ups = false\nwarmup_seconds = 1\nsettle = 1' bench/aa.sh aa rate
# The same on MySQL. Its rounds scatter more, so it gets up to 40 rounds on a small table:
#   AA_POINT=update-index AA_SERVERS=mysql-8.0.31 AA_ROUNDS='{ min = 6, max = 40 }' \
#   AA_PLAN_KEYS='placement = "together"\ninterleave = "turns"\nquarantine = false' \
#   AA_WORKLOAD='kind = "micro"\ntests = ["update-index"]\nrows = 20_000\nwrite_seconds = 10\nwarm_ups = false\nwarmup = "fixed"\nwarmup_seconds = 2\nsettle = 1' bench/aa.sh aa rate
# Orders and payments, 5 % slower. For one New-Order and its share of the other transactions, PostgreSQL receives about
# 66 times and MySQL 132 times:
#   AA_POINT=h1 AA_PERCENT=5 AA_RECEIVES=66 AA_ROUNDS='{ min = 6, max = 16 }' AA_SERVERS=postgres-18.6 \
#   AA_PLAN_KEYS='placement = "together"\ninterleave = "turns"\nquarantine = false' \
#   AA_WORKLOAD='kind = "tpcc"\nwarehouses = 1\nsteps = 1\nseconds = 15\nsettle = 0\nwarmup_seconds = 2' bench/aa.sh aa rate
# A trial after the other, which finds less:
#   AA_PLAN_KEYS='placement = "together"' bench/aa.sh
set -euo pipefail
shopt -s inherit_errexit

out=
parts=()
while [[ $# -gt 0 ]]; do
    case $1 in
        aa | rate | cpu) parts+=("$1") ;;
        --out) out=$(realpath -m -- "${2:?bench/aa.sh: --out needs a file}") && shift ;;
        *)
            echo "usage: bench/aa.sh [aa|rate|cpu]... [--out FILE]" >&2
            exit 2
            ;;
    esac
    shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=(aa rate cpu)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -r -a servers <<<"${AA_SERVERS:-mysql-8.0.31 postgres-18.6}"
times=${AA_TIMES:-3}
rounds=${AA_ROUNDS:-12}
plan_keys=${AA_PLAN_KEYS-'placement = "together"\ninterleave = "slices"\nslice_ms = 100'}
short='read_seconds = 1\nwrite_seconds = 1\nseconds = { "point-query.pre" = 4 }\nwarm_ups = false\nwarmup_seconds = 0\nsettle = 0'
workload_keys=${AA_WORKLOAD_KEYS-$short}
lab=$(realpath -m -- "${BACKSLIDE_AA_LAB:-${TMPDIR:-/tmp}/backslide-aa}")
libraries=$lab/slowdown
point=${AA_POINT:-point-query.pre}
percent=${AA_PERCENT:-3}
tests=${AA_TESTS:-"\"$point\", \"random-points.pre_range=100\", \"points-covered-si.pre\", \"range-covered-pk.pre\",
    \"range-notcovered-si.pre\", \"read-only.pre_range=100\", \"update-nonindex\", \"read-write_range=10\""}
micro="kind = \"micro\"\ntests = [$tests]\nrows = 500_000\nscan_seconds = 1\n$workload_keys"
workload=${AA_WORKLOAD:-$micro}
plan_keys=${plan_keys//\\n/$'\n'}
workload=${workload//\\n/$'\n'}

fail() {
    printf 'bench/aa.sh: %s\n' "$*" >&2
    exit 1
}
[[ $lab != *[[:blank:]:]* ]] || fail "a preloaded library's path must have no blank or colon: $lab"

# The value of an expression of awk: the shell's arithmetic knows no fractions.
calculate() { awk "BEGIN { printf \"%s\", $1 }"; }

# The plan's text; its systems are on stdin.
plan() { # NAME SEED
    cat <<TOML
name = "$1"
rounds = $rounds
seed = $2
template = true
$plan_keys

[workload]
$workload

TOML
    cat
}

# A system: SERVER LABEL [LIBRARY]
system() {
    printf '[[system]]\nbuild = "%s"\nconfig = "quick"\nlabel = "%s"\n' "$1" "$2"
    [[ $# -lt 3 ]] || printf 'preload = "%s"\n' "$3"
}

# Carries a plan out; prints the run's id and the minutes it took.
carry_out() { # FILE
    local status=0 said began=$SECONDS
    said=$("$backslide" --lab "$lab" --quiet run "$1") || status=$?
    [[ $status == 0 ]] || fail "the run of $1 ended with $status: $said"
    printf '%s %s\n' "$(tail -n 1 <<<"$said")" "$(calculate "sprintf(\"%.1f\", ($SECONDS - $began) / 60)")"
}

# The comparisons of a run: step, system, ratio, low, high, verdict, with tabs between; a line each.
comparisons() { # RUN METRIC [MIN_EFFECT]
    local status=0 json
    json=$("$backslide" --lab "$lab" --quiet compare "$1" --all --metric "$2" ${3:+--min-effect "$3"} --format json) ||
        status=$?
    [[ $status == 0 || $status == 10 || $status == 11 ]] || fail "cannot compare $1: status $status"
    awk -v OFS='\t' '
        match($0, /^    "[a-z_]+": /) {
            key = substr($0, 6, RLENGTH - 8)
            value = substr($0, RLENGTH + 1)
            sub(/,$/, "", value)
            gsub(/^"|"$/, "", value)
            of[key] = value
        }
        /^  }/ {
            print of["step"], of["system"], of["ratio"], of["low"], of["high"], of["verdict"]
            split("", of)
        }
    ' <<<"$json"
}

# How many say that something changed.
changed() { awk -F '\t' '$6 == "regressed" || $6 == "improved"' | wc -l; }

# The mean of a metric of the point selects over all trials of a server's A/A runs.
mean_of() { # SERVER METRIC
    local run
    [[ -s $lab/aa-$1 ]] || fail "no A/A run of $1 in $lab: run bench/aa.sh aa first"
    while read -r run; do
        "$backslide" --lab "$lab" --quiet export "$run" --format csv
    done <"$lab/aa-$1" |
        awk -F , -v step="$point" -v metric="$2" '
            $5 == step && $7 == metric { sum += $9; n++ }
            END { if (!n) exit 1; print sum / n }
        ' || fail "no $2 of $point in the A/A runs of $1"
}

aa() {
    local server n run minutes rate cpu small cells wrong=0 all=0
    printf '\n## A server against its own copy\n\n'
    printf 'Cells that say regressed or improved.\n\n'
    printf '| run | minutes | cells | rate | server CPU per operation | the same with a margin of 0.5 %% |\n|---|---|---|---|---|---|\n'
    for server in "${servers[@]}"; do
        : >"$lab/aa-$server"
        for ((n = 1; n <= times; n++)); do
            { system "$server" a && system "$server" b; } | plan "aa-$server-$n" "$n" >"$lab/plan.toml"
            read -r run minutes < <(carry_out "$lab/plan.toml")
            echo "$run" >>"$lab/aa-$server"
            cells=$(comparisons "$run" rate | wc -l)
            rate=$(comparisons "$run" rate | changed)
            cpu=$(comparisons "$run" server.cpu/o | changed)
            small=$(comparisons "$run" server.cpu/o 0.5 | changed)
            printf '| %s, %s | %s | %s | %s | %s | %s |\n' "$server" "$run" "$minutes" "2 × $cells" "$rate" "$cpu" "$small"
            wrong=$((wrong + rate + cpu))
            all=$((all + 2 * cells))
        done
    done
    judge "cells that say regressed or improved, of $all: $wrong, at most 1 is allowed" $((wrong <= 1))
}

# Makes the libraries of a server, one that does nothing and one that slows its part down; prints nanoseconds per
# receive of the latter. MySQL and MariaDB receive twice for a statement.
inject() { # SERVER PART
    local receives=${AA_RECEIVES:-2} mean nanoseconds name
    [[ $1 != postgres-* ]] || receives=${AA_RECEIVES:-1}
    case $2 in
        rate)
            mean=$(mean_of "$1" rate)
            nanoseconds=$(calculate "int($percent / (100 - $percent) * 1e9 / $mean / $receives + 0.5)")
            ;;
        cpu)
            mean=$(mean_of "$1" server.cpu/o)
            nanoseconds=$(calculate "int(0.01 * 1e3 * $mean / $receives + 0.5)")
            ;;
    esac
    for name in base slow; do
        cp "$libraries/slowdown.so" "$libraries/$1-$name.so"
        head -c 16 /dev/zero >"$libraries/$1-$name.so.calls"
    done
    echo 0 >"$libraries/$1-base.so.ns"
    echo "$nanoseconds" >"$libraries/$1-slow.so.ns"
    # Servers may run as another user.
    chmod 644 "$libraries/$1"-*.so "$libraries/$1"-*.so.ns
    chmod 666 "$libraries/$1"-*.so.calls
    echo "$nanoseconds"
}

# The time injected for each receive, by the library's own count.
injected_by() { # LIBRARY
    local calls nanoseconds
    read -r calls nanoseconds < <(od -An -v -t u8 -w16 "$1.calls")
    ((calls > 0)) || fail "$1 was never called: does the server read its clients by recv?"
    calculate "sprintf(\"%d\", $nanoseconds / $calls + 0.5)"
}

# The comparison of a system's point selects, for people; its last word is the verdict.
cell_of() { # SYSTEM, comparisons on stdin
    awk -F '\t' -v step="$point" -v candidate="$1" '
        $1 == step && $2 == candidate { printf "%.4f [%.4f, %.4f] %s", $3, $4, $5, $6 }
    '
}

# Runs against a slowed copy: PART, the slowed part and its amount, its metric, its margin where it is not the usual one.
injected() { # PART WHAT METRIC [MIN_EFFECT]
    local server n run minutes asked spun found cells others=0 regressed=0 all=0
    cc -std=c11 -O2 -U_FORTIFY_SOURCE -shared -fPIC -o "$libraries/slowdown.so" tools/slowdown/slowdown.c -ldl
    printf '\n## A server against a copy that is slower by %s\n\n' "$2"
    printf '%s, %s, candidate / base%s. Nanoseconds are for each receive: asked for / spun.\nOther steps receive too, and are slowed by a smaller share.\n\n' "$point" "$3" "${4:+, margin $4 %}"
    printf '| run | minutes | ns | that step | other steps called |\n|---|---|---|---|---|\n'
    for server in "${servers[@]}"; do
        for ((n = 1; n <= times; n++)); do
            asked=$(inject "$server" "$1")
            {
                system "$server" base "$libraries/$server-base.so"
                system "$server" slow "$libraries/$server-slow.so"
            } | plan "$1-$server-$n" $((100 + n)) >"$lab/plan.toml"
            read -r run minutes < <(carry_out "$lab/plan.toml")
            cells=$(comparisons "$run" "$3" "${4:-}")
            found=$(cell_of slow <<<"$cells")
            others=$(awk -F '\t' -v step="$point" '$1 != step' <<<"$cells" | changed)
            spun=$(injected_by "$libraries/$server-slow.so")
            printf '| %s, %s | %s | %s / %s | %s | %s |\n' "$server" "$run" "$minutes" "$asked" "$spun" "$found" "$others"
            all=$((all + 1))
            [[ $found != *regressed ]] || regressed=$((regressed + 1))
        done
    done
    judge "$2 found in $regressed of $all, all but one are asked for" $((regressed >= all - 1))
}

rate() { injected rate "$percent % of throughput" rate; }

cpu() { injected cpu "1 % of CPU" server.cpu/o 0.5; }

# Says whether a promise held, and remembers it.
judge() { # WHAT HELD
    local word=held
    if [[ $2 == 0 ]]; then
        word=missed
        echo "$1" >>"$lab/missed"
    fi
    printf '\n%s: %s.\n' "$1" "$word"
}

mkdir -p "$libraries"
chmod 755 "$lab" "$libraries"
rm -f "$lab/missed"
cargo build --release --quiet
backslide=$(realpath "${CARGO_TARGET_DIR:-target}/release/backslide")
{
    printf '# A/A and injected slow-downs\n\nLoad average before: %s.\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    for part in "${parts[@]}"; do "$part"; done
} | if [[ -n $out ]]; then tee -- "$out"; else cat; fi
[[ ! -e $lab/missed ]]
