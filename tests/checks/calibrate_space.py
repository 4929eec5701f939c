"""The error rates of the checks of the search space: `python -m tests.checks.calibrate_space [n]`.

Prints the tables of docs/methods.md. 300 studies to a cell take about two minutes.
"""

from __future__ import annotations

import sys
from functools import partial

from tests.checks.space_worlds import (
    OPTIMA,
    calls,
    covers,
    edge_flags,
    healthy,
    list_flags,
    near_edge,
    pooled_flags,
    regions,
    speaks,
    warnings,
)

HEALTHY = ((16, False, 0.01), (16, False, None), (16, True, 0.01), (30, False, 0.01))


def main(studies: int) -> None:
    """Print every table."""
    print("boundary: crowd / lone on the axis, any on an irrelevant one")
    for count in (10, 16, 30, 50):
        for infeasible in (0.0, 0.5):
            shown = []
            for name, optimum in [*OPTIMA.items(), ("narrow at 1", None)]:
                crowd, lone, others = edge_flags(count, optimum, infeasible, studies)
                shown.append(
                    f"{name} {crowd / studies:.2f} {lone / studies:.2f} "
                    f"({others / studies / 2:.3f})"
                )
            print(count, infeasible, "; ".join(shown), flush=True)
    print("pooled, half infeasible: 0.95 / outside / irrelevant")
    for shared in (False, True):
        for arms, count in ((3, 10), (4, 10), (3, 16), (5, 16)):
            found = [
                pooled_flags(arms, count, optimum, studies, axis, shared) / studies
                for optimum, axis in ((0.95, 0), (1.2, 0), (1.2, 2))
            ]
            points = "shared points" if shared else "own points"
            print(points, arms, count, *(f"{x:.3f}" for x in found), flush=True)
    print("lists of 3, 4, 5, 8 values; irrelevant")
    for count in (16, 30):
        found = [list_flags(values, count, studies) / studies for values in (3, 4, 5, 8)]
        false = [list_flags(values, count, studies, axis=2) / studies for values in (3, 4, 5, 8)]
        print(count, *(f"{x:.2f}" for x in found), "|", *(f"{x:.3f}" for x in false), flush=True)
    print("regions: found, named right; flips of 5 %")
    for world in ("rate", "ratio", "random"):
        for count in (10, 16, 30, 50):
            shown = []
            for flips in (0.0, 0.05):
                found, right = regions(count, world, studies, flips)
                shown.append(f"{found / studies:.2f} {right / studies:.2f}")
            print(world, count, "; ".join(shown), flush=True)
    print("best at the edge of divergence: 0.3 / 1.5 decades below")
    for world in ("rate", "ratio"):
        for count in (16, 30, 50):
            found = [near_edge(count, -d, studies, world) / studies for d in (0.3, 1.5)]
            print(world, count, *(f"{x:.2f}" for x in found), flush=True)
    print("settings: a better / b better / shared region covers, by true gap in sd")
    for surface, moved in ((3.0, 0.0), (10.0, 0.0), (10.0, 0.1)):
        for count in (10, 16, 30):
            shown = []
            for gap in (0.0, 2.0, 3.0, 5.0):
                a, b, held = calls(count, gap, studies, surface, moved)
                shown.append(f"{gap:g}: {a / studies:.2f} {b / studies:.2f} {held / studies:.2f}")
            print(surface, moved, count, "; ".join(shown), flush=True)
    print("density: speaks, gain of doubling, gain promised (in references)")
    for count in (10, 16, 30, 100):
        for surface, reference in ((0.3, 3.0), (3.0, 3.0), (10.0, 3.0), (30.0, 3.0)):
            spoke, gained, promised = speaks(count, surface, reference, studies)
            print(count, surface, f"{spoke / studies:.2f} {gained:.2f} {promised:.2f}", flush=True)
    print("coverage of the 90 % interval of the trial sd")
    for repeats in (3, 5, 10):
        kinds = ("normal", "skew", "t3", "outlier")
        print(repeats, *(f"{k} {covers(repeats, k, 1000) / 1000:.2f}" for k in kinds), flush=True)
    print("warnings about healthy rounds")
    for trials, scientific, detect in HEALTHY:
        make = partial(healthy, trials=trials, scientific=scientific, detect=detect)
        print(trials, scientific, detect, warnings(make, studies), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
