"""W&B: the exported table, and offline runs written as W&B writes them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.importers.wandb_writer import config, ended, history, run, summary, write

from tunewright import importers
from tunewright.design.objective import minimize
from tunewright.errors import DesignError, NotFound, Unreadable
from tunewright.messages import Message
from tunewright.store.judge import not_finite

LOSS = minimize("val_loss")
EXPORT = """"Name","State","Notes","User","Tags","Created","Runtime","Sweep","lr","optimizer","_step","val_loss","throughput"
"calm-lake-1","finished","-","me","","2026-11-15T20:00:00.000Z","61","","0.001","adam","500","0.9","12.5"
"wild-hill-2","finished","-","me","","2026-11-15T20:10:00.000Z","62","","0.01","adam","500","0.7","12.1"
"gray-moon-3","failed","-","me","","2026-11-15T20:20:00.000Z","9","","1","sgd","100","NaN","12.2"
"tiny-leaf-4","crashed","-","me","","2026-11-15T20:30:00.000Z","5","","0.1","sgd","","",""
"soft-wind-5","running","-","me","","2026-11-15T20:40:00.000Z","5","","0.2","sgd","","",""
"""  # noqa: E501

CRASHED = Message("foreign.no_reason", {"source": "W&B", "state": "crashed"})


def test_an_exported_table(tmp_path: Path) -> None:
    path = tmp_path / "wandb_export.csv"
    path.write_text(EXPORT)
    found = importers.wandb(path, objective=LOSS)
    assert found.round.goal == Message(
        "goal.imported", {"origin": "the W&B export wandb_export.csv"}
    )
    assert set(found.round.nuisance) == {"lr", "optimizer"} and not found.round.fixed
    assert set(found.metrics) == {"val_loss", "throughput"}
    assert [t.status for t in found.trials] == ["completed", "completed", "infeasible", "failed"]
    assert found.trial(2).reason == not_finite("val_loss", math.nan, 100)
    assert found.trial(3).reason == CRASHED
    best = found.best()
    assert (best.number, best.value, best.best_step, best.seconds) == (1, 0.7, 500, 62.0)
    assert [note.code for note in found.notes[:2]] == [
        "imported.final_values",
        "imported.unfinished",
    ]
    with pytest.raises(DesignError, match=r"no column 'val_los'\. Did you mean 'val_loss'"):
        importers.wandb(path, objective=minimize("val_los"))


def offline_runs(root: Path) -> Path:
    for place, rate in enumerate((0.01, 0.1, 1.0)):
        points = [
            history(step, val_loss=rate + 1 / step, _runtime=step, picture={"_type": "image-file"})
            for step in (1, 2, 4)
        ]
        write(
            root / f"offline-run-{place}",
            run(f"calm-lake-{place}", lr=rate, model={"width": 8 * (1 + place), "act": "relu"}),
            config(batch_size=64, _wandb={"cli": 1}),
            *points,
            *([history(5, val_loss=float("nan"))] if place == 2 else []),
            summary(parameters=1000, val_loss=0.0),
            *([ended(1 if place == 2 else 0)] if place else []),
        )
    return root


def test_offline_runs(tmp_path: Path) -> None:
    found = importers.wandb(offline_runs(tmp_path / "wandb"), objective=LOSS)
    assert found.round.goal == Message("goal.imported", {"origin": "the W&B folder wandb"})
    assert found.round.fixed == {"batch_size": 64, "model.act": "relu"}
    assert set(found.round.nuisance) == {"lr", "model.width"}
    assert [t.status for t in found.trials] == ["failed", "completed", "infeasible"]
    assert found.trial(0).reason == CRASHED, "it has no end"
    assert found.trial(2).reason == not_finite("val_loss", math.nan, 5)
    best = found.best()
    assert best.curves["val_loss"].steps.tolist() == [1, 2, 4]
    assert (best.value, best.best_step, best.seconds) == (0.1 + 1 / 4, 4, 12.0)
    assert set(found.metrics) == {"val_loss", "parameters"}, "the history wins over the summary"


def test_a_record_may_span_blocks_and_a_file_may_be_torn(tmp_path: Path) -> None:
    long = {f"metric_{n}": float(n) for n in range(3000)}
    path = write(
        tmp_path / "offline-run-1",
        run("a", lr=0.1),
        history(1, val_loss=0.5, **long),
        history(2, val_loss=0.4),
        ended(0),
    )
    assert path.stat().st_size > 2 * 32768
    whole = importers.wandb(tmp_path, objective=LOSS)
    assert whole.best().value == 0.4 and len(whole.metrics) == 3001
    path.write_bytes(path.read_bytes()[:-20])
    torn = importers.wandb(tmp_path, objective=LOSS)
    assert torn.trial(0).status == "failed" and "imported.torn_files" in [
        note.code for note in torn.notes
    ]
    assert torn.trial(0).curves["val_loss"].values.tolist()[:1] == [0.5]


def test_files_without_a_history(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    for place in (1, 2):
        files = tmp_path / f"run-{place}" / "files"
        files.mkdir(parents=True)
        (files / "config.yaml").write_text(
            f"wandb_version: 1\n_wandb:\n  desc: null\n  value:\n    cli_version: 0.1\n"
            f"lr:\n  desc: null\n  value: {0.1 * place}\n"
        )
        (files / "wandb-summary.json").write_text(
            json.dumps({"val_loss": place, "_step": 30, "_runtime": 7.5, "picture": {"_type": "x"}})
        )
    found = importers.wandb(tmp_path, objective=LOSS)
    best = found.best()
    assert dict(best.configuration) == {"lr": 0.1}
    assert (best.value, best.best_step, best.seconds) == (1.0, 30, 7.5)
    assert "imported.no_curves" in [note.code for note in found.notes]


@pytest.mark.parametrize(
    "hostile",
    [
        "lr: &a\n  b: *a\n",
        "lr: &a\n  b: *a\n  c: 1\n",
        "lr: &a [*a]\n",
        "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + "".join(
            f"{below}: &{below} [{', '.join([f'*{name}'] * 9)}]\n"
            for name, below in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "a: 2020-99-99\n",
        "a: !!timestamp x\n",
        "a: " + "9" * 6000 + "\n",
        "{" * 5000,
        "a: !!binary x\n",
        "? [a]\n: 1\n",
        "\x00",
    ],
)
def test_hostile_yaml_is_refused_with_its_file(tmp_path: Path, hostile: str) -> None:
    pytest.importorskip("yaml")
    files = tmp_path / "run-1" / "files"
    files.mkdir(parents=True)
    (files / "wandb-summary.json").write_text('{"val_loss": 1}')
    (files / "config.yaml").write_text(hostile)
    with pytest.raises(Unreadable) as refused:
        importers.wandb(tmp_path, objective=LOSS)
    assert refused.value.facts["path"].endswith("config.yaml")


def test_shared_values_in_yaml_are_read(tmp_path: Path) -> None:
    """PyYAML writes a list that two settings share as an alias."""
    pytest.importorskip("yaml")
    files = tmp_path / "run-1" / "files"
    files.mkdir(parents=True)
    (files / "wandb-summary.json").write_text('{"val_loss": 1}')
    (files / "config.yaml").write_text("a:\n  value: &id001 [1, 2]\nb:\n  value: *id001\n")
    found = importers.wandb(tmp_path, objective=LOSS)
    assert dict(found.trial(0).configuration) == {"a": "[1, 2]", "b": "[1, 2]"}


def test_hostile_yaml_is_not_obeyed(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    files = tmp_path / "run-1" / "files"
    files.mkdir(parents=True)
    (files / "wandb-summary.json").write_text('{"val_loss": 1}')
    (files / "config.yaml").write_text("lr: !!python/object/apply:os.system ['touch obeyed']\n")
    with pytest.raises(Unreadable, match="not YAML"):
        importers.wandb(tmp_path, objective=LOSS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="holds no run of W&B"):
        importers.wandb(tmp_path / "empty", objective=LOSS)
