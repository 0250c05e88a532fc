#!/usr/bin/env bash
# Does `explain` name the function that made SQLite slower, and nothing where nothing did?
#
#   bench/why.sh [sampled|counted|aa]...      all unless told
#
# Compiles the SQLite that backslide is built with once. Ten of its functions then spin at each call, as often as a file
# beside the library says: in the base none, in each candidate one of them, by what costs 3 % of an operation's time on
# this machine. Base and candidate have the same code. A candidate is found if its function is among the first three that
# `explain` lists; `marked` are those that it calls worse. Fails unless nine of ten are found, and unless at least 19
# of 20 runs of the base against its own copy call no function and no layer. Needs a C compiler; `counted` needs Valgrind.
# From the environment:
#   WHY_FUNCTIONS   pairs of function and step [ten]
#   WHY_EFFECT      cost of the spin, in per cent [3]
#   WHY_ROUNDS      profiled rounds of a sampled run [6]
#   WHY_COUNTS      counted rounds of a counted run [3]
#   WHY_SECONDS     length of a window [8]
#   WHY_AA          runs of the base against its copy [20]
#   WHY_KEEP        a directory for libraries and labs, instead of one that is removed
#   BACKSLIDE       the binary [a release build of this directory]
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
parts=("$@")
[[ $# -gt 0 ]] || parts=(sampled counted aa)
effect=${WHY_EFFECT:-3}
rounds=${WHY_ROUNDS:-6}
counts=${WHY_COUNTS:-3}
seconds=${WHY_SECONDS:-8}
aa=${WHY_AA:-20}
usual=(
    sqlite3VdbeExec point-query sqlite3BtreeTableMoveto point-query moveToRoot point-query
    sqlite3PcacheFetch point-query sqlite3VdbeHalt point-query
    sqlite3BtreeInsert insert fillInCell insert
    insertCellFast update-index sqlite3BtreeIndexMoveto update-index walWriteOneFrame update-index
)
read -r -a pairs <<<"${WHY_FUNCTIONS:-${usual[*]}}"

if [[ -z ${BACKSLIDE:-} ]]; then
    cargo build --release --quiet --package backslide >&2
    BACKSLIDE=$(realpath "${CARGO_TARGET_DIR:-target}/release/backslide")
fi
source=$(cargo metadata --format-version 1 --locked --offline |
    grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"]*"' | head -1 | cut -d'"' -f4)
source=$(dirname "$source")/sqlite3/sqlite3.c
work=${WHY_KEEP:-$(mktemp -d)}
mkdir -p "$work"
export BACKSLIDE_CACHE=$work/cache
[[ -n ${WHY_KEEP:-} ]] || trap 'rm -rf "$work"' EXIT

fail() {
    printf 'bench/why.sh: %s\n' "$*" >&2
    exit 1
}

lab() { "$BACKSLIDE" --quiet --lab "$work/lab" "$@"; }
json() { python3 -c "import json, sys; found = json.load(sys.stdin); print($1)"; }

# The functions, one a line.
functions() { printf '%s\n' "${pairs[@]}" | sed -n 1~2p; }

# Compiles SQLite with a call of its spin at the start of each function, none of which is inlined.
compile() {
    local flags
    mapfile -t flags < <(sed -n '/^flags = \[/,/^]/s/^ *"\(.*\)",$/\1/p' catalog/dbms/sqlite/builds.toml)
    {
        echo '#define WHY_SPIN(place) for (unsigned long spin = why_spins[place]; spin; spin--) __asm__ volatile("")'
        echo 'extern unsigned long why_spins[] __attribute__((visibility("hidden")));'
        awk -v names="$(functions | paste -sd ' ')" '
            BEGIN { count = split(names, name, " ") }
            /^[A-Za-z]/ {
                for (place = 1; place <= count; place++)
                    if ($0 ~ "[ *]" name[place] "\\(") { print "__attribute__((noinline))"; begun = place; break }
            }
            begun && /\{ *$/ { print $0 " WHY_SPIN(" begun - 1 ");"; found[begun] = 1; begun = 0; next }
            begun && /;/ { begun = 0 }
            { print }
            END {
                for (place = 1; place <= count; place++)
                    if (!found[place]) { print "no function " name[place] > "/dev/stderr"; exit 1 }
            }
        ' "$source"
    } >"$work/sqlite3.c" || fail "cannot add the spins to $source"
    {
        printf '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\n'
        printf 'static const char *const names[] = {%s};\n' "$(functions | sed 's/.*/"&"/' | paste -sd ,)"
        cat <<'C'
__attribute__((visibility("hidden"))) unsigned long why_spins[sizeof names / sizeof *names];

__attribute__((constructor)) static void read_spins(void)
{
    Dl_info self;
    char path[4096], name[64];
    unsigned long spins;
    if (!dladdr(names, &self))
        return;
    snprintf(path, sizeof path, "%s.spin", self.dli_fname);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%63s %lu", name, &spins) == 2)
        for (size_t place = 0; place < sizeof names / sizeof *names; place++)
            if (strcmp(name, names[place]) == 0)
                why_spins[place] = spins;
    if (file)
        fclose(file);
}
C
    } >"$work/spins.c"
    cc "${flags[@]}" -shared -Wl,-Bsymbolic -o "$work/why.so" "$work/sqlite3.c" "$work/spins.c" -lpthread -lm -ldl
}

# library NAME [FUNCTION LOOPS]: a copy whose function spins, under a name for plans.
library() {
    cp "$work/why.so" "$work/$1.so"
    echo "${2:-none} ${3:-0}" >"$work/$1.so.spin"
    lab add "$1" --path "$work/$1.so" >/dev/null
}

# plan ROUNDS STEP SYSTEM...: lines for its head are in `keys`.
plan() {
    local system
    cat <<TOML
name = "why"
rounds = $1
base = "base"
template = true
placement = "together"
quarantine = false
${keys:-}

[workload]
kind = "micro"
tests = ["$2"]
rows = 100_000
read_seconds = $seconds
write_seconds = $seconds
warmup = "fixed"
warmup_seconds = 1
warm_ups = false
settle = 0
TOML
    for system in "${@:3}"; do
        printf '\n[[system]]\nbuild = "%s"\nlabel = "%s"\nconfig = "wal"\n' "${system%-copy}" "$system"
    done
}

# Carries out the plan on stdin; prints the run's id.
carry_out() {
    local said
    cat >"$work/plan.toml"
    said=$(lab run "$work/plan.toml") || fail "a run failed: $said"
    tail -n 1 <<<"$said"
}

# By how much a run's system is slower than the base: in operations per second, or in instructions.
cost_of() { # RUN SYSTEM RESOURCE
    if [[ $3 == instructions ]]; then
        lab explain "$1" --format json |
            json "next(step['time']['change'] / step['time']['base'] for step in found['steps'] if step['system'] == '$2')"
    else
        lab export "$1" --format csv | awk -F , -v named="$2" '
            $7 == "rate" { of[$4] = $9 }
            END { if (!of[named]) exit 1; print of["base"] / of[named] - 1 }'
    fi
}

# The place of a system's function among those of `explain RUN`, and whether it is called worse.
place_of() { # RUN SYSTEM FUNCTION RESOURCE
    lab explain "$1" --format json | json "next((f'{place} {line[\"q_value\"] is not None and line[\"q_value\"] <= 0.01 and line[\"change\"] > 0}'
        for step in found['steps'] if step['of'] == '$4' and step['system'] == '$2'
        for place, line in enumerate(step['functions'], 1) if line['name'] == '$3'), '- False')"
}

# The functions of a step, one a line.
functions_of() { printf '%s %s\n' "${pairs[@]}" | awk -v step="$1" '$2 == step { print $1 }'; }

# Runs each step on the base and on a candidate for each of its functions: first with a spin that is too long, to fit it.
slow() { # KEYS OF-THE-FIT RESOURCE LONG
    local step function loops run place marked found=0 marks=0 all=0
    local -a names
    for step in $(printf '%s %s\n' "${pairs[@]}" | awk '{ print $2 }' | sort -u); do
        mapfile -t names < <(functions_of "$step")
        for function in "${names[@]}"; do library "fit-$3-$function" "$function" "$4"; done
        run=$(keys=$2 plan 1 "$step" base "${names[@]/#/fit-$3-}" | carry_out)
        for function in "${names[@]}"; do
            loops=$(python3 -c "print(max(1, round($4 * $effect / 100 / $(cost_of "$run" "fit-$3-$function" "$3"))))")
            library "slow-$3-$function" "$function" "$loops"
        done
        run=$(keys=$1 plan 1 "$step" base "${names[@]/#/slow-$3-}" | carry_out)
        for function in "${names[@]}"; do
            read -r place marked < <(place_of "$run" "slow-$3-$function" "$function" "$3")
            all=$((all + 1))
            [[ $place == - ]] || ((place > 3)) || found=$((found + 1))
            [[ $marked != True ]] || marks=$((marks + 1))
            echo "$3: $function in $step, $(cut -d ' ' -f 2 "$work/slow-$3-$function.so.spin") loops a call," \
                "run $run: place $place, marked $marked"
        done
    done
    echo "$3: $found of $all among the first three, $marks marked"
    ((found * 10 >= all * 9)) || missed=1
}

sampled() { slow "profile = $rounds" '' cpu 2000; }
counted() { slow "count = $counts" 'count = 1' instructions 100; }

aa() {
    local run calls quiet=0
    for ((time = 1; time <= aa; time++)); do
        run=$(keys="profile = $rounds"$'\n'"seed = $time" plan 1 point-query base base-copy | carry_out)
        calls=$(lab explain "$run" --format json | json "sum(line['q_value'] is not None and line['q_value'] <= 0.01
            for step in found['steps'] for line in step['functions'] + step['layers'])")
        [[ $calls != 0 ]] || quiet=$((quiet + 1))
        echo "A/A $time, run $run: $calls called"
    done
    echo "A/A: nothing called in $quiet of $aa"
    ((quiet * 20 >= aa * 19)) || missed=1
}

missed=0
compile
library base
for part in "${parts[@]}"; do
    case $part in
        sampled | counted | aa) "$part" ;;
        *) fail "usage: bench/why.sh [sampled|counted|aa]..." ;;
    esac
done
exit "$missed"
