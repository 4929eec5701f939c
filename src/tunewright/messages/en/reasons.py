"""Why a trial is infeasible or failed."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "objective.never_logged": "the objective {metric} was never logged",
}
