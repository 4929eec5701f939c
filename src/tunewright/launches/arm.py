"""An arm of a comparison: values of fresh seeds; two arms and the posterior of the gain."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, is_number
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.launches.launch import (
    FEWEST_SPLITS,
    FIVE_LOOKS,
    FIXED,
    Claim,
    LaunchTerms,
    Method,
    Plan,
    fixed,
)
from tunewright.messages import Message
from tunewright.stats.gain import Floats, Gain, History, gain, paired_gain
from tunewright.stats.measurement import sd_of_difference
from tunewright.stats.spread import Spread, chi_square_interval, identical
from tunewright.store.provenance import Provenance
from tunewright.store.results import Repeats


@dataclass(frozen=True)
class Arm:
    """What repeats gave; make one with `Arm.of(repeats)`, or by hand from values of elsewhere."""

    label: str  # how sentences call it
    values: tuple[float, ...]  # the objective of each run that completed
    objective: Objective
    splits: tuple[int, ...] = ()  # which data split each value comes from; none: all the same
    infeasible: int = 0  # runs that diverged or broke a constraint
    failed: int = 0
    unfinished: int = 0
    round: Round | None = None
    study: str = ""  # the setting of the scientific hyperparameters, in words
    configuration: Mapping[str, Value] = field(default_factory=dict)
    # the code its runs came from: hashes of the program's own files, or commits with their
    # uncommitted changes where those files are not known
    code: frozenset[str] = frozenset()
    by_files: bool = False  # whether `code` has hashes of files
    alike: bool | None = None  # whether every run logged the very same curve; None: not known
    deterministic: bool = False  # declared: it gives the same value under every seed
    steps: float | None = None  # for how many steps it trains; None: not known
    measured_sd: float | None = None  # of one value by measurement alone; None: not known
    examples: int | None = None  # that each value was measured on; None: not known

    def __post_init__(self) -> None:
        wrong = [value for value in self.values if not is_number(value)]
        if wrong:
            raise DesignError("launch.value_not_finite", label=self.label, values=wrong)
        if self.measured_sd is not None and not 0 <= self.measured_sd < np.inf:
            raise DesignError("measured.bad_sd", field="measured_sd", value=repr(self.measured_sd))
        if self.splits and len(self.splits) != len(self.values):
            raise DesignError(
                "launch.split_of_every_value",
                label=self.label,
                values=len(self.values),
                splits=len(self.splits),
            )

    @classmethod
    def of(cls, repeats: Repeats | Iterable[Repeats]) -> Arm:
        """The arm of a trial's repeats; of several, one for each data split."""
        several = [repeats] if isinstance(repeats, Repeats) else list(repeats)
        if not several or not all(
            isinstance(repeats_of_split, Repeats) for repeats_of_split in several
        ):
            raise DesignError("launch.not_repeats")
        if len({str(repeats_of_split.objective) for repeats_of_split in several}) > 1:
            raise DesignError("launch.repeats_differ_in_objective")
        first = several[0]
        results = first.results
        statuses = Counter(
            trial.status for repeats_of_split in several for trial in repeats_of_split
        )
        origins = [origin for repeats_of_split in several for origin in _origins(repeats_of_split)]
        by_files = bool(origins) and all(origin.sources for origin in origins)
        return cls(
            label=f"{results.round.name} trial {first.of.number}",
            values=tuple(
                value for repeats_of_split in several for value in repeats_of_split.values
            ),
            objective=first.objective,
            splits=tuple(
                repeats_of_split.results.round.seed
                for repeats_of_split in several
                for _ in repeats_of_split.values
            ),
            infeasible=statuses["infeasible"],
            failed=statuses["failed"],
            unfinished=statuses["pending"] + statuses["running"] + statuses["pruned"],
            round=results.round,
            study=results.studies[first.of.study].label,
            configuration=first.of.configuration,
            code=frozenset(_code(repeats_of_split, by_files) for repeats_of_split in several)
            - {""},
            by_files=by_files,
            alike=first.same_curves,
            deterministic=first.deterministic,
            steps=_steps(first),
            **_measurement_of(several),
        )

    @property
    def requested(self) -> int:
        """How many runs were asked for, whatever became of them."""
        return len(self.values) + self.infeasible + self.failed + self.unfinished

    @property
    def oriented(self) -> Floats:
        """The values, larger being better."""
        return self.objective.sign * np.array(self.values)

    @property
    def mean(self) -> float:
        """The mean value, in the metric's own units."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def sd(self) -> float:
        """The standard deviation between its runs; none of fewer than two."""
        if len(self.values) < 2:
            return float("nan")
        return 0.0 if self.identical else float(np.std(self.values, ddof=1))

    @property
    def identical(self) -> bool:
        """Whether two or more runs all gave the same value, but for rounding."""
        return identical(self.values)

    def by_split(self) -> dict[int, Floats]:
        """The values of each data split, larger being better."""
        values_by_split: dict[int, list[float]] = {}
        for value, split in zip(self.oriented, self.splits, strict=False):
            values_by_split.setdefault(split, []).append(float(value))
        return {split: np.array(values) for split, values in values_by_split.items()}


class _Measurement(TypedDict):
    measured_sd: float | None
    examples: int | None


def _measurement_of(several: list[Repeats]) -> _Measurement:
    """How well one value of its runs is measured; None unless every run logged that."""
    runs = [trial for repeats in several for trial in repeats if trial.value is not None]
    known = [trial.measured for trial in runs if trial.measured is not None]
    if not known or len(known) < len(runs):
        return {"measured_sd": None, "examples": None}
    counts = [measurement.n for measurement in known if measurement.n is not None]
    sd = float(np.sqrt(np.mean([measurement.sd**2 for measurement in known])))
    return {"measured_sd": sd, "examples": min(counts) if len(counts) == len(known) else None}


def _steps(repeats: Repeats) -> float | None:
    """How long a configuration trains, by the meaning of its names."""
    name = repeats.results.meaning.name("max_train_steps")
    value = repeats.of.configuration.get(name)
    return float(value) if is_number(value) else None


def other_code(arm: Arm, other: Arm) -> bool:
    """Whether two arms are known to have run different code; a commit alone is no evidence."""
    if arm.by_files != other.by_files:
        return False
    return bool(arm.code and other.code and arm.code != other.code)


def _origins(repeats: Repeats) -> list[Provenance]:
    origins = repeats.results.origins
    return [origin for trial in repeats if (origin := origins.get(trial.identity)) is not None]


def _code(repeats: Repeats, by_files: bool) -> str:
    """The code its runs came from; empty when the database does not have it."""
    origins = _origins(repeats)
    if by_files:
        return ", ".join(sorted({origin.program[:10] for origin in origins}))
    known = {
        f"{origin.commit[:10]}{'+' + origin.diff_sha256[:10] if origin.diff_sha256 else ''}"
        for origin in origins
        if origin.commit
    }
    return ", ".join(sorted(known))


@dataclass(frozen=True)
class Case:
    """Everything a verdict depends on."""

    candidate: Arm
    baseline: Arm
    claim: Claim
    plan: Plan
    looked: int
    must_exceed: float  # complexity, or minus the margin
    not_worse: bool
    detect: float | None
    candidates: int
    history: History
    posterior: Gain | None
    method: Method
    exact: bool = False  # declared deterministic

    @property
    def runs(self) -> int:
        """Runs of the arm that has fewer."""
        if self.method == "paired by split" and self.posterior is not None:
            return self.posterior.runs[0]
        return min(len(self.candidate.values), len(self.baseline.values))

    @property
    def sd(self) -> float:
        """The standard deviation of one run."""
        return float("nan") if self.posterior is None else float(self.posterior.sd)

    @property
    def difference(self) -> float:
        """Of the means; positive: the candidate is better."""
        return float(self.candidate.oriented.mean() - self.baseline.oriented.mean())

    @property
    def worth(self) -> float:
        """The difference worth finding: the declared one, else one standard deviation."""
        return self.sd if self.detect is None else self.detect

    @property
    def threshold(self) -> float:
        """The probability it takes to launch."""
        ratio = self.worth / self.sd if self.sd > 0 else math.inf
        return self.plan.threshold(
            self.claim, detect_in_sd=ratio, candidates=self.candidates, not_worse=self.not_worse
        )

    def probability(self, above: float | None = None) -> float:
        """That the gain exceeds what it costs, or this much."""
        assert self.posterior is not None
        return float(self.posterior.probability(self.must_exceed if above is None else above))


def plan_for(
    runs_asked: set[int], terms: LaunchTerms, looked: int, history: History
) -> tuple[Plan, Message | None]:
    """The plan for arms of these numbers of runs, and why it is not the one that was meant."""
    if terms.plan is None and min(runs_asked) == 1 and history.weight > 0 and not looked:
        return fixed(1), None
    meant = terms.looks(default=FIXED)
    if meant.sequential or (runs_asked == set(meant.looks) and not looked):
        return meant, None
    looks = list(FIVE_LOOKS.looks)
    if looked:
        return FIVE_LOOKS, Message("launch.looked_before", {"looks": looks})
    facts = {"asked": sorted(runs_asked), "planned": meant.looks[0], "looks": looks}
    return FIVE_LOOKS, Message("launch.other_runs", facts)


def posterior_of(
    candidate: Arm, baseline: Arm, history: History, same_data: bool
) -> tuple[Gain | None, Method, list[Message]]:
    """The posterior, how it was made, and why the arms' data cannot be compared."""
    b, a = candidate.oriented, baseline.oriented
    apart: list[Message] = []
    here, there = set(candidate.splits), set(baseline.splits)
    if not same_data and here and there and (len(here) > 1 or len(there) > 1 or here != there):
        candidate_values, baseline_values = candidate.by_split(), baseline.by_split()
        shared = sorted(here & there)
        if len(shared) >= FEWEST_SPLITS:
            d = [candidate_values[split].mean() - baseline_values[split].mean() for split in shared]
            sizes = [
                1 / (0.5 / len(candidate_values[s]) + 0.5 / len(baseline_values[s])) for s in shared
            ]
            posterior = paired_gain(d, history, repeats=float(np.mean(sizes)))
            return posterior, "paired by split", []
        drawn = (
            len(here) == len(b) and len(there) == len(a) and not shared and min(len(b), len(a)) > 1
        )
        if not drawn:
            apart = [Message("launch.different_splits")]
    if not len(b) or not len(a) or (len(b) + len(a) == 2 and not history.weight > 0):
        return None, "none", apart
    posterior = gain(b, a, history)
    if not posterior.freedom > 0:
        return None, "none", apart
    shared_variance = len(a) == len(b) or min(len(a), len(b)) == 1
    return posterior, "one variance" if shared_variance else "a variance each", apart


# ---- how well a difference of arms is measured


_UNKNOWN_FREEDOM = 30  # of a measurement on an unknown number of examples


def of_measurement(candidate: Arm, baseline: Arm) -> Spread | None:
    """How well the difference of two arms is known from what their runs report of each value.

    None where that is not known, and where the runs are on several splits: their spread has it.
    Repeats on one validation set share their error, so that more of them do not lower it.
    """
    candidate_sd, baseline_sd = candidate.measured_sd, baseline.measured_sd
    if (
        candidate_sd is None
        or baseline_sd is None
        or len({*candidate.splits, *baseline.splits}) > 1
    ):
        return None
    sd = sd_of_difference(candidate_sd, baseline_sd)
    if not sd > 0:
        return None
    counts = [n for n in (candidate.examples, baseline.examples) if n is not None]
    freedom = max(min(counts) - 1, 1) if len(counts) == 2 else _UNKNOWN_FREEDOM
    low, high = chi_square_interval(sd, freedom)
    how = Message("variance.measurement", {"examples": min(counts) if counts else None})
    return Spread("data", sd, low, high, freedom, how)
