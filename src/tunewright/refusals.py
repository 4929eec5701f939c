"""Refusals: the stable codes, and exit codes, of what statistics forbid.

The sentence of a refusal has its own code, which names the place that refuses; several of them mean
one refusal. Scripts and agents read the refusal: it stays the same when sentences change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """One refusal: its exit code, and the codes of sentences that mean it."""

    code: str  # stable: in `--json`, in answers of the MCP server
    exit_code: int  # of a command that ends with it
    codes: tuple[str, ...]  # of errors and of reasons of a launch
    checks: tuple[str, ...] = ()  # of the checklist, whose warning forbids a launch


TABLE = (
    Refusal("seed_as_idea", 10, ("guard.seed",)),
    Refusal(
        "steps_tuned",
        11,
        ("guard.searched_steps", "guard.steps_differ", "launch.different_lengths"),
    ),
    Refusal("unequal_arms", 12, ("launch.unbalanced",), checks=("fairness",)),
    Refusal("test_peek", 13, ("final_test.other_trial",)),
    Refusal("undecided_noise", 14, ("launch.too_small", "launch.too_few_runs", "launch.next_look")),
    Refusal("budget_spent", 15, ("budget.spent", "referee.budget_spent")),
)
_BY_CODE = {code: refusal for refusal in TABLE for code in refusal.codes}
_BY_CHECK = {check: refusal for refusal in TABLE for check in refusal.checks}


def refusal_of(codes: Iterable[str]) -> Refusal | None:
    """The refusal that the first of these codes means; None where none of them means one.

    >>> refusal_of(["guard.unknown_name", "guard.seed"]).code
    'seed_as_idea'
    """
    return next((_BY_CODE[code] for code in codes if code in _BY_CODE), None)


def exit_code_of(code: str) -> int:
    """The exit code of a refusal.

    >>> exit_code_of("budget_spent")
    15
    """
    return next(refusal.exit_code for refusal in TABLE if refusal.code == code)


def refusal_by_check(check: str) -> Refusal | None:
    """The refusal that a warning of this check means, where it forbids a launch."""
    return _BY_CHECK.get(check)
