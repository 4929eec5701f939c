"""Receipts: planted malpractice that `verify` names, and honest rounds that it accuses.

    python bench/verify.py 200 8      honest rounds, repetitions of each planted kind

Prints one line per receipt as JSON (the raw lines of bench/results/verify.md) and the counts last.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from verify_planted import PLANTED
from verify_worlds import honest

import tunewright as tw


def kinds(data: dict[str, Any]) -> tuple[list[str], int]:
    """The faults that verification names, and the number of disagreements."""
    found = tw.receipts.verify(json.loads(json.dumps(data)))
    return sorted({one.kind for one in found.malpractice}), len(found.disagreements)


def lines(honest_rounds: int, repetitions: int) -> Iterator[dict[str, Any]]:
    """One line per receipt, planted ones first."""
    for kind, plant in PLANTED.items():
        for seed in range(repetitions):
            with tempfile.TemporaryDirectory() as folder:
                named, disagreements = kinds(plant(seed, folder))
            yield {
                "planted": kind,
                "seed": seed,
                "named": named,
                "found": kind in named,
                "disagreements": disagreements,
            }
    for seed in range(honest_rounds):
        with tempfile.TemporaryDirectory() as folder:
            world, data = honest(seed, folder)
            named, disagreements = kinds(data)
        yield {
            "planted": "",
            "world": world,
            "seed": seed,
            "named": named,
            "disagreements": disagreements,
        }


def main(honest_rounds: int, repetitions: int) -> None:
    """Print the raw lines and the counts."""
    began = time.process_time()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    accused, disagree, worlds = 0, 0, Counter[str]()
    for line in lines(honest_rounds, repetitions):
        print(json.dumps(line), flush=True)
        if line["planted"]:
            found[line["planted"]]["of"] += 1
            found[line["planted"]]["found"] += line["found"]
            others = [name for name in line["named"] if name != line["planted"]]
            found[line["planted"]]["others"] += bool(others)
        else:
            worlds[line["world"]] += 1
            accused += bool(line["named"])
            disagree += bool(line["disagreements"])
    print("| malpractice | named | other faults named too |\n|---|---|---|")
    for kind, own in found.items():
        print(f"| {kind} | {own['found']} of {own['of']} | {own['others']} |")
    print(f"honest rounds accused: {accused} of {honest_rounds}; that do not verify: {disagree}")
    print(f"honest rounds by world: {dict(worlds)}; CPU s: {time.process_time() - began:.0f}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
