"""The script of a report: the dashboard's modules, joined so that one file needs no other.

The modules are plain files, which the dashboard serves as they are. A page that is opened from disk
may not load files, and its policy names the one script that may run by its sum. So each module
becomes a function that returns what it exports, in an order in which every import is known.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

STATIC = Path(__file__).parents[1] / "ui" / "static"  # files: nothing of the dashboard is imported
_ENTRY = "report.js"
STYLES = ("vendor/uplot.css", "figures.css")
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"\bexport\s*\{([^}]*)\};?\s*$")  # how a minified module ends


@cache
def script() -> str:
    """Every module that the figures of a report need, as one classic script."""
    folder = STATIC / "vendor"
    plots = (folder / "uplot.js").read_text(encoding="utf-8")
    terms = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("LICENSE.*"))]
    licences = "\n".join(terms).replace("*/", "* /")
    made: dict[str, str] = {}
    _join(_ENTRY, made)
    modules = "\n".join(made.values())
    return f"/*! {licences} */\n{plots}\n(() => {{\nconst modules = {{}};\n{modules}\n}})();\n"


@cache
def style() -> str:
    """The rules that those figures need."""
    return "".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)


def _join(name: str, made: dict[str, str]) -> None:
    """Add a module and, before it, what it imports."""
    if name in made:
        return
    text = (STATIC / name).read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(text):
        _join(_reached(name, other), made)
    made[name] = as_function(name, text)


def as_function(name: str, text: str) -> str:
    """A module as an entry of `modules`.

    >>> print(as_function("a.js", 'import { b as c } from "./b.js";\\nexport const d = c;'))
    modules["a.js"] = (() => {
    "use strict";
    const { b: c } = modules["b.js"];
    const d = c;
    return { d };
    })();
    """

    def imported(found: re.Match[str]) -> str:
        names = found[1].replace(" as ", ": ")
        return f'const {{ {names} }} = modules["{_reached(name, found[2])}"];'

    exported = _EXPORT.findall(text)
    text = _EXPORT.sub("", _IMPORT.sub(imported, text))
    if found := _EXPORTS.search(text):
        for pair in found[1].split(","):
            own, _, other = pair.strip().partition(" as ")
            exported.append(f"{other or own}: {own}")
        text = text[: found.start()]
    return (
        f'modules["{name}"] = (() => {{\n"use strict";\n{text.rstrip()}\n'
        f"return {{ {', '.join(exported)} }};\n}})();"
    )


def _reached(name: str, other: str) -> str:
    """The path of an imported module below the folder of modules."""
    return str(PurePosixPath(name).parent / other)
