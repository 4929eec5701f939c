"""One script of many modules: complete, in order, and safe inside a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tunewright.present.html import STATIC, as_function, live_script, live_style


def test_every_module_stands_after_what_it_imports() -> None:
    made = live_script()
    defined = re.findall(r'^modules\["([^"]+)"\] = ', made, re.MULTILINE)
    assert len(defined) == len(set(defined)) and defined[-1] == "report.js"
    for name in defined:
        text = (STATIC / name).read_text(encoding="utf-8")
        for other in re.findall(r'^import .* from "\./([^"]+)";$', text, re.MULTILINE):
            assert defined.index(other) < defined.index(name), (name, other)


def test_nothing_of_the_module_syntax_is_left_and_nothing_ends_the_script() -> None:
    made = live_script()
    assert not re.search(r"^(import|export)\b", made, re.MULTILINE)
    assert not re.search(r"\bexport\s*\{", made)
    assert "</script" not in made and "<!--" not in made
    assert "</style" not in live_style()


def test_a_report_asks_nobody_for_anything() -> None:
    """The parts of the dashboard that talk to a server are not among the modules."""
    made = live_script()
    assert not re.search(r"\bfetch\(|EventSource|XMLHttpRequest|WebSocket", made)


def test_the_licences_of_what_is_inlined_are_there() -> None:
    made = live_script()
    for path in (STATIC / "vendor").glob("LICENSE.*"):
        line = next(x for x in path.read_text().splitlines() if "Copyright" in x or "Apache" in x)
        assert line in made


def test_a_minified_module() -> None:
    made = as_function("vendor/x.js", "var a=1,b=2;export{a as one,b};\n")
    assert "return { one: a, b: b };" in made and "export" not in made


def test_size() -> None:
    """Half of the dashboard's budget for a round, next to a report's pictures."""
    assert len(live_script().encode()) + len(live_style().encode()) < 250_000


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_it_is_javascript(tmp_path: Path) -> None:
    path = tmp_path / "report.js"
    path.write_text(live_script(), encoding="utf-8")
    assert subprocess.run(["node", "--check", path], check=False).returncode == 0
