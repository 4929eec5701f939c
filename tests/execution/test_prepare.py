"""A round made ready: completed by defaults, and each trial with the words to do it again."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from tunewright.design.conditions import given
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.command import command
from tunewright.execution.prepare import ready, started, suggestions, with_defaults
from tunewright.execution.workload import Workload
from tunewright.search.halton import Halton


def train(run, learning_rate, optimizer="adam", beta1=0.9, seed=0, loader=dict):
    pass


def test_only_names_the_round_says_nothing_of_are_added():
    asked = Round(
        "r",
        goal="?",
        nuisance={
            "optimizer": given({"adam": {"beta1": [0.9, 0.95]}, "sgd": {}}),
            "learning_rate": log(1e-3, 1.0),
        },
        trials_per_study=2,
    )
    completed = with_defaults(asked, {"optimizer": "adam", "beta1": 0.9, "width": 3})
    assert completed.fixed == {"width": 3}
    assert with_defaults(asked, {"beta1": 0.9}) is asked


def test_defaults_may_be_what_a_round_may_not_say():
    """A seed of the signature is recorded; as a hyperparameter it would be refused."""
    asked = Round("r", goal="?", nuisance={"learning_rate": log(1e-3, 1.0)}, trials_per_study=2)
    completed = ready(asked, Workload(train, minimize("e")), Halton())
    assert completed.fixed == {"optimizer": "adam", "beta1": 0.9, "seed": 0}


def test_completing_a_round_leaves_its_points_alone():
    asked = Round("r", goal="?", nuisance={"learning_rate": log(1e-3, 1.0)}, trials_per_study=4)
    completed = with_defaults(asked, {"width": 3})
    first = suggestions(Halton())
    one, other = (first(each.studies[0], 4) for each in (asked, completed))
    assert [s.unit for s in one] == [s.unit for s in other]
    assert {s.configuration["width"] for s in other} == {3}


def test_what_a_trial_is_started_with():
    here = Path("/trials/t1")
    function = Workload(train, minimize("e"))
    said = started(function, {"learning_rate": 0.1, "optimizer": "adam"}, 7, here)
    assert said.endswith("train(run, learning_rate=0.1, optimizer='adam')  # seed 7")
    line = (
        "train --lr={learning_rate} --beta {beta1} --seed={run.seed} --out={run.folder} "
        "--every={run.eval_every} {config}"
    )
    configuration = {"learning_rate": 0.1, "max_train_steps": 500}
    own = Workload(command(line), minimize("e"))
    assert shlex.split(started(own, configuration, 7, here)) == [
        *("train", "--lr=0.1", "--seed=7", "--out=/trials/t1", "--every=5"),
        "/trials/t1/config.json",
    ]
    rarer = replace(own, eval_every=20)
    assert "--every=20" in started(rarer, configuration, 7, here)
