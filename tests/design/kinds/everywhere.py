"""One range through everything that reads ranges, with nothing but public calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tunewright as tw
from tunewright.design.ranges import Range
from tunewright.design.round_file import read_round, write_round

TRIALS = 24


def train(run: Any, learning_rate: float, size: float, max_train_steps: int) -> None:
    """Best at the largest size, so that the end of its range is crowded."""
    for step in range(1, 3):
        run.log(step * max_train_steps // 2, valid_error=1 / (1 + size) + learning_rate / step)


def a_round(own: Range, **changes: Any) -> tw.Round:
    """A round that searches it beside a learning rate."""
    asked = {"goal": "Which size is best?", "trials_per_study": TRIALS, "seed": 3}
    searched = {"learning_rate": tw.linear(0.0, 1e-6), "size": own}
    fixed = {"max_train_steps": 100}
    return tw.Round("sizes", **{"nuisance": searched, "fixed": fixed, **asked, **changes})


def trained(own: Range, folder: Path, search: Any = None) -> tw.types.Results:
    """The round, trained here and read from its store again."""
    workload = tw.Workload(
        train,
        objective=tw.minimize("valid_error"),
        executor=tw.executors.Inline(),
        store=folder / "store.db",
        means={"learning_rate": "learning_rate"},
    )
    tw.run(a_round(own), workload, search=search, progress="off")
    return tw.load(folder / "store.db", "sizes")


def check_searches(own: Range, folder: Path) -> tw.types.Results:
    """Halton, Bayesian and listed trials all have its values, and come back from the store."""
    found = trained(own, folder / "halton")
    assert len(found.trials) == TRIALS
    listed = [dict(trial.configuration) for trial in found.trials]
    for name, search in (("bayesian", tw.search.Bayesian()), ("listed", tw.search.Listed(listed))):
        other = trained(own, folder / name, search)
        assert len({trial.configuration["size"] for trial in other.trials}) > 1, name
        assert all(own.contains(trial.configuration["size"]) for trial in other.trials), name
    (study,) = found.studies
    for trial in found.trials:
        value = trial.configuration["size"]
        assert own.contains(value)
        assert study.space[1].range == own and own.value(trial.unit["size"]) == value
    return found


def check_advice(own: Range, found: tw.types.Results) -> None:
    """The checks warn about the crowded end, next_round widens it, extend keeps the kind."""
    findings = tw.check(found)
    assert {f.check for f in findings} >= {"boundary", "density", "sensitivity", "infeasible"}
    edges = [e for f in findings if f.check == "boundary" for e in f.evidence.edges]
    (edge,) = [e for e in edges if e.column == "size"]
    assert edge.verdict == "warn" and edge.seen.side == "high"
    assert edge.proposed == own.widen("high").range
    assert edge.proposed.call in {action.call for f in findings for action in f.actions}
    proposals = tw.next_round(found, findings)
    widened = [p.round.nuisance["size"] for p in proposals if p.kind == "widen"]
    assert edge.proposed in widened
    longer = tw.advice.extend(found, 1000, tune=["size"])
    assert isinstance(longer.nuisance["size"], type(own))
    assert longer.nuisance["size"].contains(found.best().configuration["size"])


def check_files(own: Range, folder: Path) -> None:
    """A round file and a table of another tool give the same range back."""
    write_round(a_round(own), folder / "sizes.toml")
    assert read_round(folder / "sizes.toml").nuisance["size"] == own
    rows = ["id,learning_rate,size,valid_error"]
    sizes = [own.value(position / 11) for position in range(12)]
    rows += [f"{n},{n}e-7,{size},{1 / (n + 1)}" for n, size in enumerate(sizes)]
    (folder / "runs.csv").write_text("\n".join(rows))
    objective = tw.minimize("valid_error")
    imported = tw.importers.tables(folder / "runs.csv", objective=objective, ranges={"size": own})
    assert imported.round.nuisance["size"] == own
    assert [trial.configuration["size"] for trial in imported.trials] == sizes
    assert all("size" in trial.unit for trial in imported.trials)


def check_pages(own: Range, found: tw.types.Results, folder: Path) -> None:
    """Figures and the report draw it on its scale."""
    panel = next(p for p in tw.plots.axis(found).data.panels if p.column == "size")
    assert panel.range == own and len(panel.positions) == TRIALS
    assert tw.plots.axis(found).png().startswith(b"\x89PNG")
    tw.report(found, folder / "report.html")
    assert str(own) in (folder / "report.html").read_text(encoding="utf-8")
    asked = a_round(own, scientific={"size": own}, nuisance={"learning_rate": tw.linear(0, 1)})
    (study,) = asked.studies  # a range is searched in one study, a list makes several
    assert study.space[0].range == own
