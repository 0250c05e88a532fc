#!/usr/bin/env bash
# Is a report accessible, quiet and whole? Opens it in headless Chromium, 400, 1,280 and 1,600 pixels wide, light
# and dark, and asks axe-core. Needs Chromium, Node.js and npm, which fetches axe-core once.
#
#   tools/accessibility/check.sh REPORT.html...
#
# Exit status: 0 nothing serious; 1 a serious or critical violation, a message on the console, a request for
# anything that is not in the file, or a control that the Tab key does not reach; 2 it could not be looked at.
set -euo pipefail

axe_version=4.10.3

fail() {
    printf 'check.sh: %s\n' "$*" >&2
    exit 2
}

[[ $# -gt 0 && $1 != -* ]] || fail "usage: tools/accessibility/check.sh REPORT.html..."
for report in "$@"; do
    [[ -f $report ]] || fail "no such file: $report"
done
chromium=$(command -v chromium || command -v chromium-browser) ||
    fail "Chromium is missing: apt-get install chromium"
for program in node npm; do
    command -v "$program" >/dev/null || fail "$program is missing: apt-get install nodejs npm"
done

here=$(dirname "$(realpath -- "${BASH_SOURCE[0]}")")
axe=$(realpath -m -- "${CARGO_TARGET_DIR:-$here/../../target}")/axe-core-$axe_version
# An installation that was interrupted has no mark.
if [[ ! -e $axe/complete ]]; then
    rm -rf "$axe"
    mkdir -p "$axe"
    npm install --prefix "$axe" --no-save --no-audit --no-fund --ignore-scripts --loglevel error \
        "axe-core@$axe_version" >&2 || fail "npm cannot install axe-core $axe_version"
    touch "$axe/complete"
fi
exec node "$here/check.mjs" "$chromium" "$axe/node_modules/axe-core/axe.min.js" "$@"
