from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given as forall, settings
from tests.problems import problems, states
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.names import Meaning, with_guesses
from tunewright.design.presets import space
from tunewright.design.ranges import choice, integers, log, log_from_one
from tunewright.design.round import Round
from tunewright.design.round_file import as_data, differences, read_round, template, write_round
from tunewright.errors import DesignError, NotFound

DESIGN_PAGE = """
goal = "Is NAdam better than Nesterov momentum here?"
trials_per_study = 20
[scientific]
optimizer = ["nadam", "nesterov"]
[nuisance]
weight_decay = { log = [1e-6, 1e-2] }
width = { integers = [64, 1024], log = true }
[nuisance.optimizer.given.nadam]
learning_rate = { log = [1e-5, 1e-2] }
beta1 = { log_from_one = [0.8, 0.99] }
[nuisance.optimizer.given.nesterov]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 2000
"""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@forall(rounds())
def test_a_file_gives_its_round_back(tmp_path: Path, round: Round) -> None:
    path = tmp_path / "some.toml"
    write_round(round, path)
    again = read_round(path)
    assert again == round
    assert list(again.nuisance) == list(round.nuisance)


def test_the_example_of_the_design_page(tmp_path: Path) -> None:
    path = tmp_path / "optimizer.toml"
    path.write_text(DESIGN_PAGE)
    assert read_round(path) == Round(
        "optimizer",
        goal="Is NAdam better than Nesterov momentum here?",
        scientific={"optimizer": ["nadam", "nesterov"]},
        nuisance={
            "weight_decay": log(1e-6, 1e-2),
            "width": integers(64, 1024, log=True),
            "optimizer": given(
                {
                    "nadam": {
                        "learning_rate": log(1e-5, 1e-2),
                        "beta1": log_from_one(0.8, 0.99),
                    },
                    "nesterov": {"learning_rate": log(1e-3, 1.0)},
                }
            ),
        },
        fixed={"max_train_steps": 2000},
        trials_per_study=20,
    )


def test_a_written_file_is_one_people_can_read(tmp_path: Path) -> None:
    path = tmp_path / "optimizer.toml"
    source = tmp_path / "source.toml"
    source.write_text('name = "optimizer"' + DESIGN_PAGE)
    write_round(read_round(source), path)
    assert path.read_text() == (
        'goal = "Is NAdam better than Nesterov momentum here?"\n'
        "trials_per_study = 20\n"
        "seed = 0\n"
        "\n"
        "[scientific]\n"
        'optimizer = ["nadam", "nesterov"]\n'
        "\n"
        "[nuisance]\n"
        "weight_decay = { log = [1e-06, 0.01] }\n"
        "width = { integers = [64, 1024], log = true }\n"
        "\n"
        "[nuisance.optimizer.given.nadam]\n"
        "learning_rate = { log = [1e-05, 0.01] }\n"
        "beta1 = { log_from_one = [0.8, 0.99] }\n"
        "\n"
        "[nuisance.optimizer.given.nesterov]\n"
        "learning_rate = { log = [0.001, 1.0] }\n"
        "\n"
        "[fixed]\n"
        "max_train_steps = 2000\n"
    )


def test_every_problem_at_once_with_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "weight_decay.toml"
    path.write_text(
        'goal = ""\ntrials_per_stdy = 20\n[nuisance]\nlearning_rate = { lgo = [1e-4, 1e-1] }\n'
        "weight_decay = { log = [0, 1] }\n[fixed]\nday = 1979-05-27\n"
    )
    with pytest.raises(DesignError) as refused:
        read_round(path)
    found = problems(refused.value)
    assert [(code, facts["within"]) for code, facts in found] == [
        ("file.unknown_key", [str(path)]),
        ("round.key_missing", [str(path)]),
        ("declaration.unknown_kind", [str(path), "nuisance learning_rate"]),
        ("range.log_from_zero", [str(path), "nuisance weight_decay"]),
        ("round.goal_empty", [str(path)]),
        ("value.not_plain", [str(path), "fixed"]),
    ]
    assert found[0][1]["near"] == "trials_per_study"
    assert found[2][1]["near"] == "log"


def test_broken_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "depth.toml"
    path.write_text("goal = \n")
    with pytest.raises(DesignError) as refused:
        read_round(path)
    assert states(refused.value, "file.not_toml", {"path": str(path)})
    path.write_bytes(b'goal = "\xff"')
    with pytest.raises(DesignError) as refused:
        read_round(path)
    assert states(refused.value, "file.not_utf8", {"path": str(path), "byte": 8})
    with pytest.raises(NotFound) as missing:
        read_round(tmp_path / "dpeth.toml")
    assert states(missing.value, "file.missing", {"near": str(path)})
    with pytest.raises(NotFound) as missing:
        read_round(tmp_path / "my width.toml")
    made = {"code": "file.new_round", "name": "my width"}
    assert states(missing.value, "file.missing", {"near": None, "how": made})
    assert str(missing.value).endswith("tunewright new 'my width'")
    path.write_text("goal = " + "[" * 20_000)
    with pytest.raises(DesignError) as refused:
        read_round(path)
    assert states(refused.value, "file.too_deep", {"path": str(path)})


def test_none_has_a_word_in_files(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(
        'goal = "?"\ntrials_per_study = 1\n[scientific]\nnorm = ["layer", { none = true }]\n'
        "[fixed]\nclip = { none = true }\n"
    )
    round = read_round(path)
    assert round.scientific == {"norm": choice("layer", None)} and round.fixed == {"clip": None}


def test_the_template_needs_a_goal_and_then_runs(tmp_path: Path) -> None:
    text = template(
        "depth",
        ["lr", "hidden.layers", "beta1", "batch_size", "norm", "max_train_steps"],
        {"batch_size": 128, "norm": None, "beta1": 0.9, "lr": 0.1},
        Meaning({"learning_rate": "lr"}),
    )
    path = tmp_path / "depth.toml"
    path.write_text(text)
    with pytest.raises(DesignError) as refused:
        read_round(path)
    assert problems(refused.value) == [("round.goal_empty", {"within": [str(path)]})]
    path.write_text(text.replace('goal = ""', 'goal = "Does depth help?"'))
    round = read_round(path)
    assert list(round.nuisance) == ["lr"]
    assert round.fixed == {"batch_size": 128, "norm": None, "beta1": 0.9}
    assert '# "hidden.layers" = [ , ]' in text and "# max_train_steps =" in text


def test_what_the_template_does_not_offer(tmp_path: Path) -> None:
    takes = ["lr", "epochs", "bs", "max_iters"]
    text = template("first", takes, {}, with_guesses(Meaning(), takes))
    scientific = text.partition("[nuisance]")[0]
    assert not any(f"{name} =" in scientific for name in takes)
    assert all(f"# {name} =  # no default" in text for name in ("epochs", "bs", "max_iters"))


def test_a_round_asks_about_what_it_is_called_after(tmp_path: Path) -> None:
    takes = ["lr", "dropout", "decay_lr", "beta1"]
    meaning = Meaning({"learning_rate": "lr", "schedule": "decay_lr"}, {"decay_lr": "False"})
    ready = space("adamw", 20, takes=takes, means=meaning.means, off=meaning.off)
    path = tmp_path / "dropout.toml"
    text = template("dropout", takes, {}, meaning, 20, ready)
    path.write_text(text.replace('goal = ""', 'goal = "Does dropout help?"'))
    round = read_round(path)
    assert round.scientific == {"dropout": choice(0.0, 0.1)}
    assert list(round.nuisance) == ["lr", "beta1"]
    assert round.fixed == {"decay_lr": "False"}


def test_the_most_important_come_first() -> None:
    takes = ["beta2", "wd", "beta1", "lr"]
    text = template("first", takes, {}, with_guesses(Meaning(), takes))
    nuisance = text.partition("[nuisance]")[2]
    places = [nuisance.index(f"{name} = ") for name in ("lr", "beta1", "wd", "beta2")]
    assert places == sorted(places) and "20 trials per study pay for 2" in nuisance


def test_the_round_it_continues_is_kept(tmp_path: Path) -> None:
    made = Round("wider", goal="?", nuisance={"lr": log(0.1, 1)}, trials_per_study=4, continues="r")
    write_round(made, tmp_path / "wider.toml")
    assert 'continues = "r"' in (tmp_path / "wider.toml").read_text()
    assert read_round(tmp_path / "wider.toml") == made
    assert "continues" not in as_data(Round("r", goal="?", trials_per_study=1))
    # it changes no point, so it may change under the same name
    assert differences(made, replace(made, continues="")) == []


@pytest.mark.parametrize(
    ("named", "code"), [("wider", "round.continues_itself"), (3, "name.empty")]
)
def test_a_round_continues_another_one(named: Any, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        Round("wider", goal="?", trials_per_study=4, continues=named)
    assert states(refused.value, code, {"name": named})
