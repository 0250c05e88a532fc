#!/usr/bin/env bash
# Builds what backslide is installed from, into dist/: a tarball, a wheel, an npm package and a Debian package.
#
#   ./package.sh           builds them
#   ./package.sh --try     then installs each in a clean directory and runs the demo there
#   ./package.sh --binary  prints the path of the binary that an earlier call built
#
# The binary runs on every Linux with glibc 2.17 (2012) or newer and loads shared libraries: it is linked by zig
# against that version. Needs cargo, python3 with venv, npm and dpkg-deb; the rest comes from the registries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly CEILING=2.17
readonly LARGEST=$((30 * 1000 * 1000))
case $(uname -m) in
    x86_64) cpu=x64 deb=amd64 ;;
    aarch64) cpu=arm64 deb=arm64 ;;
    *) echo "package.sh: knows no packages for $(uname -m)" >&2 && exit 1 ;;
esac
target=$(uname -m)-unknown-linux-gnu
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
dist=$PWD/dist
tools=${CARGO_TARGET_DIR:-$PWD/target}/package-tools
built=${CARGO_TARGET_DIR:-$PWD/target}/$target/release/backslide
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n==> %s\n' "$*"; }
fail() {
    printf 'package.sh: %s\n' "$*" >&2
    exit 1
}

install_tools() {
    [[ -x $tools/bin/cargo-zigbuild ]] || {
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet 'cargo-zigbuild==0.24.0' 'ziglang==0.17.1' 'wheel==0.48.0'
    }
    [[ -x $tools/bin/cargo-deb ]] || cargo install --quiet --locked --root "$tools" cargo-deb@3.8.0
    PATH=$tools/bin:$PATH
    if ! rustc --print target-libdir --target "$target" >/dev/null 2>&1; then
        rustup target add "$target"
    fi
}

build() {
    # Profiles of the embedded SQLite name functions by symbols. zig drops these together with the lines of the code.
    local flags=CARGO_TARGET_${target//-/_}_RUSTFLAGS
    export "${flags^^}=-C strip=none"
    # LuaJIT's makefile also links a program that nobody runs, which finds the unwinder of this linker by name only.
    TARGET_LIBS=-lunwind cargo zigbuild --locked --release --target "$target.$CEILING"
    objcopy --strip-debug "$built"
    check_binary
    "$built" manual "$work/share/man1"
    gzip -9n "$work"/share/man1/*
    mkdir -p "$work/share/completions"
    local shell
    for shell in bash zsh fish; do
        "$built" completions "$shell" >"$work/share/completions/backslide.$shell"
    done
    python3 packaging/third-party.py "$target" >"$work/share/THIRD-PARTY.txt"
    cp LICENSE-MIT LICENSE-APACHE "$work/share"
}

# No symbol may be newer than the ceiling, and the size is what people download.
check_binary() {
    local newest size
    newest=$(objdump -T "$built" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    [[ $(printf '%s\n' "${newest#GLIBC_}" "$CEILING" | sort -V | tail -n 1) == "$CEILING" ]] ||
        fail "the binary needs $newest, $CEILING at most is allowed: $(objdump -T "$built" | grep "$newest" | head -n 3)"
    size=$(stat -c %s "$built")
    ((size <= LARGEST)) || fail "the binary has $size bytes, at most $LARGEST are allowed"
    say "needs $newest, has $size bytes"
}

tarball() {
    local name=backslide-$version-$target
    mkdir -p "$work/$name"
    cp -r "$built" README.md "$work/share/." "$work/$name"
    tar -C "$work" --owner 0 --group 0 -czf "$dist/$name.tar.gz" "$name"
}

# A wheel is a directory with two files of metadata, packed; the binary goes where scripts go.
wheel() {
    local name=backslide-$version tag=py3-none-manylinux2014_$(uname -m)
    mkdir -p "$work/wheel/$name.data/scripts" "$work/wheel/$name.dist-info"
    cp "$built" "$work/wheel/$name.data/scripts/backslide"
    cp "$work"/share/{LICENSE-MIT,LICENSE-APACHE,THIRD-PARTY.txt} "$work/wheel/$name.dist-info"
    cat >"$work/wheel/$name.dist-info/METADATA" <<METADATA
Metadata-Version: 2.1
Name: backslide
Version: $version
Summary: Database performance-regression lab
License: MIT OR Apache-2.0
Description-Content-Type: text/markdown

$(cat README.md)
METADATA
    printf 'Wheel-Version: 1.0\nGenerator: package.sh\nRoot-Is-Purelib: false\nTag: %s\n' "$tag" \
        >"$work/wheel/$name.dist-info/WHEEL"
    "$tools/bin/wheel" pack --dest-dir "$dist" "$work/wheel"
}

npm_package() {
    mkdir -p "$work/npm/bin"
    cp "$built" "$work/npm/bin"
    cp "$work"/share/{LICENSE-MIT,LICENSE-APACHE,THIRD-PARTY.txt} README.md "$work/npm"
    sed "s/VERSION/$version/; s/CPU/$cpu/" packaging/npm/package.json >"$work/npm/package.json"
    (cd "$work/npm" && npm pack --silent --pack-destination "$dist")
}

debian_package() {
    rm -rf target/share
    mkdir -p target
    cp -r "$work/share" target/share
    cargo deb --locked --no-build --no-strip --target "$target" -p backslide --output "$dist/backslide_${version}_$deb.deb"
    rm -rf target/share
}

# Runs the demo of an installed binary in a clean environment, and looks for its report.
demo_of() {
    local name=$1 binary=$2
    (cd "$work" && env -i HOME="$work/home-$name" PATH=/usr/bin:/bin "$binary" demo -o "$work/$name.html" >"$work/$name.txt") ||
        fail "the demo of the $name failed"
    grep -q '</html>' "$work/$name.html" || fail "the report of the $name is not whole"
}

try_all() {
    mkdir -p "$work"/try/{tarball,npm,deb}
    tar -C "$work/try/tarball" --strip-components 1 -xzf "$dist"/backslide-*.tar.gz
    python3 -m venv "$work/try/wheel"
    "$work/try/wheel/bin/pip" install --quiet --no-index "$dist"/backslide-*.whl
    npm install --silent --no-fund --no-audit --prefix "$work/try/npm" "$dist"/backslide-*.tgz
    dpkg-deb -x "$dist"/backslide_*.deb "$work/try/deb"
    local pids=() pid
    # At the same time: their figures do not matter.
    demo_of tarball "$work/try/tarball/backslide" & pids+=($!)
    demo_of wheel "$work/try/wheel/bin/backslide" & pids+=($!)
    demo_of npm "$work/try/npm/node_modules/.bin/backslide" & pids+=($!)
    demo_of deb "$work/try/deb/usr/bin/backslide" & pids+=($!)
    for pid in "${pids[@]}"; do wait "$pid"; done
}

case "$*" in
    '' | --try) ;;
    --binary) realpath "$built" && exit ;;
    *) fail "usage: ./package.sh [--try | --binary]" ;;
esac
rm -rf "$dist"
mkdir -p "$dist"
say "tools"
install_tools
say "binary"
build
say "packages"
tarball
wheel
npm_package
debian_package
ls -l "$dist"
if [[ $* == --try ]]; then
    say "each installed, and the demo"
    try_all
fi
say "done"
