#!/usr/bin/env bash
# Fuzzes the readers of what strangers write: run.sh [SECONDS [TARGET…]]. SECONDS (3600) are shared by
# all targets: postgres and mysql (packets of a server), plan, workload and import (files).
#
# Needs the toolchain `nightly`. Findings are in findings/. Inputs that reach new code are kept in
# corpus/ for the next time; seeds/ and the dictionaries come from the catalog and the samples. All are
# out of git. Ends with a failure at the first finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

seconds=${1:-3600}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(postgres mysql plan workload import)
fi

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address \
-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
# SQLite, which is not fuzzed, takes minutes to build with the sanitizer.
export CFLAGS="-O1 -g0 -fno-sanitize=all"
# With a target named, build scripts and macros are built without the sanitizer.
cargo +nightly build --release --target "$host"
built=${CARGO_TARGET_DIR:-target}/$host/release

# Freed memory is kept for a while, to notice its use; little enough not to count as memory in use.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=32}

mkdir -p seeds/{postgres,mysql,plan,workload,import}
cp ../catalog/plans/*.toml seeds/plan/
cp ../catalog/workloads/*.toml seeds/workload/
# Options and kind of file (0: a directory, 1: sysbench, …) before each sample of results.
kinds=(sysbench-dir sysbench qps met insert-lines insert-table pgbench hammerdb db-bench db-bench-table csv)
for kind in "${!kinds[@]}"; do
    for options in 0 8 f; do
        { printf "\\x$options\\x$(printf %x "$kind")"; cat "samples/${kinds[$kind]}.txt"; } \
            >"seeds/import/${kinds[$kind]}-$options"
    done
done

# Every word of the seeds, so that mutations are not lost in misspelled keys. Packets have none.
words() {
    cat seeds/"$1"/* 2>/dev/null | grep -aoE '[A-Za-z_%./-]{3,30}' | sort -u | sed -n '1,2000s/.*/"&"/p' \
        >"seeds/$1.dict" || true
    [ ! -s "seeds/$1.dict" ] || echo "-dict=seeds/$1.dict"
}

each=$((seconds / ${#targets[@]}))
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "findings/$target"
    dictionary=$(words "$target")
    echo "fuzzing $target for $each s" >&2
    # A timeout counts what else runs on the machine, too.
    "$built/$target" "corpus/$target" "seeds/$target" ${dictionary:+"$dictionary"} \
        -max_total_time="$each" -timeout=120 -max_len=32768 \
        -rss_limit_mb=1024 -malloc_limit_mb=128 \
        -artifact_prefix="findings/$target/" -print_final_stats=1
done
