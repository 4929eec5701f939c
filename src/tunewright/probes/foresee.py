"""Can short runs be judged at all? What is known of it before anything is trained.

A spike or a rise is judged on 60 points of the training loss. Fewer steps than that never suffice;
and an earlier trial of the same program shows how often it logs its loss.
"""

from __future__ import annotations

import numpy as np

from tunewright.errors import NotFound
from tunewright.execution.cadence import EVALUATIONS, period
from tunewright.execution.sources import sources
from tunewright.messages import Message
from tunewright.probes.by_meaning import ByMeaning
from tunewright.stats.spikes import FEWEST
from tunewright.store.store import Store


def foreseen(start: ByMeaning, steps: int) -> tuple[Message, ...]:
    """Why runs of so many steps cannot be judged; empty when they may be."""
    if steps < FEWEST:
        return (Message("probe.too_few_steps", {"steps": steps, "needed": FEWEST}),)
    every = _logged_every(start)
    if every is None or steps // every >= FEWEST:
        return ()
    facts = {
        "metric": start.name("train_loss"),
        "every": every,
        "points": steps // every,
        "steps": steps,
        "needed": FEWEST,
        "needed_steps": every * FEWEST,
    }
    return (Message("probe.logged_too_rarely", facts),)


def _logged_every(start: ByMeaning) -> int | None:
    """Every how many steps today's program logs its training loss; None: not known.

    A loss that was logged where `run.eval_due` asked for it is no evidence: a probe asks for every
    step. Neither does a trial of a program that has changed since.
    """
    known = start.known
    curve = None if known is None else known.curves.only(start.name("train_loss"))
    if known is None or curve is None or len(curve) < 2 or not _same_program(start):
        return None
    every = max(1, round(float(np.median(np.diff(curve.steps)))))
    last = max(int(own.steps[-1]) for own in known.curves.values() if len(own))
    asked = start.workload.eval_every or period(last, EVALUATIONS)
    return None if every == asked else every


def _same_program(start: ByMeaning) -> bool:
    now = sources(start.workload.train)
    try:
        store = Store.open(start.workload.store, create=False)
    except NotFound:
        return False
    with store:
        assert start.known is not None
        origin = store.provenance(start.known.identity)
    return bool(now) and origin is not None and origin.sources == now
