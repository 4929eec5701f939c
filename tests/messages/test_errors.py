"""Every error names a code of the catalogue, and gives the facts that its sentence states."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import tunewright
from tunewright import errors
from tunewright.errors import TunewrightError
from tunewright.messages import Template, en

SOURCE = Path(tunewright.__file__).parent
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, TunewrightError)
} | {"CannotStep"}
NOT_FACTS = {"remedy"}
PLAIN_TEXTS = 0  # raises that give a sentence instead of a code


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call in the package, with its place and the name of what is called."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", node, name


def code_in(node: ast.expr) -> str | None:
    """The code that an argument is, or None where it is none or only known at run time."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return None if " " in node.value or "." not in node.value else node.value
    return None


def is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and code_in(node) is None
    )


def fields(template: Template) -> set[str]:
    """The facts that a sentence needs; those of a function are not known."""
    if isinstance(template, Mapping):
        return set().union(*(fields(one) for one in template.values()))
    if not isinstance(template, str):
        return set()
    names = (name for _, name, _, _ in Formatter().parse(template) if name is not None)
    # what is declared is named in the sentence itself
    return {name.partition(".")[0].partition("[")[0] for name in names} - {"declare"}


def lacks(code: str, given: set[str]) -> list[str]:
    """What is wrong with a code and the facts given with it."""
    if code not in en.SENTENCES:
        return [f"{code} is not in the catalogue"]
    missing = sorted(fields(en.SENTENCES[code]) - given)
    return [f"{code} states {missing}, which are not given"] if missing else []


def test_every_error_has_a_sentence_and_its_facts() -> None:
    problems, seen = [], 0
    for place, node, name in calls():
        if name not in KINDS or not node.args or (code := code_in(node.args[0])) is None:
            continue
        seen += 1
        if all(word.arg is not None for word in node.keywords):
            given = {word.arg for word in node.keywords if word.arg is not None}
            problems += [f"{place}: {one}" for one in lacks(code, given - NOT_FACTS)]
        elif code not in en.SENTENCES:
            problems.append(f"{place}: {code} is not in the catalogue")
    assert not problems, "\n".join(problems)
    assert seen > 70


def test_every_message_has_a_sentence_and_its_facts() -> None:
    problems, seen = [], 0
    for place, node, name in calls():
        if name != "Message" or not node.args or (code := code_in(node.args[0])) is None:
            continue
        seen += 1
        facts = node.args[1] if len(node.args) > 1 else ast.Dict([], [])
        if isinstance(facts, ast.Dict) and None not in facts.keys:
            given = {key.value for key in facts.keys if isinstance(key, ast.Constant)}
            problems += [f"{place}: {one}" for one in lacks(code, given)]
        elif code not in en.SENTENCES:
            problems.append(f"{place}: {code} is not in the catalogue")
    assert not problems, "\n".join(problems)
    assert seen > 70


def test_no_error_is_raised_with_a_sentence() -> None:
    plain = [
        place
        for place, node, name in calls()
        if name in KINDS and node.args and is_text(node.args[0])
    ]
    print(f"{len(plain)} errors are raised with a sentence")
    assert len(plain) <= PLAIN_TEXTS, "\n".join(plain)


def test_no_error_carries_a_sentence_beside_its_code() -> None:
    """A cause is a message and a remedy an action: neither is text."""
    texts = [
        place
        for place, node, name in calls()
        if name in KINDS
        for word in node.keywords
        if word.arg in ("cause", "remedy") and is_text(word.value)
    ]
    assert not texts, "\n".join(texts)


def test_a_code_has_one_sentence() -> None:
    modules = [
        importlib.import_module(f"{en.__name__}.{module.name}")
        for module in pkgutil.iter_modules(en.__path__)
    ]
    times = Counter(code for module in modules for code in getattr(module, "SENTENCES", ()))
    assert [code for code, count in times.items() if count > 1] == []
    assert set(times) == set(en.SENTENCES)
