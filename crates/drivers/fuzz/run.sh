#!/usr/bin/env bash
# Fuzzes the packet readers: run.sh [SECONDS [TARGET…]]. SECONDS (3600) are shared by all targets.
#
# Needs the toolchain `nightly`. What is found lies in findings/; the inputs that reach new code are
# kept in corpus/ for the next time. Both are out of git. Ends with a failure at the first finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

seconds=${1:-3600}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(postgres mysql)
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

# What was freed is kept for a while, to notice its use; not so much that it counts as memory in use.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=32}

each=$((seconds / ${#targets[@]}))
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "findings/$target"
    echo "fuzzing $target for $each s" >&2
    "$built/$target" "corpus/$target" \
        -max_total_time="$each" -timeout=10 -max_len=16384 \
        -rss_limit_mb=512 -malloc_limit_mb=128 \
        -artifact_prefix="findings/$target/" -print_final_stats=1
done
