from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tunewright.cli._errors import Misuse, tell
from tunewright.errors import (
    Busy,
    Damaged,
    DesignError,
    MissingExtra,
    NotFound,
    StoreError,
    Unreadable,
    WorkloadError,
)
from tunewright.messages import Message
from tunewright.messages.words import as_argument, as_setting
from tunewright.remedies import JoinRound, ListRounds, use


def told(error: BaseException) -> tuple[str, int]:
    text = io.StringIO()
    code = tell(error, Console(file=text, width=60))
    return text.getvalue(), code


@pytest.mark.parametrize(
    ("error", "code", "remedy"),
    [
        (DesignError("error.text", text="goal: empty."), 2, ""),
        (WorkloadError("error.text", text="train takes no handle"), 2, ""),
        (MissingExtra("error.text", text="pip install 'tunewright[demo]'"), 2, ""),
        (NotFound("error.text", text="no round 'dept'", remedy=ListRounds()), 2, "tunewright ls"),
        (NotFound("error.text", text="no Optuna storage at nope.db."), 2, ""),
        (
            Busy("error.text", text="owned by pid 3", remedy=JoinRound("a b")),
            3,
            "tunewright worker 'a b'",
        ),
        (Damaged("error.text", text="torn"), 3, "tunewright restore"),
        (Unreadable("error.text", text="not a file of W&B"), 3, ""),
        (StoreError("error.text", text="disk full"), 3, "tunewright doctor"),
    ],
)
def test_every_error_has_an_exit_code_and_a_next_step(
    error: Exception, code: int, remedy: str
) -> None:
    text, found = told(error)
    assert found == code
    assert text.startswith(f"error: {error}")
    assert remedy in text
    assert ("  try" in text) == bool(remedy)


def test_place_cause_and_remedy_stand_below() -> None:
    cause, remedy = Message("round.bad_seed", {"seed": -1}), use("--seed", "a b")
    broken = Misuse("error.text", text="it broke", where="train.py:88", cause=cause, remedy=remedy)
    text, _ = told(broken)
    assert text.splitlines() == [
        "error: it broke",
        "  where   train.py:88",
        f"  cause   {cause.text}",
        f"  try     {remedy.shell_text}",
    ]


def test_what_to_declare_is_a_line_of_the_project_file() -> None:
    error = DesignError("extend.length_unknown", round="depth", name="epochs")
    text, _ = told(error)
    setting = as_setting("means", "max_train_steps")
    assert setting in " ".join(text.split()) and setting not in str(error)
    assert as_argument("means", "max_train_steps") in str(error)


def test_every_problem_of_several_is_listed() -> None:
    text, _ = told(
        DesignError.several([Message("round.goal_empty"), Message("round.bad_seed", {"seed": -1})])
    )
    assert text.splitlines()[1].strip() == Message("round.bad_seed", {"seed": -1}).text


def test_an_unforeseen_traceback_is_kept_in_a_file_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        {}["nothing"]
    except KeyError as error:
        text, code = told(error)
    assert code == 3
    assert "Traceback" not in text
    (kept,) = tmp_path.iterdir()
    assert str(kept) in text
    assert "Traceback" in kept.read_text()
    assert "KeyError: 'nothing'" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
