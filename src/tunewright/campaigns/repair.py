"""Repair on autopilot: unstable training is looked at closely, then warmed up or clipped.

When the findings show that instability holds the best trials down, short runs confirm it and look
for the shortest warm-up that cures it, else for a threshold to clip at (playbook, "How can
optimization failures be debugged and mitigated?"). What they find is fixed from then on, and the
space is explored again with it, up to the learning rate that it makes stable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tunewright.advice.proposal import Proposal
from tunewright.advice.repair import UNSTABLE
from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.probe import CLIP, WARMUP, can
from tunewright.campaigns.probe_answers import REPAIR, answer, message_of
from tunewright.campaigns.round_names import named, together
from tunewright.campaigns.shares import FEWEST
from tunewright.campaigns.step import Step, reason_of
from tunewright.design.ranges import Range, is_number
from tunewright.design.round import Round
from tunewright.errors import WorkloadError
from tunewright.execution.workload import Workload
from tunewright.facts import plain
from tunewright.messages import Message
from tunewright.probes.clip import HALVINGS, SEEDS, clip
from tunewright.probes.probe import Answer, add_answer
from tunewright.probes.stability import FACTORS, STEPS, stability
from tunewright.probes.warmup import TIMES, Warmup, lengths, warmup
from tunewright.progress.watcher import Watcher
from tunewright.store.store import Store

ASKS = {*UNSTABLE, "overfitting"}  # checks whose findings ask for a remedy; the last: training too


def asks_for_remedy(proposal: Proposal) -> bool:
    """Whether a proposal is to look for a remedy against unstable training."""
    return proposal.kind == "repair" and bool(ASKS & set(proposal.because))


def remedy_step(campaign: Campaign, asked: Proposal, free: int) -> Step | None:
    """The probe for a remedy, once, if the workload can take one and the trials reach."""
    able = campaign.definition.able
    if answer(campaign.probes, REPAIR) is not None:
        return None
    remedies = [what for what in (WARMUP, CLIP) if can(able, what)]
    if not remedies:
        return None
    most = most_runs(campaign)
    if most + 2 * FEWEST > free:
        return None
    facts = {"why": reason_of(asked).to_data(), "remedies": remedies, "runs": most}
    reason = Message("campaign.probe_remedy", facts)
    return Step("probe", reason, most, probe=REPAIR)


def repaired_step(campaign: Campaign, trials: int) -> Step | None:
    """The space again with the remedy that was found; None without one, or when it was done."""
    found = answer(campaign.probes, REPAIR)
    if found is None or not found.get("settings"):
        return None
    if campaign.of_kind("repair") or trials < FEWEST:
        return None
    facts = {
        "answer": message_of(found),
        "missing": found.get("missing") or [],
        "settings": dict(found["settings"]),
    }
    reason = Message("campaign.repaired", facts)
    made = _reaching(campaign, found)
    return Step("repair", reason, trials, named(campaign, made, "repair", trials, reason))


def repair(workload: Workload, campaign: Campaign, watch: Watcher) -> None:
    """Look for a remedy at the best trial, and keep what was found in the store."""
    try:
        document = _document(workload, _remedy(workload, campaign, watch))
    except WorkloadError as error:  # a short run failed: the campaign continues without a remedy
        failed = Message("probe.failed", {"problems": plain(error.problems)})
        document = {"probe": REPAIR, "settings": {}, "message": plain(failed), "missing": []}
    with Store.open(workload.store) as store:
        add_answer(store, workload, REPAIR, document)


def _remedy(workload: Workload, campaign: Campaign, watch: Watcher) -> Answer:
    """What stability, then warm-up or clipping, answers about the best trial."""
    best = together(campaign).top(1)[0]
    steps = min(STEPS, _steps(campaign))
    seen = stability(workload, trial=best, steps=steps, progress=watch)
    found: Answer = seen
    if not seen.missing and seen.first_unstable is not None:
        if can(campaign.definition.able, WARMUP):
            found = warmup(workload, trial=best, steps=steps, repeats=0, progress=watch)
        else:
            found = clip(workload, trial=best, steps=steps, progress=watch)
    return found


def most_runs(campaign: Campaign) -> int:
    """How many short runs a remedy takes at most."""
    able, total = campaign.definition.able, _steps(campaign)
    rungs = len(TIMES) * len(lengths(total)) * 2  # two seeds each
    clipped = len(FACTORS) + (HALVINGS + 1) * SEEDS  # stability without clipping, thresholds
    most = len(FACTORS)
    if can(able, WARMUP):
        most += rungs + len(FACTORS)  # ... and stability without the warm-up it has
        return most + clipped + rungs if can(able, CLIP) else most
    return most + clipped


def _document(workload: Workload, found: Answer) -> dict[str, Any]:
    """The answer by the two settings that are taken: the length of training stays as asked for."""
    meaning = workload.meaning
    taken = {meaning.name("warmup_steps"), meaning.name("clip_norm")}
    settings = {n: v for n, v in found.settings.items() if n in taken}
    # the space is searched again anyway
    message = Message(found.message.code, {**found.message.facts, "search_again": None})
    peak = found.base_learning_rate if isinstance(found, Warmup) else None
    return {
        "probe": REPAIR,
        "by": found.probe,
        "settings": settings,
        "message": plain(message),
        "missing": plain(found.missing),
        "learning_rate": meaning.name("learning_rate"),
        "base_learning_rate": peak,
    }


def _reaching(campaign: Campaign, found: Mapping[str, Any]) -> Round:
    """The space with a range of learning rates that reaches up to what is stable now."""
    space, name, peak = campaign.space, found["learning_rate"], found.get("base_learning_rate")
    declared = space.nuisance.get(name)
    if not isinstance(declared, Range) or declared.ends is None or peak is None:
        return space
    if declared.scale != "log" or declared.count is not None:
        return space
    low, high = declared.ends
    wider = None if high >= float(peak) else declared.with_ends(low, float(f"{float(peak):.3g}"))
    if wider is None:
        return space
    return replace(space, nuisance={**space.nuisance, name: wider})


def _steps(campaign: Campaign) -> int:
    name = campaign.rounds[-1].meaning.name("max_train_steps")
    value = campaign.space.fixed.get(name)
    return int(value) if is_number(value) else STEPS  # type: ignore[arg-type]
