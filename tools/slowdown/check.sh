#!/usr/bin/env bash
# Does the injector count every receive, and spin for the set time? Seconds; needs a C compiler.
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

# Interruptions only make it longer, so the shortest of several tries counts; readings of the clock are what it
# may overshoot by.
times=1000
for wanted in 0 200 1000 5000; do
    shortest=
    for try in {1..25}; do
        rm -f "$library.calls"
        echo "$wanted" >"$library.ns"
        LD_PRELOAD=$library "$work/check" "$times"
        read -r calls nanoseconds < <(od -An -v -t u8 -w16 "$library.calls")
        [[ $calls == "$times" ]] || fail "try $try: $times were received, not $calls"
        mean=$((nanoseconds / calls))
        ((mean >= wanted)) || fail "try $try: $mean ns are less than $wanted ns"
        [[ -n $shortest ]] && ((shortest <= mean)) || shortest=$mean
    done
    printf 'asked for %s ns: %s calls, %s ns each\n' "$wanted" "$calls" "$shortest"
    ((shortest <= wanted + wanted / 4 + 100)) || fail "that is not $wanted ns"
done

for text in '' 'ten' '-5' '5 x'; do
    echo "$text" >"$library.ns"
    if LD_PRELOAD=$library "$work/check" 1 2>"$work/said"; then
        fail "\"$text\" was taken for a number"
    fi
    grep -q "^slowdown: cannot read $library.ns: not a number" "$work/said" ||
        fail "\"$text\" is not explained: $(cat "$work/said")"
done
echo "the injector works"
