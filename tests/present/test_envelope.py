from __future__ import annotations

import json
import sys

import pytest

from tunewright.actions import Advise, Repeat
from tunewright.errors import DesignError, Misuse, NotFound
from tunewright.messages import Message
from tunewright.present import envelope


def printed(capsys: pytest.CaptureFixture[str]) -> object:
    return json.loads(capsys.readouterr().out)


def test_an_answer_is_named_and_versioned(capsys: pytest.CaptureFixture[str]) -> None:
    envelope.show("check", {"value": float("inf"), "actions": [Repeat("depth")]})
    assert printed(capsys) == {
        "schema_version": 1,
        "command": "check",
        "ok": True,
        "data": {"value": None, "actions": [Repeat("depth").to_data()]},
    }


def test_an_error_has_its_code_its_facts_and_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    error = NotFound("error.text", text="no round 'dept'", remedy=Repeat("depth"))
    envelope.show_error("show", error, 2)
    assert printed(capsys) == {
        "schema_version": 1,
        "command": "show",
        "ok": False,
        "error": {
            "code": "error.text",
            "message": "no round 'dept'",
            "facts": {"text": "no round 'dept'"},
            "remedy": Repeat("depth").to_data(),
        },
        "exit_code": 2,
    }


def test_every_problem_of_several_is_in_the_envelope() -> None:
    found = [Message("range.no_choices"), Message("round.bad_seed", {"seed": -1})]
    error = envelope.failure("run", DesignError.several(found), 2)["error"]
    assert [one["code"] for one in error["problems"]] == ["range.no_choices", "round.bad_seed"]
    assert error["problems"][1]["facts"] == {"seed": -1}


def test_advice_that_is_no_command_has_no_words_of_one() -> None:
    found = envelope.remedy_of(
        Misuse("error.text", text="which metric?", remedy=Advise("give_one"))
    )
    assert found == {"kind": "advise", "code": "give_one", "facts": {}, "argv": []}
    assert envelope.remedy_of(KeyError("nothing")) is None


def test_what_is_printed_meanwhile_goes_aside(capsys: pytest.CaptureFixture[str]) -> None:
    with envelope.answering("run"):
        print("noise")
        envelope.show(envelope.current(), {})
    assert envelope.current() == ""
    out, err = capsys.readouterr()
    assert json.loads(out)["command"] == "run"
    assert err == "noise\n"
    assert sys.stdout is not sys.stderr
