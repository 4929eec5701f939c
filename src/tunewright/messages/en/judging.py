"""Why a check cannot judge, and what limits a verdict."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "finding.by_chance": "no more than chance explains among {studies} studies",
    "judge.feasible_trials": "{feasible:count feasible trial}; this check needs {needed}",
}
