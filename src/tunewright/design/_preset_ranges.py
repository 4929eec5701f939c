"""The ready search spaces as data: each range, from how many trials it pays, where it comes from.

Sources: the playbook's FAQ on Adam; the search spaces that the AlgoPerf benchmark publishes for its
baselines, and the 27 Adam-family and 5 SGD-family settings it tuned to set its targets; Choi et al.
2019 (arXiv 1910.05446); Shallue et al. 2018 (arXiv 1811.03600). All are places to start: the
boundary check warns when the best trial sits at an edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tunewright.design.ranges import Range, Value, choice, linear, log, log_from_one

NEVER = 2**53  # more trials than any study has


@dataclass(frozen=True)
class Entry:
    """One hyperparameter of a ready space: fixed below a number of trials, searched from it on."""

    name: str  # the playbook's name; the workload's own spelling is put in later
    searched: Range | None
    trials: int  # per study, from which it is searched
    fixed: Value  # until then
    source: str
    optional: bool = False  # only for training programs that are known to take it
    decays: bool = False  # of a learning rate that decays: of no effect while it is constant


_PLAYBOOK = "the playbook's FAQ on Adam"
_TUNED = "AlgoPerf's 27 tuned Adam-family settings"

_ADAM_RATE = Entry(
    "learning_rate",
    log(1e-4, 3e-2),
    1,
    1e-3,
    "AlgoPerf's AdamW and NAdamW baselines search 1e-4 to 1e-2; the tuned settings lie between "
    "2.6e-4 and 5.5e-2, nine of ten below 1.9e-2",
)
_ADAM_BETA1 = Entry(
    "beta1",
    log_from_one(0.5, 0.99),
    10,
    0.9,
    f"from 10 trials on by {_PLAYBOOK}; AlgoPerf's AdamW baseline searches 1 - beta1 from 0.02 to "
    "0.5, the tuned settings have a median of 0.11 and go down to 0.006",
)
_EPSILON = Entry(
    "epsilon",
    log(1e-10, 1e-6),
    25,
    1e-8,
    f"from 25 trials on by {_PLAYBOOK}; above 1e-6 it acts on the learning rate, and learning_rate "
    "/ epsilon would have to be searched instead (Choi et al. 2019)",
)
_DECOUPLED_DECAY = Entry(
    "weight_decay",
    log(5e-3, 1.0),
    25,
    0.05,
    "AlgoPerf's AdamW and NAdamW baselines; the tuned settings have a median of 0.07 and reach "
    "from 5e-4 (tenth percentile) to 0.28, so it takes epsilon's rung of the playbook's ladder",
)
_BETA2 = Entry(
    "beta2",
    log_from_one(0.5, 0.999),
    50,
    0.999,
    f"with many more than 25 trials by {_PLAYBOOK}; {_TUNED} have 1 - beta2 from 0.001 to 0.94, "
    "one in ten above 0.44",
)
_REGULARISERS = (
    Entry("dropout", choice(0.0, 0.1, 0.2), 50, 0.0, "AlgoPerf's baselines search 0 and 0.1", True),
    Entry(
        "label_smoothing",
        choice(0.0, 0.1, 0.2),
        50,
        0.0,
        "AlgoPerf's baselines search 0.1 and 0.2",
        True,
    ),
)
_COSINE = Entry(
    "schedule",
    None,
    NEVER,
    "cosine",
    "AlgoPerf's Adam-family baselines; linear or cosine decay by the playbook's FAQ",
    True,
    decays=True,
)
_END_FACTOR = Entry(
    "end_factor",
    log(1e-4, 1e-1),
    25,
    1e-2,
    "of a linear decay: Shallue et al. 2018 search 1e-4 to 0.1; tuned settings 1e-3 to 1e-2",
    True,
    decays=True,
)
_DECAY_STEPS = Entry(
    "decay_steps_factor",
    linear(0.5, 1.0),
    50,
    0.9,
    "of a linear decay: Shallue et al. 2018 search 0.5 to 1 of the steps; tuned settings 0.86 "
    "to 0.98",
    True,
    decays=True,
)

_MOMENTUM_RATE = Entry(
    "learning_rate",
    log(1e-2, 5.0),
    1,
    0.1,
    "AlgoPerf's Nesterov and heavy-ball baselines search 2e-2 to 5; the tuned settings lie between "
    "0.029 and 4.1",
)
_MOMENTUM = Entry(
    "momentum",
    log_from_one(0.7, 0.995),
    10,
    0.9,
    "AlgoPerf's Nesterov and heavy-ball baselines search 1 - momentum from 0.005 to 0.3; the tuned "
    "settings have 0.016 to 0.073",
)
_L2 = Entry(
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
    Entry("schedule", None, NEVER, "linear", "AlgoPerf's Nesterov baseline", True, decays=True),
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
    replace(_EPSILON, searched=None, trials=NEVER, source="the default of PyTorch"),
    *_REGULARISERS,
    *_ADAM_SCHEDULE,
)

SPACES: dict[str, tuple[Entry, ...]] = {
    "sgd": (_PLAIN_RATE, replace(_L2, trials=10), *_SGD_SCHEDULE, *_REGULARISERS),
    "momentum": _NESTEROV,
    "nesterov": _NESTEROV,
    "adam": _ADAM,
    "adamw": _ADAMW,
    "nadam": tuple(_NADAM_BETA1 if e.name == "beta1" else e for e in _ADAM),
    "nadamw": tuple(_NADAM_BETA1 if e.name == "beta1" else e for e in _ADAMW),
}
