"""Case 10: a changed search space under an old name is refused with the difference."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.faults.quick_rounds import REPETITIONS, asked, check, lines, workload

import tunewright as tw
from tunewright.errors import RoundChanged
from tunewright.execution.run import supervise


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_10(store_url, tmp_path, repetition):
    journal = tmp_path / "journal"
    round = asked(journal, 4)
    work = workload(store_url, tmp_path / "trials")
    supervise(round, work, trials=2)
    wider = replace(round, nuisance={"learning_rate": tw.log(1e-5, 1.0)})
    for changed in (wider, replace(round, seed=1), replace(wider, trials_per_study=9)):
        with pytest.raises(RoundChanged) as refused:
            tw.run(changed, work)
        assert refused.value.code == "round.changed"
    with pytest.raises(RoundChanged, match=r"learning_rate.*0\.0001.*1e-05"):
        tw.run(wider, work)
    assert tw.load(store_url, round.name).counts == {"completed": 2, "pending": 2}
    assert len(lines(journal)) == 4, "nothing was trained for it"
    check(tw.run(round, work), journal, 4)
    elsewhere = replace(wider, name="wider", fixed={**wider.fixed, "journal": f"{journal}.wider"})
    check(tw.run(elsewhere, work), tmp_path / "journal.wider", 4)
