#!/usr/bin/env bash
# Does the injector count every receive, and spin for as long as it is told? Seconds; needs a C compiler.
#
#   tools/slowdown/check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$work/libslow.so
cc -std=c11 -O2 -Wall -Wextra -Werror -U_FORTIFY_SOURCE -shared -fPIC -o "$library" slowdown.c -ldl
cc -O2 -o "$work/check" check.c

fail() {
    printf 'check.sh: %s\n' "$*" >&2
    exit 1
}

times=20000
for wanted in 0 200 1000 5000; do
    rm -f "$library.calls"
    echo "$wanted" >"$library.ns"
    LD_PRELOAD=$library "$work/check" "$times"
    read -r calls nanoseconds < <(od -An -v -t u8 -w16 "$library.calls")
    mean=$((nanoseconds / calls))
    printf 'asked for %s ns: %s calls, %s ns each\n' "$wanted" "$calls" "$mean"
    [[ $calls == "$times" ]] || fail "$times were received"
    # Interruptions only make it longer; a reading of the clock is the least that it can overshoot by.
    ((mean >= wanted && mean <= wanted + wanted / 4 + 100)) || fail "that is not $wanted ns"
done

for text in '' 'ten' '-5' '5 x'; do
    echo "$text" >"$library.ns"
    if LD_PRELOAD=$library "$work/check" 1 2>"$work/said"; then
        fail "\"$text\" was taken for a number"
    fi
    grep -q "^slowdown: cannot read $library.ns: not a number" "$work/said" ||
        fail "\"$text\" is not explained: $(cat "$work/said")"
done
echo "the injector does what it says"
