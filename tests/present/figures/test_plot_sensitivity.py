from __future__ import annotations

from tests.present.figures.known_rounds import depth, one_study

import tunewright as tw
from tunewright.checks.checklist import check
from tunewright.present.figures.sensitivity import sensitivity, sensitivity_data
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results


def test_the_hyperparameter_that_decides_stands_first() -> None:
    round = tw.Round(
        "r",
        goal="?",
        nuisance={"idle": tw.linear(0, 1), "learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=64,
    )
    made = results(round, World(Bowl({"learning_rate": 0.5}), noise_sd=0.001))
    figure = sensitivity(made)
    (study,) = figure.data.studies
    assert [one.name for one in study.importances] == ["learning_rate", "idle"]
    assert study.importances[0].matters and not study.importances[1].matters
    assert "learning_rate" in figure.says and "decide" in figure.says
    assert figure.png().startswith(b"\x89PNG")


def test_findings_already_made_are_not_asked_for_again() -> None:
    made = depth()
    assert sensitivity_data(made, check(made)) == sensitivity_data(made)
    assert sensitivity_data(made, []).studies == ()


def test_too_few_trials_say_so() -> None:
    figure = sensitivity(one_study([{"valid_error": [0.5]}] * 3))
    assert figure.data.studies == ()
    why = figure.data.reason
    assert why is not None and why.facts == {"feasible": 3, "needed": 10}
    assert why.text in figure.says
    assert figure.png().startswith(b"\x89PNG")
