"""Ask and tell: a user's program asks for trials, trains them, and reports what came of them.

    with open_round(round, minimize("valid_error")) as session:
        while (trial := session.ask()) is not None:
            trial.log(step, valid_error=train(**trial.configuration))
            trial.finish()

Any number of processes may do so at once; each is a worker with its own lease and commits
directly. Under an initialised process group every rank asks, and rank 0 alone reads and writes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, overload

from tunewright.design.names import Meaning, with_guesses
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import DesignError, StoreError, TunewrightError
from tunewright.execution.asked_trial import Asked, rank, shared
from tunewright.execution.session_store import Desk
from tunewright.messages import Message
from tunewright.search.halton import Halton
from tunewright.search.search import Search
from tunewright.store.results import Results
from tunewright.store.trial import Claim

log = logging.getLogger(__name__)


class Session:
    """A round that is open for asking and telling; make one with `open_round`."""

    def __init__(
        self,
        round: Round,
        objective: Objective,
        store: str | Path = "tuning.db",
        search: Search | None = None,
        folder: str | Path | None = None,
        *,
        meaning: Meaning | None = None,
        early_stopping: bool = False,
    ) -> None:
        """Every rank of a process group makes one; rank 0's has the desk."""
        self._objective = objective
        self._meaning = with_guesses(meaning or Meaning(), round.names, (objective.metric,))
        self._desk: Desk | None = None
        self._open: list[Asked] = []
        self._closed = False

        def begin() -> str | None:
            desk = Desk(
                round=round,
                objective=objective,
                meaning=self._meaning,
                store=store,
                search=search or Halton(),
                folder=folder,
                early_stopping=early_stopping,
            )
            self._desk = desk
            return None if desk.root is None else str(desk.root)

        root = shared(begin)
        self._root = None if root is None else Path(root)

    def __enter__(self) -> Session:
        """Use it for a block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it; what is unfinished goes back to pending, after an exception too."""
        self.close()

    def close(self) -> None:
        """Give unfinished trials back and close the store."""
        if self._closed:
            return
        self._closed = True
        try:
            for trial in self._running_trials():
                try:
                    trial.give_up(Message("stopped.session_closed"))
                except StoreError as error:
                    # reclaimed by whoever asks next, since this worker is gone
                    log.warning("trial %s could not be given back: %s", trial.number, error)
        finally:
            if self._desk is not None:
                self._desk.close()

    @overload
    def ask(self) -> Asked | None: ...
    @overload
    def ask(self, count: int) -> list[Asked]: ...
    def ask(self, count: int | None = None) -> Asked | list[Asked] | None:
        """The next trial to train, or None when none is left; with a count, a list of at most it.

        Trials whose owner is gone are given out again.
        """
        self._check_open()
        if count is not None and (isinstance(count, bool) or count < 1):
            raise DesignError("session.bad_count", count=count)
        given: list[dict[str, Any]] = shared(lambda: self._claims(count or 1))
        trials = [self._open_trial(Claim(**claim)) for claim in given]
        if count is not None:
            return trials
        return trials[0] if trials else None

    def add(self, configuration: Mapping[str, Value]) -> Asked:
        """Open a trial for a configuration of your own, under the next free number."""
        self._check_open()
        return self._open_trial(Claim(**shared(lambda: asdict(self._at_desk().add(configuration)))))

    @property
    def notes(self) -> tuple[Message, ...]:
        """How names were read, and what is unwise about the round; rank 0 only."""
        return self._at_desk().advice

    def results(self) -> Results:
        """The round as recorded so far; rank 0 only."""
        self._check_open()
        desk = self._at_desk()
        return desk.store.results(desk.record.name)

    def _claims(self, count: int) -> list[dict[str, Any]]:
        return [asdict(claim) for claim in self._at_desk().claim(count)]

    def _open_trial(self, claim: Claim) -> Asked:
        early = None if self._desk is None else self._desk.early
        trial = Asked(claim, self._objective, self._meaning, self._root, self._commit, early)
        self._open = [*self._running_trials(), trial]
        return trial

    def _commit(self, trial: Asked) -> None:
        if self._desk is not None:
            self._desk.commit(trial.account)

    def _running_trials(self) -> list[Asked]:
        return [trial for trial in self._open if trial.status == "running"]

    def _at_desk(self) -> Desk:
        if self._desk is None:
            raise TunewrightError("session.rank_has_no_store", rank=rank())
        return self._desk

    def _check_open(self) -> None:
        if self._closed:
            raise TunewrightError("session.closed")


def open_round(
    round: Round,
    objective: Objective,
    store: str | Path = "tuning.db",
    search: Search | None = None,
    folder: str | Path | None = None,
    *,
    means: Mapping[str, Any] | None = None,
    off: Mapping[str, Value] | None = None,
    deterministic: bool = False,
    early_stopping: bool = False,
) -> Session:
    """Open a round for asking and telling; it begins, or continues where it stopped.

    Trial folders stand beside the store, or in `folder`; a PostgreSQL store may go without one.
    `means`, `off` and `deterministic` are those of `Workload`: what the round's names mean. What is
    not declared goes by the usual spelling of names, which a note of the round reports.

    Args:
        round: the question.
        objective: how a trial is judged.
        store: a path or a URL; it is created where it does not exist.
        search: suggests configurations; None: `tw.search.Halton()`.
        folder: where trial folders stand; None: next to the store.
        means: name of the playbook -> how this round spells it.
        off: hyperparameter -> the value that switches it off.
        deterministic: whether every seed gives the same value.
        early_stopping: whether `trial.stop_asked` becomes true for trials that cannot win; see
            docs/early_stopping.md.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tw.open_round(rate, tw.minimize("error"), f"{folder}/tuning.db") as session:
    ...         while (trial := session.ask()) is not None:
    ...             trial.log(1, error=trial.configuration["rate"])
    ...             trial.finish()
    ...         [trial.value for trial in session.results().trials]
    [0.1, 0.3]
    """
    meaning = Meaning(means or {}, off or {}, deterministic)
    return Session(
        round, objective, store, search, folder, meaning=meaning, early_stopping=early_stopping
    )
