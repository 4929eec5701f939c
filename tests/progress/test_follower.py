"""What every form shares: warnings once per kind of failure, the best of this round alone."""

from __future__ import annotations

from dataclasses import replace

from tests.told import begun, concluded

from tunewright.messages import Message
from tunewright.progress.follower import Follower

RAISED = Message("trial.raised", {"type": "ValueError", "text": "no such file"})


def test_the_best_of_another_round_is_forgotten() -> None:
    shown = Follower()
    shown.began(begun(2, name="first"))
    shown.tally = replace(shown.tally, best=concluded(0, value=0.5))
    shown.began(begun(2, name="first"))
    assert shown.tally.best is not None
    shown.began(begun(2, name="second"))
    assert shown.tally.best is None


def test_the_same_failure_warns_again_in_another_round() -> None:
    shown = Follower()
    for name in ("first", "second"):
        shown.began(begun(2, name=name))
        assert len(shown.warnings(concluded(0, "failed", reason=RAISED))) == 1
        assert shown.warnings(concluded(1, "failed", reason=RAISED)) == []


def test_the_name_of_a_round_is_quoted_in_a_command() -> None:
    shown = Follower()
    shown.began(begun(2, name="my round; ls"))
    (warning,) = shown.warnings(concluded(4, "failed", reason=RAISED))
    assert "tunewright trial 'my round; ls' 4" in warning
