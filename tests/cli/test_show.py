from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.cli.small_project import Tunewright

import tunewright as tw
from tunewright.store.schema import trial as table
from tunewright.store.store import Store


def test_ls_is_the_tracking_table(tunewright: Tunewright, ran: Path) -> None:
    tunewright("note", "layers", "try four layers next")
    brief = tunewright("ls")
    assert brief.code == 0
    assert len(brief.out.splitlines()) == 2, "one line a round"
    assert "Do more layers help?" in brief.out and "2 infeasible" in brief.out
    answer = tunewright("ls", "-v")
    assert answer.code == 0
    for expected in ("layers", "Do more layers help?", "try four layers next", "valid_error"):
        assert expected in answer.out
    assert "again       tunewright again layers 3" in answer.out
    (row,) = tunewright("ls", "--json").data["rounds"]
    assert row["name"] == "layers"
    assert "curves" not in row["best"]
    assert row["definition"].endswith("round.json")


def test_show_says_what_was_found(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("show", "layers")
    assert answer.code == 0
    assert answer.out.startswith("layers  Do more layers help?")
    assert "scientific  layers [1, 2]" in answer.out
    assert "train_loss is nan" in answer.out
    assert "caveats     holds for max_train_steps = 20" in answer.out


def test_show_as_json_has_every_digit_and_no_nan(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("show", "layers", "--curves", "--json")
    assert "NaN" not in answer.out
    data = answer.data
    assert data["round"]["nuisance"] == {"learning_rate": {"log": [0.001, 1.0]}}
    assert [trial["number"] for trial in data["trials"]] == list(range(8))
    best = min(t["value"] for t in data["trials"] if t["value"] is not None)
    assert len(repr(best)) > 6
    diverged = [t for t in data["trials"] if t["status"] == "infeasible"]
    assert diverged
    assert all(None in t["curves"]["train_loss"]["values"] for t in diverged)
    brief = tunewright("show", "layers", "--json").data
    assert "curves" not in brief["trials"][0]
    assert brief["best"]["value"] == best
    (searched,) = brief["studies"][0]["space"]
    assert searched["range"] == {"log": [0.001, 1.0]}, "the scale is part of a range"
    assert ["tunewright", "check", "layers"] in [step["argv"] for step in brief["next"]]


def test_trial_shows_curves_and_where_it_comes_from(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("trial", "layers", "0")
    assert answer.code == 0
    assert "layers trial 0 completed: valid_error" in answer.out
    for expected in ("█", "program     train.train(run, ", "seed", "packages    python"):
        assert expected in answer.out
    data = tunewright("trial", "layers", "0", "--json").data
    assert data["trial"]["curves"]["valid_error"]["steps"][-1] == 20
    assert data["history"]["provenance"]["python"]


def test_the_most_memory_of_a_trial_is_the_same_behind_every_door(
    tunewright: Tunewright, ran: Path
) -> None:
    with Store.open(ran / "tuning.db") as store:
        (claim,) = store.keys_of("layers", [0]).values()
        with store._database.writing() as connection:
            own = table.c.id == claim
            connection.execute(update(table).where(own).values(peak_memory_mb=23_500.0))
    assert tw.load(ran / "tuning.db", "layers").trial(0).peak_memory_mb == 23_500.0
    assert tunewright("trial", "layers", "0", "--json").data["trial"]["peak_memory_mb"] == 23_500.0
    assert "23.5 GB at most" in tunewright("trial", "layers", "0").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "layer"), "'layers'"),
        (("trial", "layers", "99"), "no trial 99"),
        (("note", "layer", "x"), "'layers'"),
        (("export", "layers", "out.xlsx"), ".csv"),
        (("export", "layers", "out.csv", "--table", "curvs"), "--table curves"),
        (("show", "layers", "--store", "other.db"), "no store at"),
    ],
)
def test_what_is_not_there_is_answered_with_the_nearest(
    tunewright: Tunewright, ran: Path, arguments: tuple[str, ...], says: str
) -> None:
    answer = tunewright(*arguments)
    assert answer.code in (2, 3)
    assert says in answer.err


def test_export_writes_one_row_per_trial_or_point(tunewright: Tunewright, ran: Path) -> None:
    assert tunewright("export", "layers", "out.csv").code == 0
    with (ran / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["number"] for row in rows] == [str(n) for n in range(8)]
    assert "learning_rate" in rows[0]
    assert tunewright("export", "layers", "points.json", "--table", "curves").code == 0
    points = json.loads((ran / "points.json").read_text())
    assert {"trial", "step", "metric", "value"} == set(points[0])


def test_a_store_can_be_read_from_anywhere(
    tunewright: Tunewright, ran: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import os

    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert tunewright("ls").code == 2
    assert tunewright("show", "layers", "--store", str(ran / "tuning.db")).code == 0


def test_hostile_names_and_notes_are_shown_as_text(tunewright: Tunewright, project: Path) -> None:
    name = "'; DROP TABLE trial; -- [bold]"
    (project / "rounds" / f"{name}.toml").write_text(
        (project / "rounds" / "layers.toml").read_text().replace("Do more", "\\u001b[31mDo more")
    )
    assert tunewright("run", name, "--on", "inline").code == 0
    assert tunewright("note", name, "\x1b]0;owned\x07 [red]x[/red]").code == 0
    for command in (("ls",), ("show", name), ("trial", name, "0")):
        answer = tunewright(*command)
        assert answer.code == 0
        assert name in answer.out
        assert "\x1b" not in answer.out
    assert "[red]x[/red]" in tunewright("show", name).out
