"""Records the golden facts again, all of them; it must be run with version 0.1's code.

    PYTHONPATH=/path/to/version_0.1/src python -m tests.golden.record_facts

The facts say what version 0.1 answered. A later version that answers otherwise is wrong, or has a
reason that the changelog gives: then one edits the fact by hand, and says so in README.md.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.golden import cases, python_facts

import tunewright as tw

VERSION = "0.1.0.dev0"


def main() -> None:
    """Ask every command, and write what it answers."""
    if tw.__version__ != VERSION:
        raise SystemExit(f"this is version {tw.__version__}; the facts are those of {VERSION}")
    with tempfile.TemporaryDirectory(prefix="golden") as made:
        project = cases.copied(Path(made))
        for verb, calls in cases.READING.items():
            write(verb, [cases.facts_of(project, (verb, *arguments)) for arguments in calls])
        found = {name: ask(project) for name, ask in python_facts.FACTS.items()}
        write("python", json.loads(json.dumps(found)))
    stories = {}
    for name, commands in cases.WRITING.items():
        with tempfile.TemporaryDirectory(prefix="golden") as made:
            project = cases.copied(Path(made))
            stories[name] = [cases.facts_of(project, command) for command in commands]
    write("writing", stories)


def write(name: str, facts: Any) -> None:
    """Write one file of facts."""
    cases.FACTS.mkdir(exist_ok=True)
    path = cases.FACTS / f"{name}.json"
    path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {path.name}: {len(path.read_text()):,} characters")


if __name__ == "__main__":
    main()
