"""Probes of a campaign: batch size and length before the first round, repair of unstable training.

A range or a value that the user gave stays. The rest is probed if the workload allows it and the
campaign is large enough to pay for it; otherwise the reason is reported.

When the findings show that instability holds the best trials down, short runs confirm it and look
for the shortest warm-up that cures it, else for a threshold to clip at (playbook, "How can
optimization failures be debugged and mitigated?"). What they find is fixed from then on, and the
space is explored again with it, up to the learning rate that it makes stable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tunewright.advice.compare import UNSTABLE
from tunewright.advice.proposal import Proposal
from tunewright.campaigns.campaign import (
    BATCH_SIZE,
    REPAIR,
    SETTLING,
    TRAIN_STEPS,
    Campaign,
    answer,
    message_of,
)
from tunewright.campaigns.step import FEWEST, Step, reason_of, round_step, together
from tunewright.design.ranges import Range, Value, is_number
from tunewright.design.round import Round
from tunewright.errors import TunewrightError, WorkloadError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.run import executor_of
from tunewright.execution.workload import Workload
from tunewright.facts import plain
from tunewright.messages import Message
from tunewright.probes.clip import HALVINGS, SEEDS, clip
from tunewright.probes.probe import Answer, add_answer, as_document
from tunewright.probes.rate_sweep import plan_sweep
from tunewright.probes.stability import FACTORS, STEPS, stability
from tunewright.probes.starting_point import ByMeaning
from tunewright.probes.throughput.batch_size import batch_size
from tunewright.probes.throughput.size_sweep import BatchSizeTerms
from tunewright.probes.throughput.subject import subject_of
from tunewright.probes.throughput.timing import TimingRule
from tunewright.probes.train_steps import train_steps
from tunewright.probes.warmup import TIMES, Warmup, lengths, warmup
from tunewright.progress.watcher import Watcher
from tunewright.store.store import Store

_WORTH_IT = 100  # trials of a campaign from which a probe of a few dozen short ones pays
_QUICK = TimingRule(window_s=0.1, seconds=0.6)  # of each batch size; the command takes its time
LARGEST = 2**14  # examples per step: what fits beyond is of no use to a campaign
_WARMUP, _CLIP = "warm-up", "clipping"

# in this order, before the first round
_FIRST = {BATCH_SIZE: "campaign.probe_batch_size", TRAIN_STEPS: "campaign.probe_train_steps"}
Able = Mapping[str, Message | None]  # what probes could choose or fix -> why not, None if they can
_ASKS = {*UNSTABLE, "overfitting"}  # checks whose findings ask for a remedy; the last: training too


def can(able: Able, what: str) -> bool:
    """Whether a probe can be asked for something that the user left open."""
    return what in able and able[what] is None


def abilities(workload: Workload, space: Round, given: Collection[str]) -> Able:
    """What probes could choose or fix -> why they cannot, None if they can.

    `given` are the names that the user gave a range or a value; a signature's default is no choice.
    """
    meaning = workload.meaning
    middle = ByMeaning(workload, {**workload.accepts.defaults, **_middles(workload, space)})
    able: dict[str, Message | None] = {}
    if meaning.name("batch_size") not in given:
        able[BATCH_SIZE] = _takes(middle, "batch_size") or _no_batch_size(workload, space)
    if meaning.name("max_train_steps") not in given:
        plan, missing = plan_sweep(
            workload, _centre(workload, space), None, _fixed(workload, space)
        )
        lacks = Message("campaign.probe_lacks", {"missing": plain(missing)})
        unable = None if plan is not None and not missing else lacks
        able[TRAIN_STEPS] = _takes(middle, "learning_rate", "max_train_steps") or unable
    for what, meant in ((_WARMUP, "warmup_steps"), (_CLIP, "clip_norm")):
        if meaning.name(meant) not in given:
            needs = ("learning_rate", "max_train_steps", meant)
            gaps = plain(middle.lacks(needs))
            lacks = Message("campaign.probe_lacks", {"missing": gaps})
            able[what] = _takes(middle, *needs) or (lacks if gaps else None)
    return able


def _takes(start: ByMeaning, *meanings: str) -> Message | None:
    """The first of these that the program does not take, as a reason; None if it takes all."""
    lacking = next((meant for meant in meanings if not start.takes(meant)), None)
    if lacking is None:
        return None
    facts = {"name": start.name(lacking), "meaning": lacking}
    return Message("campaign.takes_no", facts)


def left_alone(campaign: Campaign) -> Iterator[Message]:
    """What the campaign does not choose or fix by itself, once for each reason."""
    reasons: list[tuple[Message, list[str]]] = []
    for what, why in campaign.definition.able.items():
        known_answer = answer(campaign.probes, what) if what in SETTLING else None
        if what in _FIRST and campaign.total < _WORTH_IT and known_answer is None:
            facts = {"least": _WORTH_IT, "trials": campaign.total}
            why = Message("campaign.pays_from", facts)
        if why is None:
            continue
        for reason, same in reasons:
            if reason == why:
                same.append(what)
                break
        else:
            reasons.append((why, [what]))
    for reason, same in reasons:
        yield Message("campaign.skipped", {"what": same, "why": reason.to_data()})


def next_probe(campaign: Campaign) -> Step | None:
    """The probe to ask before the first round; None when there is none left."""
    if campaign.rounds or campaign.total < _WORTH_IT:
        return None
    for what, code in _FIRST.items():
        if can(campaign.definition.able, what) and answer(campaign.probes, what) is None:
            return Step("probe", Message(code), probe=what)
    return None


def ask_probe(workload: Workload, space: Round, what: str, watch: Watcher) -> None:
    """Ask a probe; its answer is kept in the store, and so is why it has none."""
    if what == TRAIN_STEPS:
        train_steps(
            workload,
            learning_rate=_centre(workload, space),
            fixed=_fixed(workload, space),
            progress=watch,
        )
        return
    try:
        size_answer = batch_size(
            workload,
            fixed=_beside_batch_size(workload, space),
            terms=BatchSizeTerms(largest=LARGEST, rule=_QUICK),
            progress=watch,
        )
        document = as_document(size_answer)
    except WorkloadError as error:  # it cannot be stepped, or fits nowhere: leave it as it is
        failed = Message("probe.failed", {"problems": plain(error.problems)})
        document = {"settings": {}, "message": failed.to_data()}
    with Store.open(workload.store) as store:  # the campaign's own answer, old or new
        add_answer(store, workload, BATCH_SIZE, document)


def _no_batch_size(workload: Workload, space: Round) -> Message | None:
    """Why the batch size cannot be probed; None if it can."""
    if not isinstance(executor_of(workload), Local | Inline):
        return Message("campaign.trials_run_elsewhere")
    try:
        subject_of(workload, _beside_batch_size(workload, space))
    except TunewrightError as error:
        return Message("campaign.probe_refused", {"problems": plain(error.problems)})
    return None


def _beside_batch_size(workload: Workload, space: Round) -> dict[str, Value]:
    probed = {workload.meaning.name("batch_size"), workload.meaning.name("max_train_steps")}
    return {n: v for n, v in _middles(workload, space).items() if n not in probed}


def _centre(workload: Workload, space: Round) -> float | None:
    """The middle of the learning rates that are searched."""
    name = workload.meaning.name("learning_rate")
    declared = space.nuisance.get(name)
    if not isinstance(declared, Range) or declared.choices is not None:
        return None
    middle = declared.value(0.5)
    return float(middle) if is_number(middle) else None


def _fixed(workload: Workload, space: Round) -> dict[str, Value]:
    """What is fixed, without what the probe itself decides; the middle of other ranges."""
    meaning = workload.meaning
    decided = {meaning.name("max_train_steps"), meaning.name("learning_rate"), *meaning.off}
    return {n: v for n, v in _middles(workload, space).items() if n not in decided}


def _middles(workload: Workload, space: Round) -> dict[str, Value]:
    """Every hyperparameter: as fixed, or the middle of its range."""
    accepts = workload.accepts
    middles = {n: d.value(0.5) for n, d in space.nuisance.items() if isinstance(d, Range)}
    plain = {n: v for n, v in space.fixed.items() if isinstance(v, bool | int | float | str | None)}
    known = {**plain, **middles}
    return {n: v for n, v in known.items() if n in accepts.names or accepts.takes_anything}


def asks_for_remedy(proposal: Proposal) -> bool:
    """Whether a proposal is to look for a remedy against unstable training."""
    return proposal.kind == "repair" and bool(_ASKS & set(proposal.because))


def remedy_step(campaign: Campaign, proposal: Proposal, free: int) -> Step | None:
    """The probe for a remedy, once, if the workload can take one and the trials reach."""
    able = campaign.definition.able
    if answer(campaign.probes, REPAIR) is not None:
        return None
    remedies = [what for what in (_WARMUP, _CLIP) if can(able, what)]
    if not remedies:
        return None
    most = most_runs(campaign)
    if most + 2 * FEWEST > free:
        return None
    facts = {"why": reason_of(proposal).to_data(), "remedies": remedies, "runs": most}
    reason = Message("campaign.probe_remedy", facts)
    return Step("probe", reason, most, probe=REPAIR)


def step_after_repair(campaign: Campaign, trials: int) -> Step | None:
    """The space again with the remedy that was found; None without one, or when it was done."""
    remedy = answer(campaign.probes, REPAIR)
    if remedy is None or not remedy.get("settings"):
        return None
    if campaign.of_kind("repair") or trials < FEWEST:
        return None
    facts = {
        "answer": message_of(remedy),
        "missing": remedy.get("missing") or [],
        "settings": dict(remedy["settings"]),
    }
    reason = Message("campaign.repaired", facts)
    return round_step(campaign, _reaching(campaign, remedy), "repair", trials, reason)


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
    stability_answer = stability(workload, trial=best, steps=steps, progress=watch)
    remedy: Answer = stability_answer
    if not stability_answer.missing and stability_answer.first_unstable is not None:
        if can(campaign.definition.able, _WARMUP):
            remedy = warmup(workload, trial=best, steps=steps, repeats=0, progress=watch)
        else:
            remedy = clip(workload, trial=best, steps=steps, progress=watch)
    return remedy


def most_runs(campaign: Campaign) -> int:
    """How many short runs a remedy takes at most."""
    able, total = campaign.definition.able, _steps(campaign)
    rungs = len(TIMES) * len(lengths(total)) * 2  # two seeds each
    clipped = len(FACTORS) + (HALVINGS + 1) * SEEDS  # stability without clipping, thresholds
    most = len(FACTORS)
    if can(able, _WARMUP):
        most += rungs + len(FACTORS)  # ... and stability without the warm-up it has
        return most + clipped + rungs if can(able, _CLIP) else most
    return most + clipped


def _document(workload: Workload, remedy: Answer) -> dict[str, Any]:
    """The answer by the two settings that are taken: the length of training stays as asked for."""
    meaning = workload.meaning
    taken = {meaning.name("warmup_steps"), meaning.name("clip_norm")}
    settings = {n: v for n, v in remedy.settings.items() if n in taken}
    # the space is searched again anyway
    message = Message(remedy.message.code, {**remedy.message.facts, "search_again": None})
    peak = remedy.base_learning_rate if isinstance(remedy, Warmup) else None
    return {
        "probe": REPAIR,
        "by": remedy.probe,
        "settings": settings,
        "message": plain(message),
        "missing": plain(remedy.missing),
        "learning_rate": meaning.name("learning_rate"),
        "base_learning_rate": peak,
    }


def _reaching(campaign: Campaign, remedy: Mapping[str, Any]) -> Round:
    """The space with a range of learning rates that reaches up to what is stable now."""
    space, name, peak = campaign.space, remedy["learning_rate"], remedy.get("base_learning_rate")
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
    return int(value) if is_number(value) else STEPS
