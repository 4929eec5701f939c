"""Does the check `applied` find values that were not applied, and stay silent where all were?

    python bench/applied.py [--planted 20] [--honest 200] [--seed 2026]

Planted and simulated honest rounds are those of tests/checks/applied_worlds.py: a small network
that really trains. Half of the honest rounds are draws of 16 recorded runs from outside the
repository, and are left out when the data is not there. Prints markdown with a line per
round and writes it to bench/results/applied.md; exits with 1 when a case is found in fewer than 19
of 20 or an honest round is warned about.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from tests.checks import applied_worlds, real_curves

from tunewright.checks.applied import AppliedEvidence, applied
from tunewright.finding import Finding
from tunewright.store.results import Results

DRAWN = 16  # recorded runs to a round
NEEDED = 0.95  # of the planted rounds


def recorded(seed: int, rounds: int) -> Iterator[tuple[str, Results]]:
    """Draws of recorded runs, the sets in turn."""
    sets = [each for each in real_curves.SETS if (real_curves.DATA / each[0] / each[1]).exists()]
    whole = {each: real_curves.read(*each) for each in sets}
    for at in range(rounds if sets else 0):
        place = sets[at % len(sets)]
        rng = np.random.default_rng([seed, at])
        runs = whole[place].recorded
        chosen = sorted(rng.permutation(len(runs))[:DRAWN])
        yield " ".join(place), replace(whole[place], recorded=tuple(runs[n] for n in chosen))


def description(finding: Finding) -> str:
    """The verdict and what is doubted, in one line."""
    evidence = finding.evidence
    if not isinstance(evidence, AppliedEvidence):
        return finding.verdict
    doubts = ", ".join(f"{d.name} by {d.kind} in {d.runs} of {d.of}" for d in evidence.doubts)
    return f"{finding.verdict} {doubts}".strip()


def main() -> int:
    """Run everything, print and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--honest", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    given = parser.parse_args()
    lines: list[str] = []
    table = ["| planted | rounds | found, named first | a note | silent |", "|---|---|---|---|---|"]
    good = True
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for case, make in applied_worlds.planted(folder).items():
            verdicts: Counter[str] = Counter()
            for at in range(given.planted):
                results, name = make(np.random.default_rng([given.seed, at]))
                (finding,) = applied(results)
                doubts = getattr(finding.evidence, "doubts", ())
                right = finding.verdict == "warn" and doubts[0].name == name
                verdicts["found" if right else finding.verdict] += 1
                lines.append(f"- {case} {at}: {name}: {description(finding)}")
            good &= verdicts["found"] >= NEEDED * given.planted
            silent = given.planted - verdicts["found"] - verdicts["note"]
            counts = f"{verdicts['found']} | {verdicts['note']} | {silent}"
            table.append(f"| {case} | {given.planted} | {counts} |")
        table += ["", "| honest | rounds | warned | a note | ok | cannot judge |"]
        table.append("|---|---|---|---|---|---|")
        half = given.honest // 2
        kinds: dict[str, Counter[str]] = {}
        rounds = [
            *applied_worlds.every_honest(given.seed + 1, given.honest - half, folder),
            *recorded(given.seed, half),
        ]
        for at, (kind, results) in enumerate(rounds):
            (finding,) = applied(results)
            kinds.setdefault(kind, Counter())[finding.verdict] += 1
            lines.append(f"- honest {at}: {kind}: {description(finding)}")
    columns = ("warn", "note", "ok", "cannot_judge")
    for kind, of_kind in [*kinds.items(), ("all", sum(kinds.values(), Counter()))]:
        cells = " | ".join(str(of_kind[verdict]) for verdict in columns)
        table.append(f"| {kind} | {sum(of_kind.values())} | {cells} |")
        good &= of_kind["warn"] == 0
    head = [
        "# Were the values applied? Planted and honest rounds",
        "",
        f"{datetime.date.today()}, Python {platform.python_version()}, numpy {np.__version__}.",
        f"`python bench/applied.py --planted {given.planted} --honest {given.honest} "
        f"--seed {given.seed}`",
        "",
        "A planted round counts as found when the check warns and names the right hyperparameter "
        "first. In the honest rounds `no effect` the round asks about a hyperparameter that "
        "changes nothing to the last digit (`num_workers`, or a clip norm that is never "
        "reached): a note, since curves alone cannot tell it from one that is ignored.",
        "",
    ]
    page = "\n".join([*head, *table, "", "## Every round", "", *lines, ""])
    print("\n".join([*head, *table]))
    (Path(__file__).parent / "results" / "applied.md").write_text(page)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
