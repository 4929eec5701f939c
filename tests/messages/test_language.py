"""The language of sentences: chosen by a call, TUNEWRIGHT_LANG or the locale; never of `--json`."""

from __future__ import annotations

import json

import pytest

from tunewright.cli.main import main
from tunewright.messages import label, language, read_in, words
from tunewright.messages._language import LANGUAGES, catalogue, from_environment

NAMES = ("SENTENCES", "FINDINGS", "CANNOT_JUDGE", "SECTIONS", "ACTIONS", "PHRASES")


def test_the_variable_wins_over_the_locale_and_an_unknown_one_means_english() -> None:
    assert from_environment({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert from_environment({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}) == "en"
    assert from_environment({"TUNEWRIGHT_LANG": "zh", "LC_ALL": "en_US.UTF-8"}) == "zh"
    assert from_environment({"TUNEWRIGHT_LANG": "fr", "LANG": "zh_CN"}) == "en"
    assert from_environment({}) == "en"


def test_a_language_holds_inside_its_block() -> None:
    before = language()
    with read_in("zh"):
        assert language() == "zh"
        with read_in("en"):
            assert language() == "en"
        assert language() == "zh"
    assert language() == before


@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_every_entry(name: str) -> None:
    tables = []
    for one in LANGUAGES:
        with read_in(one):
            tables.append(set(getattr(catalogue(), name)))
    assert all(table == tables[0] for table in tables) and tables[0]


def test_nouns_have_measure_words_in_chinese() -> None:
    with read_in("zh"):
        assert words.count(3, "trial") == "3 次试验"
        assert words.few(list("abcdefghij")).endswith("另有 2 个")
    with read_in("en"):
        assert words.count(3, "trial") == "3 trials"
        assert label("no such label") == "no such label"


def test_lang_may_stand_anywhere_and_json_stays_english(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert main(["ls", "--json", "--lang", "en"]) == main(["--lang=zh", "ls", "--json"])
    first, second = capsys.readouterr().out.strip().split("\n}\n")
    assert json.loads(first + "\n}") == json.loads(second)


def test_an_unknown_language_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ls", "--lang", "fr"]) == 2
    assert "zh" in capsys.readouterr().err
