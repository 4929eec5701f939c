from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.errors import Diverged
from tunewright.execution.executors.executor import Assignment, Event, Logged
from tunewright.execution.handle import Handle
from tunewright.store.curves import Batch, Curve, merge

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from tunewright.demo import train as demo  # noqa: E402
from tunewright.demo.train import Digits, network, train  # noqa: E402


def trained(folder: Path, **settings: float | str) -> dict[str, Curve]:
    told: list[Event] = []
    assignment = Assignment(1, 1, 0, "depth", settings, seed=5, split_seed=6, folder=folder)
    run = Handle(assignment, minimize("valid_error"), Meaning(), told.append)
    try:
        train(run, **settings)  # type: ignore[arg-type]
    finally:
        run.flush()
    return merge(Batch(1, 0, e.points) for e in told if isinstance(e, Logged))


def test_it_learns_and_logs_both_curves(tmp_path: Path) -> None:
    curves = trained(tmp_path, learning_rate=0.1, max_train_steps=120)
    error = curves["valid_error"].values
    assert error[0] > 0.5
    assert error[-1] < 0.15
    assert curves["train_loss"].steps[-1] == 120
    assert len(curves["train_loss"]) == 120


def test_the_same_seed_gives_the_same_curve(tmp_path: Path) -> None:
    first = trained(tmp_path, learning_rate=0.1, max_train_steps=30)
    again = trained(tmp_path, learning_rate=0.1, max_train_steps=30)
    assert first["train_loss"].values.tolist() == again["train_loss"].values.tolist()


def test_it_diverges_where_the_demo_says_it_does(tmp_path: Path) -> None:
    with pytest.raises(Diverged):
        trained(tmp_path, learning_rate=1.0, momentum=0.9, hidden_layers=2, max_train_steps=300)


def test_the_split_is_a_partition_by_its_seed() -> None:
    one, other = Digits(1), Digits(2)
    assert len(one.valid_labels) == 400
    assert len(one.train_labels) == 897
    assert torch.equal(one.test_images, other.test_images) and len(one.test_labels) == 500
    assert not torch.equal(one.valid_labels, other.valid_labels)
    assert torch.equal(one.valid_images, Digits(1).valid_images)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_the_network_has_the_layers_asked_for(layers: int) -> None:
    linear = [m for m in network(layers, 16) if isinstance(m, torch.nn.Linear)]
    assert len(linear) == layers + 1


def test_a_constant_learning_rate_does_not_fall(tmp_path: Path) -> None:
    (tmp_path / "linear").mkdir()
    (tmp_path / "constant").mkdir()
    falling = trained(tmp_path / "linear", learning_rate=0.1, max_train_steps=40)
    constant = trained(
        tmp_path / "constant", learning_rate=0.1, max_train_steps=40, schedule="constant"
    )
    assert falling["train_loss"].values[0] == constant["train_loss"].values[0]
    assert falling["train_loss"].values[-1] != constant["train_loss"].values[-1]


def test_the_test_images_measure_a_checkpoint(tmp_path: Path) -> None:
    settings = {"learning_rate": 0.1, "hidden_layers": 1, "width": 64, "max_train_steps": 120}
    trained(tmp_path, **settings)
    from tunewright import snapshot
    from tunewright.execution.checkpoint import Checkpoint
    from tunewright.seeds import seeds

    kept = snapshot.latest(tmp_path / "snapshots")
    assert kept is not None and kept.step == 120
    checkpoint = Checkpoint(
        number=0,
        configuration=settings,
        step=120,
        folder=tmp_path,
        path=kept.path,
        seeds=seeds(5, 6),
    )
    assert 0.0 < demo.test(checkpoint)["test_error"] < 0.25
