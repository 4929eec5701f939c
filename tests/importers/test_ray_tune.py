"""Ray Tune's folders: files as Ray 2.60 writes them, and (slow) a real run of Ray Tune."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tunewright import importers
from tunewright.design.objective import minimize
from tunewright.design.ranges import Choice
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.store.judge import not_finite

LOSS = minimize("loss")


def result(trial_id: str, iteration: int, config: dict[str, Any], **metrics: Any) -> dict[str, Any]:
    """One line of result.json, in the order Ray 2.60 writes it."""
    return {
        **metrics, "timestamp": 1794783186, "checkpoint_dir_name": None, "done": False,
        "training_iteration": iteration, "trial_id": trial_id, "date": "2026-11-15_22-53-06",
        "time_this_iter_s": 0.5, "time_total_s": 0.5 * iteration, "pid": 13067, "hostname": "vm",
        "node_ip": "192.0.2.2", "config": config, "time_since_restore": 0.5 * iteration,
        "iterations_since_restore": iteration,
    }  # fmt: skip


def write_trial(root: Path, place: int, config: dict[str, Any], losses: list[float]) -> Path:
    trial_id = f"4fb4a_{place:05d}"
    folder = root / f"train_{trial_id}_{place}_lr={config['lr']:.4f}_2026-11-15_22-53-02"
    folder.mkdir(parents=True)
    lines = [
        json.dumps(result(trial_id, n, config, loss=loss, nested={"acc": 0.5}))
        for n, loss in enumerate(losses, start=1)
    ]
    (folder / "result.json").write_text("\n".join(lines) + "\n")
    (folder / "params.json").write_text(json.dumps(config, indent=2))
    (folder / "params.pkl").write_bytes(b"cos\nsystem\n(S'touch unpickled'\ntR.")
    return folder


def write_state(root: Path, **statuses: str) -> None:
    data = [
        [json.dumps({"stub": False, "trial_id": f"4fb4a_{name[1:]}", "status": status}), "{}"]
        for name, status in statuses.items()
    ]
    path = root / "experiment_state-2026-11-15_22-53-02.json"
    path.write_text(json.dumps({"trial_data": data, "runner_data": {}, "stats": {}}))
    (root / "basic-variant-state-2026-11-15_22-53-02.json").write_text("{}")


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    root = tmp_path / "exp"
    for place, rate in enumerate((0.1, 0.3, 0.9)):
        config = {"lr": rate, "opt": {"name": ("adam", "sgd")[place % 2]}}
        folder = write_trial(root, place, config, [rate + 1 / n for n in (1, 2, 4)][: 3 - place])
    (folder / "error.txt").write_text("Failure # 1\nTraceback:\nValueError: broken on purpose\n\n")
    (folder / "error.pkl").write_bytes(b"not a pickle")
    write_state(root, t00000="TERMINATED", t00001="TERMINATED", t00002="ERROR")
    return root


def test_an_experiment(experiment: Path) -> None:
    found = importers.ray_tune(experiment, objective=LOSS)
    assert found.round.goal == Message("goal.imported", {"origin": "the Ray Tune experiment exp"})
    assert [t.number for t in found.trials] == [0, 1, 2]
    assert found.round.nuisance["opt.name"] == Choice(("adam", "sgd"))
    best = found.best()
    assert dict(best.configuration) == {"lr": 0.1, "opt.name": "adam"}
    assert (best.value, best.best_step, best.seconds) == (0.1 + 0.25, 3, 1.5)
    assert set(found.metrics) == {"loss", "nested/acc"}, "Ray's own bookkeeping is no metric"
    broken = found.trial(2)
    said = {"source": "Ray Tune", "text": "ValueError: broken on purpose"}
    assert (broken.status, broken.reason) == ("failed", Message("foreign", said))
    assert "Traceback" in broken.detail
    assert found.search == "random"
    early = Message("imported.ended_early", {"count": 1, "of": 2, "step": 3})
    assert early in found.notes


def test_nothing_is_unpickled(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(experiment)
    importers.ray_tune(experiment, objective=LOSS)
    assert not (experiment / "unpickled").exists()


def test_progress_csv_does_as_well(experiment: Path) -> None:
    folder = next(experiment.glob("train_4fb4a_00000*"))
    (folder / "result.json").unlink()
    (folder / "progress.csv").write_text(
        "loss,training_iteration,trial_id,time_total_s,nested/acc,hostname\n"
        "1.1,1,4fb4a_00000,0.5,0.5,vm\n0.2,2,4fb4a_00000,1.0,,vm\n"
    )
    found = importers.ray_tune(experiment, objective=LOSS)
    assert (found.best().number, found.best().value, found.best().best_step) == (0, 0.2, 2)
    assert len(found.trial(0).curves["nested/acc"]) == 1


def test_divergence_unfinished_and_adaptive(experiment: Path) -> None:
    write_trial(experiment, 3, {"lr": 5.0, "opt": {"name": "adam"}}, [1.0, float("nan")])
    write_trial(experiment, 4, {"lr": 6.0, "opt": {"name": "adam"}}, [1.0])
    write_state(experiment, t00003="TERMINATED", t00004="RUNNING", t00002="ERROR")
    for path in experiment.glob("basic-variant*"):
        path.unlink()
    found = importers.ray_tune(experiment, objective=LOSS)
    assert found.trial(3).status == "infeasible" and found.trial(3).reason == not_finite(
        "loss", math.nan, 2
    )
    assert [t.number for t in found.trials] == [0, 1, 2, 3]
    assert Message("imported.unfinished", {"count": 1}) in found.notes
    assert Message("imported.search_not_rays") in found.notes
    assert found.search == "ray"


def test_a_torn_last_line_is_passed_over(experiment: Path) -> None:
    path = next(experiment.glob("train_4fb4a_00000*")) / "result.json"
    path.write_text(path.read_text()[:-40])
    assert importers.ray_tune(experiment, objective=LOSS).trial(0).curves[
        "loss"
    ].steps.tolist() == [1, 2]


def test_another_step_and_what_is_missing(experiment: Path, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"has no 'epoch'"):
        importers.ray_tune(experiment, objective=LOSS, step="epoch")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="holds no trials"):
        importers.ray_tune(tmp_path / "empty", objective=LOSS)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_run(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    tune = pytest.importorskip("ray.tune")

    def train(config: dict[str, Any]) -> None:
        for n in (1, 2, 3):
            if config["lr"] > 0.5 and n == 2:
                raise ValueError("broken on purpose")
            tune.report({"loss": config["lr"] + 1 / n, "nested": {"acc": 0.5}})

    # a cluster of its own: never one that somebody else has running here
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        tune.Tuner(
            train,
            param_space={"lr": tune.grid_search([0.1, 0.9]), "opt": {"name": "adam"}},
            run_config=tune.RunConfig(storage_path=str(tmp_path), name="exp", verbose=0),
        ).fit()
    finally:
        ray.shutdown()
    found = importers.ray_tune(tmp_path / "exp", objective=LOSS)
    assert (found.best().number, found.best().value) == (0, 0.1 + 1 / 3)
    assert found.round.fixed == {"opt.name": "adam"} and set(found.round.nuisance) == {"lr"}
    assert found.trial(1).status == "failed"
    why = found.trial(1).reason
    assert why is not None and "broken on purpose" in why.facts["text"]
    assert found.search == "random"
