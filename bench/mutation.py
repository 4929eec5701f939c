"""Do the tests notice small faults? Mutation testing of stats/, launches/ and checks/.

    python bench/mutation.py [--share 0.08] [--least 4] [--seed 20261118] [--only stats ...]
    python bench/mutation.py --again --tests FILE ...   # what survived, by tests written since
    python bench/mutation.py --table          # bench/results/mutation.md from the raw lines

The sample: of each file, a share of its mutants (bench/mutants.py), at least `--least`, drawn by
a generator seeded by `--seed` and the file's name. The tests: the quick tier of the folders TESTS.
One process collects them and runs them once, noting which lines each test reaches. Then, for each
mutant, a fork of it replaces the code of the changed function, or sets the changed constant, and
runs the tests that reach it (of the file's own tests all, of the others the quickest, SECONDS in
all), until one fails. Another mutant of what runs on import is tried in a new process, with the
file's own tests and the OTHER_FILES that reach it most.

A raw line is one mutant: its file, line, change, outcome (killed, survived, or not reached by any
test), the test that failed. A mutant that takes PATIENCE times the time of its tests, in CPU
seconds, counts as killed. With --again, tests that start processes or train count too, and the
doctests of the files.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import gc
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path.cwd()
SOURCE = ROOT / "src" / "tunewright"
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import pytest  # noqa: E402
from mutants import Mutant, mutants, mutated  # noqa: E402
from mutation_live import (  # noqa: E402
    caches,
    clear,
    codes,
    in_a_fork,
    live_functions,
    without_shrinking,
)
from mutation_page import MOVED, alive, key_of, read, write_page  # noqa: E402

FOLDERS = ("stats", "launches", "checks")
TESTS = (*FOLDERS, "advice", "messages")
QUICK = "not (slow or beyond_core or ray or postgres or torch)"
OTHER_FILES = 2  # of tests, for a mutant of what runs on import
SECONDS = 4.0  # of tests of other files, by what they took in the baseline
PATIENCE, SLACK_S = 8.0, 25.0
RAW = Path(__file__).parent / "results" / "mutation.jsonl"
Line = dict[str, Any]
Change = tuple[Any, str, Any]  # whose attribute, its name, its value


def sample(arguments: argparse.Namespace) -> dict[Path, list[Mutant]]:
    """Which mutants of which file are tried."""
    chosen = {}
    for folder in arguments.only or FOLDERS:
        for path in sorted((SOURCE / folder).glob("*.py")):
            every = mutants(path.read_text(encoding="utf-8"))
            count = min(len(every), max(arguments.least, round(arguments.share * len(every))))
            draw = random.Random(f"{arguments.seed} {path.relative_to(SOURCE)}")
            if every:
                chosen[path] = draw.sample(every, count)
    return chosen


def survivors(lines: list[Line], later: list[Line]) -> dict[Path, list[Mutant]]:
    """The mutants that no test killed so far, found again in today's source by their text."""
    chosen: dict[Path, list[Mutant]] = defaultdict(list)
    now = {key_of(one): one["outcome"] for one in later}
    for line in lines:
        if not alive(line, now) or line["file"].endswith("__init__.py"):
            continue
        file = MOVED.get(line["file"], line["file"])
        path = SOURCE / file
        like = [
            one
            for one in (mutants(path.read_text(encoding="utf-8")) if path.exists() else [])
            if key_of({**dataclasses.asdict(one), "file": file}) == key_of(line)
        ]
        if like:
            chosen[path].append(min(like, key=lambda one: abs(one.line - line["line"])))
    return chosen


class Trial:
    """A plugin of pytest that runs the tests once, and then again for every mutant."""

    def __init__(self, chosen: dict[Path, list[Mutant]], out: Path) -> None:
        self.chosen, self.out = chosen, out
        self.watched = {str(path) for path in chosen}
        self.reached: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.took: dict[str, float] = defaultdict(float)
        self.failed: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        without_shrinking(session.items)
        self.baseline(session.items)
        assert not self.failed, f"fails without a mutant: {self.failed}"
        total = sum(map(len, self.chosen.values()))
        self.caches, self.functions = caches(), live_functions(self.watched)
        gc.freeze()  # a fork need not look at what is old
        print(f"{len(session.items)} tests, {total} mutants", flush=True)
        every = [(path, mutant) for path, own in self.chosen.items() for mutant in own]
        random.Random(0).shuffle(every)  # what a stopped run has tried is a sample too
        for path, mutant in every:
            began = time.monotonic()
            line = {"file": path.relative_to(SOURCE).as_posix(), **dataclasses.asdict(mutant)}
            line |= self.tried(path, mutant, session.items)
            line["seconds"] = round(time.monotonic() - began, 2)
            with self.out.open("a", encoding="utf-8") as raw:
                raw.write(json.dumps(line) + "\n")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure, and how long a test takes."""
        self.took[report.nodeid] += report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    # ---- which test reaches which line

    def baseline(self, items: list[pytest.Item]) -> None:
        """Run every test once and note the lines it reaches."""
        for place, item in enumerate(items):
            clear(caches())
            self.now = self.reached[item.nodeid]
            sys.settrace(self.enter)
            following = items[place + 1] if place + 1 < len(items) else None
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Any:
        """What a fixture of a file reaches, every test of the file reaches."""
        if fixturedef.scope == "function":
            return (yield)
        test, self.now = self.now, self.reached[str(request.node.nodeid).split("::")[0]]
        try:
            return (yield)
        finally:
            self.now = test

    def enter(self, frame: FrameType, event: str, _: Any) -> Any:
        """Trace the lines of watched files, and nothing else."""
        if frame.f_code.co_filename not in self.watched:
            return None
        self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self.step

    def step(self, frame: FrameType, event: str, _: Any) -> Any:
        """Note one line."""
        self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self.step

    # ---- one mutant

    def tried(self, path: Path, mutant: Mutant, items: list[pytest.Item]) -> Line:
        """Try one mutant: its outcome and the test that failed."""
        tests = self.tests_for(path, mutant, items)
        if mutant.within and not tests:
            return {"outcome": "not reached", "test": None, "tests": 0}
        change = self.change_of(path, mutant)
        if not change or not tests:
            return in_a_new_process(path, mutant, self.files_for(path, items))
        limit = SLACK_S + PATIENCE * sum(self.took[one.nodeid] for one in tests)
        failed = in_a_fork(functools.partial(self.first_failure, change, tests), limit)
        return {"outcome": "killed" if failed else "survived", "test": failed, "tests": len(tests)}

    def tests_for(self, path: Path, mutant: Mutant, items: list[pytest.Item]) -> list[pytest.Item]:
        """The tests that reach the statement: the file's own first, then quick ones."""
        reaching = [item for item in items if self.reaches(item, path, mutant)]
        reaching.sort(key=lambda item: self.took[item.nodeid])
        own = [item for item in reaching if mirrors(item.path, path)]
        left = SECONDS
        for item in reaching:
            left -= 0 if item in own else self.took[item.nodeid]
            if item not in own and left > 0:
                own.append(item)
        return own

    def reaches(self, item: pytest.Item, path: Path, mutant: Mutant) -> bool:
        """Whether a test reaches the statement; the file, where it runs on import."""
        lines = self.reached[item.nodeid] | self.reached[item.nodeid.split("::")[0]]
        if not mutant.within:
            return any(name == str(path) for name, _ in lines)
        return any((str(path), line) in lines for line in range(mutant.first, mutant.last + 1))

    def change_of(self, path: Path, mutant: Mutant) -> list[Change]:
        """What to set so that this process runs the mutant; nothing where that is not enough."""
        tree = mutated(path.read_text(encoding="utf-8"), mutant)
        if not mutant.within:
            return constants_set(path, tree, mutant)
        new = dict(codes(compile(tree, str(path), "exec")))
        found: list[Change] = []
        for one in self.functions[str(path)]:
            code = new.get((one.__code__.co_qualname, one.__code__.co_firstlineno))
            if code is not None and code != one.__code__:
                if code.co_freevars != one.__code__.co_freevars:
                    return []
                found.append((one, "__code__", code))
        return found

    def files_for(self, path: Path, items: list[pytest.Item]) -> list[str]:
        """The file's own tests and the files that reach it most; else the folder's tests."""
        own = {str(i.path.relative_to(ROOT)) for i in items if mirrors(i.path, path)}
        reaching = Counter(
            str(item.path.relative_to(ROOT))
            for item in items
            if any(name == str(path) for name, _ in self.reached[item.nodeid])
        )
        own |= {name for name, _ in reaching.most_common(OTHER_FILES)}
        return sorted(own) or [f"tests/{path.parent.name}"]

    def first_failure(self, change: list[Change], tests: list[pytest.Item]) -> str | None:
        """In the fork: the first test that fails with the changed code."""
        gc.disable()
        for owner, name, value in change:
            setattr(owner, name, value)
        clear(self.caches)
        self.failed.clear()
        for place, item in enumerate(tests):
            following = tests[place + 1] if place + 1 < len(tests) else None
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return self.failed[0]
        return None


def mirrors(test: Path, source: Path) -> bool:
    """Whether a test file is named after a source file: test_gain.py, test_gain_page.py."""
    stem = source.stem.strip("_")
    return test.parent.name == source.parent.name and test.stem.startswith(f"test_{stem}")


def constants_set(path: Path, tree: ast.Module, mutant: Mutant) -> list[Change]:
    """The constants that a change of a module's assignment changes, wherever they are imported."""
    plain = (int, float, str, tuple, frozenset, set, dict, list)
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    module = sys.modules.get(name)
    later = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    if module is None or not any(one.lineno == mutant.first for one in later):
        return []
    known = dict(vars(module))
    kept = [one for one in later if one.lineno >= mutant.first and one.value]
    exec(compile(ast.Module(kept, []), str(path), "exec"), known)
    changed = {
        key: (vars(module)[key], value)
        for key, value in known.items()
        if isinstance(value, plain) and key in vars(module) and value != vars(module)[key]
    }
    return [
        (other, key, new)
        for key, (old, new) in changed.items()
        for other in list(sys.modules.values())
        if str(getattr(other, "__name__", "")).startswith(("tunewright", "tests"))
        and vars(other).get(key) is old
    ]


@functools.cache
def copy_of_the_source() -> Path:
    """A copy of src in which one file at a time is changed."""
    folder = Path(tempfile.mkdtemp(prefix="mutants"))
    shutil.copytree(ROOT / "src", folder / "src")
    return folder


def in_a_new_process(path: Path, mutant: Mutant, names: list[str]) -> Line:
    """Try a mutant of what runs on import, with some files of tests."""
    copied = copy_of_the_source() / path.relative_to(ROOT)
    copied.write_text(ast.unparse(mutated(path.read_text(encoding="utf-8"), mutant)))
    surroundings = {
        **os.environ,
        "PYTHONPATH": f"{copy_of_the_source() / 'src'}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", QUICK]
    try:
        done = subprocess.run(
            [*command, "--tb=no", *names],
            env=surroundings,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
        )
        outcome = {0: "survived", 5: "not reached"}.get(done.returncode, "killed")
    except subprocess.TimeoutExpired:
        outcome = "killed"
    shutil.copy2(path, copied)
    return {"outcome": outcome, "test": " ".join(names), "tests": len(names)}


def main() -> None:
    """Draw the sample, try it, write the page."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--share", type=float, default=0.08)
    reader.add_argument("--least", type=int, default=4)
    reader.add_argument("--seed", type=int, default=20261118)
    reader.add_argument("--only", nargs="+")
    reader.add_argument("--again", action="store_true")
    reader.add_argument("--tests", nargs="+")
    reader.add_argument("--table", action="store_true")
    reader.add_argument("--out", type=Path, default=RAW)
    arguments = reader.parse_args()
    again = arguments.out.with_name(f"{arguments.out.stem}_again.jsonl")
    if not arguments.table:
        if arguments.again:
            lines = [json.loads(line) for line in arguments.out.read_text().splitlines()]
            later = [one for one in read(again) if one["outcome"] == "killed"]
            chosen, out = survivors(lines, later), again
            out.write_text("".join(json.dumps(one) + "\n" for one in later), encoding="utf-8")
        else:
            chosen, out = sample(arguments), arguments.out
            out.unlink(missing_ok=True)
        folders = [f"tests/{folder}" for folder in (*(arguments.only or TESTS),)]
        which = QUICK
        if arguments.tests:
            sources = [str(path.relative_to(ROOT)) for path in chosen]
            folders = [*arguments.tests, "--doctest-modules", *sources]
            which = QUICK.replace("beyond_core or ", "")
        options = ["-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", "-s"]
        options += ["-p", "no:terminal", "-m", which]
        pytest.main([*options, *folders], plugins=[Trial(chosen, out)])
    write_page(arguments.out, again)


if __name__ == "__main__":
    main()
