"""Limits: what ends a trial, and what is refused as a limit."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.errors import WorkloadError
from tunewright.execution.executors.limits import Limits, refuse
from tunewright.messages import Message


def test_time_and_progress() -> None:
    limits = Limits(trial_timeout_s=60, no_progress_timeout_s=5)
    assert limits.verdict(ran_s=59, since_step_s=4) is None
    assert limits.verdict(61, 1) == ("failed", Message("limit.time", {"limit_s": 60}))
    assert limits.verdict(10, 6) == ("failed", Message("limit.no_progress", {"limit_s": 5}))
    assert Limits().verdict(1e9, 1e9) is None


def test_memory_is_in_gigabytes() -> None:
    limits = Limits(memory_gb=2)
    assert not limits.too_large(1907) and limits.too_large(1908)  # 2e9 bytes are 1907.3 MiB
    assert not Limits().too_large(1e9)
    outcome, reason = limits.out_of_memory(2000)
    assert (outcome, reason.code) == ("infeasible", "limit.memory")
    assert reason.facts == {"used_gb": pytest.approx(2.097, abs=1e-3), "limit_gb": 2}


@pytest.mark.parametrize("limit", [0, -1, float("nan"), "many"])
def test_a_limit_is_a_positive_number(limit: Any) -> None:
    with pytest.raises(WorkloadError, match=r"memory_gb=.* is not a positive number"):
        Limits(memory_gb=limit)


def test_every_problem_is_reported_at_once() -> None:
    refuse([], lambda: Limits())
    given = [Message("executor.bad_isolate", {"isolate": "maybe"})]
    with pytest.raises(WorkloadError) as refused:
        refuse(given, lambda: Limits(memory_gb=0), lambda: Limits(trial_timeout_s=-1))
    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["executor.bad_isolate", *["executor.limit_not_positive"] * 2]
