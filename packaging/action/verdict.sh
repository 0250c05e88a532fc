#!/usr/bin/env bash
# Fails the job where something regressed, and where the caller asks for it, where something is undecided.
set -euo pipefail
case $STATUS in
    10) echo "::error title=backslide::something regressed" && exit 10 ;;
    11)
        echo "::warning title=backslide::nothing regressed, something is undecided"
        [[ $FAIL_UNDECIDED != true ]] || exit 11
        ;;
esac
