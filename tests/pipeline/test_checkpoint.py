"""Best N, latest, pinned and final are kept, whatever the order of the values."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hypothesis import given, settings, strategies as st

from tunewright import snapshot
from tunewright.errors import PipelineError
from tunewright.pipeline import checkpoint
from tunewright.pipeline.checkpoint import Keep, keep_best, rank_steps, select

values = st.floats(0, 1) | st.sampled_from([0.25, 0.5, math.nan, math.inf, -math.inf])


def run(folder: Path, curve: list[float], keep: Keep) -> list[int]:
    for step, value in enumerate(curve, start=1):
        metrics = {"valid_error": value, "train_loss": -float(step)}
        final = step == len(curve)
        keep_best(
            folder, lambda s=step: {"at": s}, step=step, metrics=metrics, keep=keep, final=final
        )
    return sorted(s.step for s in snapshot.list_snapshots(folder))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(values, min_size=1, max_size=12),
    st.booleans(),
    st.integers(0, 4),
    st.integers(0, 2),
    st.sets(st.integers(1, 12), max_size=2),
)
def test_the_kept_set(tmp_path_factory, curve, minimize, best, latest, pinned) -> None:
    if best + latest + len(pinned) == 0:
        best = 1
    keep = Keep("valid_error", minimize, best, latest, tuple(pinned))
    folder = tmp_path_factory.mktemp("kept")
    left = run(folder, curve, keep)
    steps = range(1, len(curve) + 1)
    finite = [s for s in steps if math.isfinite(curve[s - 1])]
    by_value = sorted(finite, key=lambda s: (curve[s - 1] * (1 if minimize else -1), s))
    expected = {len(curve), *by_value[:best], *(pinned & set(steps))}
    expected |= set(list(steps)[len(curve) - latest :]) if latest else set()
    assert left == sorted(expected)
    for kept in snapshot.list_snapshots(folder):
        assert snapshot.load(kept) == {"at": kept.step}


def test_the_old_one_goes_only_after_the_new_one_is_written(tmp_path: Path) -> None:
    keep = Keep("e", best=1, latest=0)
    keep_best(tmp_path, lambda: "old", step=1, metrics={"e": 0.5}, keep=keep)

    def breaks() -> object:
        raise RuntimeError("no more memory")

    with pytest.raises(RuntimeError):
        keep_best(tmp_path, breaks, step=2, metrics={"e": 0.1}, keep=keep)
    assert [s.step for s in snapshot.list_snapshots(tmp_path)] == [1]


def test_what_is_not_kept_is_not_even_built(tmp_path: Path) -> None:
    keep = Keep("e", best=1, latest=0)
    keep_best(tmp_path, lambda: 1, step=1, metrics={"e": 0.1}, keep=keep)
    asked: list[int] = []
    kept = keep_best(tmp_path, lambda: asked.append(1), step=2, metrics={"e": 0.2}, keep=keep)
    assert kept is None and not asked


def test_a_resumed_attempt_replaces_its_own_steps(tmp_path: Path) -> None:
    keep = Keep("e", best=2, latest=0)
    for step, value in [(1, 0.3), (2, 0.2), (3, 0.1)]:
        keep_best(tmp_path, lambda v=value: v, step=step, metrics={"e": value}, keep=keep)
    keep_best(tmp_path, lambda: "again", step=3, metrics={"e": 0.15}, keep=keep, attempt=2)
    listed = {s.step: s for s in snapshot.list_snapshots(tmp_path)}
    assert sorted(listed) == [2, 3] and len(snapshot.list_snapshots(tmp_path)) == 2
    assert snapshot.load(listed[3]) == "again"
    assert [e.metrics["e"] for e in checkpoint.evaluations(tmp_path)] == [0.3, 0.2, 0.15]


def test_selection_in_retrospect(tmp_path: Path) -> None:
    curve = [0.5, 0.3, 0.29, 0.31, 0.1, 0.32, math.nan]
    run(tmp_path, curve, Keep("valid_error", best=2, latest=1))
    chosen = select(tmp_path, "valid_error")
    assert (chosen.step, chosen.value) == (5, 0.1)
    assert chosen.snapshot is not None and chosen.snapshot.step == 5
    # One lucky evaluation: the medians of 3 are .3 .3 .3 .29 .31 .31.
    assert (chosen.smoothed_step, chosen.smoothed_value) == (4, 0.29)
    other = select(tmp_path, "train_loss")
    assert (other.step, other.snapshot.step) == (7, 7)
    worst = select(tmp_path, "valid_error", minimize=False)
    assert worst.step == 1 and worst.snapshot is None and worst.kept_step == 3
    assert "not kept" in worst.says and f"step {worst.kept_step}" in worst.says


def test_a_line_cut_short_by_a_kill_is_passed_over(tmp_path: Path) -> None:
    keep = Keep("e")
    keep_best(tmp_path, lambda: 1, step=1, metrics={"e": 0.1}, keep=keep)
    with (tmp_path / checkpoint.EVALUATIONS).open("ab") as file:
        file.write(b'{"step": 2, "metr')
    keep_best(tmp_path, lambda: 1, step=3, metrics={"e": math.inf}, keep=keep)
    noted = checkpoint.evaluations(tmp_path)
    assert [e.step for e in noted] == [1, 3] and noted[1].metrics["e"] == math.inf


def test_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"there are loss\. Name one"):
        keep_best(tmp_path, lambda: 1, step=1, metrics={"loss": 1.0}, keep=Keep("error"))
    with pytest.raises(PipelineError, match="nothing would be kept"):
        Keep("e", best=0, latest=0)
    with pytest.raises(PipelineError, match="no metrics"):
        select(tmp_path / "empty", "e")
    assert rank_steps({}, True) == [] and checkpoint.evaluations(tmp_path) == []
