from __future__ import annotations

from dataclasses import replace

from tests.present.figures.known_rounds import codes_of, depth, facts_of, one_study

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
    assert list(facts_of(figure, "figure.sensitivity.study")["matter"]) == ["learning_rate"]
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
    assert facts_of(figure, "figure.sensitivity.nothing") == {"why": why} and figure.empty
    assert figure.png().startswith(b"\x89PNG")


def test_an_adaptive_search_is_weighed_and_the_caption_says_so() -> None:
    round = tw.Round(
        "r",
        goal="?",
        nuisance={"idle": tw.linear(0, 1), "learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=40,
    )
    made = results(round, World(Bowl({"learning_rate": 0.5}), noise_sd=0.001))
    suggested = tuple(replace(trial, search="tpe") for trial in made.recorded)
    adaptive = sensitivity(replace(made, recorded=suggested))
    assert adaptive.data.adaptive == 40
    assert adaptive.data.studies[0].ordered[0] == "learning_rate"
    assert facts_of(adaptive, "figure.sensitivity.adaptive") == {"adaptive": 40}
    assert "figure.sensitivity.adaptive" not in codes_of(sensitivity(made))


def test_conditional_hyperparameters_are_weighed_among_their_trials() -> None:
    nuisance = {
        "optimizer": tw.given(
            {"adam": {"lr": tw.log(1e-5, 1e-2)}, "sgd": {"lr": tw.log(1e-3, 1.0)}}
        )
    }
    round = tw.Round("o", goal="?", nuisance=nuisance, trials_per_study=60)
    surface = Bowl({"optimizer.adam.lr": 0.5, "optimizer.sgd.lr": 0.5})
    figure = sensitivity(results(round, World(surface, noise_sd=0.001)))
    (study,) = figure.data.studies
    assert set(study.conditional) == {"optimizer.adam.lr", "optimizer.sgd.lr"}
    assert set(study.conditional) <= {one.name for one in study.importances}
    assert "figure.sensitivity.conditional" in codes_of(figure)
