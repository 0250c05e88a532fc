#!/usr/bin/env python3
"""Puts the verdicts of a run beside numbers that others published, as Markdown.

    beside.py PLAN COMPARISONS.json PUBLISHED.tsv

COMPARISONS.json is what `backslide compare RUN --all --format json` prints.
"""

import csv
import json
import sys

MOST_COLUMNS = 12  # Steps that fit beside each other; of more, each has a line.
CHANGES = ("regressed", "improved")


def two_decimals(number):
    return f"{number:.2f}"


def ours(one):
    """The ratio, in bold where the verdict is a change; the verdict where there is no ratio."""
    if one is None:
        return ""
    if one["ratio"] is None:
        return one["verdict"]
    ratio = two_decimals(one["ratio"])
    return f"**{ratio}**" if one["verdict"] in CHANGES else ratio


def grid(comparisons, published):
    """A row a system, followed by the published row that is nearest to it; a column a step."""
    steps = list(dict.fromkeys(one["step"] for one in comparisons))
    found = {(one["system"], one["step"]): one for one in reversed(comparisons)}
    base = comparisons[0]["base"] if comparisons else ""
    rows = [[f"relative to {base}", *steps]]
    for system in dict.fromkeys(one["system"] for one in comparisons):
        rows.append([system, *(ours(found.get((system, step))) for step in steps)])
        theirs = [row for row in published if row["system"] == system]
        if theirs:
            ratios = {row["step"]: f"*{two_decimals(float(row['relative']))}*" for row in reversed(theirs)}
            versions = f"{theirs[0]['published_system']} / {theirs[0]['published_base']}"
            rows.append([f"*published: {versions}*", *(ratios.get(step, "") for step in steps)])
    return [list(row) for row in zip(*rows)] if len(steps) > MOST_COLUMNS else rows


def agreement(comparisons, published):
    """How many published ratios lie within our intervals, and where the two differ in direction."""
    found = {(one["system"], one["step"]): one for one in reversed(comparisons)}
    within, compared, against = 0, 0, {}
    for row in published:
        one, theirs = found.get((row["system"], row["step"])), float(row["relative"])
        if one is None or None in (one["ratio"], one["low"], one["high"]):
            continue
        compared += 1
        within += one["low"] <= theirs <= one["high"]
        if one["verdict"] in CHANGES and (one["ratio"] > 1) != (theirs > 1):
            text = f"{one['step']} ({two_decimals(one['ratio'])}, published {two_decimals(theirs)})"
            against.setdefault(row["system"], []).append(text)
    sources = "; ".join(dict.fromkeys(row["source"] for row in published))
    text = f"\nPublished: {sources}. Of {compared} cells, {within} published ratios lie within our interval."
    if not against:
        return text + " Wherever our verdict is one of change, the published ratio has the same direction.\n"
    lines = [f"- {system}: {', '.join(steps)}\n" for system, steps in sorted(against.items())]
    return text + " Our verdict and the published ratio go different ways in:\n\n" + "".join(lines)


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: beside.py PLAN COMPARISONS.json PUBLISHED.tsv")
    plan, comparisons, published = sys.argv[1:]
    with open(comparisons) as file:
        comparisons = json.load(file)
    with open(published, newline="") as file:
        published = [row for row in csv.DictReader(file, delimiter="\t") if row["plan"] == plan]
    rows = grid(comparisons, published)
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    lines.insert(1, f"|---|{'--:|' * (len(rows[0]) - 1)}\n")
    sys.stdout.write("".join(lines) + (agreement(comparisons, published) if published else ""))


main()
