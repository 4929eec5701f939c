from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.cli._errors import Misuse
from tunewright.cli.run import read_list
from tunewright.execution.run import load

RATES = [{"learning_rate": 0.1}, {"learning_rate": 0.02}]


@pytest.fixture
def mine(project: Path) -> Path:
    """A list of two learning rates for every study of the small project's round."""
    (project / "mine.json").write_text(json.dumps(RATES))
    return project


def trained(project: Path) -> list[tuple[object, object]]:
    found = load(project / "tuning.db", "layers")
    assert found.search == "listed"
    assert all(trial.ended for trial in found.trials)
    return [(t.configuration["layers"], t.configuration["learning_rate"]) for t in found.trials]


def test_exactly_the_listed_configurations_are_trained(tunewright: Tunewright, mine: Path) -> None:
    answer = tunewright("run", "layers", "--listed", "mine.json", "--on", "inline")
    assert answer.code == 0, answer.err
    assert "trials: 2 per study, as listed, in place of 4" in answer.err
    assert trained(mine) == [(1, 0.1), (2, 0.1), (1, 0.02), (2, 0.02)]
    again = tunewright("run", "layers", "--listed", "mine.json", "--on", "inline")
    assert again.code == 0 and "begins" not in again.err
    assert tunewright("show", "layers").code == 0


def test_it_goes_on_without_its_file_and_with_a_longer_one(
    tunewright: Tunewright, mine: Path
) -> None:
    # an unmentioned default of the signature is in the record, and no obstacle
    toml = mine / "rounds" / "layers.toml"
    toml.write_text(toml.read_text().replace("[fixed]\nmax_train_steps = 20\n", ""))
    first = tunewright("run", "layers", "--listed", "mine.json", "--trials", "1", "--on", "inline")
    assert first.code == 0, first.err
    assert trained(mine) == [(1, 0.1), (2, 0.1)]
    (mine / "mine.json").rename(mine / "kept.json")
    again = tunewright("run", "layers", "--on", "inline")
    assert again.code == 0, again.err
    assert "begins" not in again.err
    (mine / "longer.json").write_text(json.dumps([*RATES, {"learning_rate": 0.3, "layers": 1}]))
    uneven = tunewright("run", "layers", "--listed", "longer.json", "--on", "inline")
    assert uneven.code == 2
    assert "longer.json: study layers=2 has 2 configurations for 3 trials" in uneven.err
    assert "list more, or --trials 2" in uneven.err
    more = tunewright("run", "layers", "--listed", "kept.json", "--on", "inline")
    assert more.code == 0 and more.err.count(" begins ") == 2
    short = tunewright("run", "layers", "--trials", "3", "--on", "inline")
    assert short.code == 2
    assert "the list this round began with: study layers=1 has 2 configurations" in short.err


@pytest.mark.beyond_core
@pytest.mark.parametrize(
    "goes_on", [("run", "layers", "--on", "inline"), ("worker", "layers", "--workers", "1")]
)
def test_what_is_left_is_trained_without_the_file(
    tunewright: Tunewright, mine: Path, goes_on: tuple[str, ...]
) -> None:
    run = ("run", "layers", "--listed", "mine.json", "--on", "inline", "--max-hours", "1e-9")
    assert tunewright(*run).code == 0
    assert load(mine / "tuning.db", "layers").counts == {"pending": 4}
    (mine / "mine.json").unlink()
    answer = tunewright(*goes_on)
    assert answer.code == 0, answer.err
    assert trained(mine) == [(1, 0.1), (2, 0.1), (1, 0.02), (2, 0.02)]


def test_a_changed_list_is_another_round(tunewright: Tunewright, mine: Path) -> None:
    assert tunewright("run", "layers", "--listed", "mine.json", "--on", "inline").code == 0
    (mine / "mine.json").write_text(json.dumps(RATES[::-1]))
    answer = tunewright("run", "layers", "--listed", "mine.json", "--on", "inline")
    assert answer.code != 0
    assert "Give the changed round another name" in answer.err


def test_a_dry_run_shows_the_list_and_trains_nothing(tunewright: Tunewright, mine: Path) -> None:
    answer = tunewright("run", "layers", "--listed", "mine.json", "--dry-run")
    assert answer.code == 0
    assert "2 studies of 2: 4 trials (listed)" in answer.out
    assert "learning_rate 0.02" in answer.out
    assert "Next: tunewright run layers --listed FILE" in answer.out
    assert not (mine / "tuning.db").exists()


def test_json_csv_and_toml_say_the_same(tmp_path: Path) -> None:
    rows = [
        {"learning_rate": 1e-3, "batch_size": 128, "optimizer": "adam", "nesterov": True},
        {"learning_rate": 2.0, "batch_size": 64, "optimizer": "sgd"},
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.csv").write_text(
        "learning_rate,batch_size,optimizer,nesterov\n1e-3, 128,adam,true\n\n2.0,64,sgd,\n"
    )
    (tmp_path / "a.toml").write_text(
        "[[configuration]]\nlearning_rate = 1e-3\nbatch_size = 128\noptimizer = 'adam'\n"
        "nesterov = true\n"
        "[[configuration]]\nlearning_rate = 2.0\nbatch_size = 64\noptimizer = 'sgd'\n"
    )
    for ending in ("json", "csv", "toml"):
        found = read_list(tmp_path / f"a.{ending}").configurations
        assert [dict(one) for one in found] == rows
        assert [type(v) for one in found for v in one.values()] == [
            type(v) for one in rows for v in one.values()
        ]
    (tmp_path / "none.toml").write_text("[[configuration]]\nclip = { none = true }\n")
    (tmp_path / "none.json").write_text('[{"clip": null}]')
    assert read_list(tmp_path / "none.toml") == read_list(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '{"learning_rate": 0.1}', "not a list of configurations"),
        ("a.json", "[0.1]", "a.json: configuration 0, 0.1, is not a mapping"),
        ("a.json", "[", "not JSON"),
        ("a.json", "[]", "a.json: no configurations"),
        ("a.csv", "learning_rate\n", "a.csv: no configurations"),
        ("a.csv", "a,b\n1\n", "line 2 has 1 cells, not 2"),
        ("a.toml", "[configuration]\nlearning_rate = 1\n", "[[configuration]], with two brackets"),
        ("a.toml", "configuration = [1]\n", "configuration 0, 1, is not a mapping"),
        ("a.toml", "[[configurations]]\nlearning_rate = 1\n", "Did you mean 'configuration'?"),
        ("a.toml", "[[", "not valid TOML"),
        ("a.yaml", "- 1", "ends in .json, .csv, .toml"),
    ],
)
def test_a_file_that_lists_nothing(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(Misuse) as refused:
        read_list(tmp_path / name)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([{"learning_rate": 5.0}], "bad.json: configuration 0: learning_rate: 5.0 lies outside"),
        ([{"learning_rat": 0.1}], "learning_rate"),
        ([{"learning_rate": 0.1, "width": 3}], "has no 'width'"),
        ([{"learning_rate": 0.1, "layers": 3}], "belongs to none of the studies"),
        ([{"learning_rate": 0.1, "max_train_steps": 9}], "but the round fixes it at 20"),
        ([{"learning_rate": None}], "learning_rate"),
    ],
)
def test_what_does_not_fit_is_refused_before_compute(
    tunewright: Tunewright, project: Path, listed: object, says: str
) -> None:
    (project / "bad.json").write_text(json.dumps(listed))
    answer = tunewright("run", "layers", "--listed", "bad.json", "--on", "inline")
    assert answer.code == 2
    assert says in answer.err
    assert "Listed()" not in answer.err
    assert not (project / "tuning.db").exists()


def test_a_missing_file_and_two_searches(tunewright: Tunewright, mine: Path) -> None:
    missing = tunewright("run", "layers", "--listed", "mien.json")
    assert missing.code == 2 and "try     --listed mine.json" in missing.err
    both = tunewright("run", "layers", "--listed", "mine.json", "--search", "halton")
    assert both.code == 2 and "a list is itself a search" in both.err
