"""Where a server works: the project of its folder, its store, and what was spent there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunewright.actions import RunTrials
from tunewright.budgets.file import FILE
from tunewright.budgets.gate import spent_error
from tunewright.budgets.state import in_store, state
from tunewright.errors import NotFound
from tunewright.execution.run import load
from tunewright.mcp.answer import Answer
from tunewright.project._project import Project, load as project_of
from tunewright.store.results import Results
from tunewright.store.store import Store


@dataclass(frozen=True)
class Place:
    """The project that the tools work on."""

    project: Project

    @classmethod
    def of(cls, folder: Path) -> Place:
        """The project of a folder, or of the nearest one above it."""
        return cls(project_of(folder))

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.project.folder

    @property
    def store(self) -> str:
        """The address of the project's store."""
        return self.project.store()

    def results(self, round: str) -> Results:
        """A recorded round, with those it continues."""
        try:
            return load(self.store, round)
        except NotFound as error:
            if error.code != "store.not_found":
                raise
            remedy = RunTrials(round) if self.project.round_file(round).exists() else None
            raise NotFound("mcp.nothing_ran", round=round, remedy=remedy) from None

    def refuse_if_spent(self) -> None:
        """Refuse to train where nothing of the budget is left."""
        known = state(self.store, self.folder / FILE)
        if known is not None and known.over:
            raise spent_error(known)

    def with_cost(self, answer: Answer) -> Answer:
        """The answer with what was spent so far, and what is left."""
        known = state(self.store, self.folder / FILE)
        if known is not None:
            return replace(answer, cost=_cost(known.spent), left=known.left)
        try:
            with Store.open(self.store, create=False) as opened:
                return replace(answer, cost=_cost(in_store(opened)))
        except NotFound:
            return replace(answer, cost={"trials": 0, "hours": 0.0})


def _cost(spent: Any) -> dict[str, Any]:
    data = {"trials": spent.trials, "hours": round(spent.hours, 4)}
    return data if spent.money is None else {**data, "money": round(spent.money, 2)}
