#!/usr/bin/env python3
"""Draws how a server differed from its own copy, round by round: whole steps beside turns, of the same hours.

    bench/turns-plot.py ROWS.csv TITLE >PICTURE.svg

ROWS.csv is what bench/turns.sh leaves in TURNS_LAB: lines of way, step, ratio, round. Loads that are part of a
template are left out: all rounds share them.
"""

import csv
import math
import statistics
import sys
from collections import defaultdict
from html import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 340, 300, 56, 54, 40
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333 }
.title { font-size: 15px; font-weight: 600 }
.line { stroke: #bbb; stroke-width: 1 }
.zero { stroke: #666 }
.trials { fill: #b5542b }
.turns { fill: #2b6cb5 }
circle { fill-opacity: .6 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .line { stroke: #555 } .zero { stroke: #aaa } .trials { fill: #e8915f } .turns { fill: #6fa8e8 } }
"""


def main():
    path, title = sys.argv[1:3]
    values = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for way, step, ratio, round_number in csv.reader(file):
            if step not in ("load", "index") or "insert" in title:
                values[way].append((int(round_number), step, 100 * math.log(float(ratio))))
    most = max(abs(value) for rows in values.values() for _, _, value in rows)
    unit = next(unit for unit in (1, 2, 5, 10, 20, 50, 100) if most / unit <= 4)
    top = unit * math.ceil(most / unit)
    at = lambda value: TOP + (HEIGHT - TOP - BOTTOM) * (top - value) / (2 * top)
    out = [f'<text class="title" x="{LEFT}" y="20">{escape(title)}</text>']
    for panel, (way, name) in enumerate((("trials", "whole steps"), ("turns", "by turns"))):
        rows = values[way]
        left, right = LEFT + panel * WIDTH, LEFT + (panel + 1) * WIDTH - 30
        sd = statistics.stdev(value for _, _, value in rows)
        out.append(f'<text x="{left}" y="42">{name}: sd {sd:.1f} %</text>')
        for tick in range(-top, top + 1, unit):
            kind = "line zero" if tick == 0 else "line"
            out.append(f'<line class="{kind}" x1="{left}" x2="{right}" y1="{at(tick):.1f}" y2="{at(tick):.1f}"/>')
            if panel == 0:
                words = f"{tick:+d}" if tick else "0"
                out.append(f'<text x="{left - 8}" y="{at(tick) + 4:.1f}" text-anchor="end">{words} %</text>')
        rounds = sorted({row[0] for row in rows})
        steps = sorted({row[1] for row in rows})
        each = (right - left) / max(rounds)
        for number in rounds:
            middle = left + each * (number - 0.5)
            out.append(f'<text x="{middle:.1f}" y="{HEIGHT - 20}" text-anchor="middle">{number}</text>')
        for number, step, value in rows:
            across = left + each * (number - 0.5 + 0.7 * (steps.index(step) / max(len(steps) - 1, 1) - 0.5))
            dot = f"{step}, round {number}: {value:+.1f} %"
            out.append(f'<circle class="{way}" cx="{across:.1f}" cy="{at(value):.1f}" r="4"><title>{escape(dot)}</title></circle>')
    out.append(f'<text x="{LEFT}" y="{HEIGHT - 4}">round; a dot for each step: ln of the ratio of the copy to the base</text>')
    size = f"0 0 {LEFT + 2 * WIDTH - 10} {HEIGHT}"
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{LEFT + 2 * WIDTH - 10}" height="{HEIGHT}" role="img">')
    print(f"<title>{escape(title)}</title><style>{STYLE}</style>", *out, "</svg>", sep="\n")


if __name__ == "__main__":
    main()
