"""Samples: drawn by class, silent where fair, speaking where skewed."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy import stats
from torch import Tensor

from tunewright.errors import PipelineError
from tunewright.pipeline.eval_sample import (
    EvalSample,
    resolution,
    skew,
    stratified,
)

POPULATION, SIZE, CLASSES = 4000, 400, 10


def world(kind: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ten classes, each half as common as the last, that are harder the rarer they are."""
    shares = torch.tensor([0.5 ** min(label, 6) for label in range(CLASSES)])
    labels = torch.multinomial(shares, POPULATION, True, generator=generator)
    draw = torch.rand(POPULATION, generator=generator).clamp(min=1e-6)
    if kind == "accuracy":
        return labels, (draw < 0.95 - 0.06 * labels).double()
    return labels, -draw.log() * (1 + labels)


def at_random(generator: torch.Generator, chances: Tensor | None = None) -> EvalSample:
    chances = torch.ones(POPULATION) if chances is None else chances
    ids = torch.multinomial(chances, SIZE, False, generator=generator)
    return EvalSample(ids, POPULATION, stratified=False)


def within_binomial(count: int, trials: int, rate: float) -> bool:
    """Whether the count is what this rate gives in all but one in a thousand cases."""
    low, high = stats.binom.interval(0.999, trials, rate)
    return low <= count <= high


# ---- drawing


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=200),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_every_class_has_its_share_to_within_one(labels, fraction, seed):
    target = torch.tensor(labels)
    size = max(1, round(fraction * len(labels)))
    sample = stratified(target, size, seed)
    assert sample.size == size == len(set(sample.ids.tolist()))
    found = torch.bincount(target[sample.ids], minlength=7)
    wanted = torch.bincount(target, minlength=7) * size / len(labels)
    assert bool(((found - wanted).abs() < 1 + 1e-9).all())
    assert torch.equal(sample.ids, stratified(target, size, seed).ids)


def test_remainders_go_to_no_class_by_its_place():
    target = torch.arange(4).repeat(25)
    extra = torch.zeros(4)
    for seed in range(400):
        extra += torch.bincount(target[stratified(target, 5, seed).ids], minlength=4) - 1
    assert all(within_binomial(int(count), 400, 0.25) for count in extra)


def test_examples_of_a_class_are_drawn_alike():
    target = torch.zeros(20, dtype=torch.long)
    drawn = torch.zeros(20)
    for seed in range(500):
        drawn[stratified(target, 5, seed).ids] += 1
    assert all(within_binomial(int(count), 500, 0.25) for count in drawn)


@pytest.mark.parametrize("size", [0, 11])
def test_a_sample_that_cannot_be_drawn_is_refused(size):
    with pytest.raises(PipelineError, match="cannot be drawn"):
        stratified(torch.zeros(10), size, 0)


@pytest.mark.parametrize("ids", [[], [0, 0], [-1], [10]])
def test_ids_must_be_a_sample(ids):
    with pytest.raises(PipelineError, match="none twice"):
        EvalSample(torch.tensor(ids, dtype=torch.long), 10, stratified=False)


# ---- skew


@pytest.mark.parametrize("kind", ["loss", "accuracy"])
@pytest.mark.parametrize("by_class", [True, False])
def test_fair_samples_are_called_skewed_in_one_of_a_hundred(kind, by_class):
    generator = torch.Generator().manual_seed(7)
    trials, by_mean, spoke = 250, 0, 0
    for seed in range(trials):
        labels, values = world(kind, generator)
        sample = stratified(labels, SIZE, seed) if by_class else at_random(generator)
        found = skew(sample, values, labels)
        by_mean += abs(found.z) > 2.58
        spoke += found.skewed
    assert within_binomial(by_mean, trials, 0.01)
    assert within_binomial(spoke, trials, 0.012)  # 0.01 + 0.001 + 0.001


@pytest.mark.parametrize("by_class", [True, False])
def test_errors_are_those_of_drawing_half_of_everything(by_class):
    """z has a standard deviation of 1, and 5 % of the class mixes have p < 0.05."""
    generator = torch.Generator().manual_seed(6)
    labels, values = world("loss", generator)
    labels, values = labels[:500] % 3, values[:500]
    found = []
    for seed in range(300):
        ids = torch.randperm(500, generator=generator)[:250]
        sample = stratified(labels, 250, seed) if by_class else EvalSample(ids, 500, False)
        found.append(skew(sample, values, labels))
    low, high = (edge / 299 for edge in stats.chi2.interval(0.999, 299))
    assert low <= float(torch.tensor([one.z for one in found]).var()) <= high
    if not by_class:
        assert within_binomial(sum(one.class_mix_p < 0.05 for one in found), 300, 0.05)


@pytest.mark.parametrize("kind", ["loss", "accuracy"])
def test_a_sample_of_easy_examples_is_called_skewed(kind):
    """Hard examples come half as often: every second example that should be there is missing."""
    generator = torch.Generator().manual_seed(8)
    spoke = 0
    for _ in range(60):
        labels, values = world(kind, generator)
        hard = values > values.median() if kind == "loss" else values == 0
        found = skew(at_random(generator, torch.where(hard, 0.5, 1.0)), values, labels)
        spoke += found.skewed
        if found.skewed:
            assert "the sample is skewed: its" in str(found)
    assert spoke >= 48  # power 0.9 or more


def test_a_sample_of_other_classes_is_called_skewed_though_its_mean_is_right():
    generator = torch.Generator().manual_seed(9)
    labels, _ = world("loss", generator)
    values = torch.rand(POPULATION, generator=generator)
    found = skew(at_random(generator, torch.where(labels == 0, 0.4, 1.0)), values, labels)
    assert found.class_mix_p < 0.001 and "classes are mixed otherwise" in found.reasons[-1]


def test_values_spread_otherwise_are_noticed_though_their_mean_is_right():
    generator = torch.Generator().manual_seed(10)
    values = torch.randn(POPULATION, generator=generator)
    sample = at_random(generator, torch.where(values.abs() > 1, 0.2, 1.0))
    found = skew(sample, values)
    assert found.score_p < 0.001 and found.class_mix_p is None
    assert any("distributed otherwise" in reason for reason in found.reasons)


def test_comparing_by_class_sees_what_the_plain_formula_misses():
    """Classes far apart hide a shift inside them from a formula that does not know of classes."""
    generator = torch.Generator().manual_seed(11)
    labels = torch.arange(POPULATION) % 2
    values = 100.0 * labels + torch.randn(POPULATION, generator=generator)
    parts = [
        torch.multinomial(
            torch.where(values - 100.0 * labels > 0, 0.6, 1.0) * (labels == label),
            SIZE // 2,
            False,
            generator=generator,
        )
        for label in (0, 1)
    ]
    ids = torch.cat(parts)
    assert abs(skew(EvalSample(ids, POPULATION, True), values, labels).z) > 2.58
    assert abs(skew(EvalSample(ids, POPULATION, False), values, labels).z) < 1


def test_a_sample_of_everything_has_no_error():
    values = torch.rand(50)
    found = skew(EvalSample(torch.arange(50), 50, False), values, torch.arange(50) % 3)
    assert found.z == 0 and not found.skewed and "shows the full set" in str(found)


@pytest.mark.parametrize(
    "values, labels, by_class, says",
    [
        (torch.zeros(9), None, False, "9 values"),
        (torch.zeros(10), torch.zeros(9), False, "9 labels"),
        (torch.full((10,), float("nan")), None, False, "not finite"),
        (torch.zeros(10), None, True, "give labels="),
    ],
)
def test_what_cannot_be_compared_is_refused(values, labels, by_class, says):
    with pytest.raises(PipelineError, match=says):
        skew(EvalSample(torch.arange(4), 10, by_class), values, labels)


# ---- resolution


@pytest.mark.parametrize("gain, seen", [(0.0, 0.05), (None, 0.5)])
def test_the_smallest_difference_is_seen_as_often_as_it_says(gain, seen):
    """Without a difference 5 % of the pairs show one this large; at exactly this size, half do."""
    generator = torch.Generator().manual_seed(12)
    size, changed, trials = 1000, 0.1, 400
    promised = 1.96 * (changed / size) ** 0.5
    gain = promised if gain is None else gain
    beyond = 0
    for _ in range(trials):
        draw = torch.rand(size, generator=generator)
        better, worse = (changed + gain) / 2, (changed - gain) / 2
        before = ((draw >= better) & (draw < 0.8)).double()
        after = before.clone()
        after[draw < better] = 1
        after[(draw >= better) & (draw < better + worse)] = 0
        beyond += (
            abs(float((after - before).mean())) > resolution(before, after).smallest_difference
        )
    assert within_binomial(beyond, trials, seen)


def test_resolution_says_what_is_enough_and_what_would_be():
    before = torch.zeros(400)
    after = (torch.arange(400) < 40).float()
    found = resolution(before, after)
    assert found.discordance == pytest.approx(0.1)
    assert found.enough_for(0.05) and found.enough_for(-0.05) and not found.enough_for(0.01)
    larger = found.size_for(0.01)
    assert 1.96 * (0.1 / larger) ** 0.5 <= 0.01 < 1.96 * (0.1 / (larger - 1)) ** 0.5


def test_unequal_samples_are_refused():
    with pytest.raises(PipelineError, match=r"shapes \(3,\) and \(4,\)"):
        resolution(torch.zeros(3), torch.zeros(4))
