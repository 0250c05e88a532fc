#!/usr/bin/env bash
# Do short windows of inserts say what long ones say? Inserts of MySQL versions in four ways: windows of 3 and of 60
# seconds, with the other servers up or stopped, and a table twice as large. One run each, about 20 minutes in all.
# Prints rates of the first three seconds and of the whole window, and server CPU per insert.
#
#   bench/short-writes.sh            a quiet machine is best; keeps its lab in $SHORT_WRITES_LAB or a scratch directory
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --quiet
backslide=$PWD/target/release/backslide
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lab=${SHORT_WRITES_LAB:-$scratch/lab}
old=mysql-5.6.24 new=mysql-9.7.4

# way NAME INTERLEAVE ROWS SECONDS BUILD...
way() {
    local name=$1 interleave=$2 rows=$3 seconds=$4 plan=$scratch/$1.toml run
    shift 4
    {
        printf 'name = "%s"\nrounds = 1\ninterleave = "%s"\nquarantine = false\n' "$name" "$interleave"
        printf 'placement = { server = "0", client = "0" }\n[workload]\nkind = "micro"\ntests = ["insert"]\n'
        printf 'rows = %s\nread_seconds = 3\nscan_seconds = 2\nwrite_seconds = %s\n' "$rows" "$seconds"
        printf 'warmup = "fixed"\nwarmup_seconds = 1\nsettle = 5\n'
        printf '[[system]]\nbuild = "%s"\nconfig = "z12a"\n' "$@"
    } >"$plan"
    run=$("$backslide" --lab "$lab" run "$plan" | tail -n 1)
    "$backslide" --lab "$lab" export "$run" --what intervals --format csv |
        awk -F, -v name="$name" '
            NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            $column["step"] == "insert" && $column["kind"] == "insert" {
                system_name = $column["system"]; all[system_name] += $column["ops"]; seconds[system_name]++
                if ($column["interval"] < 3) first[system_name] += $column["ops"]
            }
            END { for (s in all) printf "%-10s %-26s %9.0f %9.0f\n", name, s, first[s] / 3, all[s] / seconds[s] }'
    "$backslide" --lab "$lab" export "$run" --format csv |
        awk -F, -v name="$name" '$5 == "insert" && $7 == "server.cpu/o" {
            printf "%-10s %-26s %9.1f µs of server CPU per insert\n", name, $4, $9 }'
}

printf '%-10s %-26s %9s %9s\n' way system 'first 3 s' all
way short slices 500_000 3 $old mysql-5.7.22 mysql-8.0.31 $new
way long slices 500_000 60 $old mysql-5.7.22 mysql-8.0.31 $new
way alone trials 500_000 60 $old mysql-5.7.22 mysql-8.0.31 $new
way larger trials 1_000_000 60 $old $new
