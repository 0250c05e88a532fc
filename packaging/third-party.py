#!/usr/bin/env python3
"""Prints the licences of every crate that is linked into the binary, with their texts.

    packaging/third-party.py > THIRD-PARTY.txt

Fails where a crate has neither a licence nor its text.
"""

import json
import pathlib
import subprocess
import sys

TEXTS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], capture_output=True, text=True, check=True).stdout


def main():
    target = ["--target", sys.argv[1]] if len(sys.argv) > 1 else []
    linked = cargo("tree", "-p", "backslide", "-e", "normal", "--prefix", "none", "--format", "{p}", "--locked", *target)
    linked = {tuple(line.split()[:2]) for line in linked.splitlines() if line}
    packages = json.loads(cargo("metadata", "--format-version", "1", "--locked"))["packages"]
    ours = [p for p in packages if (p["name"], "v" + p["version"]) in linked and p["source"]]
    print("backslide contains these packages. Their licences follow.\n")
    for package in ours:
        print(f"{package['name']} {package['version']}: {package['license'] or 'see its text'}")
    seen = {}
    for package in ours:
        directory = pathlib.Path(package["manifest_path"]).parent
        texts = [f for f in sorted(directory.iterdir()) if f.is_file() and f.name.upper().startswith(TEXTS)]
        if not texts and not package["license"]:
            sys.exit(f"{package['name']} has neither a licence nor its text")
        for file in texts:
            seen.setdefault(file.read_text(errors="replace").strip(), []).append(package["name"])
    for text, names in seen.items():
        print(f"\n{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'=' * 80}\n\n{text}")


main()
