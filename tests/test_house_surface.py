"""Rules of the house for the public surface: constructors, argument lists, examples."""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import tunewright as tw

ROOT = Path(__file__).parent.parent
MOST_FIELDS = 5  # a class with more of them is made by their names
MOST_PARAMETERS = 10  # of a function
MOST_POSITIONAL = 2  # but for the first ones, as in Workload(train, objective)


def public() -> dict[str, Any]:
    """Every public class and function by the shortest name that reaches it."""
    named = {name: getattr(tw, name) for name in tw.__all__}
    for path in tw._MODULES:
        module = getattr(tw, path)
        for name in offered(module):
            named.setdefault(f"{path}.{name}", getattr(module, name))
    by_identity: dict[int, str] = {}
    for name, thing in named.items():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            by_identity.setdefault(id(thing), name)
    return {name: named[name] for name in by_identity.values()}


def offered(module: ModuleType) -> list[str]:
    """`__all__`, or what a module without one defines."""
    return list(getattr(module, "__all__", ())) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def positional(kind: type) -> int:
    """How many fields of a dataclass may be given by their place."""
    return sum(field.init and not field.kw_only for field in dataclasses.fields(kind))


def test_classes_with_many_fields_are_made_by_name() -> None:
    many = {
        name: positional(kind)
        for name, kind in public().items()
        if dataclasses.is_dataclass(kind)
        and sum(field.init for field in dataclasses.fields(kind)) > MOST_FIELDS
        and positional(kind) > MOST_POSITIONAL  # type: ignore[arg-type]
    }
    assert many == {}, "use kw_only=True, or `_: KW_ONLY` after the first two"


def test_few_arguments_of_a_function_go_by_their_place() -> None:
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    many = {
        name: count
        for name, function in public().items()
        if inspect.isfunction(function)
        and (count := sum(p.kind in by_place for p in _parameters(function))) > MOST_FIELDS
    }
    assert many == {}, "put * before the options"


def test_options_of_a_function_go_into_one_object() -> None:
    """Such as `LaunchTerms`, `TuneTerms`, `BatchSizeTerms`; the pipeline's two are left."""
    counts = {n: len(_parameters(f)) for n, f in public().items() if inspect.isfunction(f)}
    many = {name for name, count in counts.items() if count > MOST_PARAMETERS}
    assert many == {"pipeline.evaluate", "pipeline.fit"}, "make a frozen object of its options"


def _parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


# ---- argument lists and examples


@cache
def executed() -> str:
    """The Python of README, examples, and of the pages that a test runs."""
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    pages = [page for page in (ROOT / "docs").glob("*.md") if f'"{page.name}"' in tests]
    blocks = [
        block
        for page in (ROOT / "README.md", *pages)
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    programs = (ROOT / "examples").glob("[0-9]*.py")
    return "\n".join([*blocks, *(path.read_text(encoding="utf-8") for path in programs)])


@cache
def returned() -> frozenset[str]:
    """Classes that a user reads and never makes: a function with an example returns them."""
    functions = {name: thing for name, thing in public().items() if inspect.isfunction(thing)}
    shown = [f for name, f in functions.items() if has_example(name, f)]
    words = [str(inspect.signature(function).return_annotation) for function in shown]
    return frozenset(word for text in words for word in re.findall(r"\w+", text))


def has_example(name: str, thing: Any) -> bool:
    """A doctest of it or of a member, of a function that returns it, or a call that a test runs."""
    members = list(vars(thing).values()) if inspect.isclass(thing) else []
    texts = [getattr(getattr(one, "__func__", one), "__doc__", None) for one in (thing, *members)]
    if any(">>>" in text for text in texts if isinstance(text, str)):
        return True
    if inspect.isclass(thing) and thing.__name__ in returned():
        return True
    home, _, own = name.rpartition(".")
    imported = rf"|(?<![.\w]){own}\(" if home == "pipeline" else ""
    return re.search(rf"\btw\.{re.escape(name)}\({imported}", executed()) is not None


def has_arguments(thing: Any) -> bool:
    """A function names every parameter below `Args:`; a field of a class has a comment."""
    text = inspect.getdoc(thing) or ""
    if inspect.isfunction(thing):
        names = [parameter.name for parameter in _parameters(thing)]
        listed = text.partition("Args:")[2]
        return not names or all(re.search(rf"^ +{name}: ", listed, re.MULTILINE) for name in names)
    if not dataclasses.is_dataclass(thing):
        return True
    above = [one for one in thing.__mro__ if dataclasses.is_dataclass(one)]  # type: ignore[union-attr]
    source = "".join(inspect.getsource(one) for one in above)
    return all(
        re.search(rf"\b{field.name}\b", text)
        or re.search(rf"^    {field.name}: [^#\n]*#|^    #.*\n    {field.name}: ", source, re.M)
        for field in dataclasses.fields(thing)
        if field.init and not field.name.startswith("_")
    )


def undocumented() -> list[str]:
    """What is missing, one line each: `example NAME` or `arguments NAME`."""
    found = public()
    missing = [f"example {name}" for name, thing in found.items() if not has_example(name, thing)]
    missing += [f"arguments {name}" for name, thing in found.items() if not has_arguments(thing)]
    return sorted(missing)


def test_public_names_have_an_argument_list_and_an_example() -> None:
    assert undocumented() == [], "document it"


def test_what_is_missing_is_seen() -> None:
    def bare(first: int, second: int) -> None:
        """Do it with `first` and `second`."""

    def listed(first: int) -> None:
        """Do it.

        Args:
            first: the one.
        """

    assert not has_arguments(bare) and has_arguments(listed)
    assert not has_example("bare", bare) and has_example("minimize", tw.minimize)
