"""What answers of probes share: headlines, messages read back, codes that have sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tunewright
from tunewright.facts import plain
from tunewright.messages import Message
from tunewright.messages.en import SENTENCES, probes, probes_throughput
from tunewright.probes.probe import message_of

SOURCE = Path(tunewright.__file__).parent
FOLDERS = ("launches", "probes", "present", "cli", "execution")


@pytest.mark.parametrize("code", [*probes.ANSWERS, *probes_throughput.ANSWERS])
def test_an_answer_has_a_headline_of_twelve_words(code: str) -> None:
    headline = SENTENCES[f"{code}.headline"]
    assert callable(headline) or len(headline.split()) <= 12


def test_a_message_is_read_back_from_its_data() -> None:
    inner = Message("probe.run.stable")
    made = Message("probe.clip.still_unstable", {"run": inner, "clip_norm": 1.0})
    assert message_of(plain(made)).facts == {"run": {"code": inner.code}, "clip_norm": 1.0}
    assert made.to_data() == plain(made)
    facts = {"learning_rate": 0.1, **message_of(plain(made)).facts}
    assert Message(made.code, facts).text == Message(made.code, {**facts, "run": inner}).text
    old = message_of("the words of a store of version 1")
    assert old.text == "the words of a store of version 1"


def test_every_code_has_a_sentence() -> None:
    paths = [path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")]
    paths.remove(SOURCE / "cli" / "_verbs.py")  # homes of commands look like codes
    codes = {
        code
        for path in paths
        for code in re.findall(r'"((?:launch|variance|final|evaluation|probe)\.[a-z_.]+)"',
                               path.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert len(codes) > 100
    assert codes <= SENTENCES.keys(), sorted(codes - SENTENCES.keys())
