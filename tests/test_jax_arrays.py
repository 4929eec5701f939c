"""JAX programs: their arrays are logged without waiting, saved, and come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tunewright as tw
from tunewright import snapshot
from tunewright._jax_arrays import is_jax_array, numbers, pack
from tunewright.errors import SnapshotError
from tunewright.execution.handle import Control

pytestmark = pytest.mark.beyond_core  # many trials or repetitions: seconds each

jax = pytest.importorskip("jax")
jnp = jax.numpy


def through(state: object, folder: Path) -> object:
    return snapshot.load(snapshot.save(folder, state, step=1))


@pytest.mark.parametrize(
    "dtype", ["float32", "bfloat16", "float16", "int32", "uint8", "bool", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_arrays_come_back_as_they_were(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = jnp.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)
    back = through({"weights": array}, tmp_path)["weights"]
    assert is_jax_array(back)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert np.asarray(back).tobytes() == np.asarray(array).tobytes()


def test_a_tree_keeps_the_order_of_its_leaves(tmp_path: Path) -> None:
    state = {"b": (jnp.ones(2), [jnp.zeros(3)]), "a": {"deep": jnp.full((2, 2), 7.0)}, "step": 4}
    back = through(state, tmp_path)
    assert jax.tree.structure(back) == jax.tree.structure(state)
    for one, other in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        assert np.array_equal(one, other)


def test_named_tuples_are_put_back_by_their_structure(tmp_path: Path) -> None:
    from typing import NamedTuple

    class Moments(NamedTuple):
        count: object
        mean: dict[str, object]

    state = Moments(jnp.int32(3), {"w": jnp.ones(2)})
    back = through(state, tmp_path)
    again = jax.tree.unflatten(jax.tree.structure(state), jax.tree.leaves(back))
    assert isinstance(again, Moments)
    assert int(again.count) == 3 and np.array_equal(again.mean["w"], [1, 1])


def test_random_keys_go_on_where_they_were(tmp_path: Path) -> None:
    typed, old = jax.random.key(5), jax.random.PRNGKey(6)
    back = through([typed, old], tmp_path)
    assert np.array_equal(jax.random.normal(back[0], (4,)), jax.random.normal(typed, (4,)))
    assert np.array_equal(jax.random.normal(back[1], (4,)), jax.random.normal(old, (4,)))


def test_beside_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    back = through({"ours": torch.ones(2), "theirs": jnp.ones(2, jnp.bfloat16)}, tmp_path)
    assert torch.equal(back["ours"], torch.ones(2))
    assert is_jax_array(back["theirs"]) and back["theirs"].dtype == jnp.bfloat16


def test_only_plain_values_in_the_part_that_is_read_without_arrays(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="an array"):
        snapshot.save(tmp_path, {}, step=1, extra={"loss": jnp.ones(())})


def test_a_damaged_header_is_refused(tmp_path: Path) -> None:
    from tunewright import _typed_tree as typed_tree

    encoded = typed_tree.encode({"w": jnp.ones(3)})
    encoded.node["dict"]["w"]["jax"][1] = [4]
    with pytest.raises(SnapshotError, match="cannot be read"):
        typed_tree.decode(encoded.node, encoded.arrays)


def test_numbers_come_in_one_transfer() -> None:
    assert numbers([jnp.float32(0.5), jnp.bfloat16(2), jnp.int32(3)]) == [0.5, 2.0, 3.0]


def test_a_header_is_plain() -> None:
    tag, header, array = pack(jnp.ones((2, 3), jnp.bfloat16))
    assert (tag, header) == ("jax", ["bfloat16", [2, 3]])
    assert array.dtype == np.uint8 and array.size == 12


def trained(train, metric: str, folder: Path) -> tw.types.Trial:
    """The one trial of a round on this training function."""
    asked = tw.Round(
        "jax",
        goal="Is it understood?",
        nuisance={"learning_rate": tw.linear(0.1, 0.2)},
        fixed={"max_train_steps": 40},
        trials_per_study=1,
    )
    workload = tw.Workload(
        train,
        tw.minimize(metric),
        store=folder / "t.db",
        executor=tw.executors.Inline(),
        eval_every=8,
    )
    (trial,) = tw.run(asked, workload).trials
    return trial


def test_logging_does_not_wait_and_keeps_the_order(tmp_path: Path) -> None:
    def train(run, learning_rate, max_train_steps):
        loss = jnp.float32(1.0)
        for step in run.steps(max_train_steps):
            loss = loss * (1 - learning_rate)
            run.log(step, train_loss=loss)
            assert run._points.holding, "it was read at once"
            if run.eval_due(step):
                run.log(step, valid_loss=loss, beside=float(step))

    trial = trained(train, "valid_loss", tmp_path)
    rate, curve = trial.configuration["learning_rate"], trial.curves["train_loss"]
    assert list(curve.steps) == list(range(1, 41))
    np.testing.assert_allclose(curve.values, (1 - rate) ** np.arange(1, 41), rtol=1e-4)
    assert list(trial.curves["beside"].values) == [8.0, 16.0, 24.0, 32.0, 40.0]


def test_a_loss_that_is_not_finite_ends_the_trial_as_infeasible(tmp_path: Path) -> None:
    def train(run, learning_rate, max_train_steps):
        for step in run.steps(max_train_steps):
            run.log(step, train_loss=jnp.float32(jnp.nan if step == 7 else 1.0))

    trial = trained(train, "train_loss", tmp_path)
    assert (trial.status, trial.reason.code) == ("infeasible", "metric.not_finite")
    assert trial.reason.facts["step"] == 7


def test_what_is_not_one_number_is_refused(tmp_path: Path) -> None:
    def train(run, learning_rate, max_train_steps):
        for step in run.steps(max_train_steps):
            run.log(step, train_loss=jnp.ones(3))

    trial = trained(train, "train_loss", tmp_path)
    assert trial.status == "failed"
    assert (trial.reason.code, trial.reason.facts["shape"]) == ("value.array", [3])


def test_a_stopped_trial_goes_on_from_its_tree(tmp_path: Path) -> None:
    seen = []

    def train(run, learning_rate, max_train_steps):
        state = run.restored or {"total": jnp.float32(0.0), "key": jax.random.key(1)}
        seen.append((run.start_step, float(state["total"]), is_jax_array(state["key"])))
        for step in run.steps(max_train_steps):
            state["total"] += 1.0
            run.log(step, train_loss=state["total"])
            if step == 20 and len(seen) == 1:
                Control(run).ask_stop()
            if run.save_due(step):
                run.save(state)

    trial = trained(train, "train_loss", tmp_path)
    assert seen == [(0, 0.0, True), (20, 20.0, True)]
    assert list(trial.curves["train_loss"].values) == [float(k) for k in range(1, 41)]
