"""The Chinese catalogue: the same messages with the same facts, and Chinese sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from types import ModuleType

import pytest

from tunewright.messages import Template, en, zh

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
            assert callable(ours[code]) == callable(template), code


@pytest.mark.parametrize("table", ["SENTENCES", "CANNOT_JUDGE", "SECTIONS", "ACTIONS"])
def test_a_sentence_is_chinese(table: str) -> None:
    for code, template in entries(zh.MODULES, table).items():
        if isinstance(template, str) and re.search("[a-z]{3}", re.sub(r"{[^}]*}", "", template)):
            plain = re.sub(r"`[^`]*`|{[^}]*}|\"[^\"]*\"|'[^']*'", "", template)
            assert CHINESE.search(plain), f"{code}: {template}"
            assert not ENGLISH.search(plain), f"{code}: {template}"
