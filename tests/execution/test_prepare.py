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
from tunewright.execution.executors.inline import Inline
from tunewright.execution.prepare import advice, command_line, ready, with_defaults
from tunewright.execution.run import load, run
from tunewright.execution.suggest import suggestions
from tunewright.execution.workload import Workload
from tunewright.search.halton import Halton
from tunewright.store.store import Store


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
    said = command_line(function, {"learning_rate": 0.1, "optimizer": "adam"}, 7, here)
    assert said.endswith("train(run, learning_rate=0.1, optimizer='adam')  # seed 7")
    line = (
        "train --lr={learning_rate} --beta {beta1} --seed={run.seed} --out={run.folder} "
        "--every={run.eval_every} {config}"
    )
    configuration = {"learning_rate": 0.1, "max_train_steps": 500}
    own = Workload(command(line), minimize("e"))
    assert shlex.split(command_line(own, configuration, 7, here)) == [
        *("train", "--lr=0.1", "--seed=7", "--out=/trials/t1", "--every=5"),
        "/trials/t1/config.json",
    ]
    rarer = replace(own, eval_every=20)
    assert "--every=20" in command_line(rarer, configuration, 7, here)


def spelled(run, lr=0.1, batch_size=8, width=4, epochs=3):
    run.log(1, e=lr)


def test_a_guess_is_reported_once_and_kept_with_the_round(tmp_path):
    workload = Workload(spelled, minimize("e"), store=tmp_path / "t.db", executor=Inline())
    asked = Round("r", goal="?", nuisance={"lr": log(1e-3, 1.0)}, trials_per_study=5)
    (note,) = advice(asked, workload)
    assert note.code == "meaning.guessed"
    assert note.facts["means"] == {"learning_rate": "lr", "max_train_steps": "epochs"}
    results = run(asked, workload)
    assert results.notes == (note.text,)
    assert results.meaning.of("epochs") == "max_train_steps"
    assert run(replace(asked, trials_per_study=6), workload).notes == (note.text,)
    declared = replace(workload, means={"learning_rate": "lr", "max_train_steps": "epochs"})
    assert advice(asked, declared) == ()


def test_a_round_that_continues_another_with_another_batch_size(tmp_path):
    workload = Workload(spelled, minimize("e"), store=tmp_path / "t.db", executor=Inline())
    run(Round("a", goal="?", nuisance={"lr": log(1e-3, 1.0)}, trials_per_study=5), workload)
    frozen = Round(
        "b", goal="?", fixed={"lr": 0.1, "batch_size": 64}, trials_per_study=1, continues="a"
    )
    with Store.open(workload.store) as store:
        codes = [note.code for note in advice(ready(frozen, workload, Halton()), workload, store)]
        assert codes == ["meaning.guessed", "continued.batch_size"]
        again = replace(frozen, nuisance={"lr": log(1e-3, 1.0)}, fixed={"batch_size": 64})
        assert [note.code for note in advice(again, workload, store)] == [
            "meaning.guessed",
            "advice.too_few_trials",
        ]
        unknown = replace(frozen, continues="no_such")
        assert [note.code for note in advice(unknown, workload, store)] == ["meaning.guessed"]
    run(frozen, workload)
    kept = load(workload.store, "b").notes  # it stays with the results
    assert any("batch_size was 8 in a and is 64" in note for note in kept)


def test_a_probed_length_and_a_wider_model(tmp_path):
    workload = Workload(spelled, minimize("e"), store=tmp_path / "t.db", executor=Inline())
    run(Round("a", goal="?", nuisance={"lr": log(1e-3, 1.0)}, trials_per_study=5), workload)
    wider = Round(
        "b",
        goal="?",
        nuisance={"lr": log(1e-3, 1.0)},
        fixed={"width": 64, "epochs": 3},
        trials_per_study=5,
        continues="a",
    )
    with Store.open(workload.store) as store:
        assert [note.code for note in advice(wider, workload, store)] == ["meaning.guessed"]
        store.add_probe("train_steps", workload.name, {"settings": {"epochs": 3}})
        codes = [note.code for note in advice(wider, workload, store)]
        assert codes == ["meaning.guessed", "continued.length"]
