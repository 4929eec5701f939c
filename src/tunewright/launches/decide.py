"""Should the candidate become the baseline? A pure function of repeats on fresh seeds.

The trial that was found by tuning never counts: it was selected partly for its noise, and beats its
own repeats by 0.2 to 2.2 standard deviations. Candidate and baseline are both trained again; the
verdict rests on the probability that the gain exceeds what it costs, against a threshold that is
calibrated so that a change that does nothing is launched in 10 % of decisions about features and
25 % of those about hyperparameters (docs/launch.md has the measured rates).
"""

from __future__ import annotations

from collections.abc import Iterable

from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.launches.arm import Arm
from tunewright.launches.case import Case, plan_for, posterior_of
from tunewright.launches.grounds import claim_of, objections, unlike
from tunewright.launches.launch import Launch, Verdict
from tunewright.launches.plan import FEWEST_RUNS, FUTILE, NOT_WORSE_RATE, RATE
from tunewright.launches.reasons import (
    caveats,
    difference,
    errors,
    fixed_caveats,
    included,
    infeasible_repeats,
    planning,
    sureness,
    too_few_runs,
    unbalanced,
    without_probability,
)
from tunewright.launches.terms import LaunchTerms
from tunewright.messages import Message
from tunewright.stats.gain import NOTHING, History
from tunewright.stats.shrinkage import shrunk
from tunewright.stats.spread import Spread
from tunewright.store.results import Repeats

_UNBALANCED = 2.0  # the most runs of one arm over the other


def decide(
    candidate: Repeats | Arm,
    baseline: Repeats | Arm,
    terms: LaunchTerms | None = None,
    *,
    findings: Iterable[Finding] = (),
    looked: int = 0,
    history: History | None = None,
    study: Spread | None = None,
    data: Spread | None = None,
) -> Launch:
    """Decide whether the candidate is launched, from repeats of both on fresh seeds.

    `terms` is what is asked: see `LaunchTerms`. Without a plan in them one decides once, at five
    runs each. When other numbers of runs come in, or the pair was `looked` at before, the stricter
    sequential plan applies (3, 5, 8, 13, 20). `findings` of the checklist can forbid the
    comparison. `history` is the standard deviation of earlier repeats of the pipeline.

    `study` and `data` add study and data variance to the gain: with `study` the claim is that the
    feature helps however it is tuned, without it that this point is better.

    Args:
        candidate: repeats of the candidate, or its values as an arm.
        baseline: the same of the baseline.
        terms: what is asked.
        findings: of `tw.check`; some forbid the comparison.
        looked: how many times the pair was looked at before.
        history: the standard deviation of earlier repeats of the pipeline.
        study: the variance between tuning studies.
        data: the variance between samples of the data.

    >>> from tunewright.design.objective import maximize
    >>> deep = Arm("deep", (0.74, 0.75, 0.73, 0.75, 0.74), maximize("accuracy"))
    >>> flat = Arm("flat", (0.70, 0.71, 0.69, 0.70, 0.72), maximize("accuracy"))
    >>> decide(deep, flat, LaunchTerms(complexity=0.01)).headline
    'Launch: better with probability 99.9 %'
    """
    terms = terms or LaunchTerms()
    own, other = (arm if isinstance(arm, Arm) else Arm.of(arm) for arm in (candidate, baseline))
    exact = terms.deterministic or (own.deterministic and other.deterministic)
    _refuse(own, other)
    claim, why_claim = claim_of(own, other, terms.claim)
    past = History.declared(terms.sd) if terms.sd is not None else history or NOTHING
    posterior, method, apart = posterior_of(own, other, past, terms.same_data)
    spreads = [spread for spread in (study, data) if spread is not None]
    if posterior is not None:
        for spread in spreads:
            posterior = posterior.widened(spread.sd**2, spread.freedom)
    detect = terms.detect
    if detect is None and own.round is not None:
        detect = own.round.detect
    asked = {own.asked, other.asked}
    if posterior is not None and method == "paired by split":
        asked = set(posterior.runs)
    chosen, why_plan = plan_for(asked, terms, looked, past)
    margin = terms.not_worse_by
    case = Case(
        candidate=own,
        baseline=other,
        claim=claim,
        plan=chosen,
        looked=looked,
        must_exceed=terms.complexity if margin is None else -margin,
        not_worse=margin is not None,
        detect=detect,
        candidates=terms.candidates or 1,
        history=past,
        posterior=posterior,
        method=method,
        exact=exact,
    )
    forbidding, limiting = objections(findings, claim, own, other)
    forbidding += unlike(own, other, terms) + apart + infeasible_repeats(own, other)
    verdict, deciding, needed = _exactly(case, forbidding) if exact else _verdict(case, forbidding)
    reasons = [*deciding, why_claim, *included(spreads)]
    if why_plan is not None:
        reasons.append(why_plan)
    rate = NOT_WORSE_RATE if margin is not None else RATE[claim]
    if not exact:
        reasons.append(errors(case, rate))
    known = posterior is not None and not exact
    expected = shrunk(posterior) if known and posterior is not None else None
    observed = float(posterior.mean) if posterior is not None else None
    if exact and own.values and other.values:
        observed = case.difference
    interval = posterior.interval() if known and posterior is not None else None
    return Launch(
        verdict=verdict,
        probability=case.probability() if known else None,
        gain=observed,
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        reasons=tuple(reasons),
        caveats=tuple([*caveats(case, study), *limiting, *fixed_caveats(own, other)]),
        runs_needed=needed,
        shrunk_gain=expected.mean if expected is not None else observed,
        shrunk_interval=None if expected is None else expected.interval,
        claim=claim,
        threshold=case.threshold,
        false_launch_rate=None if exact else rate,
        deterministic=exact,
        metric=own.objective.metric,
        complexity=terms.complexity,
        not_worse_by=margin,
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


def _refuse(candidate: Arm, baseline: Arm) -> None:
    if str(candidate.objective) != str(baseline.objective):
        raise DesignError(
            "launch.objectives_differ", candidate=candidate.objective, baseline=baseline.objective
        )
    if candidate.label == baseline.label and candidate.values == baseline.values:
        raise DesignError("launch.candidate_is_baseline", label=candidate.label)


def _verdict(case: Case, forbidding: list[Message]) -> tuple[Verdict, list[Message], int]:
    """The verdict, the reasons that made it, and how many more runs per arm are needed."""
    said = [] if case.posterior is None else [sureness(case), difference(case)]
    if forbidding:
        return "undecided", [*forbidding, *said], 0
    lacking, needed = _lacking(case)
    if lacking is not None:
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
            facts = {"gain": worth, "probability": chance, "not_worse": case.not_worse}
            return "keep", [said[0], Message("launch.futile", facts), *said[1:]], 0
    if further is not None:
        follows = Message("launch.next_look", {"runs": further})
        return "undecided", [*said, follows], further - runs
    if len(plan.looks) == 2:
        return "keep", said, 0
    return "undecided", [Message("launch.too_small", {"runs": runs}), *said], 0


def _exactly(case: Case, forbidding: list[Message]) -> tuple[Verdict, list[Message], int]:
    """The verdict on programs without chance: the difference is what it is."""
    varying = [arm for arm in (case.candidate, case.baseline) if arm.sd > 0]
    if varying:
        arms = {arm.label: arm.sd for arm in varying}
        forbidding = [*forbidding, Message("launch.not_deterministic", {"arms": arms})]
    if not case.candidate.values or not case.baseline.values:
        return "undecided", forbidding or [too_few_runs(case, "each", True)], int(not forbidding)
    said = [without_probability(case)]
    if forbidding:
        return "undecided", [*forbidding, *said], 0
    return "launch" if case.difference > case.must_exceed else "keep", said, 0


def _lacking(case: Case) -> tuple[Message | None, int]:
    """What keeps the runs from being judged, and how many more would do."""
    own, other = len(case.candidate.values), len(case.baseline.values)
    fewest, most = min(own, other), max(own, other)
    known = bool(case.history.weight > 0)
    enough = 1 if known else FEWEST_RUNS
    which = "candidate" if own < other else "baseline"
    if case.method == "paired by split":
        return None, 0
    if fewest < enough or case.posterior is None:
        wanted = case.plan.next_look(fewest) or FEWEST_RUNS
        arm = which if own != other else "each"
        return too_few_runs(case, arm, known), max(1, wanted - fewest)
    if not case.sd > 0:  # a coarse metric gave one value in every run: there is no noise to go by
        wanted = case.plan.next_look(fewest) or fewest + FEWEST_RUNS
        return Message("launch.no_spread", {"runs": fewest}), wanted - fewest
    if most > _UNBALANCED * fewest and not (own == 1 and known):
        return unbalanced(case, which, most - fewest), most - fewest
    return None, 0
