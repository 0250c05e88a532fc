#!/usr/bin/env python3
"""A neighbour that shares a CPU: busy for a while, then less so, then idle. Weather to measure in.

    bench/neighbour.py CPU SEED

Runs until it is ended. A phase lasts 8 seconds on average (exponential, 1 to 40 s); in it the neighbour wants 0, 25,
50, 75 or 100 % of the CPU, in pieces of 20 ms. At 100 % a server and its client are left half of the CPU.
"""

import os
import random
import sys
import time

PIECE = 0.02


def main():
    cpu, seed = map(int, sys.argv[1:])
    os.sched_setaffinity(0, {cpu})
    draw = random.Random(seed)
    while True:
        share = draw.choice((0, 0.25, 0.5, 0.75, 1))
        end = time.monotonic() + min(max(draw.expovariate(1 / 8), 1), 40)
        while (now := time.monotonic()) < end:
            while time.monotonic() < now + PIECE * share:
                pass
            time.sleep(PIECE * (1 - share))


if __name__ == "__main__":
    main()
