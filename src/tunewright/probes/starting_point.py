"""Where a probe begins: the best configuration known of a workload, and the defaults it has."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from tunewright.design.ranges import Value
from tunewright.errors import DesignError, NotFound
from tunewright.execution.workload import Workload
from tunewright.store.store import Store
from tunewright.store.trial import Trial

PROBE_ROUNDS = "probe_"  # how the names of their short rounds begin


def best_known(workload: Workload) -> Trial | None:
    """The best completed trial that any round of the store has for this workload and objective.

    Rounds of probes do not count: they train with features switched off, or in unstable ways.
    """
    try:
        store = Store.open(workload.store, create=False)
    except NotFound:
        return None
    objective, best = workload.objective, None
    with store:
        for record in store.rounds():
            own = (record.objective.metric, record.objective.minimize, record.command)
            if own != (objective.metric, objective.minimize, workload.name):
                continue
            if record.name.startswith(PROBE_ROUNDS):
                continue
            for trial in store.results(record.name).top(1):
                if best is None or objective.better(trial.value or 0.0, best.value or 0.0):
                    best = trial
    return best


def configuration(
    workload: Workload, known: Trial | None, fixed: Mapping[str, Value]
) -> dict[str, Value]:
    """Every hyperparameter: as fixed by the caller, else as best known, else as by default."""
    accepts = workload.accepts
    for name in fixed:
        if name not in accepts.names and not accepts.takes_anything:
            near = difflib.get_close_matches(name, accepts.names, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" It has {sorted(accepts.names)}."
            raise DesignError("probe.unknown_fixed", name=name, hint=hint)
    recorded = {} if known is None else known.configuration
    taken = {
        name: value
        for name, value in recorded.items()
        if name in accepts.names or accepts.takes_anything
    }
    return {**accepts.defaults, **taken, **fixed}
