#!/usr/bin/env bash
# How much does the ratio of two equal systems scatter within a run by turns? Blocks of turns of both in the same laps,
# beside blocks of one after the other, as if each had run whole while the other was idle.
#
#   bench/turns-within.sh LAB RUN [TURNS]      TURNS of each system in a block [24]
#
# RUN has two systems, as a plan with one system and `control = true` makes them, and `interleave = "turns"`. Prints the
# standard deviation of the blocks' ln ratio in per cent for each step with two blocks or more.
set -euo pipefail

lab=$(realpath -m -- "${1:?"usage: bench/turns-within.sh LAB RUN [TURNS]"}") run=${2:?"usage: bench/turns-within.sh LAB RUN [TURNS]"}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo run --release --quiet -p backslide -- --lab "$lab" export "$run" --what intervals --format csv |
    awk -F, -v turns="${3:-24}" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            round = $column["round"]; step = $column["step"]; system_name = $column["system"]; turn = $column["interval"]
            if (!(step in seen)) { seen[step]; steps[++count] = step }
            if (!(system_name in place)) place[system_name] = systems++
            ops[round, step, place[system_name], int(turn / turns)] += $column["ops"]
            # Turns count from 0.
            if (turn >= length_of[round, step]) length_of[round, step] = turn + 1
            rounds[round]
        }
        function add(which, d) { n[which]++; sum[which] += d; squares[which] += d * d }
        function sd(which) { return 100 * sqrt((squares[which] - sum[which] ^ 2 / n[which]) / (n[which] - 1)) }
        END {
            print "| step | same laps, sd % | one after the other, sd % | blocks |\n|---|--:|--:|--:|"
            for (s = 1; s <= count; s++) {
                step = steps[s]
                split("", n); split("", sum); split("", squares)
                for (round in rounds) {
                    blocks = int(length_of[round, step] / turns)
                    for (b = 0; b < blocks; b++) {
                        base = ops[round, step, 0, b]
                        if (base > 0 && ops[round, step, 1, b] > 0) add("same", log(ops[round, step, 1, b] / base))
                        if (b + 1 < blocks && base > 0 && ops[round, step, 1, b + 1] > 0) add("after", log(ops[round, step, 1, b + 1] / base))
                    }
                }
                if (n["after"] > 1) printf "| %s | %.1f | %.1f | %d |\n", step, sd("same"), sd("after"), n["same"]
            }
        }'
