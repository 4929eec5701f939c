"""Batch size and length of training, settled by probes before the first round, where that is wise.

What somebody gave a range or a value is decided. The rest is probed if the workload allows it and
the campaign is large enough to pay for it; why not is said in a line each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.probe_answers import BATCH_SIZE, SETTLING, TRAIN_STEPS, answer
from tunewright.campaigns.step import Step
from tunewright.design.ranges import Choice, Range, Value, is_number
from tunewright.design.round import Round
from tunewright.errors import TunewrightError, WorkloadError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.run import executor_of
from tunewright.execution.watcher import Watcher
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.by_meaning import ByMeaning
from tunewright.probes.probe import as_document
from tunewright.probes.sweep_plan import plan_sweep
from tunewright.probes.throughput.batch_size import batch_size
from tunewright.probes.throughput.subject import subject_of
from tunewright.probes.throughput.timing import TimingRule
from tunewright.probes.train_steps import train_steps
from tunewright.store.store import Store

WORTH_IT = 100  # trials of a campaign from which a probe of a few dozen short ones pays
QUICK = TimingRule(window_s=0.1, seconds=0.6)  # of each batch size; the command takes its time
LARGEST = 2**14  # examples per step: what fits beyond is of no use to a campaign
WARMUP, CLIP = "warm-up", "clipping"
WHY = {
    BATCH_SIZE: "the batch size was left open: which sizes fit, and how fast is each?",
    TRAIN_STEPS: "how long to train was left open: the steps of the fastest perfect fit",
}
WORDS = {
    BATCH_SIZE: "the batch size is not probed",
    TRAIN_STEPS: "the length of training is not probed",
    WARMUP: "should training be unstable, warm-up is not tried",
    CLIP: "should training be unstable, clipping is not tried",
}


def abilities(workload: Workload, space: Round, given: Collection[str]) -> dict[str, str]:
    """What probes could settle or mend -> why they cannot, empty if they can.

    `given` are the names somebody gave a range or a value; a signature's default is no decision.
    """
    meaning = workload.meaning
    middle = ByMeaning(workload, {**workload.accepts.defaults, **_middles(workload, space)})
    found: dict[str, str] = {}
    if meaning.name("batch_size") not in given:
        found[BATCH_SIZE] = _no_batch_size(workload, space)
    if meaning.name("max_train_steps") not in given:
        plan, missing = plan_sweep(
            workload, _centre(workload, space), None, _fixed(workload, space)
        )
        lacks = "; ".join(one.text for one in missing)
        found[TRAIN_STEPS] = "" if plan is not None and not missing else lacks
    for what, meant in ((WARMUP, "warmup_steps"), (CLIP, "clip_norm")):
        if meaning.name(meant) not in given:
            needs = ("learning_rate", "max_train_steps", meant)
            lacking = next((n for n in needs if not middle.takes(n)), None)
            found[what] = "; ".join(one.text for one in middle.lacks(needs))
            if lacking is not None:
                name = meaning.name(lacking)
                found[what] = f'the program takes no {name} (or means={{"{lacking}": "..."}})'
    return found


def skipped(campaign: Campaign) -> Iterator[str]:
    """What the campaign does not settle or mend by itself, and why, a line each."""
    asked = campaign.definition
    for what, why in asked.able.items():
        done = answer(campaign.probes, what) if what in SETTLING else None
        if why:
            yield f"{WORDS.get(what, what)}: {why.removesuffix('.')}"
        elif what in WHY and campaign.total < WORTH_IT and done is None:
            yield f"{WORDS[what]}: that pays from {WORTH_IT} trials on, of {campaign.total}"


def next_probe(campaign: Campaign) -> Step | None:
    """The probe to ask before the first round; None when all that can be settled is."""
    if campaign.rounds or campaign.total < WORTH_IT:
        return None
    for what, reason in WHY.items():
        if campaign.definition.able.get(what) == "" and answer(campaign.probes, what) is None:
            return Step("probe", reason, probe=what)
    return None


def settle(workload: Workload, space: Round, what: str, watch: Watcher | None) -> None:
    """Ask a probe; its answer is kept in the store, and so is why it has none."""
    if what == TRAIN_STEPS:
        train_steps(
            workload,
            learning_rate=_centre(workload, space),
            fixed=_fixed(workload, space),
            watch=watch,
        )
        return
    say = (lambda line: None) if watch is None else watch.message
    try:
        own = batch_size(
            workload,
            fixed=_beside_batch_size(workload, space),
            largest=LARGEST,
            rule=QUICK,
            say=say,
        )
        document = as_document(own) if own.from_record else None
    except WorkloadError as error:  # it cannot be stepped, or fits nowhere: leave it as it is
        failed = Message("probe.failed", {"error": str(error)})
        document = {"probe": BATCH_SIZE, "settings": {}, "message": failed.to_data()}
    if document is not None:  # what the probe has kept itself is there already
        with Store.open(workload.store) as store:
            store.add_document("probe", None, document)


def _no_batch_size(workload: Workload, space: Round) -> str:
    """Why the batch size cannot be probed; empty if it can."""
    if not isinstance(executor_of(workload), Local | Inline):
        return "trials run elsewhere, and the probe would measure this machine"
    try:
        subject_of(workload, _beside_batch_size(workload, space))
    except TunewrightError as error:
        return str(error)
    return ""


def _beside_batch_size(workload: Workload, space: Round) -> dict[str, Value]:
    own = {workload.meaning.name("batch_size"), workload.meaning.name("max_train_steps")}
    return {n: v for n, v in _middles(workload, space).items() if n not in own}


def _centre(workload: Workload, space: Round) -> float | None:
    """The middle of the learning rates that are searched."""
    name = workload.meaning.name("learning_rate")
    declared = space.nuisance.get(name)
    if not isinstance(declared, Range) or isinstance(declared, Choice):
        return None
    middle = declared.value(0.5)
    return float(middle) if is_number(middle) else None


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
