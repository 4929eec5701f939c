"""Pages about real facts in Chinese: every reading command of the golden store, no English left."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from tests.golden import cases
from tests.messages.test_chinese import CHINESE, ENGLISH

from tunewright.cli.main import main

VERBS = ("ls", "show", "trial", "check", "next", "variance", "history", "launch", "probe")
CALLS = [
    pytest.param((verb, *arguments), id=" ".join((verb, *arguments)).replace(" ", "_"))
    for verb in VERBS
    for arguments in cases.READING[verb]
]
CODE = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\btunewright \S.*?(?=  |$)|^ *Traceback.*")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all: nothing here writes."""
    return cases.copied(tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def stored(project: Path) -> str:
    """What the store has in words: goals, notes, and reasons that version 0.1 wrote in English."""
    with contextlib.closing(sqlite3.connect(project / cases.STORE)) as opened:
        return " ".join("\n".join(opened.iterdump()).split())


def printed(project: Path, command: tuple[str, ...]) -> str:
    """What a command prints in Chinese, wrapped nowhere."""
    out = StringIO()
    with chdir(project), redirect_stdout(out), redirect_stderr(out):
        main(["--lang", "zh", *command])
    return out.getvalue()


@pytest.mark.parametrize("command", CALLS)
def test_a_page_is_chinese(
    command: tuple[str, ...], project: Path, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = printed(project, command)
    assert CHINESE.search(text), text
    lines = [CODE.sub("", line) for line in text.splitlines()]
    english = [found for line in lines for found in ENGLISH.findall(line) if found not in stored]
    assert not english, "\n".join(english)
