"""Remedies: what helps after an error is a command, a call, or words that a shell reads."""

from __future__ import annotations

import shlex

import pytest

from tunewright.remedies import InitProject, NewRound, Tune, use


def test_words_of_a_command_line_are_quoted_for_a_shell() -> None:
    words = ["--minimize", "valid error; ls"]
    remedy = use(*words)
    assert shlex.split(remedy.shell_text) == words
    assert remedy.facts == {"words": words} and remedy.argv == () and remedy.call == ""


@pytest.mark.parametrize("round", ["depth", "my round; ls", "--x"])
def test_names_stay_one_argument(round: str) -> None:
    for remedy in (NewRound(round), Tune(round, trials=7)):
        assert shlex.split(remedy.command) == list(remedy.argv)
        assert round in remedy.argv and repr(round) in remedy.call
    assert "7" in Tune(round, trials=7).argv


def test_a_project_is_made_by_the_same_words_through_both_doors() -> None:
    remedy = InitProject("python a.py --lr={lr}", "loss")
    assert remedy.argv[2:] == ("python a.py --lr={lr}", "--minimize", "loss")
    assert repr("python a.py --lr={lr}") in remedy.call and "minimize='loss'" in remedy.call
