"""Ready search spaces by optimizer and budget: `tw.presets.space("adamw", trials=30)`.

How many hyperparameters are searched follows the playbook's ladder: with fewer than 10 trials per
study the learning rate alone, from 10 on beta1 (or the momentum) too, from 25 on a third, and from
50 on a fourth. The first configuration is simple: a constant learning rate without warm-up, until
`lr_decay=True` asks for more. `docs/presets.md` shows every range and where it comes from.

Sources: the playbook's FAQ on Adam; the search spaces that the AlgoPerf benchmark publishes for its
baselines, and the 27 Adam-family and 5 SGD-family settings it tuned to set its targets; Choi et al.
2019 (arXiv 1910.05446); Shallue et al. 2018 (arXiv 1811.03600). All are places to start: the
boundary check warns when the best trial sits at an edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.ranges import Range, Value, choice, linear, log, log_from_one, short
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.nearest import nearest

_NEVER = 2**53  # more trials than any study has
_PLAYBOOK = "the playbook's FAQ on Adam"
_TUNED = "AlgoPerf's 27 tuned Adam-family settings"
_REFERENCE_BATCH_SIZE = 256  # what the learning-rate ranges are centred for
_LARGEST_SCALED = 8192  # batch size up to which the learning rate is scaled (Goyal et al. 2017)
_CONSTANT = "constant"  # the playbook's word for a learning rate that does not change
_SIMPLE = "the first configuration is simple: a constant rate before any decay (the playbook)"


@dataclass(frozen=True)
class _Entry:
    """One hyperparameter of a ready space: fixed below a number of trials, searched from it on."""

    name: str  # the playbook's name; the workload's own spelling is put in later
    searched: Range | None
    trials: int  # per study, from which it is searched
    fixed: Value  # until then
    source: str
    optional: bool = False  # only for training programs that are known to take it
    decays: bool = False  # of a learning rate that decays: of no effect while it is constant


_ADAM_RATE = _Entry(
    "learning_rate",
    log(1e-4, 3e-2),
    1,
    1e-3,
    "AlgoPerf's AdamW and NAdamW baselines search 1e-4 to 1e-2; the tuned settings lie between "
    "2.6e-4 and 5.5e-2, nine of ten below 1.9e-2",
)


_ADAM_BETA1 = _Entry(
    "beta1",
    log_from_one(0.5, 0.99),
    10,
    0.9,
    f"from 10 trials on by {_PLAYBOOK}; AlgoPerf's AdamW baseline searches 1 - beta1 from 0.02 to "
    "0.5, the tuned settings have a median of 0.11 and go down to 0.006",
)


_EPSILON = _Entry(
    "epsilon",
    log(1e-10, 1e-6),
    25,
    1e-8,
    f"from 25 trials on by {_PLAYBOOK}; above 1e-6 it acts on the learning rate, and learning_rate "
    "/ epsilon would have to be searched instead (Choi et al. 2019)",
)


_DECOUPLED_DECAY = _Entry(
    "weight_decay",
    log(5e-3, 1.0),
    25,
    0.05,
    "AlgoPerf's AdamW and NAdamW baselines; the tuned settings have a median of 0.07 and reach "
    "from 5e-4 (tenth percentile) to 0.28, so it takes epsilon's rung of the playbook's ladder",
)


_BETA2 = _Entry(
    "beta2",
    log_from_one(0.5, 0.999),
    50,
    0.999,
    f"with many more than 25 trials by {_PLAYBOOK}; {_TUNED} have 1 - beta2 from 0.001 to 0.94, "
    "one in ten above 0.44",
)


_REGULARISERS = (
    _Entry(
        "dropout", choice(0.0, 0.1, 0.2), 50, 0.0, "AlgoPerf's baselines search 0 and 0.1", True
    ),
    _Entry(
        "label_smoothing",
        choice(0.0, 0.1, 0.2),
        50,
        0.0,
        "AlgoPerf's baselines search 0.1 and 0.2",
        True,
    ),
)


_COSINE = _Entry(
    "schedule",
    None,
    _NEVER,
    "cosine",
    "AlgoPerf's Adam-family baselines; linear or cosine decay by the playbook's FAQ",
    True,
    decays=True,
)


_END_FACTOR = _Entry(
    "end_factor",
    log(1e-4, 1e-1),
    25,
    1e-2,
    "of a linear decay: Shallue et al. 2018 search 1e-4 to 0.1; tuned settings 1e-3 to 1e-2",
    True,
    decays=True,
)


_DECAY_STEPS = _Entry(
    "decay_steps_factor",
    linear(0.5, 1.0),
    50,
    0.9,
    "of a linear decay: Shallue et al. 2018 search 0.5 to 1 of the steps; tuned settings 0.86 "
    "to 0.98",
    True,
    decays=True,
)


_MOMENTUM_RATE = _Entry(
    "learning_rate",
    log(1e-2, 5.0),
    1,
    0.1,
    "AlgoPerf's Nesterov and heavy-ball baselines search 2e-2 to 5; the tuned settings lie between "
    "0.029 and 4.1",
)


_MOMENTUM = _Entry(
    "momentum",
    log_from_one(0.7, 0.995),
    10,
    0.9,
    "AlgoPerf's Nesterov and heavy-ball baselines search 1 - momentum from 0.005 to 0.3; the tuned "
    "settings have 0.016 to 0.073",
)


_L2 = _Entry(
    "weight_decay",
    log(1e-7, 1e-3),
    25,
    1e-5,
    "AlgoPerf's Nesterov baseline searches 1e-7 to 5e-5, added to the gradient; the tuned settings "
    "go up to 5.8e-4",
)


_SGD_SCHEDULE = (
    _END_FACTOR,
    _DECAY_STEPS,
    _Entry("schedule", None, _NEVER, "linear", "AlgoPerf's Nesterov baseline", True, decays=True),
)


# by the playbook's FAQ some schedule that is not constant matters, and is tuned: of Adam's too
_ADAM_SCHEDULE = (replace(_END_FACTOR, trials=50), replace(_DECAY_STEPS, trials=75), _COSINE)


_PLAIN_RATE = replace(
    _MOMENTUM_RATE,
    searched=log(1e-2, 10.0),
    source="ours: the momentum range judged by learning_rate / (1 - momentum), which at 0.9 is 0.1 "
    "to 50, moved towards the rates in common use",
)


_ADAM = (_ADAM_RATE, _ADAM_BETA1, _EPSILON, _BETA2, *_REGULARISERS, *_ADAM_SCHEDULE)


_NESTEROV = (_MOMENTUM_RATE, _MOMENTUM, _L2, *_SGD_SCHEDULE, *_REGULARISERS)


_NADAM_BETA1 = replace(
    _ADAM_BETA1,
    searched=log_from_one(0.8, 0.996),
    source=f"from 10 trials on by {_PLAYBOOK}; AlgoPerf's NAdamW baseline searches 1 - beta1 from "
    "0.004 to 0.1",
)


_ADAMW = (
    _ADAM_RATE,
    _ADAM_BETA1,
    _DECOUPLED_DECAY,
    _BETA2,
    replace(_EPSILON, searched=None, trials=_NEVER, source="the default of PyTorch"),
    *_REGULARISERS,
    *_ADAM_SCHEDULE,
)


SPACES: dict[str, tuple[_Entry, ...]] = {
    "sgd": (_PLAIN_RATE, replace(_L2, trials=10), *_SGD_SCHEDULE, *_REGULARISERS),
    "momentum": _NESTEROV,
    "nesterov": _NESTEROV,
    "adam": _ADAM,
    "adamw": _ADAMW,
    "nadam": tuple(_NADAM_BETA1 if e.name == "beta1" else e for e in _ADAM),
    "nadamw": tuple(_NADAM_BETA1 if e.name == "beta1" else e for e in _ADAMW),
}


OPTIMIZERS = tuple(SPACES)


@dataclass(frozen=True)
class Line:
    """One hyperparameter of a ready space, under the training program's own name.

    >>> [line.name for line in space("nesterov", trials=5).lines]
    ['learning_rate', 'momentum', 'weight_decay']
    """

    name: str
    declared: Range | Value  # a range when it is searched, a value when it is fixed
    source: str  # where it comes from
    later: str = ""  # of one that is fixed: where it is searched, and with how many trials

    @property
    def searched(self) -> bool:
        """Whether it is nuisance here, rather than fixed."""
        return isinstance(self.declared, Range)


@dataclass(frozen=True)
class Space:
    """What to search and what to fix for one optimizer and number of trials per study."""

    optimizer: str  # its name
    trials: int  # per study
    lines: tuple[Line, ...]  # one per hyperparameter
    notes: tuple[Message, ...] = ()  # what was left out or bounded, and why

    @property
    def nuisance(self) -> dict[str, Any]:
        """The searched ones, the most important first."""
        return {line.name: line.declared for line in self.lines if line.searched}

    @property
    def fixed(self) -> dict[str, Any]:
        """The others, at their usual values."""
        return {line.name: line.declared for line in self.lines if not line.searched}

    @property
    def roles(self) -> dict[str, dict[str, Any]]:
        """Both, to be put into a round: `Round(..., **space.roles)`."""
        return {"nuisance": self.nuisance, "fixed": self.fixed}


def space(
    name: str,
    trials: int,
    *,
    max_train_steps: int | None = None,
    batch_size: int | None = None,
    takes: Collection[str] | None = None,
    means: Mapping[str, Any] | None = None,
    off: Mapping[str, Value] | None = None,
    overfitting: bool = False,
    lr_decay: bool = False,
) -> Space:
    """The search space for an optimizer when every study gets this many trials.

    Args:
        name: the optimizer.
        trials: per study; more trials allow more hyperparameters to be searched.
        max_train_steps: bounds the warm-up.
        batch_size: the range of the learning rate is centred for it (three decades wide, never a
            substitute for tuning).
        takes: the names that the training program takes; the others are left out.
        means: how the program spells the playbook's names, as in `tw.Workload(means=...)`.
        off: the values that switch features off.
        overfitting: weight decay is searched before beta1.
        lr_decay: a warm-up and a decay of the learning rate in place of a constant one.

    >>> list(space("adam", trials=9).nuisance)
    ['learning_rate']
    >>> print(space("adamw", trials=30).nuisance["weight_decay"])
    log(0.005, 1)
    >>> space("nesterov", trials=5).fixed["momentum"]
    0.9
    """
    if name not in SPACES:
        near = nearest(str(name).lower(), OPTIMIZERS)
        known = list(OPTIMIZERS)
        raise DesignError("preset.unknown_optimizer", name=name, near=near, known=known)
    for what, count in (("trials", trials), ("max_train_steps", max_train_steps)):
        _check_count(what, count, needed=what == "trials")
    _check_count("batch_size", batch_size, needed=False)
    meaning = Meaning(means or {})
    lines: list[Line] = []
    notes: list[Message] = []
    if batch_size is not None and batch_size > _LARGEST_SCALED:
        bounds = {"batch_size": batch_size, "most": _LARGEST_SCALED}
        notes.append(Message("preset.batch_size_bounded", bounds))
    for entry in _entries(name, batch_size, overfitting):
        spelled = meaning.name(entry.name)
        if meaning.absent(entry.name):
            continue
        searched = entry.searched is not None and trials >= entry.trials
        if takes is None and entry.optional:
            continue
        if takes is not None and spelled not in takes:
            if searched and not entry.optional:
                facts = {"name": spelled, "trials": trials}
                notes.append(Message("preset.not_taken", facts))
            continue
        if entry.decays and not lr_decay:
            lines.append(_constant(entry, spelled, off or {}))
            continue
        if entry.name == "schedule":
            constant = (off or {}).get(spelled, (off or {}).get("schedule"))
            value = _decaying(constant, entry.fixed)
            lines.append(Line(spelled, value, entry.source))
            continue
        if searched or entry.searched is None:
            later = ""
        else:
            later = f"searched in {entry.searched} with {entry.trials} trials or more"
        declared = entry.searched if searched else entry.fixed
        lines.append(Line(spelled, declared, entry.source, later))
    given: dict[str, tuple[int, str]] = {}
    if max_train_steps is not None:
        given["warmup_steps"] = _warmup(name, max_train_steps, lr_decay)
        given["max_train_steps"] = (max_train_steps, "as given")
    if batch_size is not None:
        given["batch_size"] = (batch_size, "as given")
    for meant, (count, source) in given.items():
        spelled = meaning.name(meant)
        if spelled in takes if takes is not None else not meaning.absent(meant):
            lines.append(Line(spelled, count, source))
    return Space(name, trials, tuple(lines), tuple(notes))


def _entries(name: str, batch_size: int | None, overfitting: bool) -> Iterator[_Entry]:
    order = {"beta1": 25, "momentum": 25, "weight_decay": 10} if overfitting else {}
    for entry in SPACES[name]:
        if entry.name in order and any(e.name == "weight_decay" for e in SPACES[name]):
            entry = replace(entry, trials=order[entry.name])
        if entry.name == "learning_rate" and batch_size is not None:
            entry = replace(entry, searched=_around_centre(entry.searched, name, batch_size))
        yield entry


def _around_centre(searched: Range | None, name: str, batch_size: int) -> Range:
    """Three decades around the range's centre, moved by the ratio of the batch sizes."""
    assert searched is not None and searched.ends is not None
    # Adam-like updates grow as the root of the batch size, plain gradients linearly
    power = 0.5 if "adam" in name else 1.0
    ratio = (min(batch_size, _LARGEST_SCALED) / _REFERENCE_BATCH_SIZE) ** power
    centre = (searched.ends[0] * searched.ends[1]) ** 0.5 * ratio
    return log(float(f"{centre / 10**1.5:.2g}"), float(f"{centre * 10**1.5:.2g}"))


def _warmup(name: str, max_train_steps: int, lr_decay: bool) -> tuple[int, str]:
    """The steps of warm-up, and where they come from."""
    if not lr_decay:
        return 0, "the first configuration is simple: probe warmup finds out whether it needs one"
    if "adam" in name:
        steps = min(max(round(0.02 * max_train_steps), 100), max_train_steps // 10)
        return steps, "2 % of max_train_steps, at least 100, at most a tenth"
    return round(0.05 * max_train_steps), "5 %, as AlgoPerf's Nesterov baseline"


def _constant(entry: _Entry, spelled: str, off: Mapping[str, Value]) -> Line:
    """What belongs to a decay, while the learning rate is constant."""
    if entry.name == "schedule":
        return Line(spelled, off.get(spelled, off.get("schedule", _CONSTANT)), _SIMPLE)
    later = f"searched in {entry.searched} with a decay, from {entry.trials} trials"
    return Line(spelled, entry.fixed, "of no effect while the rate is constant", later)


def _decaying(off: Value, usual: Value) -> Value:
    """The value that asks for a decay: the usual one, or the opposite of a switch that is off.

    >>> _decaying("False", "cosine"), _decaying(False, "cosine"), _decaying("constant", "cosine")
    ('True', True, 'cosine')
    """
    switches: dict[object, Value] = {"False": "True", "false": "true"}
    if off is False:
        return True
    return switches.get(off, usual) if isinstance(off, str) else usual


def _check_count(what: str, count: Any, needed: bool) -> None:
    if count is None and not needed:
        return
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise DesignError("preset.bad_count", argument=what, count=count)


def table() -> str:
    """Every range and its source as a Markdown table, the one `docs/presets.md` shows.

    >>> table().splitlines()[0].startswith("|")
    True
    """
    optimizers: dict[_Entry, list[str]] = {}
    for name, entries in SPACES.items():
        for entry in entries:
            optimizers.setdefault(entry, []).append(name)
    lines = [
        "| hyperparameter | of | searched | range | otherwise | where from |",
        "|---|---|---|---|---|---|",
    ]
    for e, names in sorted(optimizers.items(), key=lambda item: item[0].name != "learning_rate"):
        hyperparameter = f"{e.name} (where taken)" if e.optional else e.name
        hyperparameter += " with `lr_decay`" if e.decays else ""
        since = "always" if e.trials == 1 else f"from {e.trials} trials"
        cells = [hyperparameter, ", ".join(names), since, f"`{e.searched}`"]
        if e.searched is None:
            cells[2:] = ["never", ""]
        lines.append(f"| {' | '.join([*cells, short(e.fixed), e.source])} |")
    return "\n".join(lines)
