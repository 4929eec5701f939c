"""Tables in files: roles are guessed, metrics are told from hyperparameters, files are limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunewright import importers
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import Choice, Log
from tunewright.errors import Damaged, DesignError, NotFound
from tunewright.importers.files import csv_columns, files_below
from tunewright.messages import Message

WIDE = """run_name,lr,optimizer,batch_size,seed,val_loss,val_acc
calm-lake-1,0.001,adam,64,1,0.9,0.5
wild-hill-2,0.01,adam,64,2,0.7,0.6
gray-moon-3,0.1,sgd,64,3,0.5,0.7
tiny-leaf-4,1.0,sgd,64,4,nan,0.1
"""


def written(folder: Path, text: str, name: str = "runs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_wide_table_of_final_values(tmp_path: Path) -> None:
    found = importers.tables(written(tmp_path, WIDE), objective=minimize("val_loss"))
    round = found.round
    assert round.name == "runs" and round.goal == Message(
        "goal.imported", {"origin": "the table runs.csv"}
    )
    assert isinstance(round.nuisance["lr"], Log)
    assert round.nuisance["optimizer"] == Choice(("adam", "sgd"))
    assert round.fixed == {"batch_size": 64}
    assert set(found.metrics) == {"val_loss", "val_acc"}
    assert found.best().configuration["lr"] == 0.1
    assert found.best().seed == 3, "a seed is kept, but it is no hyperparameter"
    assert "seed" not in found.best().configuration
    assert found.trial(3).status == "infeasible"
    assert found.with_objective(maximize("val_acc")).best().number == 2
    assert Message("imported.range_guessed", {"names": ["lr"]}) in found.notes


def test_roles_and_ranges_can_be_said(tmp_path: Path) -> None:
    found = importers.tables(
        written(tmp_path, WIDE),
        objective=minimize("val_loss"),
        name="optimizers",
        roles={"optimizer": "scientific", "run_name": "left_out"},
        ranges={"lr": Log(1e-5, 10)},
        search="random",
    )
    assert found.round.name == "optimizers"
    assert [study.label for study in found.studies] == ["optimizer=adam", "optimizer=sgd"]
    assert found.round.nuisance == {"lr": Log(1e-5, 10)}
    assert found.best(optimizer="adam").number == 1
    assert found.trial(0).search == "random"
    means = {"learning_rate": "lr", "valid_loss": "val_loss"}
    assert found.notes == (
        Message("imported.labels", {"names": ["seed"]}),
        Message("meaning.guessed", {"means": means}),
    )
    assert all(note.text_for("shell") != "" for note in found.notes)


def test_what_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, WIDE)
    with pytest.raises(DesignError, match=r"no column 'val_los'\. Did you mean 'val_loss'"):
        importers.tables(path, objective=minimize("val_los"))
    with pytest.raises(DesignError, match=r"roles 'optimiser'.*Did you mean 'optimizer'") as told:
        importers.tables(
            path,
            objective=minimize("val_loss"),
            roles={"optimiser": "scientific", "lr": "scientfic"},  # type: ignore[dict-item]
        )
    assert "'scientfic' is not one of" in str(told.value)
    with pytest.raises(DesignError, match="lr: fixed, but the trials have 4 values"):
        importers.tables(path, objective=minimize("val_loss"), roles={"lr": "fixed"})
    with pytest.raises(NotFound, match="no table at"):
        importers.tables(tmp_path / "nothing.csv", objective=minimize("val_loss"))
    with pytest.raises(NotFound, match=r"tables end in \.csv"):
        importers.tables(written(tmp_path, "x", "a.pkl"), objective=minimize("val_loss"))


def test_one_empty_cell_drops_no_hyperparameter(tmp_path: Path) -> None:
    path = written(tmp_path, WIDE.replace("wild-hill-2,0.01", "wild-hill-2,"))
    found = importers.tables(path, objective=minimize("val_loss"), ranges={"lr": Log(1e-5, 10)})
    assert found.round.nuisance["lr"] == Log(1e-5, 10)
    assert [trial.number for trial in found.trials] == [0, 2, 3]
    assert any("1" in note.facts.get("trials", ()) for note in found.notes)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__", "index"])
def test_the_index_of_a_frame_is_no_hyperparameter(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"{name},lr,loss\n0,0.1,3\n1,0.2,2\n2,0.4,1\n")
    found = importers.tables(path, objective=minimize("loss"))
    assert found.round.names == ("lr",)


def test_curves_of_a_second_file(tmp_path: Path) -> None:
    trials = written(tmp_path, "trial,lr\n7,0.1\n9,0.2\n")
    curves = written(
        tmp_path,
        "trial,step,metric,value\n7,1,loss,0.5\n7,2,loss,0.4\n9,1,loss,0.6\n",
        "curves.csv",
    )
    found = importers.tables(trials, curves, objective=minimize("loss"))
    assert [t.number for t in found.trials] == [7, 9]
    assert (found.best().value, found.best().best_step) == (0.4, 2)


def test_hostile_files_are_refused_or_made_harmless(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="line 3 has 1 cells, not 2"):
        csv_columns(written(tmp_path, "a,b\n1,2\n3\n"))
    with pytest.raises(Damaged, match="several columns are called 'a'"):
        csv_columns(written(tmp_path, "a,a\n1,2\n"))
    with pytest.raises(Damaged, match="an empty file"):
        csv_columns(written(tmp_path, ""))
    deep = written(tmp_path, "[" * 100_000, "deep.json")
    with pytest.raises(Damaged, match=r"nested too deeply|not JSON"):
        importers.tables(deep, objective=minimize("loss"))
    with pytest.raises(Damaged, match="not a Parquet file"):
        importers.tables(written(tmp_path, "PAR1", "a.parquet"), objective=minimize("loss"))
    odd = written(tmp_path, '"l\x1b[2Jr",loss\n0.1,1\n0.2,2\n', "odd.csv")
    (name,) = importers.tables(odd, objective=minimize("loss")).round.names
    assert name == "l\\x1b[2Jr"


def test_links_are_not_followed_out_of_a_folder(tmp_path: Path) -> None:
    secret = written(tmp_path, "secret", "secret.txt")
    inside = tmp_path / "inside"
    inside.mkdir()
    kept = written(inside, "kept", "kept.txt")
    (inside / "link.txt").symlink_to(secret)
    (inside / "up").symlink_to(tmp_path)
    assert list(files_below(inside)) == [kept]
