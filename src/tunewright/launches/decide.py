"""Should the candidate become the baseline? A pure function of repeats on fresh seeds.

The trial that was found by tuning never counts: it was selected partly for its noise, and beats its
own repeats by 0.2 to 2.2 standard deviations. Candidate and baseline are both trained again; the
verdict rests on the probability that the gain exceeds what it costs, against a threshold that is
calibrated so that a change that does nothing is launched in 10 % of decisions about features and
25 % of those about hyperparameters (docs/launch.md has the measured rates).

A *feature* is whatever a round asked about: its scientific hyperparameters, or new code. Launching
one adds something that has to be kept, so one must be surer. Everything else is a change of
*hyperparameters* only, which costs nothing to launch: the playbook asks for no certainty there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tunewright.checks.fairness import FairnessEvidence
from tunewright.design.ranges import Value, same_value
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.launches.arm import (
    Arm,
    Case,
    of_measurement,
    other_code,
    plan_for,
    posterior_of,
)
from tunewright.launches.launch import (
    FEWEST_RUNS,
    FUTILE,
    MOST_RUNS,
    NOT_WORSE_RATE,
    RATE,
    Claim,
    Launch,
    LaunchTerms,
    Verdict,
    runs_for,
)
from tunewright.messages import Message
from tunewright.stats.gain import NOTHING, History
from tunewright.stats.shrinkage import shrunk
from tunewright.stats.spread import Spread
from tunewright.store.results import Repeats

_SD_RATIO = 3.0  # between the arms: beyond it five skewed runs cannot tell a shift from a spread

# nothing of the round means anything
_FATAL = frozenset({"baseline", "training_bug"})

# the settings were not compared at their best; a point can still be shipped
_UNFAIR = frozenset({"overfitting", "fairness", "boundary", "edge_of_divergence", "applied"})

# the repeats decide, not the trials of the round: what differs between those only limits
LIMITS = frozenset({"same_code"})
_UNBALANCED = 2.0  # the most runs of one arm over the other


def _without_probability(case: Case) -> Message:
    """The difference of two programs without chance."""
    candidate, baseline = case.candidate, case.baseline
    return Message(
        "launch.deterministic",
        {
            "metric": candidate.objective.metric,
            "candidate_mean": candidate.mean,
            "baseline_mean": baseline.mean,
            "gain": case.difference,
            **_gain_terms(case),
        },
    )


def _sureness(case: Case) -> Message:
    """How probable the claim is, and how probable it would have to be."""
    return Message(
        "launch.probability",
        {
            "candidate": case.candidate.label,
            "baseline": case.baseline.label,
            "probability": case.probability(),
            "threshold": case.threshold,
            **_gain_terms(case),
        },
    )


def difference(case: Case) -> Message:
    """Both means, and what to expect of the gain."""
    assert case.posterior is not None
    candidate, baseline = case.candidate, case.baseline
    gain, expected = float(case.posterior.mean), shrunk(case.posterior)
    return Message(
        "launch.difference",
        {
            "metric": candidate.objective.metric,
            "candidate_mean": candidate.mean,
            "candidate_runs": len(candidate.values),
            "baseline_mean": baseline.mean,
            "baseline_runs": len(baseline.values),
            "gain": gain,
            "shrunk_gain": expected.mean,
            "interval": list(expected.interval),
        },
    )


def _planning(case: Case) -> list[Message]:
    """How many runs would find a gain of the size that was declared, or seen."""
    n, sd = case.runs, case.sd
    assert case.posterior is not None
    effect = case.detect or shrunk(case.posterior).mean - case.must_exceed
    if not effect > 0 or not sd > 0:
        return []
    runs = runs_for(effect / sd, case.threshold)
    if runs <= n:
        return []
    if runs > MOST_RUNS:
        return [Message("launch.too_small_to_find", {"gain": effect, "runs": MOST_RUNS})]
    return [Message("launch.runs_to_find", {"gain": effect, "runs": runs})]


def errors(case: Case, rate: float) -> Message:
    """How often this rule launches what should not be."""
    return Message(
        "launch.false_launches",
        {
            **_gain_terms(case),
            "candidates": case.candidates,
            "rate": rate,
            "at_most": case.plan.looks == (1,) or case.must_exceed > 0,
        },
    )


def variance_reasons(spreads: Sequence[Spread]) -> list[Message]:
    """Which variances beside that of the seeds the interval includes."""
    return [
        Message("launch.variance_included", {"source": s.source, "sd": s.sd, "how": s.how})
        for s in spreads
    ]


def too_few_runs(case: Case, arm: str, sd_known: bool) -> Message:
    """Too few runs to judge by."""
    return Message(
        "launch.too_few_runs",
        {**_runs(case), "needed": FEWEST_RUNS, "arm": arm, "sd_known": sd_known},
    )


def imbalance(case: Case, arm: str, more: int) -> Message:
    """One arm has more than twice the runs of the other."""
    return Message("launch.unbalanced", {**_runs(case), "arm": arm, "more": more})


def infeasible_repeats(candidate: Arm, baseline: Arm) -> list[Message]:
    """More repeats of the candidate than of the baseline were infeasible."""
    if candidate.infeasible <= baseline.infeasible:
        return []
    facts = {
        "candidate": candidate.infeasible,
        "candidate_asked": candidate.requested,
        "baseline": baseline.infeasible,
        "baseline_asked": baseline.requested,
    }
    return [Message("launch.infeasible_repeats", facts)]


def caveats(case: Case, study: Spread | None = None) -> list[Message]:
    """What in the runs themselves limits the verdict."""
    candidate, baseline = case.candidate, case.baseline
    limits: list[Message] = []
    if case.claim == "feature" and study is None and not case.not_worse:
        limits.append(Message("launch.only_this_point"))
    if case.plan.looks == (1,):
        limits.append(Message("launch.one_run"))
    elif case.plan.sequential and case.runs not in case.plan.looks:
        facts = {"runs": case.runs, "looks": list(case.plan.looks)}
        limits.append(Message("launch.unplanned_look", facts))
    if case.posterior is not None and bool(case.posterior.conflict):
        limits.append(Message("launch.history_contradicted", {"sd": float(case.history.sd)}))
    if candidate.sd > 0 and baseline.sd > 0:
        ratio = max(candidate.sd, baseline.sd) / min(candidate.sd, baseline.sd)
        if ratio > _SD_RATIO:
            noisy = candidate.label if candidate.sd > baseline.sd else baseline.label
            limits.append(Message("launch.unequal_spread", {"arm": noisy, "ratio": ratio}))
    for arm in (candidate, baseline):
        if arm.identical and arm.alike is not False and not case.exact:
            facts = {"runs": len(arm.values), "arm": arm.label}
            limits.append(Message("launch.same_curves", facts))
        if arm.failed or arm.unfinished:
            lost = {"asked": arm.requested, "failed": arm.failed, "unfinished": arm.unfinished}
            limits.append(Message("launch.lost_runs", {"arm": arm.label, **lost}))
    if baseline.infeasible > candidate.infeasible:
        facts = {"infeasible": baseline.infeasible, "asked": baseline.requested}
        limits.append(Message("launch.baseline_infeasible", facts))
    if other_code(candidate, baseline):
        code = {"candidate": sorted(candidate.code), "baseline": sorted(baseline.code)}
        limits.append(Message("launch.different_code", code))
    return limits


def _fixed_caveats(candidate: Arm, baseline: Arm) -> list[Message]:
    """What the rounds held fixed limits every conclusion."""
    arms = (candidate, baseline)
    rounds = [arm.round for arm in arms if arm.round is not None]
    fixed = dict.fromkeys(f for round in rounds for study in round.studies for f in study.fixed)
    limits: list[Message] = []
    for hyperparameter in fixed:
        if not all(_has(arm, hyperparameter.name, hyperparameter.value) for arm in arms):
            continue  # what the two do not share is what is being compared
        when = [list(condition) for condition in hyperparameter.when]
        caveat = Message(
            "launch.holds_for",
            {"name": hyperparameter.name, "value": hyperparameter.value, "when": when},
        )
        if caveat not in limits:
            limits.append(caveat)
    return limits


def _has(arm: Arm, name: str, value: Value) -> bool:
    """Whether an arm was trained with this value; one without a configuration may have been."""
    configuration = arm.configuration
    return not configuration or (name in configuration and same_value(configuration[name], value))


def _gain_terms(case: Case) -> dict[str, float | None]:
    """What the gain has to exceed, or the margin that it may fall short by."""
    margin = -case.must_exceed if case.not_worse else None
    return {"must_exceed": case.must_exceed, "not_worse_by": margin}


def _runs(case: Case) -> dict[str, int]:
    candidate, baseline = case.candidate, case.baseline
    return {"candidate_runs": len(candidate.values), "baseline_runs": len(baseline.values)}


def differing_names(candidate: Arm, baseline: Arm) -> tuple[str, ...]:
    """The hyperparameters in which the two configurations differ."""
    candidate_values, baseline_values = candidate.configuration, baseline.configuration
    names = dict.fromkeys([*candidate_values, *baseline_values])
    return tuple(
        name
        for name in names
        if name not in candidate_values
        or name not in baseline_values
        or not same_value(candidate_values[name], baseline_values[name])
    )


def claim_of(candidate: Arm, baseline: Arm, declared: Claim | None = None) -> tuple[Claim, Message]:
    """What launching this candidate claims, and why it is taken to be that."""
    if declared is not None:
        return declared, Message("launch.claim_declared", {"claim": declared})
    if other_code(candidate, baseline):
        return "feature", Message("launch.claim_other_code", {"claim": "feature"})
    names = differing_names(candidate, baseline)
    if not names:
        return "feature", Message("launch.claim_unknown_change", {"claim": "feature"})
    scientific = [
        name
        for name in names
        if any(
            arm.round is not None and name in arm.round.scientific for arm in (candidate, baseline)
        )
    ]
    if scientific:
        return "feature", Message(
            "launch.claim_scientific", {"claim": "feature", "names": scientific}
        )
    facts = {"claim": "hyperparameters", "names": list(names)}
    return "hyperparameters", Message("launch.claim_not_asked", facts)


def unlike(candidate: Arm, baseline: Arm, terms: LaunchTerms) -> list[Message]:
    """Why two arms cannot be compared as they are: no seed was used, or not trained as long."""
    reasons: list[Message] = []
    arms = (candidate, baseline)
    if not terms.deterministic and not (candidate.deterministic and baseline.deterministic):
        same = [arm for arm in arms if arm.identical and arm.alike is not False]
        if len(same) == len(arms) or any(arm.alike for arm in same):
            runs = {arm.label: len(arm.values) for arm in same}
            reasons.append(Message("launch.identical_repeats", {"runs": runs}))
    lengths = [arm.steps for arm in arms]
    if None not in lengths and lengths[0] != lengths[1] and not terms.any_length:
        facts = {"candidate": lengths[0], "baseline": lengths[1]}
        reasons.append(Message("launch.different_lengths", facts))
    return reasons


def _objections(
    findings: Iterable[Finding], claim: Claim, candidate: Arm, baseline: Arm
) -> tuple[list[Message], list[Message]]:
    """What forbids the claim, and what only limits it, from the warnings of the checklist."""
    forbidding: list[Message] = []
    limiting: list[Message] = []
    studies = {candidate.study, baseline.study, "all"}
    for finding in findings:
        limiting += _of_batch_size(finding)
        if finding.verdict != "warn":
            continue
        facts = _facts(finding)
        if facts["scope"] == "study" and facts["about"] not in studies:
            continue
        objection = Message("launch.finding", facts)
        if finding.check in _FATAL or (finding.check in _UNFAIR and claim == "feature"):
            forbidding.append(objection)
        elif finding.check in _UNFAIR | LIMITS:
            limiting.append(objection)
    return forbidding, limiting


def _of_batch_size(finding: Finding) -> list[Message]:
    """That the candidate's round keeps values which were tuned for another batch size."""
    seen = finding.evidence
    kept = seen.kept if isinstance(seen, FairnessEvidence) else None
    return [] if kept is None else [kept.message]


def _facts(finding: Finding) -> dict[str, Any]:
    """The facts of a finding that a reason or caveat carries."""
    data = finding.to_data()
    return {name: data[name] for name in ("check", "verdict", "scope", "about", "evidence")}


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

    Where the runs of both arms logged how well they are measured (`tw.Measured`) on one validation
    set, the part of that error which the arms do not share is added to the gain: repeats cannot
    show it. Runs on several data splits show it themselves.

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
    candidate_arm, baseline_arm = (
        arm if isinstance(arm, Arm) else Arm.of(arm) for arm in (candidate, baseline)
    )
    exact = terms.deterministic or (candidate_arm.deterministic and baseline_arm.deterministic)
    _refuse(candidate_arm, baseline_arm)
    claim, why_claim = claim_of(candidate_arm, baseline_arm, terms.claim)
    past = History.from_declaration(terms.sd) if terms.sd is not None else history or NOTHING
    posterior, method, apart = posterior_of(candidate_arm, baseline_arm, past, terms.same_data)
    if data is None and not exact and method != "paired by split":
        data = of_measurement(candidate_arm, baseline_arm)
    spreads = [spread for spread in (study, data) if spread is not None]
    if posterior is not None:
        for spread in spreads:
            posterior = posterior.widen(spread.sd**2, spread.freedom)
    detect = terms.detect
    if detect is None and candidate_arm.round is not None:
        detect = candidate_arm.round.detect
    runs_asked = {candidate_arm.requested, baseline_arm.requested}
    if posterior is not None and method == "paired by split":
        runs_asked = set(posterior.runs)
    chosen, why_plan = plan_for(runs_asked, terms, looked, past)
    margin = terms.not_worse_by
    case = Case(
        candidate=candidate_arm,
        baseline=baseline_arm,
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
    forbidding, limiting = _objections(findings, claim, candidate_arm, baseline_arm)
    forbidding += (
        unlike(candidate_arm, baseline_arm, terms)
        + apart
        + infeasible_repeats(candidate_arm, baseline_arm)
    )
    verdict, deciding, needed = _exactly(case, forbidding) if exact else _verdict(case, forbidding)
    reasons = [*deciding, why_claim, *variance_reasons(spreads)]
    if why_plan is not None:
        reasons.append(why_plan)
    rate = NOT_WORSE_RATE if margin is not None else RATE[claim]
    if not exact:
        reasons.append(errors(case, rate))
    known = posterior is not None and not exact
    expected = shrunk(posterior) if known and posterior is not None else None
    observed = float(posterior.mean) if posterior is not None else None
    if exact and candidate_arm.values and baseline_arm.values:
        observed = case.difference
    interval = posterior.interval() if known and posterior is not None else None
    return Launch(
        verdict=verdict,
        probability=case.probability() if known else None,
        gain=observed,
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        reasons=tuple(reasons),
        caveats=tuple(
            [*caveats(case, study), *limiting, *_fixed_caveats(candidate_arm, baseline_arm)]
        ),
        runs_needed=needed,
        shrunk_gain=expected.mean if expected is not None else observed,
        shrunk_interval=None if expected is None else expected.interval,
        claim=claim,
        threshold=case.threshold,
        false_launch_rate=None if exact else rate,
        deterministic=exact,
        metric=candidate_arm.objective.metric,
        complexity=terms.complexity,
        not_worse_by=margin,
        sd=case.sd if known else None,
        sources=("trial", *(spread.source for spread in spreads)),
        method=method,
        looks=chosen.looks,
        candidate=candidate_arm.label,
        baseline=baseline_arm.label,
        candidate_values=candidate_arm.values,
        baseline_values=baseline_arm.values,
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
    reasons = [] if case.posterior is None else [_sureness(case), difference(case)]
    if forbidding:
        return "undecided", [*forbidding, *reasons], 0
    lacking, needed = _lacking(case)
    if lacking is not None:
        return "undecided", [lacking, *reasons], needed
    if case.probability() >= case.threshold:
        return "launch", reasons, 0
    if not case.plan.sequential:
        return "keep", reasons + _planning(case), 0
    runs, plan = case.runs, case.plan
    further = plan.next_look(runs)
    if plan.stops_early and runs >= plan.looks[1]:
        worth = case.must_exceed if case.not_worse else case.must_exceed + case.worth
        chance = case.probability(worth)
        if chance <= FUTILE:
            facts = {"gain": worth, "probability": chance, "not_worse": case.not_worse}
            return "keep", [reasons[0], Message("launch.futile", facts), *reasons[1:]], 0
    if further is not None:
        follows = Message("launch.next_look", {"runs": further})
        return "undecided", [*reasons, follows], further - runs
    if len(plan.looks) == 2:
        return "keep", reasons, 0
    return "undecided", [Message("launch.too_small", {"runs": runs}), *reasons], 0


def _exactly(case: Case, forbidding: list[Message]) -> tuple[Verdict, list[Message], int]:
    """The verdict on programs without chance: the difference is what it is."""
    varying = [arm for arm in (case.candidate, case.baseline) if arm.sd > 0]
    if varying:
        arms = {arm.label: arm.sd for arm in varying}
        forbidding = [*forbidding, Message("launch.not_deterministic", {"arms": arms})]
    if not case.candidate.values or not case.baseline.values:
        return "undecided", forbidding or [too_few_runs(case, "each", True)], int(not forbidding)
    reasons = [_without_probability(case)]
    if forbidding:
        return "undecided", [*forbidding, *reasons], 0
    return "launch" if case.difference > case.must_exceed else "keep", reasons, 0


def _lacking(case: Case) -> tuple[Message | None, int]:
    """What keeps the runs from being judged, and how many more would do."""
    candidate_runs, baseline_runs = len(case.candidate.values), len(case.baseline.values)
    fewest, most = min(candidate_runs, baseline_runs), max(candidate_runs, baseline_runs)
    known = bool(case.history.weight > 0)
    enough = 1 if known else FEWEST_RUNS
    which = "candidate" if candidate_runs < baseline_runs else "baseline"
    if case.method == "paired by split":
        return None, 0
    if fewest < enough or case.posterior is None:
        wanted = case.plan.next_look(fewest) or FEWEST_RUNS
        arm = which if candidate_runs != baseline_runs else "each"
        return too_few_runs(case, arm, known), max(1, wanted - fewest)
    if not case.sd > 0:  # a coarse metric gave one value in every run: there is no noise to go by
        wanted = case.plan.next_look(fewest) or fewest + FEWEST_RUNS
        return Message("launch.no_spread", {"runs": fewest}), wanted - fewest
    if most > _UNBALANCED * fewest and not (candidate_runs == 1 and known):
        return imbalance(case, which, most - fewest), most - fewest
    return None, 0
