"""A small store to serve: two settings, infeasible trials, a conditional space, a later round."""

from __future__ import annotations

import asyncio
import json
import math
import struct
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

STEPS = 30
NAME = "width"
LATER = "a/b ?#%"  # every sign that an address gives a meaning to


def train(run: Any, rate: float = 0.01, width: int = 8, **more: Any) -> None:
    for step in run.steps(STEPS):
        off = math.log10(rate) + 2
        loss = math.nan if off > 1.5 and step > 5 else off**2 + 1 / step
        run.log(step, valid_error=0.1 + 0.1 * off**2 + 1 / step + width / 1e4, train_loss=loss)
        if math.isnan(loss):
            raise tw.Infeasible(f"NaN at step {step}")


def a_round(name: str = NAME, trials: int = 6, **more: Any) -> tw.Round:
    told: dict[str, Any] = {
        "goal": "Does a width of 16 help?",
        "scientific": {"width": [8, 16]},
        "nuisance": {
            "rate": tw.log(1e-4, 1.0),
            "kind": tw.given({"sgd": {"momentum": tw.linear(0.0, 0.9)}, "plain": {}}),
        },
        "trials_per_study": trials,
    }
    return tw.Round(name, **{**told, **more})


def workload(store: str, folder: Path | None = None) -> tw.Workload:
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=store,
        executor=tw.executors.Inline(),
        folder=folder,
        means=None,
    )


def fill(store: str, folder: Path | None = None) -> tw.types.Results:
    """Two rounds, the second continues the first, and notes of a user and of our own."""
    results = tw.run(a_round(), workload(store, folder))
    later = a_round(LATER, 2, continues=NAME, scientific={"width": [16]})
    tw.run(later, workload(store, folder))
    tw.stores.note(store, NAME, "<b>the second GPU</b> was slow")
    return results


class Worker:
    """Trials of a round that end one by one, when a test says so."""

    def __init__(self, store: str, declared: tw.Round, points: int = 40) -> None:
        search = tw.search.Halton()
        self.points = points
        self.store = Store.open(store)
        self.record = self.store.begin(
            declared,
            tw.minimize("valid_error"),
            Meaning(),
            search=search.name,
            suggestions=lambda study, count: search.suggest(study, (), count),
        )
        self.worker = self.store.register(self.record.id, "session", exclusive=False)

    def end(self, count: int = 1) -> list[int]:
        """End some trials; their keys."""
        claims = self.store.claim(self.record.id, self.worker, count)
        steps = np.arange(1, self.points + 1)
        for claim in claims:
            curve = claim.number + 1.0 / steps
            self.store.end(
                claim,
                Outcome(
                    "completed", None, batches=[pack({"valid_error": (steps, curve)})], first=0
                ),
            )
        return [claim.trial for claim in claims]

    def close(self) -> None:
        self.store.retire(self.worker)
        self.store.close()


def read_frame(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A binary answer read by its own rules, apart from the code that wrote it."""
    (size,) = struct.unpack("<I", data[:4])
    head = json.loads(data[4 : 4 + size])
    arrays = {}
    for name, own in head["arrays"].items():
        kind = np.dtype(own["type"]).newbyteorder("<")
        count = int(np.prod(own["shape"]))
        start = 4 + size + own["at"]
        assert start % 8 == 0, "typed arrays of a browser want aligned offsets"
        arrays[name] = np.frombuffer(data, kind, count, start).reshape(own["shape"])
    return head, arrays


def run_alone(story: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a thread: the main one may have a loop already, that of a browser."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, story).result()
