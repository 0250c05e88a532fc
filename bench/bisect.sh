#!/usr/bin/env bash
# Does `backslide bisect` find a small slow-down among many commits, on real builds? Makes a git repository of SQLite's
# amalgamation with harmless edits, of which one commit spins for each row that a scan reads, and bisects it.
#
#   bench/bisect.sh [TIMES]      5 times, each with another place of the spin
#
# The spin costs 3 % of the CPU of a scan: it is fitted to this machine first. Prints a line each time and fails
# unless each names exactly that commit. A time takes three to five minutes, most of it for the measurements: with ccache
# only the first one compiles much. Needs git and a C compiler. From the environment:
#   BISECT_COMMITS   commits after the good one [64]
#   BISECT_EFFECT    cost of the spin, in per cent [3]
#   BISECT_METRIC    the metric [client.cpu/o, which other programs disturb less than `rate`]
#   BISECT_LOOPS     the spin, instead of one that is fitted
#   BISECT_SECONDS   length of a window [2]
#   BISECT_SEED      chooses the places of the spin [1]
#   BISECT_KEEP      a directory for labs and builds, instead of one that is removed
#   BACKSLIDE        the binary [a release build of this directory]
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
times=${1:-5}
commits=${BISECT_COMMITS:-64}
effect=${BISECT_EFFECT:-3}
metric=${BISECT_METRIC:-client.cpu/o}
seconds=${BISECT_SECONDS:-2}
RANDOM=${BISECT_SEED:-1}

if [[ -z ${BACKSLIDE:-} ]]; then
    cargo build --release --quiet --package backslide >&2
    BACKSLIDE=${CARGO_TARGET_DIR:-$PWD/target}/release/backslide
fi
metadata=$(cargo metadata --format-version 1 --locked --offline \
    --filter-platform x86_64-unknown-linux-gnu)
source=$(grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"]*"' <<<"$metadata" | head -1 | cut -d'"' -f4)
source=$(dirname "$source")/sqlite3/sqlite3.c
work=${BISECT_KEEP:-$(mktemp -d)}
mkdir -p "$work"
[[ -n ${BISECT_KEEP:-} ]] || trap 'rm -rf "$work"' EXIT
export BACKSLIDE_CACHE=$work/cache

cat >"$work/scans.toml" <<'TOML'
name = "scans"
summary = "a scan of a table in the cache"
[defaults]
rows = 5_000
read_seconds = 1
warmup = "fixed"
warmup_seconds = 0
settle = 0
[[table]]
name = "t"
rows = "rows"
primary_key = ["id"]
[table.columns]
id = { type = "int", value = "row" }
a = { type = "int", value = { int = [0, 1000] } }
[operation.scan]
sql = "SELECT COUNT(*) FROM {table} WHERE a < 100"
expect = 1
[[step]]
name = "scan"
group = "scan"
operation = "scan"
TOML

# spin LOOPS: the source on stdin with a spin at every 64th row of a scan.
spin() {
    awk -v loops="$1" '{ print }
        /^case OP_Next: / { print "  { static unsigned spun; if( (++spun & 63)==0 ) for(volatile int spin=0; spin<" loops "; spin++){} }"; found = 1 }
        END { exit !found }'
}
lab() { "$BACKSLIDE" --quiet --lab "$work/lab-$1" "${@:2}"; }
json() { python3 -c "import json, sys; found = json.load(sys.stdin); print($1)"; }

# repository DIRECTORY PLACE LOOPS: commits v0 to vN, the one at PLACE with the spin.
repository() {
    local directory=$1 place=$2 loops=$3 git
    rm -rf "$directory" && mkdir "$directory"
    git=(git -C "$directory" -c user.name=bench -c user.email=bench@localhost)
    "${git[@]}" init -q -b trunk
    cp "$source" "$directory/sqlite3.c"
    for ((number = 0; number <= commits; number++)); do
        ((number != place)) || {
            spin "$loops" <"$source" >"$directory/sqlite3.c"
            for ((edit = 1; edit < number; edit++)); do echo "/* Edit $edit */"; done >>"$directory/sqlite3.c"
        }
        ((number == 0)) || echo "/* Edit $number */" >>"$directory/sqlite3.c"
        "${git[@]}" add sqlite3.c
        "${git[@]}" commit -q -m "Edit $number"
        "${git[@]}" tag "v$number"
    done
}

# factor LOOPS TIMES: how much a spin costs, the median of TIMES measurements. Each bisects a repository of two commits.
factor() {
    commits=1 repository "$work/fit" 1 "$1"
    for ((time = 1; time <= $2; time++)); do
        lab "fit-$1-$time" bisect --git "$work/fit" --good v0 --bad v1 --step scan --workload "$work/scans.toml" \
            --metric "$metric" --seconds "$seconds" --format json | json 'max(found["ratio"], 1 / found["ratio"])'
    done | sort -n | sed -n "$(($2 / 2 + 1))p"
}

# Fits the spin to the effect: by two larger ones, which few pairs measure well, then by what that spin costs.
fit() {
    local near=$((100 * effect)) far=$((300 * effect)) costs most first
    costs=$(factor "$near" 3) most=$(factor "$far" 3)
    loops=$(at "$near" "$costs" "$far" "$most")
    first=$(factor "$loops" 1)
    echo "spins of $loops, $near and $far cost factors of $first, $costs and $most"
    loops=$(at "$loops" "$first" "$near" "$costs")
}
# at LOOPS FACTOR LOOPS FACTOR: the spin that costs the effect, on the line through these two.
at() {
    python3 -c "print(max(1, round($1 + (1 + $effect / 100 - $2) * ($3 - $1) / ($4 - $2))))"
}
loops=${BISECT_LOOPS:-}
[[ -n $loops ]] || fit
echo "a spin of $loops should cost $effect %"

right=0
for ((time = 1; time <= times; time++)); do
    place=$((1 + RANDOM % commits))
    repository "$work/repository" "$place" "$loops"
    begun=$SECONDS
    found=$(lab "$time" bisect --git "$work/repository" --good v0 --bad "v$commits" --step scan \
        --workload "$work/scans.toml" --metric "$metric" --seconds "$seconds" --format json || true)
    wanted=$(git -C "$work/repository" rev-parse "v$place" | cut -c1-12)
    builds=$(json '" ".join(found["builds"])' <<<"$found")
    told=$(json 'f"""{found["result"]} with {found["probability"] or 0:.3f}, ratio {found["ratio"]:.4f}, {found["pairs"]} pairs"""' <<<"$found")
    verdict=wrong
    [[ $builds != *" "* && $builds == "git-$wanted"* ]] && verdict=right && right=$((right + 1))
    echo "$time: v$place of $commits: $verdict: $told, $((SECONDS - begun)) s"
done
echo "$right of $times right"
((right == times))
