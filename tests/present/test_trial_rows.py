"""One column per hyperparameter, none of them empty, and commands in the last one."""

from __future__ import annotations

from dataclasses import replace

from tests.present.figures.known_rounds import depth, one_study

import tunewright as tw
from tunewright.messages import Message
from tunewright.present.report_parts import trial_rows
from tunewright.testing.worlds import results


def kinds(rows: object) -> list[str]:
    return [column.kind for column in rows.columns]  # type: ignore[attr-defined]


def test_columns_are_the_hyperparameters_of_the_round() -> None:
    rows = trial_rows(depth())
    names = [column.name for column in rows.columns if column.kind == "setting"]
    assert names == ["hidden_layers", "learning_rate", "beta1"]
    for row in rows.rows:
        assert len(row.cells) == len(rows.columns)


def test_no_column_is_empty() -> None:
    made = one_study([{"valid_error": [0.5]}] * 3)
    assert kinds(trial_rows(made)) == ["trial", "value", "best_step", "setting"]
    broken = replace(
        made.recorded[0],
        status="infeasible",
        reason=Message("trial.infeasible", {"text": "why"}),
        command="python train.py",
        seconds=4.0,
    )
    full = trial_rows(replace(made, recorded=(broken, *made.recorded[1:])))
    assert kinds(full) == ["trial", "value", "best_step", "setting", "time", "status", "again"]
    assert full.rows[-1].cells[-1].text == "python train.py"


def test_a_cell_sorts_by_every_digit() -> None:
    made = depth()
    rows = trial_rows(made)
    at = [column.name for column in rows.columns].index("learning_rate")
    best = made.best()
    assert float(rows.rows[0].cells[at].key) == best.configuration["learning_rate"]


def test_a_conditional_hyperparameter_has_one_column_and_gaps() -> None:
    nuisance = {"optimizer": tw.given({"adam": {"beta": tw.linear(0, 1)}, "sgd": {}})}
    round = tw.Round("o", goal="?", nuisance=nuisance, trials_per_study=12)
    rows = trial_rows(results(round, lambda unit: 0.5))
    at = [column.name for column in rows.columns].index("beta")
    texts = [row.cells[at].text for row in rows.rows]
    assert "" in texts and any(texts)
