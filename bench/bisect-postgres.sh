#!/usr/bin/env bash
# Does `backslide bisect` find the commit that slowed index scans of PostgreSQL down? Makes a git repository of Debian's
# source of PostgreSQL 18.6 with ten commits: edits of comments and documents, one that spins for each row of an index
# scan, and one that does not compile. Bisects it.
#
#   bench/bisect-postgres.sh DIR      works in DIR, which stays; the same command continues
#
# The first compilation takes about 8 minutes of CPU time, and with ccache each other one a part of that. Needs git, and the
# packages that `backslide install postgres-18.6 --from-source` asks for. From the environment:
#   BACKSLIDE   the binary [a release build of this directory]
set -euo pipefail
shopt -s inherit_errexit
work=$(realpath -m -- "${1:?usage: bench/bisect-postgres.sh DIR}")
cd "$(dirname "$0")/.."
if [[ -z ${BACKSLIDE:-} ]]; then
    cargo build --release --quiet --package backslide >&2
    BACKSLIDE=${CARGO_TARGET_DIR:-$PWD/target}/release/backslide
fi
export BACKSLIDE_CACHE=$work/cache
mkdir -p "$work"
repository=$work/postgres

commit() { git -C "$repository" -c user.name=bench -c user.email=bench@localhost commit -q -a -m "$1"; }
# edit FILE SUBJECT: a comment at the end of a file.
edit() {
    echo "/* $2 */" >>"$repository/$1"
    commit "$2"
}

if [[ ! -e $work/complete ]]; then
    rm -rf "$repository" "$work/source"
    mkdir "$work/source"
    (cd "$work/source" && apt-get source --download-only --tar-only postgresql-18=18.6-3 >&2) || {
        echo "bench/bisect-postgres.sh: apt-get needs a deb-src line of Debian's sid" >&2
        exit 1
    }
    tar -xf "$work"/source/*.orig.tar.* -C "$work/source"
    mv "$work"/source/*/ "$repository"
    git -C "$repository" init -q -b trunk
    git -C "$repository" add --all --force
    commit 'PostgreSQL 18.6'
    git -C "$repository" tag v0
    edit src/backend/commands/vacuum.c 'Explain a heuristic of vacuum'
    edit doc/src/sgml/intro.sgml 'Write about the documentation'
    edit src/backend/access/nbtree/nbtsearch.c 'Explain a binary search'
    edit src/backend/parser/analyze.c 'Explain the analysis of statements'
    awk '{ print } /^IndexNext\(IndexScanState \*node\)$/ { in_it = 1 }
         in_it && /^$/ { print "\tfor (volatile int i = 0; i < 4000; i++)\n\t\t;\n"; in_it = 0 }' \
        "$repository/src/backend/executor/nodeIndexscan.c" >"$work/spin.c"
    cp "$work/spin.c" "$repository/src/backend/executor/nodeIndexscan.c"
    commit 'Check each index entry twice'
    edit src/backend/optimizer/plan/planner.c 'Explain the planner'
    echo 'int broken(' >>"$repository/src/backend/utils/adt/numeric.c"
    commit 'Begin a faster numeric'
    git -C "$repository" show HEAD~1:src/backend/utils/adt/numeric.c >"$repository/src/backend/utils/adt/numeric.c"
    commit 'Leave numeric as it was'
    edit src/backend/storage/buffer/bufmgr.c 'Explain the buffer manager'
    edit src/backend/tcop/postgres.c 'Explain the main loop'
    git -C "$repository" tag v9
    touch "$work/complete"
fi
"$BACKSLIDE" --lab "$work/lab" bisect --git "$repository" --good v0 --bad v9 --step point-query --seconds 2 |
    tee "$work/found"
grep -q 'Check each index entry twice) changed' "$work/found"
