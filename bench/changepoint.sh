#!/bin/sh
# Change points beside Apache Otava and beside the rule that compares neighbours by 5 %: precision and recall on
# the published series with their author's labels, and on simulated ones. Prints a Markdown table and fails where
# backslide's are not both above those of the others on the published series:
#   bench/changepoint.sh
# Otava comes from PyPI into a virtual environment below the target directory. A minute; needs python3 with venv.
set -eu

cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
mkdir -p "$target"
referee="$target/otava-0.8.0"
if [ ! -e "$referee/complete" ]; then
    rm -rf "$referee"
    python3 -m venv "$referee"
    "$referee/bin/pip" install --quiet --disable-pip-version-check apache-otava==0.8.0 >&2
    touch "$referee/complete"
fi
cargo build --release --quiet --package bench --example change_points
exec "$referee/bin/python" bench/changepoint.py "$target/release/examples/change_points"
