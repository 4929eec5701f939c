"""A trial: one configuration, its seed, the claim of it, its curves, the snapshot selected.

All studies of a round share the seed at the same index, so that scientific settings are compared on
equal draws; a repeat has a fresh one by its count; the data split is alike for the whole round.

Training runs to its last step and the checkpoint is selected afterwards (playbook, "Saving
checkpoints and retrospectively selecting the best checkpoint").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tunewright import snapshot
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.measured import Measured
from tunewright.messages import Message, markup, words
from tunewright.seeds import derive_seed
from tunewright.store.curves import Curves

# `pruned`: stopped early because it did not look promising, so its value is unknown (censored);
# it is neither infeasible nor failed
# "unmeasured" is judged, never stored: it completed, without the metric that is asked for now
Status = Literal["pending", "running", "completed", "infeasible", "failed", "pruned", "unmeasured"]
ENDED: tuple[Status, ...] = ("completed", "infeasible", "failed", "pruned", "unmeasured")
_MOST_SHOWN = 12  # hyperparameters of a trial printed on one line
NOBODY = 0  # the owner of an attempt that no worker holds


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One configuration of a study as stored, judged by the results' objective."""

    number: int | None  # round-wide, from 0; a repeat has none
    study: int  # the study's number in its round
    index: int | None  # position in the study's sequence; None when added by hand
    configuration: Mapping[str, Value]  # empty until an adaptive search has filled it
    unit: Mapping[str, float]  # column -> position in the unit cube
    status: Status  # how its training ended, or that it has not
    reason: Message | None = None  # why infeasible, failed or pruned
    value: float | None = None  # the objective; None unless completed
    best_step: int | None = None  # the step the value was reached at
    # every logged metric by its name
    curves: Curves = field(default_factory=lambda: Curves(()), repr=False, compare=False)
    seed: int = 0  # all its seeds follow from it
    attempts: int = 0  # that began
    seconds: float = 0.0  # training time over all attempts
    command: str = ""  # trains it again, at a shell in its project
    started: str = ""  # the command line or the call of the program, as it was started
    parent: int | None = None  # a repeat: the number of the trial it repeats
    identity: int = 0  # the store's key
    folder: str = ""  # relative to the store's folder of trials
    detail: str = field(default="", repr=False)  # traceback or log tail of a failed trial
    search: str = ""  # which search suggested it; analyses of edges use non-adaptive ones only
    origin: tuple[str, int] | None = None  # joined from an earlier round: its name, number there
    peak_memory_mb: float | None = None  # with everything it started; None: not measured
    applied: Mapping[str, Any] | None = None  # the values its program reports it used
    measured: Measured | None = None  # the value with its uncertainty, where that was logged

    @property
    def shown_number(self) -> int | str | None:
        """Its number as `tunewright trial` finds it: joined trials have their own round's."""
        return self.number if self.origin is None else f"{self.origin[1]} of {self.origin[0]}"

    @property
    def _headline(self) -> str:
        facts = {"number": self.shown_number, "status": self.status, "value": self.value}
        return Message("card.trial", {**facts, "step": self.best_step}).text

    def __repr__(self) -> str:
        """What became of it and its configuration, on one line; without curves."""
        settings = words.settings(dict(list(self.configuration.items())[:_MOST_SHOWN]))
        more = ", ..." if len(self.configuration) > _MOST_SHOWN else ""
        return words.one_line(f"<{self._headline} ({settings}{more})>")

    def _repr_html_(self) -> str:
        """A card for a notebook: what became of it, its configuration, what it took."""
        labels = {
            "seconds": words.duration(self.seconds) if self.seconds else None,
            "memory": None if self.peak_memory_mb is None else words.megabytes(self.peak_memory_mb),
            "seed": self.seed,
            "attempts": self.attempts if self.attempts > 1 else None,
        }
        facts = {**dict(self.configuration)}
        lines = [str(self.reason or "")]
        lines += [f"{Message(f'card.label.{n}')}: {v}" for n, v in labels.items() if v is not None]
        again = [(self.command, "")] if self.command else []
        return markup.card(self._headline, lines, facts=facts, actions=again)

    def bound_of(self, metric: str) -> float | None:
        """The best value of a metric that it could still reach when it was pruned, if known."""
        facts = self.reason.facts if self.status == "pruned" and self.reason is not None else {}
        bound = facts.get("bound") if facts.get("metric") == metric else None
        return float(bound) if isinstance(bound, int | float) else None

    @property
    def ended(self) -> bool:
        """Whether anything more can happen to it."""
        return self.status in ENDED


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to run one attempt at one trial; every write about it carries this.

    `trial.json` in the folder of a trial has its newest claim, and each event that a watcher
    receives has the claim that it is about.
    """

    trial: int  # the store's key
    attempt: int  # from 1
    number: int | None  # round-wide; None: a repeat
    study: int
    index: int | None  # position in the study's sequence; None: added by hand, or a repeat
    configuration: Mapping[str, Value] | None  # None: to be filled by an adaptive search
    unit: Mapping[str, float]
    seed: int
    folder: str  # relative to the folder of trials; the same for every attempt
    # what follows is known while somebody holds it; `trial.json` does not have it
    worker: int = NOBODY  # the owner's key
    split_seed: int = 0
    attempts_died: int = 0  # earlier attempts that died; three make a trial failed


def claim_of(trial: Trial) -> Claim:
    """The claim of a recorded trial's first attempt, held by nobody: to import or to measure it."""
    return Claim(
        trial=trial.identity,
        attempt=1,
        number=trial.number,
        study=trial.study,
        index=trial.index,
        configuration=trial.configuration,
        unit=trial.unit,
        seed=trial.seed,
        folder=trial.folder,
    )


def trial_seed(round_seed: int, index: int) -> int:
    """The seed of every study's trial at this index."""
    return derive_seed(round_seed, "trial", index)


def seed_of_added(round_seed: int, number: int) -> int:
    """The seed of a trial added by hand, which has no index."""
    return derive_seed(round_seed, "added", number)


def repeat_seed(round_seed: int, count: int) -> int:
    """The seed of a trial's repeat number `count`, from 1: candidate and baseline share it."""
    return derive_seed(round_seed, "repeat", count)


def split_seed(round_seed: int) -> int:
    """The seed of the data split, alike for every trial of a round."""
    return derive_seed(round_seed, "split", 0)


@dataclass(frozen=True)
class Selected:
    """The snapshot chosen for a trial."""

    path: Path
    step: int  # of the snapshot
    wanted: int  # the trial's best step

    @property
    def exact(self) -> bool:
        """Whether the best step itself was kept."""
        return self.step == self.wanted


def select_snapshot(
    root: Path | str, trial: Trial, objective: Objective | None = None
) -> Selected | None:
    """The snapshot of the trial's best step; None if none is on the disk.

    Where that step was not kept: the one at whose step the `objective` was best, if it was logged
    there, else the nearest. Every folder of snapshots inside the trial folder counts: those of
    `run.save`, and those a program kept by `pipeline.keep_best`. Of two equally near the later one
    is taken.
    """
    if trial.best_step is None:
        return None
    folder, wanted = Path(root, trial.folder), trial.best_step
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    kept = [each for path in (folder, *inside) for each in snapshot.list_snapshots(path)]
    if not kept:
        return None
    worth = {} if objective is None else _losses(trial, objective, {s.step for s in kept})

    def rank(each: snapshot.Snapshot) -> tuple[bool, float, int, int, int]:
        loss = worth.get(each.step, np.inf)
        distance = abs(each.step - wanted)
        return distance != 0, loss, distance, -each.step, -each.attempt

    chosen = min(kept, key=rank)
    return Selected(chosen.path, chosen.step, wanted)


def _losses(trial: Trial, objective: Objective, steps: set[int]) -> dict[int, float]:
    """The objective at these steps, lower is better, where it was logged there.

    Nothing if the trial was judged by another objective than this one.
    """
    curve = trial.curves.only(objective.metric)
    if curve is None or objective.at != "best" or trial.value is None:
        return {}
    logged = {int(s): float(v) for s, v in zip(curve.steps, curve.values, strict=True)}
    if logged.get(trial.best_step or 0) != trial.value:
        return {}
    return {step: -objective.sign * logged[step] for step in steps if step in logged}
