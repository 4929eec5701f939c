"""What does a campaign do next? A pure function of what is in the store.

The order is the playbook's: probes of batch size and length, the current default, exploration by
quasi-random search (repaired, widened, narrowed and continued as the findings ask), the seed
variance, exploitation by Bayesian search until it saturates, the best trained longer where that was
asked for, repeats of the finalists, the launch decision, the test set. No step uses a trial that is
kept back for a later one, so the budget always reaches to the end.

Exploitation searches around what exploration found best. When its own best trials press against an
end, the end is moved: back to where the campaign has searched already, or further out.

Proposals come from `advice.next_round`, the most urgent first; what one asks for is done as far
as the trials for exploration allow. When nothing asks for more of it, or they are used up,
exploration is over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tunewright.advice.exploit import exploitation, saturation
from tunewright.advice.next_round import next_round
from tunewright.advice.proposal import Proposal
from tunewright.campaigns.campaign import (
    BATCH_SIZE,
    Campaign,
    Contender,
    answer,
    configurations,
    count_untried,
    without_suggestion,
)
from tunewright.campaigns.edges import LEANS, beyond, reaching
from tunewright.campaigns.probe import asks_for_remedy, next_probe, remedy_step, step_after_repair
from tunewright.campaigns.step import FEWEST, Shares, Step, reason_of, round_step, shares, together
from tunewright.campaigns.train_longer import extend_step, longer_default
from tunewright.checks.checklist import check
from tunewright.checks.trial_sd import trial_sd
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.study import budget
from tunewright.facts import plain
from tunewright.launches.decide import decide
from tunewright.launches.launch import FEWEST_RUNS, FIVE_LOOKS, Launch, LaunchTerms
from tunewright.launches.looks import exact_arm
from tunewright.messages import Message
from tunewright.store.results import Repeats, Results

# how often each may be done in one campaign
_MOST_EXPLORATIONS: dict[str, int] = {"widen": 4, "narrow": 1, "regularise": 1, "fix": 1}

# what exploitation gets before it may be called saturated, and never less than the ladder asks for
# in as many dimensions: a lull of a few trials is none
_SATURATES, _SATURATES_FROM = 0.35, 20  # of all trials; trials

# launches of a change that does nothing, by trials, as bench/calibration.py --campaigns measured
_FALSE_LAUNCHES = ((120, 0.25), (60, 0.19), (30, 0.14), (0, 0.14))
_ENOUGH = 5  # repeats of a finalist, when trials are left over


def first_round(campaign: Campaign, trials: int) -> Step:
    """The first quasi-random round, over the whole space."""
    space = campaign.space
    reason = Message("campaign.first_round", {"trials": trials, "names": list(space.nuisance)})
    return round_step(campaign, space, "explore", trials, reason)


def _explore_on(campaign: Campaign, allowance: int, free: int, first: int) -> Step | None:
    """What the findings ask to explore next; None when exploration is over.

    `allowance` trials are left to exploration, `free` to all of the search; a space that was
    repaired is explored anew, with as many as the `first` round had.
    """
    again = step_after_repair(campaign, min(free, first))
    if again is not None:
        return again
    results = together(campaign)
    if not results.top(1):
        return _again(campaign, results, allowance)
    for proposal in next_round(results):
        if proposal.kind == "exploit":
            break
        if asks_for_remedy(proposal):
            step = remedy_step(campaign, proposal, free)
        else:
            step = _as_step(campaign, results, proposal, allowance)
        if step is not None:
            return step
    return None


def _widening(campaign: Campaign) -> Proposal | None:
    """The widening that the findings still ask for."""
    results = together(campaign)
    proposals = next_round(results) if results.top(1) else ()
    return next((p for p in proposals if p.kind == "widen" and p.round is not None), None)


def _as_step(
    campaign: Campaign, results: Results, proposal: Proposal, allowance: int
) -> Step | None:
    """The proposal as a step, if the campaign can and may take it."""
    wanted = proposal.round
    if wanted is None or allowance < FEWEST:
        return None
    if proposal.kind == "more_trials":
        trials_now = results.round.trials_per_study
        more = min(wanted.trials_per_study - trials_now, allowance)
        if wanted.name != results.round.name or more < 1:
            return None
        longer_round = replace(results.round, trials_per_study=trials_now + more)
        return Step("explore", reason_of(proposal), more, longer_round)
    kind = proposal.kind
    if kind not in ("widen", "narrow", "regularise", "fix"):
        return None
    done = len(campaign.of_kind(kind))
    if done >= _MOST_EXPLORATIONS[kind]:
        return None
    if kind == "narrow" and "infeasible" not in proposal.because:
        return None
    # old trials that fit count, so only the difference is run
    known = sum(t.ended for t in results.rows) if kind == "widen" else 0
    trials = min(allowance, max(FEWEST, wanted.trials_per_study - known))
    if kind == "fix" and trials < wanted.trials_per_study // 2:
        return None  # trials with other values of what is fixed would be lost for nothing
    return round_step(campaign, wanted, kind, trials, reason_of(proposal))


def _again(campaign: Campaign, results: Results, allowance: int) -> Step | None:
    """Nothing completed: once more, where trials diverge least, if they diverge at all."""
    ended = [t for t in results.rows if t.ended]
    if allowance < FEWEST or len(campaign.searched) > 1:
        return None
    if not all(t.status == "infeasible" for t in ended):
        return None
    trials_now = results.round.trials_per_study
    more = min(trials_now, allowance)
    longer_round = replace(results.round, trials_per_study=trials_now + more)
    reason = Message("campaign.all_infeasible", {"ended": len(ended), "more": more})
    return Step("explore", reason, more, longer_round)


def next_step(campaign: Campaign) -> Step:
    """The next step of a campaign; of kind "done" when there is none."""
    parts = shares_of(campaign)
    for find in (_finish, _stop_seedless, _begin, _search, _extend, _settle, _launch, _test):
        step = find(campaign, parts)
        if step is not None:
            return step
    return Step("done", _ending(campaign))


def shares_of(campaign: Campaign) -> Shares:
    """How the campaign's trials are shared out."""
    definition = campaign.definition
    has_baseline = definition.incumbent is not None or definition.default is not None
    dimensions = max(len(b.dimensions) for s in definition.space.studies for b in s.branches)
    return shares(
        campaign.total,
        dimensions,
        has_baseline,
        _trains_longer(campaign),
        default=definition.default is not None,
        deterministic=definition.deterministic,
    )


def _trains_longer(campaign: Campaign) -> bool:
    definition = campaign.definition
    return definition.extend is not None or definition.extend_to is not None


def _finish(campaign: Campaign, parts: Shares) -> Step | None:
    del parts
    for results in campaign.rounds:
        if results.unfinished > without_suggestion(results):
            facts = {"left": results.unfinished, "total": results.size}
            reason = Message("campaign.unfinished_trials", facts)
            points = tuple(t.configuration for t in results.rows)
            listed = points if results.search == "listed" else ()
            return Step("finish", reason, 0, results.round, results.search, listed)
    known = [Contender(r, t) for r in campaign.rounds for t in r.rows if r.repeats(t)]
    known += [campaign.incumbent] if campaign.incumbent is not None else []
    for contender in known:
        waiting = [r for r in contender.repeats if not r.ended]
        if waiting:
            place = {"round": contender.place.round, "trial": contender.place.trial}
            reason = Message("campaign.unfinished_repeats", {"left": len(waiting), **place})
            return Step("finish", reason, 0, of=contender.place, times=len(contender.repeats))
    return None


def _stop_seedless(campaign: Campaign, parts: Shares) -> Step | None:
    """Stop where repeats show that the program ignores its seed: nothing after it could decide."""
    del parts
    if campaign.launched is not None or not campaign.seedless:
        return None
    first = campaign.seedless[0]
    facts = {"round": first.round, "trial": first.trial}
    return Step("done", Message("campaign.identical_repeats", facts))


def _begin(campaign: Campaign, parts: Shares) -> Step | None:
    probe = next_probe(campaign)
    if probe is not None:
        return probe
    # what is compared in the end is trained as long: with longer training that is then
    if not campaign.rounds and campaign.left > FEWEST and not _trains_longer(campaign):
        default = campaign.definition.default
        if default is not None:
            return _today(campaign, {**default, **_as_searched(campaign)})
    if not campaign.searched and campaign.left:
        return first_round(campaign, min(campaign.left, parts.first))
    return None


def _as_searched(campaign: Campaign) -> dict[str, Value]:
    """What is fixed for every trial, but the batch size: the current default has its own."""
    sizes = (answer(campaign.probes, BATCH_SIZE) or {}).get("settings") or {}
    return {n: v for n, v in campaign.space.fixed.items() if n not in sizes}


def _today(campaign: Campaign, default: Mapping[str, Value]) -> Step:
    space = campaign.space
    default_round = replace(space, scientific={}, nuisance={}, fixed=dict(default))
    settings = {name: default[name] for name in space.nuisance if name in default}
    reason = Message("campaign.current_default", {"settings": settings})
    launched = campaign.definition.retrained
    if launched is not None:
        place = {"round": launched.round, "trial": launched.trial}
        reason = Message("campaign.retrained_baseline", {**place, "settings": settings})
    return round_step(campaign, default_round, "baseline", 1, reason)


def _search(campaign: Campaign, parts: Shares) -> Step | None:
    """Exploration, the seed variance, then exploitation, as far as trials are not kept back."""
    if not campaign.searched or campaign.extended or _decided(campaign):
        return None
    free = campaign.left - max(0, parts.kept_back - _count_repeats(campaign))
    exploits = campaign.of_kind("exploit")
    known = sum(bool(contender.repeats) for contender in campaign.ranked())
    if exploits and known > 1:
        return None  # the finalists are under way: there is no way back
    if not exploits and not known:
        explored = sum(r.size for r in campaign.searched)
        step = _explore_on(campaign, min(free, parts.explore - explored), free, parts.first)
        if step is not None:
            return step
        best = campaign.ranked()[:1]
        if best and parts.best_runs and campaign.left >= parts.best_runs:
            return _repeat(
                best[0], parts.best_runs, Message("campaign.repeat_best", _facts(best[0]))
            )
    if free < 1 or not campaign.ranked():
        return None
    if len(exploits) in (1, 2) and free >= FEWEST:
        step = _beyond(campaign, free)
        if step is not None:
            return step
    return _exploit(campaign, free, exploits[-1].round if exploits else None)


def _decided(campaign: Campaign) -> bool:
    """Whether the winner was compared with the baseline: there is no way back."""
    return campaign.launched is not None and campaign.launched.baseline is not None


def _extend(campaign: Campaign, parts: Shares) -> Step | None:
    """The best at full length, and the current default beside them."""
    if not _trains_longer(campaign) or not campaign.searched:
        return None
    if not campaign.extended and campaign.default is None and campaign.left > parts.long:
        default = longer_default(campaign)
        if default is not None:
            return _today(campaign, default)
    if len(campaign.repeated()) > 1:
        return None  # the finalists are under way
    return extend_step(campaign, parts)


def _beyond(campaign: Campaign, free: int) -> Step | None:
    """Exploitation moves on where its best trials press against an end of a range."""
    wider = beyond(campaign, together(campaign))
    if wider is None:
        return None
    wide_round, moved = wider
    trials = max(FEWEST, free // 2) if free >= 2 * FEWEST else free
    trials = int(min(trials, count_untried(wide_round, campaign.searched)))
    if trials < 1:
        return None
    ranges = {column: str(range) for column, range in moved.items()}
    reason = Message("campaign.moved_range", {"ranges": ranges})
    step = round_step(campaign, wide_round, "exploit", trials, reason, "bayesian")
    assert step.round is not None
    return replace(step, round=replace(step.round, continues=wide_round.name))


def _exploit(campaign: Campaign, free: int, under_way: Round | None) -> Step | None:
    results = together(campaign)
    if under_way is not None:
        seen = saturation(_with_spread(campaign, results))
        tried = sum(r.size for r in campaign.searched if r.search == "bayesian")
        least = max(budget(study).suggested for study in results.studies)
        enough = tried >= max(_SATURATES_FROM, _SATURATES * campaign.total, least)
        if seen is not None and seen.saturated and enough:
            return None
        more = min(free, max(FEWEST, under_way.trials_per_study // 2))
        more = int(min(more, configurations(under_way) - under_way.trials_per_study))
        if more < 1 or count_untried(under_way, campaign.searched) < 1:
            return None
        bayesian_round = replace(under_way, trials_per_study=under_way.trials_per_study + more)
        gain = None if seen is None else seen.gain
        facts = {"trials": bayesian_round.trials_per_study, "gain": gain}
        reason = Message("campaign.continue_search", facts)
        return Step("exploit", reason, more, bayesian_round, "bayesian")
    wider = _widening(campaign)
    base = wider.round if wider is not None else _around(results)
    if base is None:
        return None
    leans = beyond(campaign, results, LEANS)
    if leans is not None:
        base = reaching(base, leans[1])
    trials = math.ceil(free / 2) if free >= 4 * FEWEST else free
    trials = int(min(trials, count_untried(base, campaign.searched)))
    if trials < 1:
        return None  # every configuration was tried
    why = None if wider is None else reason_of(wider).to_data()
    moved = {} if leans is None else {name: str(range) for name, range in leans[1].items()}
    reason = Message("campaign.search", {"why": why, "trials": trials, "ranges": moved})
    return round_step(campaign, base, "exploit", trials, reason, "bayesian")


def _around(results: Results) -> Round | None:
    """The space to exploit: around the best if it was explored well enough to locate it.

    The best four of ten feasible trials in five dimensions are no evidence: then the whole of it.
    """
    feasible = sum(trial.status == "completed" for trial in results.rows)
    enough = max(budget(study).suggested for study in results.studies)
    narrow_round = exploitation(results, True)
    if narrow_round is None or feasible >= enough:
        return narrow_round
    return replace(narrow_round, nuisance=results.round.nuisance)


def _with_spread(campaign: Campaign, results: Results) -> Results:
    """The results with what matters declared: what was asked for, else the spread of repeats."""
    if results.round.detect is not None:
        return results
    known = (trial_sd(earlier, earlier.studies[0]) for earlier in reversed(campaign.rounds))
    sd = next((spread for spread in known if spread), None)
    return results if sd is None else replace(results, round=replace(results.round, detect=sd))


def _settle(campaign: Campaign, parts: Shares) -> Step | None:
    """Repeats of the finalists, until each has as many as planned."""
    if _decided(campaign):
        return None
    finalists = campaign.finalists(parts.finalists)
    for contender in finalists:
        missing = parts.times - len(contender.repeats)
        if 0 < missing <= campaign.left:
            return _repeat(contender, parts.times, Message("campaign.finalist", _facts(contender)))
    spare = campaign.left - parts.launch
    known = min((len(contender.repeats) for contender in finalists), default=0)
    times = min(_ENOUGH, known + spare // len(finalists)) if finalists else 0
    for contender in finalists:
        if parts.times and len(contender.repeats) < times:
            facts = {**_facts(contender), "runs": times}
            return _repeat(contender, times, Message("campaign.spare_trials", facts))
    return None


def _launch(campaign: Campaign, parts: Shares) -> Step | None:
    winner, baseline = campaign.winner, campaign.baseline
    if winner is None or campaign.launched is not None:
        return None
    if baseline is None:
        reason = Message("campaign.first_baseline", _facts(winner))
        return Step("launch", reason, of=winner.place)
    verdict = verdict_of(campaign)
    assert verdict is not None
    if verdict.runs_needed:
        runs = _runs(campaign)
        wanted = FIVE_LOOKS.next_look(runs) or runs
        arms = sorted(((winner, campaign.chose_by), (baseline, 0)), key=lambda a: len(a[0].repeats))
        cost = sum(max(0, wanted + skip - len(contender.repeats)) for contender, skip in arms)
        if 0 < cost <= campaign.left:
            contender, skip = next(a for a in arms if len(a[0].repeats) < wanted + a[1])
            facts = {"arm": "winner" if contender is winner else "baseline", "runs": wanted}
            return _repeat(contender, wanted + skip, Message("campaign.more_runs", facts))
        if runs < FEWEST_RUNS:
            return None  # too few runs, and no trials left: `done` reports it
    facts = {"verdict": verdict.verdict, "reason": plain(verdict.reasons[0])}
    return Step("launch", Message("campaign.decide", facts), of=winner.place)


def verdict_of(campaign: Campaign) -> Launch | None:
    """The launch decision as the runs stand; None without a winner or a baseline.

    The repeats that chose the winner among the finalists flatter it: only those made after the
    choice count, and as many of the baseline.
    """
    winner, baseline, fresh = campaign.winner, campaign.baseline, campaign.fresh
    if winner is None or baseline is None or fresh is None:
        return None
    findings = check(together(campaign))
    definition = campaign.definition
    if definition.deterministic:
        terms = LaunchTerms(deterministic=True)
        arms = exact_arm(winner.repeats), exact_arm(baseline.repeats)
        return decide(*arms, terms, findings=findings)
    runs = _runs(campaign)
    look = max((n for n in FIVE_LOOKS.looks if n <= runs), default=runs)
    ours, other = (Repeats(a.of, a.trials[:look], a.results) for a in (fresh, baseline.repeats))
    decision = decide(ours, other, LaunchTerms(plan=FIVE_LOOKS), findings=findings)
    return _as_measured(decision, campaign.total)


def _runs(campaign: Campaign) -> int:
    """Runs that count of the arm that has fewer."""
    baseline, fresh = campaign.baseline, campaign.fresh
    assert baseline is not None and fresh is not None
    return min(len(fresh), len(baseline.repeats))


def _as_measured(decision: Launch, trials: int) -> Launch:
    """The decision with the false launch rate that whole campaigns of this size were seen to have.

    A plan that the budget cuts short launches less often than its looks would allow.
    """
    rate = next(rate for least, rate in _FALSE_LAUNCHES if trials >= least)
    stated = Message("campaign.false_launches", {"rate": rate})
    reasons = [stated if r.code == "launch.false_launches" else r for r in decision.reasons]
    return replace(decision, false_launch_rate=rate, reasons=tuple(reasons))


def _test(campaign: Campaign, parts: Shares) -> Step | None:
    del parts
    winner, decided = campaign.winner, campaign.launched
    if winner is None or not campaign.definition.tests or campaign.tested:
        return None
    if decided is None or decided.candidate != winner.place:
        return None  # nothing was decided about it: the test set is spared
    place = winner.place
    reason = Message("campaign.test", {"round": place.round, "trial": place.trial})
    return Step("test", reason, of=place)


def _repeat(contender: Contender, times: int, reason: Message) -> Step:
    return Step("repeat", reason, times - len(contender.repeats), of=contender.place, times=times)


def _count_repeats(campaign: Campaign) -> int:
    made_in_rounds = sum(len(r.recorded_repeats) for r in campaign.rounds)
    incumbent = campaign.incumbent
    before = campaign.definition.incumbent_repeats
    return made_in_rounds + (0 if incumbent is None else max(0, len(incumbent.repeats) - before))


def _facts(contender: Contender) -> dict[str, Any]:
    """A trial and its value, as facts of a sentence."""
    place = {"round": contender.place.round, "trial": contender.place.trial}
    return {"metric": contender.results.objective.metric, "value": contender.trial.value, **place}


def _ending(campaign: Campaign) -> Message:
    winner = campaign.winner
    if winner is None:
        return Message("campaign.none_completed")
    if campaign.launched is None:
        return Message("campaign.too_few_trials")
    if campaign.left:
        return Message("campaign.finished", {"left": campaign.left, "total": campaign.total})
    return Message("campaign.used_up", {"total": campaign.total})
