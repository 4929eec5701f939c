"""Is the validation set large enough to tell the best trials apart?

Asked where the objective was logged with its uncertainty (`tw.Measured`). Trials on the same
examples share most of their measurement error; what is left moves the difference of two trials.
Two standard deviations of that are compared with the difference that matters: `detect` where the
round declares it, else the gap between the best trial and the fifth. A difference below is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tunewright.actions import Advise
from tunewright.checks._better_half import TOP
from tunewright.checks.trial_sd import APART, best_of, sd_of_values, trial_sd
from tunewright.design.study import Study
from tunewright.finding import Evidence, Finding, Verdict
from tunewright.stats.measurement import NEIGHBOURS, examples_for, own_sd, sd_of_difference
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_DRAWS = 400


@dataclass(frozen=True)
class ValidationSizeEvidence(Evidence):
    """What measurement on these examples can tell apart, in units of the objective."""

    metric: str
    trials: int  # among the five best, with an uncertainty
    sd: float  # of the value of one trial: the median of them
    sd_of_difference: float  # of two of them, on the same examples
    resolves: float  # the smallest difference that is surely one
    wanted: float | None  # the difference that matters; None: all of them are equal
    source: Literal["detect", "best_to_fifth"]
    examples: int | None  # of the validation set; None: not logged
    needed: int | None  # examples that would tell the difference apart
    optimism: float  # about what picking the best evaluation of the best trial adds to its value
    seeds_matter_more: bool  # repeats differ by more than measurement explains


def validation_size(results: Results) -> list[Finding]:
    """Ask each study whose values have an uncertainty; no finding where none has one."""
    findings = []
    for study in results.studies:
        ranked = best_of(results, study)
        sd = sd_of_values(ranked)
        if sd is not None:
            findings.append(_ask(results, study, ranked, sd))
    return findings


def _ask(results: Results, study: Study, ranked: Sequence[Trial], sd: float) -> Finding:
    known = [trial.measured for trial in ranked if trial.measured is not None]
    counts = [value.n for value in known if value.n is not None]
    examples = int(np.median(counts)) if counts else None
    apart = sd_of_difference(sd, sd)
    detect = results.round.detect
    wanted = detect
    if wanted is None and len(ranked) == TOP:
        wanted = abs((ranked[-1].value or 0.0) - (ranked[0].value or 0.0)) or None
    blurred = wanted is not None and APART * apart > wanted
    seeds = trial_sd(results, study)
    evidence = ValidationSizeEvidence(
        metric=results.objective.metric,
        trials=len(known),
        sd=sd,
        sd_of_difference=apart,
        resolves=APART * apart,
        wanted=wanted,
        source="best_to_fifth" if detect is None else "detect",
        examples=examples,
        needed=examples_for(examples, APART * apart, wanted)
        if blurred and examples is not None and wanted is not None
        else None,
        optimism=_optimism(results, ranked[0]),
        seeds_matter_more=seeds is not None and seeds > 2 * own_sd(sd),
    )
    verdict: Verdict = "ok"
    if blurred:
        # a larger set would not help where seeds differ by more: repeats do
        wanted_too = detect is not None and not evidence.seeds_matter_more
        verdict = "warn" if wanted_too else "note"
    facts = {"examples": evidence.needed}
    more = Advise("validation_examples", facts) if evidence.needed else None
    actions = (more or Advise("larger_validation_set"), Advise("within_measurement"))
    return Finding.of_study(
        "validation_size", study.label, verdict, evidence, actions if blurred else ()
    )


def _optimism(results: Results, best: Trial) -> float:
    """By how much the best of its evaluations looks better than it is, through measurement alone.

    Neighbouring evaluations of one trial share nearly all of their error.
    """
    curve = best.curves.only(results.objective.metric)
    if results.objective.at != "best" or curve is None or curve.sd is None or len(curve) < 2:
        return 0.0
    sd = np.sqrt(1 - NEIGHBOURS) * np.where(np.isfinite(curve.sd), curve.sd, 0.0)
    values = -results.objective.sign * curve.values
    noise = np.random.default_rng(0x0B5E).standard_normal((_DRAWS, len(values)))
    seen = values + sd * noise
    picked = seen.argmin(axis=1)
    return float((values[picked] - seen.min(axis=1)).mean())
