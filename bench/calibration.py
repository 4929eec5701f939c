"""How often is a launch wrong, and how large a gain does it find? On simulated and recorded seeds.

    python bench/calibration.py [--decisions 20000] [--seed 2026] [--campaigns 60]

Every table goes through the formulas that `tw.decide` uses, many decisions at a time. The simulated
worlds are those of tests/launches/launch_worlds.py; the recorded seeds are read from beside the
repository and left out when they are not there. Prints markdown and writes it to
bench/results/calibration.md; exits with 1 when an error rate breaks its bound. With --campaigns,
whole flat campaigns of `tune` are run instead (bench/flat_campaigns.py; about 10 s each), and their
section alone is written anew.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import flat_campaigns
import numpy as np
import scipy
from tests.launches import real_seeds
from tests.launches.launch_worlds import (
    HISTORIES,
    NOISES,
    any_of,
    arms,
    fixed_rates,
    halves_of,
    launched_gains,
    one_run_rates,
    paired_rates,
    sequential_rates,
    tuning_curse,
)

from tunewright.launches.launch import FIVE_LOOKS, FUTILE, runs_for
from tunewright.stats.gain import History, gain

OUT = Path(__file__).parent / "results" / "calibration.md"
EFFECTS = (-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
LEVELS = (0.10, 0.25)
FLAT = "## Whole campaigns where nothing matters"
SLACK = 0.03  # beyond the level, for a history wrong by 2 and for small recorded groups


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def both(rates: Sequence[float]) -> str:
    """Two rates as one cell: for a feature / for hyperparameters only."""
    return " / ".join(f"{rate:.3f}".lstrip("0") for rate in rates)


def equal_pairs(count: int, seed: int, broken: list[str]) -> str:
    """How often what changed nothing is launched, fixed and sequential."""

    def cells(rates_of: object, kind: str, what: str) -> list[str]:
        found = []
        for past in HISTORIES:
            rates = rates_of(kind, past).launched  # type: ignore[operator]
            for rate, level in zip(rates, LEVELS, strict=True):
                limit = level + SLACK + 3.3 * math.sqrt(level * (1 - level) / count)
                if rate > limit:
                    broken.append(f"{what} {kind} {past}: {rate:.3f} above {limit:.3f}")
            found.append(both(rates))
        return found

    rows = []
    for kind in NOISES:
        own = cells(lambda k, p: fixed_rates(k, p, 5, 0.0, count, seed), kind, "fixed")
        rows.append((f"{kind}, once at 5 + 5", *own))
    for kind in NOISES:
        own = cells(lambda k, p: sequential_rates(k, p, 0.0, count, seed + 1), kind, "looks")
        rows.append((f"{kind}, five looks", *own))
    return table(("noise and plan", *(f"history {past}" for past in HISTORIES)), rows)


def power(count: int, seed: int) -> str:
    """How often a gain is launched, by its size."""
    rows: list[Sequence[object]] = []
    for runs in (3, 5, 8, 10):
        found = [fixed_rates("normal", "fresh", runs, e, count, seed + 2) for e in EFFECTS]
        rows.append((f"once at {runs} + {runs}", *(both(own.launched) for own in found)))
    looks = [sequential_rates("normal", "fresh", e, count, seed + 3) for e in EFFECTS]
    rows.append(("five looks", *(both(own.launched) for own in looks)))
    runs_of = (" / ".join(f"{n:.1f}" for n in own.runs) for own in looks)
    rows.append(("their runs of each", *runs_of))
    return table(("plan", *(f"{effect:g}" for effect in EFFECTS)), rows)


def planned(count: int, seed: int) -> str:
    """The planned number of runs, and how often it then finds the gain."""
    rows = []
    for effect in (0.5, 0.75, 1.0, 1.5, 2.0):
        cells = []
        for place, threshold in enumerate((0.90, 0.78)):
            runs = runs_for(effect, threshold)
            share = fixed_rates("normal", "fresh", runs, effect, count, seed + 4).launched[place]
            cells.append(f"{runs} runs: {share:.2f}")
        rows.append((f"{effect:g}", *cells))
    return table(("gain in sd", "feature", "hyperparameters"), rows)


def margins(count: int, seed: int) -> str:
    """Non-inferiority: launches of what is worse by the margin, and of what is equal."""
    rows = []
    for margin in (0.5, 1.0, 2.0):
        worse, equal = (
            sequential_rates("normal", "fresh", e, count, seed + 5, margin=margin)
            for e in (-margin, 0.0)
        )
        rows.append(
            (
                f"{margin:g}",
                *(f"{own.launched[0]:.3f} ({own.runs[0]:.1f})" for own in (worse, equal)),
            )
        )
    return table(("margin in sd", "worse by the margin (runs each)", "equal (runs each)"), rows)


def special(count: int, seed: int) -> str:
    """One run each, shared splits, several candidates."""
    rows: list[Sequence[object]] = []
    for freedom in (2, 4, 8, 20):
        found = [one_run_rates(kind, freedom, 0.25, 0.0, count, seed + 6) for kind in NOISES]
        worst = [max(own.launched[place] for own in found) for place in (0, 1)]
        gains = [
            one_run_rates("normal", freedom, 0.25, e, count, seed + 6) for e in (1.0, 2.0, 3.0)
        ]
        shown = ", ".join(both(own.launched) for own in gains)
        rows.append((f"one run each, sd known from {freedom} df (worst noise)", both(worst), shown))
    for share in (0.0, 0.2, 0.5, 0.8):
        equal, one, two, three = (
            paired_rates(share, 5, e, count, seed + 7).launched for e in (0.0, 1.0, 2.0, 3.0)
        )
        shown = ", ".join(both(own) for own in (one, two, three))
        rows.append((f"5 shared splits, {share:.0%} of the variance theirs", both(equal), shown))
    for candidates in (2, 3, 4, 5, 8):
        rates = any_of(candidates, count, seed + 8).launched
        rows.append((f"any of {candidates} candidates, 5 runs each", both(rates), "-"))
    return table(("rule", "equal", "gain of 1, 2, 3 sd"), rows)


def curse(count: int, seed: int) -> str:
    """What is too good to be true, before and after."""
    rows: list[Sequence[object]] = []
    for trials, spread in ((20, 0.5), (20, 1.0), (20, 2.0), (100, 1.0)):
        before, after = tuning_curse(trials, spread, 5, count // 4, seed + 9)
        what = f"best of {trials} trials, true spread {spread:g} sd"
        rows.append((what, f"{before:+.2f} as tuned", f"{after:+.2f} over five repeats"))
    for claim in ("feature", "hyperparameters"):
        found = launched_gains(claim, 5, count, seed + 10)  # type: ignore[arg-type]
        rows.append(
            (
                f"gain of launched {claim}, 5 + 5 (true mean {found.true:.2f})",
                f"{found.seen - found.true:+.2f} as seen",
                f"{found.shrunk - found.true:+.2f} as printed, shrunk",
            )
        )
    return table(("what", "bias in sd before", "after"), rows)


def recorded(draws: int, seed: int, broken: list[str]) -> str:
    """The same pipeline against itself, on recorded seeds."""
    rows = []
    for name, runs, fewest in (
        ("nanogpt_speedrun", 5, 10),
        ("nanogpt_speedrun", 3, 6),
        ("deepobs", 5, 10),
        ("deepobs", 3, 10),
        ("algoperf", 2, 5),
        ("algoperf", 1, 5),
    ):
        found = real_seeds.groups(name, fewest)
        plain, with_past = [], []
        for label, values in found.items():
            b, a = halves_of(values, runs, draws, seed)
            bounds = (0.90, 0.75) if runs == 1 else (0.90, 0.78)
            past = real_seeds.history_without(found, label, near=name != "nanogpt_speedrun")
            for known, kept in ((None, plain), (past, with_past)):
                if (known is None and runs >= 3) or (known is not None and known.weight > 0):
                    sure = gain(b, a, known or History(0.0, 0.0)).probability()
                    kept.append([float((sure >= bound).mean()) for bound in bounds])
        cells = []
        for kept in (plain, with_past):
            mean = np.mean(kept, axis=0) if kept else None
            cells.append("-" if mean is None else f"{both(mean)} ({len(kept)} groups)")
            if mean is not None and (mean[0] > 0.10 + SLACK or mean[1] > 0.25 + SLACK):
                broken.append(f"{name} {runs} + {runs}: {both(mean)}")
        rows.append((f"{name}, {runs} + {runs}", *cells))
    rows.append(("nanogpt_speedrun, looks 3, 5, 8", _looks_recorded(draws, seed), "-"))
    return table(("recorded seeds", "without history", "history of other groups"), rows)


def _looks_recorded(draws: int, seed: int) -> str:
    """The sequential rule as far as recorded groups reach."""
    found = [v for v in real_seeds.groups("nanogpt_speedrun", 30).values()]
    shares = []
    for values in found:
        b, a = halves_of(values, 8, draws, seed + 1)
        rates = []
        for claim in ("feature", "hyperparameters"):
            sure_at = FIVE_LOOKS.threshold(claim, not_worse=False)  # type: ignore[arg-type]
            going, launched = np.ones(draws, dtype=bool), np.zeros(draws, dtype=bool)
            for place, look in enumerate(FIVE_LOOKS.looks[:3]):
                own = gain(b[:, :look], a[:, :look])
                over = going & (own.probability() >= sure_at)
                futile = going & ~over & (own.probability(own.sd) <= FUTILE) & (place > 0)
                launched |= over
                going &= ~(over | futile)
            rates.append(float(launched.mean()))
        shares.append(rates)
    return f"{both(np.mean(shares, axis=0))} ({len(found)} groups)"


def cut_short(looks: int, count: int, seed: int) -> str:
    """False launches of the five-look rule when the budget ends it after so many looks."""
    shown = []
    for kind in NOISES:
        b, a = arms(kind, count, FIVE_LOOKS.looks[looks - 1], 0.0, seed)
        going, launched = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
        threshold = FIVE_LOOKS.threshold("hyperparameters", not_worse=False)
        for place, look in enumerate(FIVE_LOOKS.looks[:looks]):
            found = gain(b[:, :look], a[:, :look])
            over = going & (found.probability() >= threshold)
            futile = going & ~over & (found.probability(found.sd) <= FUTILE) & (place > 0)
            launched |= over
            going &= ~(over | futile)
        shown.append(float(launched.mean()))
    return f"{min(shown):.2f} to {max(shown):.2f}"


def flat_section(count: int, seed: int) -> str:
    """Whole campaigns where nothing matters."""
    head = ("trials", "campaigns", "launched (90 %)", "undecided", "choosing runs", "fresh runs")
    return "\n\n".join(
        [
            FLAT,
            "`python bench/calibration.py --campaigns N`: `tune` on a program whose value is noise "
            "of seed and configuration alone, so that every launch is false. The winner is chosen "
            "by some repeats and decided on by others; by how much each flatter it, in standard "
            "deviations of a run. The budget allows one to three of the five looks; the rule "
            f"itself, cut short there, launches {cut_short(1, count, seed)}, "
            f"{cut_short(2, count, seed)} and {cut_short(3, count, seed)} (four kinds of noise).",
            table((*head, "most trials used"), flat_campaigns.rows()),
        ]
    )


def whole_campaigns(campaigns: int, count: int, seed: int) -> int:
    """Run flat campaigns and put their section into the file."""
    flat_campaigns.run(campaigns)
    text = OUT.read_text(encoding="utf-8")
    before, _, after = text.partition(f"\n{FLAT}\n")
    rest = after[after.index("\n## ") :] if "\n## " in after else ""
    section = flat_section(count, seed)
    print(section)
    OUT.write_text(f"{before.rstrip()}\n\n{section}\n{rest}", encoding="utf-8")
    return 0


def main() -> int:
    """Print every table, write them, and say whether a bound is broken."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--decisions", type=int, default=20_000)
    reader.add_argument("--seed", type=int, default=2026)
    reader.add_argument("--campaigns", type=int, default=0)
    given = reader.parse_args()
    if given.campaigns:
        return whole_campaigns(given.campaigns, given.decisions, given.seed)
    count, seed = given.decisions, given.seed
    broken: list[str] = []
    parts = [
        "# Launches: how often they are wrong, and what they find",
        f"{datetime.date.today()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, one core of a shared machine.\n"
        f"`python bench/calibration.py --decisions {count} --seed {seed}`",
        "Rates are for a feature / for hyperparameters only; effects in standard deviations "
        f"between runs; Monte Carlo error about {0.5 / math.sqrt(count):.3f}.",
        "## Equal pairs: false launches (stated: .10 / .25)",
        "History: none; fresh, five earlier runs whose sd drifted by exp(0.25 z); half and double, "
        "an sd wrong by 2.",
        equal_pairs(count, seed, broken),
        "## Gains that are found, by their size (normal noise, fresh history)",
        power(count, seed),
        "Runs of each that are planned for a power of 0.8, and what they reach:",
        planned(count, seed),
        "## Worse by no more than a margin (five looks at 0.97)",
        margins(count, seed),
        "## One run each, shared splits, several candidates",
        special(count, seed),
        "## Too good to be true",
        curse(count, seed),
        *([flat_section(count, seed)] if flat_campaigns.known() else []),
    ]
    if real_seeds.there():
        parts += [
            "## Recorded seeds: a pipeline against itself",
            "Disjoint random draws from the recorded runs of one configuration, mean over "
            "configurations. nanogpt: final loss, history of the other records; deepobs: best test "
            "value of the tuned rate of each optimizer, no history of its own family; algoperf: "
            "best metric of configurations none of which was stopped at its target, badly tuned "
            "ones included, history of the same submission.",
            recorded(min(count, 4000), seed, broken),
        ]
    parts.append(
        "Bounds: the stated level plus 3 points (an sd history that is too small by 2, small "
        f"recorded groups) and chance. {'Broken: ' + '; '.join(broken) if broken else 'All hold.'}"
    )
    text = "\n\n".join(parts) + "\n"
    print(text)
    OUT.write_text(text, encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
