"""Pages about real facts in Chinese: every reading command of the golden store, no English left."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
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


PREVIEWS = ("tune --trials 20 --dry-run", "believe searching", "budget show")
WRONG = ("nosuch", "check --nope rate", "check", "trial rate x", "check no_such_round")


@pytest.mark.parametrize("command", [*PREVIEWS, *WRONG, "check --help", "probe --help", "--help"])
def test_previews_errors_and_help_are_chinese(
    command: str, project: Path, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = printed(project, tuple(command.split()))
    assert CHINESE.search(text), text
    lines = [CODE.sub("", line) for line in text.splitlines()]
    english = [found for line in lines for found in ENGLISH.findall(line) if found not in stored]
    assert not english, "\n".join(english)


@pytest.mark.parametrize("command", ["check rate_2", "next optimizer", "show rate", "nosuch"])
def test_json_is_the_same_in_both_languages(command: str, project: Path) -> None:
    made = []
    for spoken in ("en", "zh"):
        out = StringIO()
        with chdir(project), redirect_stdout(out), redirect_stderr(out):
            main(["--lang", spoken, *command.split(), "--json"])
        made.append(out.getvalue())
    assert made[0] == made[1] and made[0].lstrip().startswith("{")


def test_the_report_is_chinese_with_its_page_and_script(project: Path, stored: str) -> None:
    target = project / "report_zh.html"
    printed(project, ("report", "optimizer", "--out", str(target)))
    page = target.read_text(encoding="utf-8")
    assert '<html lang="zh"' in page and "CHINESE_SAYS" in page
    body = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<code>.*?</code>", " ", page)
    shown = [CODE.sub("", one).strip() for one in re.findall(r">([^<]+)<", body)]
    assert sum(bool(CHINESE.search(one)) for one in shown) > 40
    found = [words for one in shown for words in ENGLISH.findall(one)]
    assert not [words for words in found if words not in stored]


def test_columns_of_a_table_begin_in_the_same_cell(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Chinese character takes two columns of a terminal; headings and cells count them alike."""
    monkeypatch.setenv("COLUMNS", "200")
    head, *rows = printed(project, ("ls",)).splitlines()
    start = cell_len(head[: head.index("目标")])
    kept = [row for row in rows if re.search(r"最[小大]化 \w", row)]
    found = {cell_len(row[: re.search(r"最[小大]化 \w", row).start()]) for row in kept}  # type: ignore[union-attr]
    assert len(kept) > 10 and found == {start}
