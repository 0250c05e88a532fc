#!/usr/bin/env bash
# Installs backslide, runs $PLAN, and writes the comment, the summary, the JUnit file and the report.
set -euo pipefail
python3 -m venv "$RUNNER_TEMP/backslide-venv"
"$RUNNER_TEMP/backslide-venv/bin/pip" install --quiet "$VERSION"
PATH=$RUNNER_TEMP/backslide-venv/bin:$PATH
mkdir -p "$BACKSLIDE_LAB"
run=$(backslide run "$PLAN" | tail -n 1)
status=0
backslide compare "$run" --format markdown >"$BACKSLIDE_LAB/comment.md" || status=$?
case $status in
    0 | 10 | 11) ;;
    *) exit "$status" ;;
esac
backslide compare "$run" --format junit >"$BACKSLIDE_LAB/junit.xml" || true
backslide report "$run" -o "$BACKSLIDE_LAB/report.html"
cat "$BACKSLIDE_LAB/comment.md" >>"$GITHUB_STEP_SUMMARY"
printf 'status=%s\nreport=%s\n' "$status" "$BACKSLIDE_LAB/report.html" >>"$GITHUB_OUTPUT"
