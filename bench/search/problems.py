"""Which problems and seeds are for building and which are held out: fixed before any result.

Settings of our search are chosen on BUILDING problems with building seeds alone. The tables that
are published are of HELD_OUT problems, with seeds that building never used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from .bounded import BOUNDED
from .diverging import DIVERGING
from .problem import Problem
from .real import real
from .standard import STANDARD

BUILDING = (
    *("momentum_sgd", "adam_warmup", "optimizer_given", "memory_limit"),
    *("lucky_momentum", "noisy_optimizer_given"),
    *("branin", "rosenbrock_4", "hartmann_6"),
    *("hartmann_6_noisy", "rosenbrock_4_noisy", "rastrigin_3", "griewank_5", "michalewicz_5"),
    *("mlp_blood_transfusion", "rnn_gru64", "rpart_6", "rpart_42", "rpart_1457"),
    *(f"ridge_{number}" for number in range(8)),
    *("mlp_blood_depth_0", "mlp_blood_depth_1", "mlp_blood_depth_2"),
    *("mlp_blood_width_3", "mlp_blood_width_9"),
    *("rnn_gru64_short", "resnet_tinyimagenet", "rpart_23381", "rpart_6_noisy", "rpart_42_noisy"),
)
HELD_OUT = (
    *("two_learning_rates", "norm_given", "clipped_recurrent"),
    *("curved_ridge", "transformer_8", "schedule_given"),
    *("six_hump_camel", "hartmann_3_noisy", "ackley_5", "levy_4", "styblinski_tang_5"),
    *("fcnet_naval", "mlp_kc1", "rnn_lstm128", "rnn_vanilla64", "alexnet_imagenet"),
    *("rpart_334", "rpart_1489", "rpart_40978", "rpart_41138", "rpart_41212"),
)
FIRST_SEED = {"building": 0, "held_out": 1000}


@cache
def problems() -> Mapping[str, Problem]:
    """By name; the real ones only after `python -m bench.search prepare`."""
    return {p.name: p for p in (*DIVERGING, *STANDARD, *BOUNDED, *real())}


def chosen(names: Sequence[str]) -> list[Problem]:
    """Those named, or all of `building` or `held_out` that this machine has."""
    known = problems()
    found: dict[str, Problem] = {}
    for name in names:
        group = {"building": BUILDING, "held_out": HELD_OUT}.get(name)
        if group is not None:
            found |= {n: known[n] for n in group if n in known}
        elif name in known:
            found[name] = known[name]
        else:
            raise SystemExit(f"no problem {name!r}. There are {sorted(known)}.")
    return list(found.values())


def seeds(problem: Problem, count: int, start: int = 0) -> list[int]:
    """The seeds of this problem's group; `start` passes over the first ones."""
    first = FIRST_SEED["building" if problem.name in BUILDING else "held_out"]
    return list(range(first + start, first + start + count))
