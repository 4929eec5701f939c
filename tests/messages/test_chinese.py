"""The Chinese catalogue: the same messages with the same facts, and Chinese sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any

import pytest

from tunewright.cli._verbs import FAMILIES, load_verb
from tunewright.cli.main import main
from tunewright.messages import Template, en, padded, read_in, zh
from tunewright.present import terminal as present

TABLES = ("SENTENCES", "FINDINGS", "CANNOT_JUDGE", "SECTIONS", "ACTIONS")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?<![\w`./<{-])[a-z]{2,}(?: [a-z]{2,}){3,}")  # four plain words in a row


def facts_of(template: Template) -> set[str]:
    """The facts that a sentence states; those of a function are not known."""
    if isinstance(template, Mapping):
        return set().union(*(facts_of(one) for one in template.values()))
    if not isinstance(template, str):
        return set()
    names = (name for _, name, _, _ in Formatter().parse(template) if name)
    return {re.split(r"[.\[]", name)[0] for name in names}


def entries(modules: tuple[ModuleType, ...], table: str) -> dict[str, Template]:
    return {k: v for one in modules for k, v in getattr(one, table, {}).items()}


@pytest.mark.parametrize("module", zh.MODULES, ids=lambda one: one.__name__.rpartition(".")[2])
def test_a_module_has_the_messages_of_the_english_one(module: ModuleType) -> None:
    english = getattr(en, module.__name__.rpartition(".")[2])
    for table in ("SENTENCES", "FINDINGS", "CANNOT_JUDGE", "SECTIONS", "ACTIONS", "REMEDIES"):
        ours, theirs = getattr(module, table, {}), getattr(english, table, {})
        assert set(ours) == set(theirs), table
        for code, template in theirs.items():
            if isinstance(template, str) and isinstance(ours[code], str):
                assert facts_of(ours[code]) == facts_of(template), code
            assert callable(ours[code]) or not callable(template), code


def test_no_module_of_english_lacks_a_chinese_one() -> None:
    folders = (Path(one.__file__).parent for one in (en, zh))
    english, chinese = ({path.stem for path in folder.glob("*.py")} for folder in folders)
    assert english == chinese - {"labels", "help", "help_options"}
    registered = {one.__name__.rpartition(".")[2] for one in zh.MODULES}
    assert registered == english - {"__init__", "phrases"}


@pytest.mark.parametrize("table", TABLES)
def test_every_entry_is_translated(table: str) -> None:
    tables = (table, "REMEDIES") if table == "ACTIONS" else (table,)
    ours = {code for one in tables for code in entries(zh.MODULES, one)}
    assert set(getattr(en, table)) <= ours


@pytest.mark.parametrize("table", ["SENTENCES", "CANNOT_JUDGE", "SECTIONS", "ACTIONS"])
def test_a_sentence_is_chinese(table: str) -> None:
    for code, template in entries(zh.MODULES, table).items():
        if isinstance(template, str) and re.search("[a-z]{3}", re.sub(r"{[^}]*}", "", template)):
            plain = re.sub(r"`[^`]*`|{[^}]*}|\"[^\"]*\"|'[^']*'", "", template)
            assert CHINESE.search(plain), f"{code}: {template}"
            assert not ENGLISH.search(plain), f"{code}: {template}"


def test_every_family_and_command_has_a_line_of_help() -> None:
    for family, verbs in FAMILIES.items():
        assert CHINESE.search(zh.LABELS[family])
        for verb in verbs:
            assert CHINESE.search(zh.LABELS[verb.help]), verb.help


def paragraphs(command: Any) -> Iterator[str]:
    """The help of a command, its options and its subcommands, paragraph by paragraph."""
    yield from str(command.help or "").split("\n\n")
    for parameter in command.params:
        yield str(getattr(parameter, "help", None) or "")
    for inner in getattr(command, "commands", {}).values():
        yield from paragraphs(inner)


def test_help_is_chinese_below_the_first_line_and_no_entry_is_stale() -> None:
    with read_in("en"):
        verbs = [verb for family in FAMILIES.values() for verb in family]
        texts = {text for verb in verbs for text in paragraphs(load_verb(verb))}
        texts |= {verb.help for verb in verbs} | set(FAMILIES)
    assert set(zh.help.LABELS) | set(zh.help_options.LABELS) <= texts
    assert not {one for one in texts if one and one not in zh.LABELS}


def test_help_in_chinese_loses_no_words_and_names_defaults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    for language, default in (("zh", "[默认：local]"), ("en", "[default: local]")):
        assert main(["--lang", language, "run", "--help"]) == 0
        page = capsys.readouterr().out
        assert default in page and "…" not in page


def test_a_label_fills_its_columns_in_both_languages() -> None:
    with read_in("zh"):
        assert padded("study", 12) == "研究        "
    with read_in("en"):
        assert padded("study", 12) == "study       "


def test_every_fixed_label_of_a_page_on_a_screen_has_a_chinese_one() -> None:
    pages = Path(present.__file__).parent.glob("*.py")
    trees = [ast.parse(page.read_text(encoding="utf-8")) for page in pages]
    calls = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "table"
    ]
    headings = {one.value for call in calls for one in call.args if isinstance(one, ast.Constant)}
    assert len(headings) > 30
    assert headings - {""} <= set(zh.LABELS)
