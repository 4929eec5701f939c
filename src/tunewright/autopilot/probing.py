"""How long to train, settled by a probe before the first round, where the workload allows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright.design.round import Round
from tunewright.design.space import Choice, Range, Value, is_number
from tunewright.execution.watcher import Watcher
from tunewright.execution.workload import Workload
from tunewright.probes.sweep_plan import plan_sweep
from tunewright.probes.train_steps import PROBE, train_steps

WORTH_IT = 100  # trials of a campaign from which a probe of a few dozen short ones pays


def can_probe(workload: Workload, space: Round, given: frozenset[str]) -> bool:
    """Whether the number of steps was left open, and the probe knows all it needs to find it.

    `given` are the names somebody gave a range or a value; a signature's default is no decision.
    """
    if workload.meaning.name("max_train_steps") in given:
        return False
    plan, missing = plan_sweep(workload, _centre(workload, space), None, _fixed(workload, space))
    return plan is not None and not missing


def probe_steps(workload: Workload, space: Round, watch: Watcher | None) -> None:
    """Ask the probe; its answer is kept in the store."""
    train_steps(
        workload,
        learning_rate=_centre(workload, space),
        fixed=_fixed(workload, space),
        watch=watch,
    )


def probed(answers: tuple[Mapping[str, Any], ...]) -> Mapping[str, Value] | None:
    """What the newest answer settled; None before there is one."""
    own = [answer for answer in answers if answer.get("probe") == PROBE]
    return dict(own[-1].get("settings") or {}) if own else None


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
    own = {meaning.name("max_train_steps"), meaning.name("learning_rate")}
    fixed = {n: v for n, v in space.fixed.items() if n not in own | set(meaning.off)}
    middles = {
        n: d.value(0.5)
        for n, d in space.nuisance.items()
        if n not in own | set(meaning.off) and isinstance(d, Range)
    }
    return {**fixed, **middles}
