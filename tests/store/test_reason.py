"""Reasons in columns, files and pipes: what goes in comes out, and old sentences become codes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tunewright import messages
from tunewright.messages import Message
from tunewright.store.outcome import decode, encode, foreign, from_version_1, kind, reason_of_export

# every sentence that version 0.1 stored as a reason, with what it stands for
VERSION_1: dict[str, tuple[str, dict[str, Any]]] = {
    "valid_error is nan at step 40": (
        "metric.not_finite",
        {"metric": "valid_error", "value": "nan", "step": 40},
    ),
    "train loss is +inf at step 3": (
        "metric.not_finite",
        {"metric": "train loss", "value": "+inf", "step": 3},
    ),
    "the objective err was never logged, only loss, er. Did you mean er?": (
        "objective.never_logged",
        {"metric": "err", "logged": ["loss", "er"], "more": False, "near": "er"},
    ),
    "the objective err was never logged, only a, b, c, d, e, f, g, h .... "
    "Log err, or change the objective.": (
        "objective.never_logged",
        {"metric": "err", "logged": list("abcdefgh"), "more": True, "near": None},
    ),
    'the objective err was never logged, nor anything else: call run.log(step, {"err": ...}), '
    "or print one JSON object per measurement": (
        "objective.never_logged",
        {"metric": "err", "logged": [], "more": False, "near": None},
    ),
    "the objective err was never logged": ("objective.never_logged", {"metric": "err"}),
    "latency_ms is 30 at step 20, not <= 20": (
        "constraint.broken",
        {"metric": "latency_ms", "value": 30.0, "step": 20, "relation": "<=", "limit": 20.0},
    ),
    "size was never logged, so size <= 1e+06 cannot be judged": (
        "constraint.never_logged",
        {"metric": "size", "relation": "<=", "limit": 1e6},
    ),
    "ValueError: the data are gone": (
        "trial.raised",
        {"type": "ValueError", "text": "the data are gone"},
    ),
    "KeyError": ("trial.raised", {"type": "KeyError", "text": ""}),
    "out of memory: MemoryError": ("memory.exhausted", {"type": "MemoryError", "text": ""}),
    "out of memory: it took 0.412 GB of 0.3 GB (memory_gb)": (
        "limit.memory",
        {"used_gb": 0.412, "limit_gb": 0.3},
    ),
    "out of memory: the kernel killed the trial": ("memory.killed", {"what": "trial"}),
    "no space left: OSError: [Errno 28] No space left on device": (
        "disk.full",
        {"type": "OSError", "text": "[Errno 28] No space left on device"},
    ),
    "timeout: it ran for 60 s (trial_timeout_s)": ("limit.time", {"limit_s": 60.0}),
    "timeout: no step was reported for 2.5 s (no_progress_timeout_s)": (
        "limit.no_progress",
        {"limit_s": 2.5},
    ),
    "the training program called sys.exit(3)": ("trial.called_exit", {"status": "3"}),
    "exit status 3": ("program.exited", {"status": 3, "signal": ""}),
    "killed by SIGSEGV": ("program.exited", {"status": -1, "signal": "SIGSEGV"}),
    "the process ended: exit status 7": ("process.exited", {"status": 7, "signal": ""}),
    "stopped, killed by SIGTERM": ("stopped.program_exited", {"status": -1, "signal": "SIGTERM"}),
    "died 3 times, at last: the process ended: killed by SIGKILL": (
        "trial.died_repeatedly",
        {
            "deaths": 3,
            "cause": {"code": "process.exited", "status": -1, "signal": "SIGKILL"},
        },
    ),
    "the training function could not be loaded in a worker: ImportError: no torch": (
        "trial.not_loaded",
        {"cause": {"code": "trial.raised", "type": "ImportError", "text": "no torch"}},
    ),
    "it could not be started: [Errno 2] No such file": (
        "trial.not_started",
        {"text": "[Errno 2] No such file"},
    ),
    "owner lost": ("owner.lost", {}),
    "owner lost (node7, pid 12)": ("owner.lost", {"owner": "node7, pid 12"}),
    "asked to stop": ("stopped.asked", {}),
    "stopped after saving at step 5": ("stopped.after_saving", {"step": 5}),
    "its session was closed": ("stopped.session_closed", {}),
    "pruned at step 20": ("trial.pruned", {"step": 20}),
    "killed in MLflow, which keeps no reason": (
        "foreign.no_reason",
        {"source": "MLflow", "state": "killed"},
    ),
}
# what a user said in the same words, or nearly
FREE = [
    "heads do not divide width",
    "the objective service died; the true value was never logged",
    "the objective value, as I said, was never logged",
    "the objective a: b was never logged",
    "no idea: see the log",
    '{"code": "trial.raised"}',
    "{",
    "[1, 2]",
    "null",
    "3",
]
plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)


@pytest.mark.parametrize("text", VERSION_1)
def test_a_sentence_of_version_0_1_reads_as_its_code_and_loses_nothing(text: str) -> None:
    code, facts = VERSION_1[text]
    assert decode(text) == from_version_1(text) == Message(code, facts)
    assert str(decode(text)) == text


@pytest.mark.parametrize("text", FREE)
def test_what_nobody_recognises_stays_readable(text: str) -> None:
    assert decode(text) == Message("legacy", {"text": text})
    assert str(decode(text)) == text


@given(plain)
def test_any_text_of_version_0_1_is_shown_as_it_was(text: str) -> None:
    assert str(decode(text) or "") == text


@given(st.sampled_from(sorted(VERSION_1.values(), key=str)), plain)
def test_what_goes_in_comes_out(made: tuple[str, dict[str, Any]], text: str) -> None:
    for reason in (Message(*made), Message("trial.failed", {"text": text})):
        assert decode(encode(reason)) == reason


def test_no_reason_is_no_text() -> None:
    assert encode(None) == "" and decode("") is None


def test_what_a_database_refuses_is_made_harmless() -> None:
    text = encode(Message("trial.failed", {"text": "bad \x00 \ud800" + "x" * 10**5}))
    text.encode("utf-8")
    assert "\x00" not in text and len(text) < 5000
    assert decode(text) is not None and json.loads(text)["code"] == "trial.failed"


@pytest.mark.parametrize(
    "data",
    [
        {"code": "from.the.future", "facts": {}},
        {"code": "metric.not_finite", "facts": {}},
        {"code": "limit.time", "facts": {"limit_s": "long"}},
        {"code": "trial.died_repeatedly", "facts": {"deaths": 3, "cause": "x"}},
    ],
)
def test_a_reason_that_cannot_be_read_is_shown_as_it_stands(data: dict[str, Any]) -> None:
    text = json.dumps(data)
    assert decode(text) == Message("legacy", {"text": text})


def test_reasons_that_differ_in_the_step_alone_are_one_kind() -> None:
    a, b = (
        Message("metric.not_finite", {"metric": "loss", "value": "nan", "step": step})
        for step in (3, 9)
    )
    assert kind(a) == kind(b) != a
    assert messages.text(a.code, kind(a).facts) == "loss is nan"
    stopped = Message("stopped.after_step", {"step": 3})
    assert kind(stopped) == stopped, "its sentence needs the step"
    assert kind(None) is None


def test_an_exported_reason_comes_back_by_its_code() -> None:
    said = "the objective err was never logged"
    assert reason_of_export("objective.never_logged", said, "a table") == decode(said)
    assert reason_of_export("trial.failed", said, "a table") == Message(
        "trial.failed", {"text": said}
    )
    assert reason_of_export("", said, "a table") == foreign("a table", said)
    assert reason_of_export("", "", "a table") is None
