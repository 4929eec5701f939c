"""Every hyperparameter of a round stands in the table once per role and condition."""

from __future__ import annotations

import tunewright as tw
from tunewright.design.study import table_of


def test_roles_ranges_and_conditions() -> None:
    round = tw.Round(
        "r",
        goal="?",
        scientific={"layers": [1, 2]},
        nuisance={
            "lr": tw.log(1e-4, 1e-1),
            "optimizer": tw.given({"adam": {"beta": tw.linear(0, 1)}, "sgd": {}}),
        },
        fixed={"batch_size": 64},
        trials_per_study=4,
    )
    study = round.studies[0]
    table = table_of(study.space, study.fixed, round.scientific)
    assert [row[0] for row in table.rows] == ["layers", "lr", "optimizer", "beta", "batch_size"]
    assert len(table.columns) == 3
    assert "adam" in table.rows[3][2] and "64" in table.rows[4][2]
    assert all(len(row) == 3 for row in table.rows)
