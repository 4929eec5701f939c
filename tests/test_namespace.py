"""Lazy namespaces: names are imported when first used, and hide modules of the same name."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import tunewright
from tunewright._namespace import offer


@pytest.mark.beyond_core
def test_a_namespace_imports_a_module_when_its_name_is_used() -> None:
    script = (
        "import sys, tunewright.executors as e; before = 'tunewright.execution.executors.inline'"
        " in sys.modules; e.Inline; print(before, 'tunewright.execution.executors.inline' in"
        " sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.split() == [b"False", b"True"]


@pytest.mark.parametrize(
    ("home", "name"), [("launches", "variance"), ("advice", "extend"), ("probes", "clip")]
)
def test_a_function_hides_the_module_of_its_name(home: str, name: str) -> None:
    module = importlib.import_module(f"tunewright.{home}.{name}")
    assert isinstance(module, ModuleType)
    assert getattr(getattr(tunewright, home), name) is getattr(module, name)


def test_an_unknown_name_is_answered_with_the_nearest_or_the_new_one() -> None:
    made = ModuleType("made_for_this_test")
    sys.modules[made.__name__] = made
    try:
        offer(made.__name__, {"seeds": ("seeds",)}, {"faults": "errors"}, {"old": "made.new"})
        assert made.faults is tunewright.errors
        assert dir(made).count("seeds") == 1
        with pytest.raises(AttributeError, match=r"Did you mean 'seeds'\?"):
            made.seedz  # noqa: B018
        with pytest.raises(AttributeError, match=r"Use made\.new\."):
            made.old  # noqa: B018
        assert not hasattr(made, "__wrapped__")
    finally:
        del sys.modules[made.__name__]
