"""Measure the checks' verdicts: `cd bench && python -m verdicts [held|tuning] [studies]`.

Writes one JSON line to a cell: bench/results/verdicts_held.jsonl and
bench/results/verdicts.md. The figures of docs/methods.md come from the *held* half.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from tunewright.checks.boundary import edge, rulers
from tunewright.checks.density import sampling
from tunewright.checks.positions import Axis
from tunewright.checks.sensitivity import importances
from tunewright.design.conditions import Hyperparameter
from tunewright.design.names import Meaning
from tunewright.design.ranges import Choice, linear
from verdicts.curves import curve_cells
from verdicts.tuned import tuned_cells
from verdicts.worlds import (
    Floats,
    Half,
    Surface,
    Table,
    absolute,
    available,
    seeds,
    square,
    steep,
    surfaces,
    tables,
)

OUT = Path(__file__).parents[1] / "results"
BUDGETS = (16, 30, 50)
Cell = dict[str, Any]


def lines(units: Floats, losses: Floats, table: Table | None = None) -> list[Axis]:
    """The columns of a study as axes; those without an order of a table as lists."""
    found = []
    for n in range(units.shape[1]):
        own = table is not None and n < len(table.ordered) and not table.ordered[n]
        values = [f"v{k}" for k in range(max(2, len(np.unique(units[:, n]))))]
        range_ = Choice(tuple(values)) if own else linear(0.0, 1.0)
        found.append(Axis(Hyperparameter(f"h{n}", f"h{n}", range_), (), units[:, n], losses))
    return found


def density_cells(half: Half, studies: int) -> Iterator[Cell]:
    """What doubling gained, beside what was predicted, in studies that are called too small."""
    sources: list[tuple[str, Any]] = [(t.name, t) for t in tables(half)] if available() else []
    sources += [(s.name, s) for s in surfaces()]
    for name, source in sources:
        for count in (8, 16, 32, 64):
            rows = []
            for seed in seeds(half, studies):
                random = np.random.default_rng([seed, count])
                if isinstance(source, Table):
                    losses = source.draw(random, 2 * count)[1]
                else:
                    losses = source.study(seed, 2 * count)[1]
                if len(losses) < 2 * count:
                    break
                seen = sampling(losses[:count])
                gained = float(losses[:count].min() - losses.min())
                matters = 0.05 * float(np.median(losses[:count]) - losses[:count].min())
                rows.append((gained, seen, seen.too_few(matters)))
            spoke = [(gained, seen) for gained, seen, too_few in rows if too_few]
            if len(spoke) < 20:
                continue
            yield {
                "check": "density",
                "world": name,
                "trials": count,
                "studies": len(rows),
                "spoke": len(spoke),
                "gained": float(np.mean([g for g, _ in spoke])),
                "predicted": float(np.mean([s.expected_gain for _, s in spoke])),
                "covered": sum(g <= s.gain_interval[1] for g, s in spoke),
                "covered_of_all": sum(g <= s.gain_interval[1] for g, s, _ in rows),
            }


def boundary_cells(half: Half, studies: int) -> Iterator[Cell]:
    """How often an end is flagged, with the ruling effects taken off and without."""
    counts: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    worlds = [
        ("rules", 1.0, 0.95),
        ("second", 0.3, 1.0),
        ("second", 0.3, 1.2),
        ("second", 0.1, 1.2),
    ]
    for count in BUDGETS:
        for dimensions in (4, 8):
            for kind, weight, optimum in worlds:
                for shape in (square, absolute, steep):
                    none = (0.0,) * (dimensions - 3)
                    weights = (0.1, 1.0, 0.1) if kind == "rules" else (1.0, weight, 0.3)
                    surface = Surface("", (*weights, *none), shape)
                    for seed in seeds(half, studies):
                        at = np.random.default_rng(seed).uniform(0.2, 0.8, dimensions)
                        at[1] = optimum
                        units, losses, _ = surface.study(seed, count, at)
                        found = _ends(lines(units, losses))
                        name = f"{kind}, weight {weight:g}, optimum at {optimum:g}"
                        _count(counts[name, dimensions, count], found[1], "high")
                        inside = 2 if kind == "rules" else 0
                        _count(counts["optimum inside", dimensions, count], found[inside])
                        for one in found[3:]:
                            _count(counts["no effect", dimensions, count], one)
    if available():
        for table in tables(half):
            for count in BUDGETS:
                for seed in seeds(half, studies):
                    random = np.random.default_rng([seed, count])
                    units, losses = table.draw(random, count)
                    if len(losses) == count:
                        units = np.column_stack([units, random.random(count)])
                        found = _ends(lines(units, losses, table))
                        _count(counts["real, no effect", "5 to 9", count], found[-1])
        for name, table, column, side in cuts(half):
            for count in BUDGETS:
                for seed in seeds(half, studies // 2):
                    units, losses = table.draw(np.random.default_rng([seed, count]), count)
                    if len(losses) == count:
                        found = _ends(lines(units, losses, table))
                        _count(counts[f"real, cut: {name}", "5 to 9", count], found[column], side)
                        _count(counts["real, cut", "5 to 9", count], found[column], side)
    for (world, dimensions, count), own in counts.items():
        yield {"check": "boundary", "world": world, "axes": dimensions, "trials": count, **own}


def cuts(half: Half) -> Iterator[tuple[str, Table, int, str]]:
    """Tables cut so that the best tenth along an axis improves up to the end that is left."""
    for table in tables(half):
        typical = np.median(np.where(np.isfinite(table.losses), table.losses, 1e30), axis=1)
        for column in np.flatnonzero(table.ordered):
            places = table.units[:, column]
            values = np.unique(places)
            bins = np.minimum((places * 10).astype(int), 9)
            if len(values) <= 10:
                bins = np.searchsorted(values, places)
            best = np.array(
                [np.quantile(typical[bins == b], 0.1) for b in range(bins.max() + 1)]
                if all((bins == b).sum() > 15 for b in range(bins.max() + 1))
                else []
            )
            if len(best) < 6 or best.max() > 1e29:
                continue
            for side in ("high", "low"):
                own = best if side == "high" else best[::-1]
                at, size = int(own.argmin()), float(np.ptp(best))
                left = own[:at]
                if at < 3 or not left[-3] > left[-2] > left[-1] > own[at] + 0.05 * size:
                    continue
                if left.max() - left[-1] <= 0.3 * size:
                    continue
                order = bins if side == "high" else bins.max() - bins
                kept = order < at
                units = table.units[kept].copy()
                low, high = units[:, column].min(), units[:, column].max()
                units[:, column] = (units[:, column] - low) / (high - low)
                cut = Table(table.name, table.columns, table.ordered, units, table.losses[kept])
                yield f"{table.name[:22]} {table.columns[column]}", cut, int(column), side


def _ends(axes: list[Axis]) -> list[tuple[str, str]]:
    """The end that each axis is flagged at: by the rule, and without taking effects off."""
    ruling, meaning = rulers(axes), Meaning({})
    found = []
    for axis in axes:
        new, old = edge(meaning, axis, len(axes), ruling), edge(meaning, axis, len(axes))
        found.append((new.seen.side, old.seen.side))
    return found


def _count(counter: Counter[str], found: tuple[str, str], side: str | None = None) -> None:
    counter["studies"] += 1
    for name, own in zip(("flagged", "unadjusted"), found, strict=True):
        counter[name] += bool(own) if side is None else own == side


def sensitivity_cells(half: Half, studies: int) -> Iterator[Cell]:
    """How often the main axis is called one that matters, and how often one without effect is."""
    counts: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for count in (12, 16, 24, 32, 50):
        for surface in surfaces():
            for seed in seeds(half, studies // 3):
                units, losses, _ = surface.study(seed, count)
                called = [one.matters for one in importances(lines(units, losses))]
                kind = "ceiling" if surface.ceiling else "surface"
                own = counts[f"simulated {kind}, {len(surface.weights)} axes", count]
                own.update(studies=1, found=called[0])
                counts["simulated, no effect", count].update(
                    studies=len(called[3:]), found=sum(called[3:])
                )
        for table in tables(half) if available() else ():
            main = _main(table)
            for seed in seeds(half, studies):
                random = np.random.default_rng([seed, count])
                units, losses = table.draw(random, count)
                if len(losses) < count:
                    continue
                units = np.column_stack([units, random.random(count)])
                called = [one.matters for one in importances(lines(units, losses, table))]
                counts[f"{table.name} {table.columns[main]}", count].update(
                    studies=1, found=called[main]
                )
                counts["real, main", count].update(studies=1, found=called[main])
                counts["real, no effect", count].update(studies=1, found=called[-1])
    for (world, count), own in counts.items():
        yield {"check": "sensitivity", "world": world, "trials": count, **own}


def _main(table: Table) -> int:
    """The axis whose values explain most of the ranks of all recorded losses."""
    losses = table.losses[:, 0]
    ranks = np.argsort(np.argsort(losses))[np.isfinite(losses)].astype(float)
    explained = []
    for own in table.units[np.isfinite(losses)].T:
        bins = np.unique((own * 9.999).astype(int), return_inverse=True)[1]
        means = np.bincount(bins, ranks) / np.bincount(bins)
        explained.append(means[bins].var())
    return int(np.argmax(explained))


def summary(cells: list[Mapping[str, Any]], half: str) -> str:
    """The cells as a markdown table to a check."""
    parts = [f"# The checks' verdicts, measured on the {half} half\n"]
    parts.append(
        "`cd bench && python -m verdicts held 30`; raw lines in verdicts_held.jsonl, splits in "
        "bench/verdicts/worlds.py. Constants were chosen on the other half.\n"
    )
    for check in dict.fromkeys(cell["check"] for cell in cells):
        own = [c for c in cells if c["check"] == check]
        columns = list(dict.fromkeys(key for c in own for key in c if key != "check"))
        parts.append(f"## {check}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for cell in own:
            row = [cell.get(column, "") for column in columns]
            parts.append(f"| {' | '.join(_shown(value) for value in row)} |")
        parts.append("")
    return "\n".join(parts)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main(half: Half, studies: int) -> None:
    """Measure every check and write the results."""
    cells = []
    made = (density_cells, boundary_cells, sensitivity_cells, curve_cells, tuned_cells)
    with (OUT / f"verdicts_{half}.jsonl").open("w") as raw:
        for cells_of in made:
            for cell in cells_of(half, studies):
                plain = {
                    k: int(v) if isinstance(v, np.integer | np.bool_) else v
                    for k, v in cell.items()
                }
                print(json.dumps(plain), file=raw, flush=True)
                cells.append(plain)
    if half == "held":
        (OUT / "verdicts.md").write_text(summary(cells, half))


if __name__ == "__main__":
    chosen_half: Half = "tuning" if "tuning" in sys.argv[1:] else "held"
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(chosen_half, numbers[0] if numbers else 60)
