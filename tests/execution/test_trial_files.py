"""Trial files of ask and tell: soon on the disk, never the reason for an error."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.store.record_parts import curve

from tunewright.execution import session_store
from tunewright.execution.session_store import TrialFiles
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.spool import TRIAL_FILE, read_trial, results_in
from tunewright.store.trial import Claim


def claim(number: int) -> Claim:
    return Claim(
        trial=number + 1,
        attempt=1,
        worker=1,
        number=number,
        study=0,
        index=number,
        configuration={"x": 0.5},
        unit={"x": 0.5},
        seed=3,
        split_seed=0,
        folder=f"r1-aa/t{number:06}",
        attempts_died=0,
    )


@pytest.mark.parametrize("waiting", [1, 64])
def test_everything_is_written_when_the_block_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(session_store, "WAITING", waiting)
    with closing(TrialFiles()) as files:
        for number in range(8):
            own = claim(number)
            result = Ended(own.trial, 1, Outcome("completed", batches=(curve(0.5),)))
            files.write(tmp_path / own.folder, own, result)
        files.wait()
        assert len(list(tmp_path.glob("r*/t*/result.1.json"))) == 8
        files.write(tmp_path / own.folder, own, result)
    for number in range(8):
        folder = tmp_path / claim(number).folder
        assert read_trial(folder / TRIAL_FILE).number == number
        assert [one.outcome.status for one in results_in(folder)] == ["completed"]


def test_a_folder_that_cannot_be_made_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "r1-aa").write_text("a file in its place")
    with closing(TrialFiles()) as files:
        files.write(tmp_path / claim(0).folder, claim(0), Ended(1, 1, Outcome("completed")))
    assert caplog.records
