"""Should the candidate become the baseline? A pure function of repeats on fresh seeds.

The trial that was found by tuning never counts: it was picked for its luck, and is better than its
own repeats by 0.2 to 2.2 standard deviations. Candidate and baseline are both trained again; the
verdict rests on the probability that the gain exceeds what it costs, against a threshold that is
calibrated so that a change that does nothing is launched in 10 % of decisions about features and
25 % of those about hyperparameters (docs/launch.md has the measured rates).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.launches.arm import Arm
from tunewright.launches.case import Case, plan_for, posterior_of
from tunewright.launches.grounds import claim_of, objections
from tunewright.launches.launch import Launch, Verdict
from tunewright.launches.plan import (
    CLAIMS,
    FEWEST_RUNS,
    FUTILE,
    NOT_WORSE_RATE,
    RATE,
    Claim,
    Plan,
)
from tunewright.launches.reasons import (
    about,
    caveats,
    difference,
    errors,
    fixed_caveats,
    luck,
    percent,
    planning,
    shrunk,
    sureness,
)
from tunewright.stats.gain import NOTHING, History
from tunewright.stats.spread import Spread
from tunewright.store.repeats import Repeats

UNBALANCED = 2.0  # the most runs of one arm over the other


def decide(
    candidate: Repeats | Arm,
    baseline: Repeats | Arm,
    complexity: float = 0.0,
    findings: Iterable[Finding] | None = None,
    not_worse_by: float | None = None,
    sd: float | None = None,
    *,
    claim: Claim | None = None,
    plan: Plan | int | None = None,
    looked: int = 0,
    candidates: int = 1,
    detect: float | None = None,
    history: History | None = None,
    study: Spread | None = None,
    data: Spread | None = None,
    same_data: bool = False,
) -> Launch:
    """Decide whether the candidate is launched, from repeats of both on fresh seeds.

    `complexity` is the gain, in the metric's units, that it takes to be worth its cost.
    `not_worse_by` asks instead whether the candidate (something removed, say) is worse by no more
    than this margin. `findings` of the checklist can forbid the comparison. `sd`, the metric's
    standard deviation between runs if you know it, lets one run each be enough; `history` is the
    same from earlier repeats of the pipeline.

    `claim` is "feature" or "hyperparameters"; by default a feature if the configurations differ in
    a scientific hyperparameter. `plan` says at how many runs per arm one decides, a number or
    several: once at five by default. When other numbers of runs come in, or the pair was `looked`
    at before, the stricter sequential plan applies (3, 5, 8, 13, 20). `candidates` counts the
    rivals of this baseline. `detect` is the smallest difference worth finding, by default the
    round's.

    `study` and `data` add what tuning luck and the finite evaluation data do to the gain: with
    `study` the claim is that the feature helps however it is tuned, without it that this point is
    better. `same_data` says that the program does not take its data split from the seed.
    """
    own, other = (arm if isinstance(arm, Arm) else Arm.of(arm) for arm in (candidate, baseline))
    _refuse(own, other, complexity, not_worse_by, claim, candidates, detect)
    why_claim = "as declared"
    if claim is None:
        claim, why_claim = claim_of(own, other)
    past = History.declared(sd) if sd is not None else history or NOTHING
    posterior, method, apart = posterior_of(own, other, past, same_data)
    spreads = [spread for spread in (study, data) if spread is not None]
    if posterior is not None:
        for spread in spreads:
            posterior = posterior.widened(spread.sd**2, spread.freedom)
    if detect is None and own.round is not None:
        detect = own.round.detect
    asked = {own.asked, other.asked}
    if posterior is not None and method == "paired by split":
        asked = set(posterior.runs)
    chosen, why_plan = plan_for(asked, plan, looked, past)
    case = Case(
        own,
        other,
        claim,
        chosen,
        looked,
        complexity if not_worse_by is None else -not_worse_by,
        not_worse_by is not None,
        detect,
        candidates,
        past,
        posterior,
        method,
    )
    forbidding, limiting = objections(findings or (), claim, own, other)
    forbidding += apart + _unmatched(own, other)
    verdict, deciding, needed = _verdict(case, forbidding)
    reasons = [*deciding, f"the claim is about {about(claim)} ({why_claim})", *luck(spreads)]
    if why_plan:
        reasons.append(why_plan)
    rate = NOT_WORSE_RATE if not_worse_by is not None else RATE[claim]
    reasons.append(errors(case, rate))
    known = posterior is not None
    observed = float(posterior.mean) if posterior is not None else None
    interval = posterior.interval() if posterior is not None else None
    runs = case.runs
    return Launch(
        verdict=verdict,
        probability=case.probability() if known else None,
        gain=observed,
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        reasons=tuple(reasons),
        caveats=tuple([*caveats(case, study), *limiting, *fixed_caveats(own, other)]),
        runs_needed=needed,
        shrunk_gain=None if observed is None else shrunk(observed, runs),
        claim=claim,
        threshold=case.threshold,
        false_launch_rate=rate,
        metric=own.objective.metric,
        complexity=complexity,
        not_worse_by=not_worse_by,
        sd=case.sd if known else None,
        sources=("trial", *(spread.source for spread in spreads)),
        method=method,
        looks=chosen.looks,
        candidate=own.label,
        baseline=other.label,
        candidate_values=own.values,
        baseline_values=other.values,
        history_sd=float(past.sd) if past.weight > 0 else None,
        history_dropped=bool(posterior.conflict) if posterior is not None else False,
    )


def _refuse(
    candidate: Arm,
    baseline: Arm,
    complexity: float,
    not_worse_by: float | None,
    claim: str | None,
    candidates: int,
    detect: float | None,
) -> None:
    if str(candidate.objective) != str(baseline.objective):
        raise DesignError(
            f"the candidate is judged by {candidate.objective}, the baseline by "
            f"{baseline.objective}: judge both alike with results.with_objective(...)."
        )
    if candidate.label == baseline.label and candidate.values == baseline.values:
        raise DesignError(
            f"{candidate.label} is both candidate and baseline: compare it with another."
        )
    if not math.isfinite(complexity) or complexity < 0:
        raise DesignError(
            f"complexity={complexity!r}: the gain it takes to be worth its cost, from 0. Use "
            "not_worse_by= to ask whether something can go."
        )
    if not_worse_by is not None:
        if complexity:
            raise DesignError("complexity= and not_worse_by= are two questions: ask one of them.")
        if not 0 < not_worse_by < math.inf:
            raise DesignError(
                f"not_worse_by={not_worse_by!r}: the loss you would accept, above 0, in units of "
                f"{candidate.objective.metric}."
            )
    if claim is not None and claim not in CLAIMS:
        raise DesignError(f"claim={claim!r}: one of {', '.join(CLAIMS)}.")
    if isinstance(candidates, bool) or candidates < 1:
        raise DesignError(f"candidates={candidates!r}: how many are compared with this baseline.")
    if detect is not None and not 0 < detect < math.inf:
        raise DesignError(f"detect={detect!r}: the smallest difference worth finding, above 0.")


def _unmatched(candidate: Arm, baseline: Arm) -> list[str]:
    if candidate.infeasible <= baseline.infeasible:
        return []
    return [
        f"{candidate.infeasible} of {candidate.asked} repeats of the candidate were infeasible, "
        f"{baseline.infeasible} of {baseline.asked} of the baseline: a mean over the others would "
        "hide it. Repair the instability first"
    ]


def _verdict(case: Case, forbidding: list[str]) -> tuple[Verdict, list[str], int]:
    """The verdict, the reasons that made it, and how many more runs per arm are needed."""
    said = [] if case.posterior is None else [sureness(case), difference(case)]
    if forbidding:
        return "undecided", [*forbidding, *said], 0
    lacking, needed = _lacking(case)
    if lacking:
        return "undecided", [lacking, *said], needed
    if case.probability() >= case.threshold:
        return "launch", said, 0
    if not case.plan.sequential:
        return "keep", said + planning(case), 0
    runs, plan = case.runs, case.plan
    further = plan.next_look(runs)
    if plan.stops_early and runs >= plan.looks[1]:
        worth = case.must_exceed if case.not_worse else case.must_exceed + case.worth
        chance = case.probability(worth)
        if chance <= FUTILE:
            what = f"a gain above {worth:.3g} has a probability of {percent(chance)}"
            what = "so low a probability is" if case.not_worse else f"{what}:"
            return "keep", [said[0], f"{what} not worth more runs", *said[1:]], 0
    if further is not None:
        return "undecided", [*said, f"the next look is at {further} runs per arm"], further - runs
    if len(plan.looks) == 2:
        return "keep", said, 0
    small = f"still open after {runs} runs per arm: the difference is smaller than we can see"
    return "undecided", [small, *said], 0


def _lacking(case: Case) -> tuple[str, int]:
    """What keeps the runs from being judged, and how many more would do."""
    own, other = len(case.candidate.values), len(case.baseline.values)
    fewest, most = min(own, other), max(own, other)
    known = case.history.weight > 0
    enough = 1 if known else FEWEST_RUNS
    which = "candidate" if own < other else "baseline"
    if case.method == "paired by split":
        return "", 0
    if fewest < enough or case.posterior is None:
        wanted = case.plan.next_look(fewest) or FEWEST_RUNS
        arm = which if own != other else "each"
        more = "" if known else "; fewer say nothing about the spread, unless sd= is known"
        return f"{own} + {other} runs: at least {FEWEST_RUNS} of {arm} are needed{more}", max(
            1, wanted - fewest
        )
    if most > UNBALANCED * fewest and not (own == 1 and known):
        return (
            f"{own} runs of the candidate against {other} of the baseline: {most - fewest} more of "
            f"the {which} would balance them",
            most - fewest,
        )
    return "", 0
