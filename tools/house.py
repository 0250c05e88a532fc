#!/usr/bin/env python3
"""Measures the house: lines, long functions, circles of files, and how far some names reach.

    tools/house.py [REVISION]     a commit, or the working tree when none is given
    tools/house.py --undeclared   only lists files that no module declares; fails if there are any

A product line is a line of a `.rs` file under `crates/` outside `tests/`, `tests.rs`, items under
`#[cfg(test)]`, and the crate `testkit`. A circle is a set of files of one crate that import each other.
"""

import pathlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

LONGEST_FUNCTION = 60
WATCHED = [("Dbms::", r"\bDbms::[A-Z]"), ("WorkloadSpec", r"\bWorkloadSpec\b")]
REPEATED_TYPES = ["Line", "Row", "Kind", "Cell", "Found"]


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def sources(revision):
    """Path → text of every product file."""
    if revision:
        names = git("ls-tree", "-r", "--name-only", revision, "crates").split("\n")
    else:
        names = git("ls-files", "-co", "--exclude-standard", "crates").split("\n")
    found = {}
    for name in names:
        parts = name.split("/")
        if not name.endswith(".rs") or "tests" in parts or parts[-1] == "tests.rs" or parts[1] == "testkit":
            continue
        try:
            found[name] = git("show", f"{revision}:{name}") if revision else open(name).read()
        except FileNotFoundError:
            continue  # Deleted, and not yet committed.
    return found


def without_tests(text):
    """The lines outside items under `#[cfg(test)]`."""
    lines, kept, at = text.split("\n"), [], 0
    while at < len(lines):
        if not re.match(r"\s*#\[cfg\(test\)\]", lines[at]):
            kept.append(lines[at])
            at += 1
            continue
        depth, opened, at = 0, False, at + 1
        while at < len(lines):
            bare = re.sub(r"'(\\.|[^'])'|\"(\\.|[^\"\\])*\"", "", lines[at])
            depth += bare.count("{") - bare.count("}")
            opened = opened or "{" in bare
            at += 1
            if (opened and depth <= 0) or (not opened and bare.rstrip().endswith(";")):
                break
    return kept[:-1] if kept and kept[-1] == "" else kept


def long_functions(lines):
    """(lines, name) of each function that is longer than the limit; rustfmt's indentation ends it."""
    at = 0
    while at < len(lines):
        start = re.match(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern \"C\" )*fn (\w+)", lines[at])
        if start:
            end = next((i for i in range(at, len(lines)) if lines[i].rstrip() == start[1] + "}"), at)
            if end - at + 1 > LONGEST_FUNCTION:
                yield end - at + 1, start[2]
        at += 1


def use_paths(tree, prefix=()):
    """Every path of a `use` tree: `a::{b, c::d}` gives `a::b` and `a::c::d`."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        name = re.sub(r"\s+as\s+\w+$", "", tree)
        yield prefix + tuple(part for part in name.split("::") if part)
        return
    head = prefix + tuple(part for part in tree[:brace].split("::") if part)
    depth, piece = 0, ""
    for letter in tree[brace + 1 : tree.rfind("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if piece.strip():
                yield from use_paths(piece, head)
            piece = ""
        else:
            piece += letter


def module_of(name):
    """The module path of a file below its crate's `src`: `a/b.rs` and `a/b/mod.rs` are `a::b`."""
    parts = name.split("/src/", 1)[1][: -len(".rs")].split("/")
    return tuple(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)


def imports(files):
    """File → the files of the same crate that it takes names from."""
    modules = {module_of(name): name for name in files}
    exports = {}
    taken = defaultdict(set)
    uses = defaultdict(list)
    for name, lines in files.items():
        module, text = module_of(name), "\n".join(re.sub(r"//.*", "", line) for line in lines)
        for public, tree in re.findall(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);", text):
            for path in use_paths(tree):
                absolute = absolute_path(path, module, modules)
                if absolute and public:
                    exports[module + (path[-1],)] = absolute
                elif absolute:
                    uses[name].append(absolute)
        body = re.sub(r"\buse [^;]+;", "", text)
        for path in re.findall(r"\b(?:crate|super|self)(?:::\w+)+", body):
            absolute = absolute_path(tuple(path.split("::")), module, modules)
            uses[name] += [absolute] if absolute else []
        for path in re.findall(r"(?<![\w:])([a-z_]\w*(?:::\w+)+)", body):
            parts = tuple(path.split("::"))
            uses[name] += [module + parts] if module + parts[:1] in modules else []
    for name, paths in uses.items():
        for path in paths:
            owner = owner_of(path, modules, exports)
            if owner and owner != name:
                taken[name].add(owner)
    return taken


def absolute_path(path, module, modules):
    """The path from the crate's root, or nothing for a path into another crate."""
    base = module
    if path[0] == "crate":
        return path[1:]
    if path[0] in ("self", "super"):
        while path and path[0] in ("self", "super"):
            base = base[:-1] if path[0] == "super" else base
            path = path[1:]
        return base + path
    return base + path if base + path[:1] in modules else None


def owner_of(path, modules, exports):
    """The file that defines what a path names; re-exports are followed."""
    for _ in range(8):
        redirect = next((n for n in range(len(path), 0, -1) if path[:n] in exports), None)
        if redirect is None:
            break
        target = exports[path[:redirect]] + path[redirect:]
        if target == path:
            break
        path = target
    longest = next((n for n in range(len(path), -1, -1) if path[:n] in modules), None)
    # A path that ends at a module names no item of it.
    return None if longest is None else modules[path[:longest]]


def circles(graph):
    """Strongly connected sets of more than one file (Tarjan 1972, without recursion)."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in list(graph):
        if root in order:
            continue
        work = [(root, iter(sorted(graph[root])))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            step = next(following, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    group = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack -= set(group)
                    found += [sorted(group)] if len(group) > 1 else []
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                on_stack.add(step)
                work.append((step, iter(sorted(graph.get(step, ())))))
            elif step in on_stack:
                low[node] = min(low[node], order[step])
    return found


def undeclared():
    """Files below a `src` that no `mod` names: nothing compiles them, and their tests run nowhere."""
    texts = {str(path): path.read_text() for path in pathlib.Path("crates").glob("*/src/**/*.rs")}
    files = {(name.split("/")[1], module_of(name)): name for name in texts}
    for (crate, module), name in files.items():
        parent = files.get((crate, module[:-1]), "")
        # `mod tests { mod fixture; … }` names a file from one level above.
        grandparent = files.get((crate, module[:-2]), "")
        text = texts.get(parent, "") + texts.get(grandparent, "") * (not parent)
        if module and not re.search(rf"\bmod {module[-1]};", text):
            yield name


def main():
    if sys.argv[1:] == ["--undeclared"]:
        found = sorted(undeclared())
        print(*found, sep="\n", end="\n" if found else "")
        sys.exit(1 if found else 0)
    revision = sys.argv[1] if len(sys.argv) > 1 else None
    files = {name: without_tests(text) for name, text in sources(revision).items()}
    by_crate = Counter()
    for name, lines in files.items():
        by_crate[name.split("/")[1]] += len(lines)
    for crate, count in sorted(by_crate.items()):
        print(f"{count:7,}  {crate}")
    print(f"{sum(by_crate.values()):7,}  product lines")

    long = sorted(((n, f, name) for name, ls in files.items() for n, f in long_functions(ls)), reverse=True)
    print(f"\n{len(long)} functions longer than {LONGEST_FUNCTION} lines")
    for count, function, name in long:
        print(f"  {count} {function} in {name}")

    found = []
    for crate in sorted(by_crate):
        own = {name: ls for name, ls in files.items() if name.startswith(f"crates/{crate}/src/")}
        found += circles(imports(own))
    print(f"\n{len(found)} circles of files")
    for group in found:
        print("  " + " ".join(group))

    print()
    for label, pattern in WATCHED:
        count = sum(1 for lines in files.values() if re.search(pattern, "\n".join(lines)))
        print(f"{label} in {count} files")
    for word in REPEATED_TYPES:
        pattern = rf"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|type) {word}\b"
        count = sum(1 for lines in files.values() for line in lines if re.match(pattern, line))
        print(f"{count} types are called {word}")


main()
