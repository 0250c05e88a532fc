"""Compares finders of changes: called by changepoint.sh with the path of the example `change_points`."""

import math
import random
import subprocess
import sys

from otava.analysis import compute_change_points

LABELLED = "crates/stats/src/history/tests/labelled.tsv"


class Series:
    """Values in order, and the changes that are known: {(place, "up" or "down")}."""

    def __init__(self, campaign, name, values, changes, versions=None):
        self.campaign, self.name = campaign, name
        self.values, self.changes = values, changes
        self.versions = versions or list(range(len(values)))


def labelled():
    """The published series."""
    with open(LABELLED, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for campaign, name, versions, values, labels in rows[1:]:
        versions = versions.split()
        words = [label.split() for label in labels.split(", ") if label]
        changes = {(versions.index(word[0]), word[1]) for word in words}
        yield Series(campaign, name, [float(value) for value in values.split()], changes, versions)


def simulated():
    """640 series of 30 builds, heavy tails, sd 0.7 %; every second one has one step of 3 %."""
    draw = random.Random(20)

    def heavy_tailed():
        squares = sum(draw.gauss(0, 1) ** 2 for _ in range(4))
        return draw.gauss(0, 1) / math.sqrt(squares / 4) / math.sqrt(2)

    for number in range(640):
        step, at = draw.choice([-0.03, 0.03]), draw.randrange(3, 27)
        changes = {(at, "up" if step > 0 else "down")} if number % 2 else set()
        logs = [0.007 * heavy_tailed() + (step if changes and build >= at else 0) for build in range(30)]
        values = [1000 * math.exp(log) for log in logs]
        yield Series(f"simulated-{number // 32}", str(number), values, changes)


def by_neighbours(all_series):
    """Each build that differs from the one before it by 5 %."""
    for series in all_series:
        pairs = list(zip(series.values, series.values[1:]))
        yield {
            (place, "up" if after > before else "down")
            for place, (before, after) in enumerate(pairs, start=1)
            if abs(after / before - 1) >= 0.05
        }


def by_otava(all_series, max_pvalue, min_magnitude):
    """Otava's own change points, as its command finds them."""
    for series in all_series:
        points, _ = compute_change_points(
            list(series.values), window_len=50, max_pvalue=max_pvalue, min_magnitude=min_magnitude
        )
        yield {(int(p.index), "up" if p.stats.mean_2 > p.stats.mean_1 else "down") for p in points}


def by_backslide(all_series, program, margin):
    """The findings of `stats::analyse`; the series of a campaign are a family."""
    rows = [f"{s.campaign}\t{s.name}\t{' '.join(map(repr, s.values))}" for s in all_series]
    command = [program, str(margin)]
    done = subprocess.run(command, input="\n".join(rows), text=True, capture_output=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        campaign, name, place, direction = line.split("\t")
        found.setdefault((campaign, name), set()).add((int(place), direction))
    return [found.get((s.campaign, s.name), set()) for s in all_series]


def score(all_series, said, tolerance):
    """How many are said, precision, recall, share at versions that are named anywhere in the campaign."""
    named = {(s.campaign, s.versions[at], way) for s in all_series for at, way in s.changes}
    count = hits = found = at_named = 0
    for series, changes in zip(all_series, said):

        def near(one, others):
            return any(abs(one[0] - at) <= tolerance and one[1] == way for at, way in others)

        count += len(changes)
        hits += sum(near(change, series.changes) for change in changes)
        found += sum(near(change, changes) for change in series.changes)
        at_named += sum((series.campaign, series.versions[at], way) in named for at, way in changes)
    truth = sum(len(series.changes) for series in all_series)
    share = lambda part: part / count if count else float("nan")
    return count, share(hits), found / truth, share(at_named)


def main():
    published, made_up = list(labelled()), list(simulated())
    program = sys.argv[1]
    rules = [
        ("backslide, margin 2 % (a rate's own)", lambda s: by_backslide(s, program, 0.02)),
        ("backslide, margin 5 %", lambda s: by_backslide(s, program, 0.05)),
        ("5 % between neighbours", by_neighbours),
        ("Otava 0.8.0, as it comes: p 0.001", lambda s: by_otava(s, 0.001, 0.0)),
        ("Otava 0.8.0, p 0.001, magnitude 5 %", lambda s: by_otava(s, 0.001, 0.05)),
        ("Otava 0.8.0, p 0.05, magnitude 2 %", lambda s: by_otava(s, 0.05, 0.02)),
        ("Otava 0.8.0, p 0.05, magnitude 5 %", lambda s: by_otava(s, 0.05, 0.05)),
    ]
    decimals = lambda share: "–" if math.isnan(share) else f"{share:.2f}"
    print("| rule | said | precision | recall | at named versions | simulated: precision | recall |")
    print("|---|---|---|---|---|---|---|")
    scores = []
    for name, rule in rules:
        said, precision, recall, at_named = score(published, rule(published), 0)
        _, precise, found, _ = score(made_up, rule(made_up), 1)
        scores.append((precision, recall))
        shares = [precision, recall, at_named, precise, found]
        print(" | ".join([f"| {name}", str(said), *map(decimals, shares)]) + " |")
    own, neighbours, otava = scores[0], scores[2], scores[3]
    if not all(own[part] > other[part] for other in (neighbours, otava) for part in (0, 1)):
        sys.exit("changepoint.sh: backslide is not above neighbours and Otava in both precision and recall")


if __name__ == "__main__":
    main()
