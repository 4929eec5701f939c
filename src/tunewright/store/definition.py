"""A round's objective and meanings as plain data, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective


def objective_data(objective: Objective) -> dict[str, Any]:
    """The objective as plain JSON data."""
    return {
        "metric": objective.metric,
        "minimize": objective.minimize,
        "at": objective.at,
        "subject_to": {name: list(limit) for name, limit in objective.subject_to.items()},
    }


def objective_from(data: Mapping[str, Any]) -> Objective:
    """The objective that plain data means."""
    limits = {name: (limit[0], limit[1]) for name, limit in data["subject_to"].items()}
    return Objective(data["metric"], data["minimize"], data["at"], limits)


def meaning_data(meaning: Meaning) -> dict[str, Any]:
    """The meanings as plain JSON data."""
    means = {
        name: list(spelled) if isinstance(spelled, tuple) else spelled
        for name, spelled in meaning.means.items()
    }
    found: dict[str, Any] = {"means": means, "off": dict(meaning.off)}
    return {**found, "deterministic": True} if meaning.deterministic else found


def meaning_from(data: Mapping[str, Any]) -> Meaning:
    """The meanings that plain data means."""
    return Meaning(data["means"], data["off"], data.get("deterministic", False))
