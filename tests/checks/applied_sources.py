"""Programs whose source the check `applied` reads: what they define, and how they are started."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tunewright.execution.command import command
from tunewright.execution.sources import sources
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results


@dataclass(frozen=True)
class Source:
    """A program of one file, and the command that starts it."""

    options: Mapping[str, str]  # hyperparameter -> the option that the command gives
    defined: Mapping[str, str]  # hyperparameter -> the option that the program defines
    unread: frozenset[str] = frozenset()
    parse: str = "args, _ = parser.parse_known_args()"
    extra: Sequence[str] = field(default=())

    @property
    def text(self) -> str:
        """The program."""
        lines = ["import argparse", "", "", "def main():", "    parser = argparse.ArgumentParser()"]
        lines += [f"    parser.add_argument({o!r}, default=0)" for o in self.defined.values()]
        lines += [f"    {self.parse}", *(f"    {line}" for line in self.extra)]
        for name, option in self.defined.items():
            dest = option.lstrip("-").replace("-", "_")
            value = "0.1" if name in self.unread else f"args.{dest}"
            lines.append(f"    print({name!r}, {value})")
        return "\n".join([*lines, "", "", "main()", ""])


def with_source(results: Results, source: Source, folder: Path) -> Results:
    """The same results as if this program had been started for every trial."""
    (folder / "train.py").write_text(source.text)
    template = " ".join(f"{option} {{{name}}}" for name, option in source.options.items())
    started = command(f"python train.py {template}")
    origin = Provenance("tunewright run", str(folder), sources=sources(started, folder))
    filled = tuple(
        replace(t, started=shlex.join(started.fill(t.configuration, {}))) for t in results.recorded
    )
    return replace(results, recorded=filled, origins={t.identity: origin for t in filled})
