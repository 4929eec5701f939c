"""What a decision was derived from, beside the runs: terms, findings, history, earlier looks.

It is recorded with the decision, so that `receipts.verify` derives the verdict again from the runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from tunewright.facts import plain
from tunewright.finding import Evidence, Finding
from tunewright.launches.launch import LaunchTerms, Plan
from tunewright.launches.looks import Decided, Question
from tunewright.messages import message_from
from tunewright.stats.gain import History
from tunewright.stats.spread import Spread
from tunewright.store.plain_json import finite, objective_data

RECORDED = "asked"  # the entry of a recorded decision
_PRESSING = ("warn", "note")  # findings that a decision reads


@dataclass(frozen=True)
class Recorded(Evidence):
    """The evidence of a finding as it was recorded with a decision."""

    facts: Mapping[str, Any]

    def to_data(self) -> dict[str, Any]:
        """The facts as they were recorded."""
        return dict(self.facts)


def question_data(question: Question, decision: Decided, skip: int) -> dict[str, Any]:
    """The question of a decision as plain data, with the runs that were looked at."""
    terms = replace(question.terms, plan=question.plan)
    return {
        "terms": {**terms.to_data(), "plan": asdict(question.plan)},
        "objective": objective_data(decision.candidate.objective),
        "findings": [
            {
                name: finding.to_data()[name]
                for name in ("check", "scope", "about", "verdict", "evidence")
            }
            for finding in question.findings
            if finding.verdict in _PRESSING
        ],
        "looked": question.looked,
        "history": None if question.history is None else finite(asdict(question.history)),
        "study": _spread_data(question.study),
        "data": _spread_data(question.data),
        "runs": [len(decision.candidate), len(decision.baseline)],
        "skip": skip,
    }


def question_from(data: Mapping[str, Any]) -> Question:
    """The question that `asked_data` wrote."""
    known = {field.name for field in fields(LaunchTerms)}
    terms = {name: value for name, value in data["terms"].items() if name in known}
    plan = data["terms"]["plan"]
    return Question(
        LaunchTerms(**{**terms, "plan": Plan(tuple(plan["looks"]), plan["gives_up"])}),
        findings=tuple(_finding(finding) for finding in data["findings"]),
        looked=int(data["looked"]),
        history=None if data["history"] is None else History(**data["history"]),
        study=_spread(data["study"]),
        data=_spread(data["data"]),
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    return Finding(
        check=data["check"],
        scope=data["scope"],
        about=data["about"],
        verdict=data["verdict"],
        evidence=Recorded(data["evidence"]),
    )


def _spread_data(spread: Spread | None) -> Any:
    return None if spread is None else finite(plain(spread))


def _spread(data: Any) -> Spread | None:
    if data is None:
        return None
    freedom = float("inf") if data["freedom"] is None else data["freedom"]
    return Spread(**{**data, "freedom": freedom, "how": message_from(data["how"])})
