"""RELIABILITY 17: a store lost beside its trial folders is not begun anew, and can be rebuilt."""

from __future__ import annotations

import pytest
from endurance import Endurance, asked, workload

import tunewright as tw
from tunewright.errors import Damaged
from tunewright.record.rebuild import rebuild


@pytest.mark.parametrize("loss", ["missing", "empty"])
def test_case_17(tmp_path, loss):
    store = tmp_path / "tuning.db"
    round = Endurance(str(store), tmp_path, 3, sleep_s=0.0)
    own = tw.Workload(workload(str(store), "").train, tw.minimize("valid_error"), store=store)
    before = tw.run(asked(round.journal, 3, 0.0), own)
    for path in (store, *tmp_path.glob("tuning.db-*")):
        path.unlink()
    if loss == "empty":
        store.touch()
    with pytest.raises(Damaged, match="rebuild"):
        tw.run(asked(round.journal, 3, 0.0), own)
    assert rebuild(store).ended == 3
    after = tw.run(asked(round.journal, 3, 0.0), own)
    assert [(t.number, t.value, t.configuration) for t in after.trials] == [
        (t.number, t.value, t.configuration) for t in before.trials
    ]
    for old, new in zip(before.trials, after.trials, strict=True):
        assert (
            new.curves["valid_error"].values.tolist() == old.curves["valid_error"].values.tolist()
        )
    assert len([line for line in round.lines() if line[2] == "began"]) == 3, "none ran again"
