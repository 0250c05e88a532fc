#!/usr/bin/env bash
# How much do rounds scatter by turns, and how much by whole trials? A server against its own copy (A/A), one round at
# a time, by turns and by whole trials alternately, so that both meet the same weather. With another server as the
# candidate: do both ways agree on the ratio?
#
#   bench/turns.sh [--out FILE]
#
# Prints for each step the geometric mean of the ratio of its rate, and the standard deviation of the ln ratio in per
# cent, either way. From the environment:
#   TURNS_BUILD      a build [mysql-8.0.31], TURNS_CONFIG its config [z12a]
#   TURNS_CANDIDATE  the build that is compared with it [its own copy]
#   TURNS_METRIC     another metric, such as server.cpu/o [rate]
#   TURNS_ROUNDS     rounds either way [8]
#   TURNS_MS         length of a turn [500]
#   TURNS_PLAN_KEYS  lines for the head of each plan, \n between them [server and client on one CPU]
#   TURNS_WORKLOAD   keys of the workload [ten tests that write, 12 s each]
#   TURNS_NEIGHBOUR  a CPU that neighbour.py shares meanwhile; the last one is that of server and client [none]
#   TURNS_LAB        where the runs stay, and rows.csv with the ratio of each round [a scratch directory]
#   TURNS_BACKSLIDE  the program [built from this tree]
set -euo pipefail
shopt -s inherit_errexit

out=
case ${1:-} in
    '') ;;
    --out) out=$(realpath -m -- "${2:?bench/turns.sh: --out needs a file}") ;;
    *) echo "usage: bench/turns.sh [--out FILE]" >&2 && exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
backslide=${TURNS_BACKSLIDE:-$PWD/target/release/backslide}
[[ -n ${TURNS_BACKSLIDE:-} ]] || cargo build --release --quiet -p backslide
scratch=$(mktemp -d)
neighbour=
trap '[[ -z $neighbour ]] || kill "$neighbour"; rm -rf "$scratch"' EXIT
lab=${TURNS_LAB:-$scratch/lab}

tests='"update-index", "update-nonindex", "update-zipf", "update-one", "update-inlist", "delete", "insert", "read-write_range=10", "read-write_range=100", "write-only_range=10000"'
usual='kind = "micro"\ntests = ['$tests']\nrows = 200_000\nwrite_seconds = 12\nwarm_ups = false\nwarmup = "fixed"\nwarmup_seconds = 1\nsettle = 2'
workload=${TURNS_WORKLOAD-$usual}
candidate=${TURNS_CANDIDATE:-}
metric=${TURNS_METRIC:-rate}
control=true
[[ -z $candidate ]] || control=false

# plan WAY SEED
plan() {
    printf 'name = "turns"\nrounds = 1\nseed = %s\ncontrol = %s\nquarantine = false\n' "$2" "$control"
    printf 'interleave = "%s"\n' "$1"
    printf '%b\n' "${TURNS_PLAN_KEYS-"placement = \"together\""}"
    [[ $1 == trials ]] || printf 'slice_ms = %s\n' "${TURNS_MS:-500}"
    printf '[workload]\n%b\n' "$workload"
    local build
    for build in "${TURNS_BUILD:-mysql-8.0.31}" $candidate; do
        printf '[[system]]\nbuild = "%s"\nconfig = "%s"\n' "$build" "${TURNS_CONFIG:-z12a}"
    done
}

if [[ -n ${TURNS_NEIGHBOUR:-} ]]; then
    bench/neighbour.py "$TURNS_NEIGHBOUR" 1 &
    neighbour=$!
fi
rows=$lab/rows.csv
mkdir -p "$lab"
for round in $(seq "${TURNS_ROUNDS:-8}"); do
    for way in turns trials; do
        plan "$way" "$round" >"$scratch/$way.toml"
        run=$("$backslide" --lab "$lab" run "$scratch/$way.toml" | tail -n 1)
        # The ratio as the report has it: by turns the mean of the middle half of their pairs.
        "$backslide" --lab "$lab" export "$run" --what comparisons --format csv |
            awk -F, -v way="$way" -v round="$round" -v metric="$metric" -v OFS=, \
                '$4 == metric && $8 > 0 { print way, $2, $8, round }' >>"$rows"
    done
done

# Standard output itself is not opened again: if it is a file, that would empty it.
[[ -z $out ]] || exec >"$out"
awk -F, '
    { d = log($3); cell = $1 SUBSEP $2; n[cell]++; sum[cell] += d; squares[cell] += d * d; steps[$2] }
    END {
        print "| step | by turns, ratio | sd % | by whole trials, ratio | sd % | rounds |\n|---|---|---|---|---|---|"
        for (step in steps) {
            for (i = 1; i <= 2; i++) {
                cell = (i == 1 ? "turns" : "trials") SUBSEP step; k = n[cell]
                ratio[i] = k ? exp(sum[cell] / k) : 0
                sd[i] = k > 1 ? 100 * sqrt((squares[cell] - sum[cell] ^ 2 / k) / (k - 1)) : 0
                all[i] += sd[i] ^ 2
            }
            count++
            rounds = n["turns" SUBSEP step]
            printf "| %s | %.3f | %.2f | %.3f | %.2f | %d |\n", step, ratio[1], sd[1], ratio[2], sd[2], rounds
        }
        printf "| all, root mean square | | %.2f | | %.2f | |\n", sqrt(all[1] / count), sqrt(all[2] / count)
    }' "$rows"
