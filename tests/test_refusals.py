"""Refusals: one table of stable codes, distinct exit codes, both documented."""

from __future__ import annotations

from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli._errors import explain
from tunewright.errors import BudgetSpent, DesignError
from tunewright.finding import Finding
from tunewright.launches.asked import Recorded
from tunewright.messages import is_code
from tunewright.refusals import TABLE, exit_code_of, refusal_of

ROOT = Path(__file__).parent.parent
CODES = {
    "seed_as_idea": 10,
    "steps_tuned": 11,
    "unequal_arms": 12,
    "test_peek": 13,
    "undecided_noise": 14,
    "budget_spent": 15,
}


def test_the_codes_are_stable() -> None:
    assert {one.code: one.exit_code for one in TABLE} == CODES
    assert exit_code_of("test_peek") == 13


def test_every_code_of_a_sentence_exists_and_means_one_refusal() -> None:
    every = [code for one in TABLE for code in one.codes]
    assert len(every) == len(set(every))
    assert all(is_code(code) for code in every), [c for c in every if not is_code(c)]


def test_codes_and_exit_codes_are_documented() -> None:
    for page in ("cli.md", "agents.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for code, number in CODES.items():
            assert f"`{code}`" in text and f"| {number} |" in text, (page, code)


@pytest.mark.parametrize(
    ("nuisance", "code"),
    [
        ({"seed": [1, 2]}, "seed_as_idea"),
        ({"max_train_steps": tw.integers(10, 100)}, "steps_tuned"),
    ],
)
def test_a_design_guard_is_a_refusal(tmp_path: Path, nuisance: dict, code: str) -> None:  # type: ignore[type-arg]
    round = tw.Round("r", goal="?", nuisance=nuisance, trials_per_study=2)
    with pytest.raises(DesignError) as refused:
        tw.open_round(round, tw.minimize("error"), tmp_path / "tuning.db")
    assert refused.value.refusal == refused.value.to_data()["refusal"] == code
    assert explain(refused.value).exit_code == CODES[code]


def test_any_other_error_is_no_refusal() -> None:
    error = DesignError("name.empty", name="")
    assert error.refusal is None and "refusal" not in error.to_data()
    assert explain(error).exit_code == 2
    assert refusal_of([]) is None
    spent = BudgetSpent("budget.spent", over=["trials"], budget={"trials": 2}, spent={"trials": 2})
    assert explain(spent).exit_code == 15


def arm(name: str, *values: float) -> object:
    from tunewright.launches.arm import Arm

    return Arm(name, values, tw.minimize("error"))


def test_a_launch_names_what_keeps_it_undecided() -> None:
    terms = tw.launches.LaunchTerms(plan=5)
    one = arm("a", 0.2, 0.21, 0.19, 0.2, 0.205)
    other = arm("b", 0.3, 0.31, 0.29, 0.3, 0.305)
    unfair = Finding(
        check="fairness", scope="round", about="r", verdict="warn", evidence=Recorded({})
    )
    assert tw.decide(one, other, terms).refusal is None  # type: ignore[arg-type]
    forbidden = tw.decide(one, other, terms, findings=[unfair])  # type: ignore[arg-type]
    assert forbidden.verdict == "undecided" and forbidden.refusal == "unequal_arms"
    few = tw.decide(arm("a", 0.2, 0.21), arm("b", 0.2, 0.22), terms)  # type: ignore[arg-type]
    assert few.verdict == "undecided" and few.refusal == "undecided_noise"
