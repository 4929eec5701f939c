"""Templates, and headlines that are short enough to be read."""

from __future__ import annotations

import pytest

from tunewright.checks.density import density
from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.messages import Message, Text, fill
from tunewright.testing import Bowl, results

MOST_WORDS = 12  # of a headline


def test_a_field_is_formatted_by_what_it_is() -> None:
    facts = {"names": ["a", "b"], "share": 0.25, "found": {"rate": 0.0130001}}
    assert fill("{names:list} {share:percent} {found:settings}", facts) == "a, b 25% rate=0.013"


def test_a_message_travels_as_data_and_reads_as_text() -> None:
    message = Message("judge.feasible_trials", {"feasible": 1, "needed": 6})
    assert message.to_data() == {"code": "judge.feasible_trials", "feasible": 1, "needed": 6}
    assert isinstance(message.text, Text)
    assert "1 feasible trial;" in message.text


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        _ = Message("no.such.code").text


@pytest.mark.parametrize("detect", [None, 0.001, 0.2])
def test_headlines_are_short(detect: float | None) -> None:
    space = {name: linear(0.0, 1.0) for name in "abcd"}
    round = Round("r", goal="?", nuisance=space, trials_per_study=16, detect=detect)
    (finding,) = density(results(round, Bowl(dict.fromkeys("abcd", 0.5))))
    assert 0 < len(finding.headline.split()) <= MOST_WORDS
    assert finding.words.evidence
