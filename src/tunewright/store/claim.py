"""The claim of a trial: the right to run one attempt at it, and what is to be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tunewright.design.ranges import Value
from tunewright.store.trial import Trial

NOBODY = 0  # the owner of an attempt that no worker holds


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
