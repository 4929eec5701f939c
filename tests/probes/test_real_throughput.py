"""Batch size and input of trainings on real images, on this machine's CPU.

Only what holds on every machine is asserted: examples that are fetched one by one are waited for.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.probes import digits_network as network, real_steps

import tunewright as tw
from tunewright.probes.throughput.size_sweep import BatchSizeTerms
from tunewright.probes.throughput.timing import TimingRule

QUICK = TimingRule(window_s=0.02, seconds=0.12, settling=3, most_settling=6)
fashion = pytest.mark.skipif(not network.FASHION.exists(), reason="Fashion-MNIST is not here")


def sizes_of(make_step: Any, sizes: list[int], rule: TimingRule = QUICK) -> Any:
    answer = tw.probes.batch_size(
        make_step, terms=BatchSizeTerms(sizes=sizes, rule=rule, memory_gb=1.5), store=None
    )
    assert [row.batch_size for row in answer.rows] == sizes
    assert answer.largest.out_of_memory == 0 and answer.largest.batch_size == sizes[-1]
    for row in answer.rows:
        assert 0 < row.waiting_share < 1 and row.cached_rate is not None
        assert row.rate.low <= row.rate.examples_per_s <= row.rate.high
        assert 0 < row.reserved_mb < 1.5 * 1024
    assert answer.identity["optimizer"] == "SGD (momentum)"
    return answer


def input_of(make_step: Any, steps: int = 200) -> Any:
    answer = tw.probes.input_bound(
        make_step, batch_size=64, steps=steps, workers=[0], rule=QUICK, store=None
    )
    assert answer.verdict != "cannot_judge" and 0.02 < answer.waiting_share < 1
    assert [stage.name for stage in answer.stages] == ["read", "collate"]
    assert answer.workers == 0 and [rung.workers for rung in answer.ladder] == [0]
    assert answer.host_waits.per_step == 0 and answer.missing == ()
    return answer


@pytest.mark.parametrize("sizes", [[128], pytest.param([8, 128], marks=pytest.mark.slow)])
def test_batch_sizes_on_the_digits(sizes: list[int]) -> None:
    answer = sizes_of(real_steps.make_digits_step, sizes)
    assert answer.identity["example"] == "(64,) float32"
    assert "4,810 parameters" in answer.identity["model"]
    assert answer.chosen == 128  # sixteen times the examples for far less than sixteen times


def test_the_input_of_the_digits() -> None:
    input_of(real_steps.make_digits_step)


@pytest.mark.slow
@fashion
def test_batch_sizes_on_fashion_mnist() -> None:
    answer = sizes_of(real_steps.make_fashion_step, [4, 64, 1024], TimingRule())
    assert answer.identity["example"] == "(784,) float32"
    rates = [row.rate.examples_per_s for row in answer.rows]
    assert rates[0] < rates[1]
    assert answer.chosen >= 64


@pytest.mark.slow
@fashion
def test_the_input_of_fashion_mnist() -> None:
    answer = input_of(real_steps.make_fashion_step, steps=400)
    assert answer.steps == 400 and answer.slow_stage is not None


PROGRAM = """
import torch
from torch import nn


def make_step(batch_size, width=32, optimizer="SGD"):
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 3))
    update = getattr(torch.optim, optimizer)(model.parameters(), lr=0.01)
    x, y = torch.randn(batch_size, 16), torch.zeros(batch_size, dtype=torch.long)

    def step():
        update.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        update.step()

    return step
"""


@pytest.mark.slow
def test_a_real_program_is_measured_anew_when_it_changes(tmp_path: Path) -> None:
    """Row 6: the model, the optimizer and the step's own code, each changed in turn."""
    path = tmp_path / "program_of_row_6.py"

    def asked(text: str = PROGRAM, **fixed: Any) -> tuple[bool, list[str]]:
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # as an import would
        spec.loader.exec_module(module)
        answer = tw.probes.batch_size(
            module.make_step,
            fixed=fixed,
            terms=BatchSizeTerms(sizes=[8], rule=QUICK),
            store=tmp_path / "tuning.db",
        )
        changed = [n.facts["what"] for n in answer.notes if n.code == "probe.changed"]
        return answer.from_record, changed

    try:
        assert asked() == (False, [])
        assert asked() == (True, [])
        measured, changed = asked(width=64)
        assert not measured and "model" in changed
        measured, changed = asked(optimizer="Adam")
        assert not measured and "optimizer" in changed
        edited = PROGRAM.replace("loss.backward()", "(2 * loss).backward()")
        assert asked(edited, optimizer="Adam") == (False, ["code"])
        assert asked(edited, optimizer="Adam") == (True, [])
    finally:
        sys.modules.pop(path.stem, None)
