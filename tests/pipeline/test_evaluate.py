"""Every example counts once, whatever the batch, the padding, the memory and the hosts."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings, strategies as st
from tests.pipeline import rank_worker
from tests.pipeline.rank_worker import evaluated, inputs, labels, metrics, network
from tests.pipeline.ranks import WORLDS, answers
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from tunewright.errors import PipelineError
from tunewright.pipeline.evaluate import eval_due, eval_interval, evaluate
from tunewright.pipeline.ghost_batch_norm import GhostBatchNorm
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.predictions import fixed_ids


class Squares(Dataset):
    """A map-style dataset of dicts."""

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return {"x": torch.tensor([float(index)]), "y": index**2}


def value(model, batch):
    return {"value": batch.double()}


def mean_of(data, **options):
    return evaluate(nn.Identity(), data, value, **options).metrics["value"]


# ---- counting


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 2**32))
def test_the_mean_is_exact_for_every_batch_size(size, batch_size, seed):
    data = torch.rand(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = evaluate(nn.Identity(), data, value, batch_size=batch_size, keep_values=True)
    assert found.metrics["value"] == float(data.sum()) / size  # not close: equal
    assert found.weight == size
    assert torch.equal(found.values["value"], data)


def test_batches_have_one_shape_and_padding_counts_nothing():
    shapes = []

    def poisoned(model, batch):
        shapes.append(len(batch))
        values = batch.double().clone()
        if len(shapes) == 3:
            values[2:] = math.nan  # what padding gives must not matter, not even nan
        return {"value": values}

    data = torch.arange(10)
    found = evaluate(nn.Identity(), data, poisoned, batch_size=4)
    assert shapes == [4, 4, 4] and found.batch_size == 4
    assert found.metrics["value"] == 4.5 and found.weight == 10


def test_a_real_nan_is_not_hidden():
    assert math.isnan(mean_of(torch.tensor([1.0, math.nan, 2.0]), batch_size=2))


def test_weights_weigh_and_zero_leaves_out():
    data = torch.tensor([1.0, 10.0, math.inf, 4.0])
    weights = torch.tensor([1.0, 0.5, 0.0, 3.0])
    found = evaluate(nn.Identity(), data, value, weights=weights, batch_size=3, keep_values=True)
    assert found.metrics["value"] == (1 + 5 + 12) / 4.5 and found.weight == 4.5
    assert found.values["value"].isnan().tolist() == [False, False, True, False]


def test_tokens_are_weighed_one_by_one():
    tokens = torch.tensor([[5, 3, 0], [7, 0, 0], [1, 1, 1]])
    found = evaluate(nn.Identity(), tokens, value, weights=(tokens != 0).float(), batch_size=2)
    assert found.weight == 6.0  # tokens, not sequences
    assert found.metrics["value"] == (5 + 3 + 7 + 1 + 1 + 1) / 6


@pytest.mark.parametrize(
    "shaped",
    [lambda v: v[:, None], lambda v: v.mean(), lambda v: v[:-1], lambda v: v.expand(2, -1), float],
    ids=["column", "mean", "short", "rows", "number"],
)
def test_values_that_do_not_match_the_weights_are_refused(shaped):
    def misshapen(model, batch):
        return {"value": shaped(batch if shaped is not float else batch.sum())}

    with pytest.raises(PipelineError, match=r"metric 'value' has shape .* weights have \(4,\)"):
        evaluate(nn.Identity(), torch.arange(10.0), misshapen, batch_size=4)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"weights": torch.ones(9)}, "9 weights for 10 examples"),
        ({"weights": -torch.ones(10)}, "not negative"),
        ({"weights": torch.full((10,), math.nan)}, "finite"),
        ({"weights": torch.zeros(10)}, "no example counts"),
        ({"labels": torch.zeros(10)}, "both labels= and correct="),
        ({"labels": torch.zeros(9), "correct": "value"}, r"labels of shape \(9,\)"),
        ({"labels": torch.zeros(10), "correct": "valu"}, r"gives \['value'\]"),
        ({"labels": torch.zeros(10), "correct": "value"}, "0 or 1 per example"),
        ({"batch_size": 0}, "at least 1 example"),
        ({"batch_size": 4, "train_batch_size": 8}, "smaller than the training batch of 8"),
    ],
)
def test_wrong_requests_are_refused(options, says):
    with pytest.raises(PipelineError, match=says):
        evaluate(nn.Identity(), torch.arange(10.0), value, **{"batch_size": 4, **options})


def test_names_must_stay_the_same():
    def wandering(model, batch):
        return {f"value {int(batch[0])}": batch}

    with pytest.raises(PipelineError, match="same names for every batch"):
        evaluate(nn.Identity(), torch.arange(4.0), wandering, batch_size=2)


def test_data_may_be_tensors_dicts_or_datasets():
    x, y = torch.arange(10.0)[:, None], torch.arange(10) ** 2
    by_name = {"metrics": lambda model, b: {"sum": b["x"].squeeze(1) + b["y"]}, "batch_size": 4}
    by_place = {"metrics": lambda model, b: {"sum": b[0].squeeze(1) + b[1]}, "batch_size": 4}
    for data, options in [
        ({"x": x, "y": y}, by_name),
        (Squares(), by_name),
        ((x, y), by_place),
        (TensorDataset(x, y), by_place),
    ]:
        assert evaluate(nn.Identity(), data, **options).metrics == {"sum": (45 + 285) / 10}


def test_workers_load_ahead():
    def total(model, batch):
        return {"sum": batch["x"].squeeze(1) + batch["y"]}

    found = evaluate(nn.Identity(), Squares(), total, batch_size=4, workers=1)
    assert found.metrics == {"sum": 33.0}


# ---- the model is left alone


def test_modes_random_state_and_statistics_are_left_as_they_were():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5))
    model.train()
    model[1].eval()  # frozen batch norm stays frozen
    torch.manual_seed(3)
    state = torch.get_rng_state()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def noisy(net, batch):
        assert not net[2].training and not torch.is_grad_enabled()
        return {"value": net(batch).sum(1) + torch.randn(len(batch))}

    data = torch.randn(9, 2, generator=torch.Generator().manual_seed(0))
    first = evaluate(model, data, noisy, batch_size=4, seed=5).metrics
    assert torch.equal(torch.get_rng_state(), state)
    assert [module.training for module in model] == [True, False, True]
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    torch.manual_seed(99)
    assert evaluate(model, data, noisy, batch_size=4, seed=5).metrics == first
    assert evaluate(model, data, noisy, batch_size=4, seed=6).metrics != first


def test_modes_come_back_after_an_error():
    model = nn.Dropout(0.5).train()
    with pytest.raises(ZeroDivisionError):
        evaluate(model, torch.arange(3.0), lambda net, batch: {"value": 1 / 0}, batch_size=2)
    assert model.training


@pytest.mark.parametrize("norm", [nn.BatchNorm1d(6), GhostBatchNorm(6, 8)])
def test_the_batch_size_changes_nothing_with_batch_norm(norm):
    model = network(0, norm)
    model(inputs(16))
    data = (inputs(), labels())
    found = [evaluate(model, data, metrics, batch_size=size).metrics for size in (1, 7, 64, 103)]
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-12)


# ---- memory


def test_out_of_memory_halves_the_batch_and_loses_nothing():
    calls = []

    def costly(model, batch):
        calls.append(len(batch))
        if len(batch) > 16 or (len(batch) > 8 and len(calls) > 4):
            torch.empty(2**46, dtype=torch.uint8)  # more than any address space
        return {"value": batch}

    found = evaluate(nn.Identity(), torch.arange(100.0), costly, batch_size=64)
    assert found.metrics["value"] == 49.5 and found.weight == 100
    assert found.batch_size == 8 and calls[:4] == [64, 32, 16, 16] and set(calls[5:]) == {8}


def test_when_not_even_one_example_fits_the_error_is_kept():
    def impossible(model, batch):
        torch.empty(2**46, dtype=torch.uint8)
        return {}

    with pytest.raises(RuntimeError, match="allocate memory"):
        evaluate(nn.Identity(), torch.arange(4.0), impossible, batch_size=2)


def test_other_errors_are_not_taken_for_memory():
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        evaluate(nn.Linear(3, 1), torch.zeros(4, 2), lambda m, b: {"v": m(b)}, batch_size=2)


# ---- classes and predictions


def test_classes_are_counted():
    target = torch.tensor([0] * 40 + [1] * 3 + [7] * 2)
    right = torch.ones(45)
    right[[0, 1, 41, 44]] = 0

    def judged(model, batch):
        return {"accuracy": batch}

    found = evaluate(nn.Identity(), right, judged, batch_size=16, labels=target, correct="accuracy")
    assert [(c.label, c.correct, c.total) for c in found.class_counts] == [
        (0, 38, 40),
        (1, 2, 3),
        (7, 1, 2),
    ]
    assert [c.label for c in found.rare_classes] == [1, 7]
    weights = torch.ones(45)
    weights[44] = 0  # left out of the counts too
    found = evaluate(
        nn.Identity(),
        right,
        judged,
        batch_size=16,
        weights=weights,
        labels=target,
        correct="accuracy",
    )
    assert (found.class_counts[2].correct, found.class_counts[2].total) == (1, 1)


def test_predictions_of_fixed_examples_are_kept():
    model, data = network(0), (inputs(), labels())
    found = evaluate(model, data, metrics, batch_size=64, predict=lambda m, b: m(b[0]).softmax(1))
    ids = fixed_ids(103)
    assert len(ids) == 64 and torch.equal(found.predictions.ids, ids)
    with torch.no_grad():
        assert torch.allclose(found.predictions.values, model(inputs()[ids]).softmax(1))


@pytest.mark.parametrize("ids", [[102, 0, 7], torch.tensor([5]), range(3)])
def test_predictions_of_chosen_examples_are_kept(ids):
    model, data = network(0), (inputs(), labels())
    predict = {"predict": lambda m, b: m(b[0]), "predict_ids": ids}
    found = evaluate(model, data, metrics, batch_size=64, **predict)
    assert found.predictions.ids.tolist() == list(ids)
    with torch.no_grad():
        assert torch.equal(found.predictions.values, model(inputs()[torch.as_tensor(list(ids))]))


@pytest.mark.parametrize("ids", [[], [103], [-1], [1, 1], [0.5], [[1]]])
def test_examples_that_cannot_be_chosen_are_refused(ids):
    for predict, code in (
        (lambda m, b: m(b[0]), "evaluation.bad_predict_ids"),
        (None, "evaluation.predict_ids_alone"),
    ):
        with pytest.raises(PipelineError) as raised:
            evaluate(network(0), (inputs(), labels()), metrics, predict=predict, predict_ids=ids)
        assert raised.value.code == code


# ---- when


@settings(deadline=None)
@given(st.integers(1, 100_000), st.integers(1, 200))
def test_evaluations_are_as_many_as_asked_and_end_with_the_last_step(max_train_steps, evaluations):
    every = eval_interval(max_train_steps, evaluations)
    count = -(-max_train_steps // every)
    assert count <= evaluations
    assert count >= min(max_train_steps, evaluations) / 2
    assert eval_due(max_train_steps, max_train_steps, every)


def test_due_is_a_pure_function_of_the_step():
    due = [step for step in range(1, 1001) if eval_due(step, 1000)]
    assert due == list(range(10, 1001, 10))
    resumed = [step for step in range(501, 1001) if eval_due(step, 1000)]
    assert resumed == [step for step in due if step > 500]
    dense = [step for step in range(1, 21) if eval_due(step, 20, every=10, dense_until=3)]
    assert dense == [1, 2, 3, 10, 20]


@settings(deadline=None)
@given(st.floats(1e-4, 10), st.floats(0, 100), st.floats(0.01, 0.5))
def test_evaluation_takes_at_most_its_share_of_the_time(step_s, eval_s, share):
    steps = 10**7
    every = eval_interval(steps, time_per_step_s=step_s, time_per_eval_s=eval_s, share=share)
    if every < steps:
        assert eval_s / (every * step_s + eval_s) <= share * (1 + 1e-9)


# ---- several processes


@pytest.fixture(scope="module")
def alone():
    return evaluated(rank_worker.trained(Host())[2], Host())


@pytest.mark.parametrize("world", WORLDS)
def test_the_number_of_hosts_changes_nothing(world, alone):
    """103 examples on 2 or 4 ranks: the shares are unequal, and nothing is dropped or doubled."""
    for rank in answers(world):
        found = rank["evaluation"]
        assert found["weight"] == 103 and found["counts"] == alone["counts"]
        assert found["metrics"]["accuracy"] == alone["metrics"]["accuracy"]
        assert found["metrics"]["loss"] == pytest.approx(alone["metrics"]["loss"], rel=1e-12)
        for name, values in alone["values"].items():
            assert torch.allclose(found["values"][name], values, rtol=1e-10)
    assert torch.allclose(answers(world)[0]["evaluation"]["predictions"], alone["predictions"])
    assert answers(world)[1]["evaluation"]["predictions"] is None


@pytest.mark.parametrize("world", WORLDS)
def test_every_rank_gets_the_same_numbers(world):
    first = answers(world)[0]["evaluation"]["metrics"]
    assert all(rank["evaluation"]["metrics"] == first for rank in answers(world))


@pytest.mark.parametrize("world", WORLDS)
def test_ranks_that_evaluate_different_data_are_refused(world):
    for rank in answers(world):
        assert "every rank needs the same" in rank["other_size"]
        assert "were not counted once" in rank["other_weights"]


def test_a_rank_that_is_counted_wrongly_is_noticed():
    """Told that it is one of two, a lone process would evaluate half of the data."""
    with pytest.raises((PipelineError, ValueError)):
        evaluate(nn.Identity(), torch.arange(10.0), value, batch_size=4, host=Host(0, 2))


def test_the_loss_is_that_of_torch():
    model = network(4)
    found = evaluate(model, (inputs(), labels()), metrics, batch_size=10)
    with torch.no_grad():
        expected = F.cross_entropy(model(inputs()), labels())
    assert found.metrics["loss"] == pytest.approx(float(expected), rel=1e-12)
