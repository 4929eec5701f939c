"""Batch size and length of training, chosen by probes before the first round, where that pays.

A range or a value that the user gave stays. The rest is probed if the workload allows it and the
campaign is large enough to pay for it; otherwise the reason is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.probe_answers import BATCH_SIZE, SETTLING, TRAIN_STEPS, answer
from tunewright.campaigns.step import Step
from tunewright.design.ranges import Range, Value, is_number
from tunewright.design.round import Round
from tunewright.errors import TunewrightError, WorkloadError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.run import executor_of
from tunewright.execution.workload import Workload
from tunewright.facts import plain
from tunewright.messages import Message
from tunewright.probes.probe import add_answer, as_document
from tunewright.probes.rate_sweep import plan_sweep
from tunewright.probes.starting_point import ByMeaning
from tunewright.probes.throughput.batch_size import batch_size
from tunewright.probes.throughput.size_answer import BatchSizeTerms
from tunewright.probes.throughput.subject import subject_of
from tunewright.probes.throughput.timing import TimingRule
from tunewright.probes.train_steps import train_steps
from tunewright.progress.watcher import Watcher
from tunewright.store.store import Store

WORTH_IT = 100  # trials of a campaign from which a probe of a few dozen short ones pays
QUICK = TimingRule(window_s=0.1, seconds=0.6)  # of each batch size; the command takes its time
LARGEST = 2**14  # examples per step: what fits beyond is of no use to a campaign
WARMUP, CLIP = "warm-up", "clipping"
# in this order, before the first round
FIRST = {BATCH_SIZE: "campaign.probe_batch_size", TRAIN_STEPS: "campaign.probe_train_steps"}
Able = Mapping[str, Message | None]  # what probes could choose or fix -> why not, None if they can


def can(able: Able, what: str) -> bool:
    """Whether a probe can be asked for something that the user left open."""
    return what in able and able[what] is None


def abilities(workload: Workload, space: Round, given: Collection[str]) -> Able:
    """What probes could choose or fix -> why they cannot, None if they can.

    `given` are the names that the user gave a range or a value; a signature's default is no choice.
    """
    meaning = workload.meaning
    middle = ByMeaning(workload, {**workload.accepts.defaults, **_middles(workload, space)})
    found: dict[str, Message | None] = {}
    if meaning.name("batch_size") not in given:
        found[BATCH_SIZE] = _no_batch_size(workload, space)
    if meaning.name("max_train_steps") not in given:
        plan, missing = plan_sweep(
            workload, _centre(workload, space), None, _fixed(workload, space)
        )
        lacks = Message("campaign.probe_lacks", {"missing": plain(missing)})
        found[TRAIN_STEPS] = None if plan is not None and not missing else lacks
    for what, meant in ((WARMUP, "warmup_steps"), (CLIP, "clip_norm")):
        if meaning.name(meant) not in given:
            needs = ("learning_rate", "max_train_steps", meant)
            lacking = next((n for n in needs if not middle.takes(n)), None)
            if lacking is not None:
                facts = {"name": meaning.name(lacking), "meaning": lacking}
                found[what] = Message("campaign.takes_no", facts)
            else:
                gaps = plain(middle.lacks(needs))
                found[what] = Message("campaign.probe_lacks", {"missing": gaps}) if gaps else None
    return found


def skipped(campaign: Campaign) -> Iterator[Message]:
    """What the campaign does not choose or fix by itself, and why."""
    asked = campaign.definition
    for what, why in asked.able.items():
        done = answer(campaign.probes, what) if what in SETTLING else None
        if why is None and what in FIRST and campaign.total < WORTH_IT and done is None:
            facts = {"least": WORTH_IT, "trials": campaign.total}
            why = Message("campaign.pays_from", facts)
        if why is not None:
            yield Message("campaign.skipped", {"what": what, "why": why.to_data()})


def next_probe(campaign: Campaign) -> Step | None:
    """The probe to ask before the first round; None when there is none left."""
    if campaign.rounds or campaign.total < WORTH_IT:
        return None
    for what, code in FIRST.items():
        if can(campaign.definition.able, what) and answer(campaign.probes, what) is None:
            return Step("probe", Message(code), probe=what)
    return None


def settle(workload: Workload, space: Round, what: str, watch: Watcher) -> None:
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
        own = batch_size(
            workload,
            fixed=_beside_batch_size(workload, space),
            terms=BatchSizeTerms(largest=LARGEST, rule=QUICK),
            progress=watch,
        )
        told = as_document(own)
    except WorkloadError as error:  # it cannot be stepped, or fits nowhere: leave it as it is
        failed = Message("probe.failed", {"problems": plain(error.problems)})
        told = {"settings": {}, "message": failed.to_data()}
    with Store.open(workload.store) as store:  # the campaign's own answer, old or new
        add_answer(store, workload, BATCH_SIZE, told)


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
    own = {workload.meaning.name("batch_size"), workload.meaning.name("max_train_steps")}
    return {n: v for n, v in _middles(workload, space).items() if n not in own}


def _centre(workload: Workload, space: Round) -> float | None:
    """The middle of the learning rates that are searched."""
    name = workload.meaning.name("learning_rate")
    declared = space.nuisance.get(name)
    if not isinstance(declared, Range) or declared.choices is not None:
        return None
    middle = declared.value(0.5)
    return float(middle) if is_number(middle) else None  # type: ignore[arg-type]


def _fixed(workload: Workload, space: Round) -> dict[str, Value]:
    """What is fixed, without what the probe itself decides; the middle of other ranges."""
    meaning = workload.meaning
    own = {meaning.name("max_train_steps"), meaning.name("learning_rate"), *meaning.off}
    return {n: v for n, v in _middles(workload, space).items() if n not in own}


def _middles(workload: Workload, space: Round) -> dict[str, Value]:
    """Every hyperparameter: as fixed, or the middle of its range."""
    accepts = workload.accepts
    middles = {n: d.value(0.5) for n, d in space.nuisance.items() if isinstance(d, Range)}
    plain = {n: v for n, v in space.fixed.items() if isinstance(v, bool | int | float | str | None)}
    known = {**plain, **middles}
    return {n: v for n, v in known.items() if n in accepts.names or accepts.takes_anything}
