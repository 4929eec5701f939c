"""Case 25: non-finite values are infeasible, kept, never best; the round goes on."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.messages import Message


def test_case_25(tmp_path):
    kinds = [f"{m} {v}" for m in ("valid_error", "train_loss") for v in ("nan", "inf", "-inf")]
    day = bad_day(tmp_path, kinds)
    check_three_zeros(day)
    for kind in kinds:
        metric, value = kind.split()
        trial = day.of(kind)
        shown = {"nan": "nan", "inf": "+inf", "-inf": "-inf"}[value]
        assert trial.status == "infeasible"
        facts = {"metric": metric, "value": shown, "step": 2}
        assert trial.reason == Message("metric.not_finite", facts)
        assert trial.value is None
        assert trial.number not in day.ended, "it was ended on the spot"
        assert trial.curves[metric].steps.tolist()[-1] == 2, "the value is kept"
    assert day.results.best().configuration["kind"] == "fine"
    assert day.results.best().value == 0.1
