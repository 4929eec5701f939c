"""What a batch-size probe has measured already: it resumes, and asked again it costs nothing.

Answers and the rows on the way to them are in the store under the workload that was measured. They
hold as long as everything that was measured is the same; otherwise the changes are reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tunewright.messages import Message
from tunewright.probes.throughput.identity import differences
from tunewright.probes.throughput.size_row import SizeRow, as_data, from_data
from tunewright.store.store import Store

ROW = "batch_size_row"
ANSWER = "batch_size"


def has_answer(store: str | Path | None, subject: str) -> bool:
    """Whether a store has an answer about a subject, out of date or not."""
    if store is None:
        return False
    with Store.open(store) as opened:
        return bool(opened.probes(subject, name=ANSWER))


class KeptRows:
    """The rows and answers of one subject in a store; without a store, of this call alone."""

    def __init__(
        self,
        store: str | Path | None,
        subject: str,
        identity: Mapping[str, str],
        asked: Mapping[str, Any],
    ) -> None:
        """Read what was measured of this subject."""
        self._store, self._subject = store, subject
        self._identity, self._asked = dict(identity), dict(asked)
        self._rows: dict[tuple[int, int], SizeRow] = {}
        self.changed: tuple[Message, ...] = ()  # since the newest answer
        self.answer: Mapping[str, Any] | None = None  # the newest, if nothing has changed
        if store is None:
            return
        with Store.open(store) as opened:
            rows = [one.answer for one in opened.probes(subject, name=ROW)]
            answers = [one.answer for one in opened.probes(subject, name=ANSWER)]
        for told in rows:
            if told["key"] == self._key:
                self._rows[told["row"]["batch_size"], told["turn"]] = from_data(told["row"])
        # a row that holds only that nothing could be measured has no identity
        self._compare([told for told in answers if "identity" in told])

    def _compare(self, answers: list[Mapping[str, Any]]) -> None:
        if not answers:
            return
        newest = answers[-1]
        self.changed = tuple(differences(newest["identity"], self._identity))
        same = [told for told in answers if told.get("key") == self.key]
        self.answer = same[-1] if same else None

    @property
    def key(self) -> str:
        """What an answer is an answer to: what was measured, and how it was asked."""
        return self._digest([self._identity, self._asked])

    @property
    def _key(self) -> str:
        """What a row is good for: how far the sizes go does not matter to it."""
        return self._digest([self._identity, self._asked.get("rule")])

    def _digest(self, parts: list[Any]) -> str:
        text = json.dumps([self._subject, *parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def get(self, batch_size: int, turn: int) -> SizeRow | None:
        """The row of a size, if it was measured: the first time (0) or again (1)."""
        return self._rows.get((batch_size, turn))

    def add(self, row: SizeRow, turn: int) -> None:
        """Keep a row at once."""
        self._rows[row.batch_size, turn] = row
        if self._store is not None:
            self._write(ROW, {"key": self._key, "turn": turn, "row": as_data(row)})

    def conclude(self, document: Mapping[str, Any]) -> None:
        """Keep an answer."""
        if self._store is not None:
            self._write(ANSWER, {**document, "subject": self._subject, "key": self.key})

    def _write(self, name: str, told: Mapping[str, Any]) -> None:
        assert self._store is not None
        with Store.open(self._store) as opened:
            opened.add_probe(name, self._subject, told)
