"""The throughput figure: what it shows as data, and that it can be drawn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tunewright.present import figures as plots
from tunewright.present.figures.probe_plots import throughput_data


def answer(cached: bool = False) -> Any:
    def row(size: int, rate: float) -> Any:
        found = SimpleNamespace(
            batch_size=size, examples_per_s=rate, low=0.9 * rate, high=1.1 * rate
        )
        return SimpleNamespace(
            rate=found,
            cached_rate=found if cached else None,
            timing=SimpleNamespace(time_per_step_s=size / rate),
        )

    rows = [row(8, 100.0), row(16, 190.0), row(32, 200.0), row(64, 201.0)]
    return SimpleNamespace(rows=rows, knee=16, largest=SimpleNamespace(batch_size=4096))


def test_data_first() -> None:
    data = throughput_data(answer())
    assert [point.batch_size for point in data.points] == [8, 16, 32, 64]
    assert data.points[1].time_per_step_s == 16 / 190 and data.points[0].low == 90.0
    assert data.knee == 16 and data.points[0].cached_examples_per_s is None


def test_it_says_and_draws(tmp_path: Path) -> None:
    figure = plots.throughput(answer(cached=True))
    assert "to 190 at the knee, 16" in figure.says and "4,096" in figure.says
    assert figure.save(tmp_path / "throughput.png").stat().st_size > 5_000
    assert "on one cached batch" in figure.svg()
