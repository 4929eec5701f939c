"""Banned phrases in prose, per folder and per 10,000 lines: `python bench/house_words.py [folder]`.

Prose is docstrings, comments, and texts of two words or more in code; identifiers do not count, and
neither do examples in docstrings. `docs/design.md` has the glossary: what to write instead.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# each with the words to write instead
BANNED = {
    r"told": "receives, reports, records",
    r"tells": "reports, shows",
    r"says": "reports, shows, states",
    r"said": "reported, stated",
    r"goes on": "continues, resumes",
    r"luck|lucky|unlucky": "noise, seed variance",
    r"people": "users",
    r"settled|settles": "fixed, chosen, levelled off",
    r"heeds?|heeded": "handle",
    r"mends?|mended": "fix",
    r"stands? for|stood for": "represent, mean",
    r"of its own|of their own": "separate, its own X",
    r"so that the one": "(two sentences)",
    r"what is no number": "NaN or infinity, not a number",
    r"the record": "the database",
}
_ANY = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)
_SPAN = re.compile(r"`[^`]*`|\{[^{}]*\}|\b\w+=")  # code and facts inside a sentence


def prose(text: str) -> Iterator[str]:
    """Docstrings without their examples, comments, and texts of two words or more.

    >>> list(prose("x = 'a b'  # why"))
    ['# why', 'a b']
    """
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            lines = node.value.splitlines()
            yield "\n".join(line for line in lines if not line.strip().startswith((">>>", "...")))


def banned_in(text: str) -> Counter[str]:
    """How often each banned phrase occurs in a sentence or page, code spans left out.

    >>> banned_in("The store is told; `told` is a name, and people know the record.")
    Counter({'told': 1, 'people': 1, 'the record': 1})
    """
    plain = " ".join(_SPAN.sub(" ", text).split())
    return Counter(match[1].lower() for match in _ANY.finditer(plain))


def banned_in_source(text: str) -> Counter[str]:
    """How often each banned phrase occurs in the prose of a Python file."""
    return sum((banned_in(one) for one in prose(text)), Counter())


def by_folder(source: Path) -> dict[str, tuple[Counter[str], int]]:
    """The banned phrases and the lines of each folder of a source tree; "" is its top level."""
    found: dict[str, tuple[Counter[str], int]] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).parts
        folder = parts[0] if len(parts) > 1 else ""
        text = path.read_text(encoding="utf-8")
        counted, lines = found.get(folder, (Counter(), 0))
        found[folder] = (counted + banned_in_source(text), lines + len(text.splitlines()))
    return found


def main() -> None:
    """Print the counts per folder, and of all per 10,000 lines."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    found = by_folder(root / "src" / "tunewright")
    for folder, (counted, lines) in found.items():
        shown = ", ".join(f"{phrase} {n}" for phrase, n in counted.most_common())
        print(f"{folder or '(top)':12} {lines:6} lines {counted.total():4}  {shown}")
    total: Counter[str] = sum((counted for counted, _ in found.values()), Counter())
    lines = sum(lines for _, lines in found.values())
    for phrase, n in total.most_common():
        print(f"{phrase:20} {n:4}  {10_000 * n / lines:.1f} per 10,000 lines")
    print(f"{'all':20} {total.total():4}  {10_000 * total.total() / lines:.1f} per 10,000 lines")


if __name__ == "__main__":
    main()
