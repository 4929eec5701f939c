from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console
from tests.recorded import results

from tunewright.messages import Message
from tunewright.present.terminal.trial_page import facts, print_trial
from tunewright.store.provenance import Provenance
from tunewright.store.read_round import Attempt, Snapshot
from tunewright.stores import History

ORIGIN = Provenance(
    command="tunewright run weight_decay",
    folder="somewhere",
    commit="0123456789abcdef",
    diff="+ changed",
    packages={"torch": "2.13.0"},
    python="3.11.7",
    host="a_host",
)

KILLED = Message("program.exited", {"status": -9, "signal": "SIGKILL"})
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
HISTORY = History(
    [
        Attempt(1, "a_host pid 7", 0, MOMENT, MOMENT, "died", KILLED, 4.0),
        Attempt(2, "a_host pid 8", 50, MOMENT, None, "", None, 0.0),
    ],
    [Snapshot(2, 90, "snapshots/000090", "abc", MOMENT)],
    ORIGIN,
)


def page(number: int, failed: bool = False) -> str:
    text = io.StringIO()
    own = results(failed=failed)
    print_trial(own, own.trial(number), HISTORY, Console(file=text, width=160))
    return text.getvalue()


def test_a_completed_trial() -> None:
    text = page(2)
    for expected in (
        "weight_decay trial 2 completed: valid_error 0.2024 at step 20",
        "study       weight_decay=0.0",
        "rank        1 of 4 completed",
        "time        10 s in 1 attempt",
        "folder      tuning.db.trials/r1/t000002",
        "again       python train.py --lr=0.013",
        "snapshot    snapshots/000090 at step 90",
        "commit      0123456789ab, with uncommitted changes",
        "packages    python 3.11.7  torch 2.13.0",
    ):
        assert expected in text
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["weight_decay"][:2] != rows["learning_rate"][:2]
    assert rows["learning_rate"] == [
        "learning_rate",
        "0.013",
        "nuisance",
        "log(0.0001,",
        "0.1)",
    ]
    assert rows["valid_error"] == ["valid_error", "█▁▁", "3", "0.8", "0.21", "0.2024", "0.8"]


def test_every_attempt_is_listed() -> None:
    lines = [line.split() for line in page(2).splitlines()]
    assert [
        "1",
        "0",
        "4.0",
        "s",
        "died",
        "killed",
        "by",
        "SIGKILL",
        "a_host",
        "pid",
        "7",
    ] in lines
    assert ["2", "50", "0.00", "s", "running", "a_host", "pid", "8"] in lines


def test_an_infeasible_trial_says_why() -> None:
    assert page(4).splitlines()[0] == (
        "weight_decay trial 4 infeasible: train_loss is nan at step 7"
    )


def test_a_failed_trial_shows_the_end_of_its_log() -> None:
    text = page(6, failed=True)
    assert "weight_decay trial 6 failed: ValueError: no such file" in text
    assert "tunewright run weight_decay --retry-failed" in text
    assert "--retry-failed" not in page(0)
    assert "  Traceback" in text


def test_the_most_memory_it_took_is_shown() -> None:
    own = results()
    large = replace(own.trial(2), peak_memory_mb=23_500.0)
    assert ("memory", "23.5 GB at most") in list(facts(own, large))
    assert "memory" not in dict(facts(own, own.trial(2)))


def test_the_values_that_its_program_reports_are_shown() -> None:
    own = results()
    echoed = replace(own.trial(2), applied={"learning_rate": 0.01, "optimizer": "adam"})
    assert ("applied", "learning_rate=0.01, optimizer=adam") in list(facts(own, echoed))
    assert "applied" not in dict(facts(own, own.trial(2)))


def test_uncommitted_changes_and_files_that_git_does_not_know_are_shown() -> None:
    many = replace(ORIGIN, untracked=("new.py",), diff="\n".join(f"+ line {n}" for n in range(80)))
    text = io.StringIO()
    own = results()
    told = replace(HISTORY, provenance=many)
    print_trial(own, own.trial(2), told, Console(file=text, width=160))
    assert "untracked   new.py" in text.getvalue() and "+ line 59" in text.getvalue()
    assert "+ line 60" not in text.getvalue() and "20 lines more" in text.getvalue()
