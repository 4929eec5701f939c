"""The rules of the house as tests: layers, light import, sizes, names, documents."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bench.house import operations_on_prose, untyped_evidence
from typer.main import get_command

import tunewright

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tunewright"
FILES = sorted(SOURCE.rglob("*.py"))

# Lower folders never import higher ones, in this order; leaves first, doors last.
LEAVES = (
    "causes",
    "messages",
    "facts",
    "actions",
    "refusals",
    "remedies",
    "errors",
    "finding",
    "measured",
    "nearest",
    "_jax_arrays",
    "_namespace",
    "_typed_tree",
)
ORDER = (
    *LEAVES,
    *(
        "seeds",
        "snapshot",
        "formats",
        "design",
        "ranges",
        "stats",
        "store",
        "stores",
        "budgets",
        "search",
        "progress",
        "execution",
        "executors",
        "trials",
    ),
    *("checks", "advice", "launches", "pipeline", "probes", "campaigns"),
    *("costs", "importers", "sinks"),
    "receipts",
    "agents",
    *("diagnosis", "referee"),
    *("project", "integrations", "protocols", "types"),
    *("present", "ui", "mcp", "cli", "testing", "demo", "__main__"),
)
# Beyond the order: analysis never starts training, and the pipeline is usable without the rest.
APART = {
    "messages": set(ORDER),
    "design": {"store", "stats"},
    "stats": set(ORDER) - {"errors", "messages"},
    "checks": {"execution", "search"},
    "advice": {"execution", "search"},
    "pipeline": set(ORDER) - {*LEAVES, "seeds", "snapshot", "design", "stats"},
    "sinks": {"search", "advice", "launches", "probes", "campaigns"},
    "diagnosis": {"execution", "search"},
    "importers": {"execution", "search", "checks", "advice", "launches", "probes", "campaigns"},
    "stores": {"stats"},
}
HEAVY = {
    "scipy",
    "sqlalchemy",
    "torch",
    "matplotlib",
    "polars",
    "pandas",
    "ray",
    "safetensors",
    "starlette",
    "uvicorn",
}
# Third-party packages a folder may import at the top of a file.
AT_THE_TOP = {
    "store": {"numpy", "sqlalchemy"},
    "budgets": {"sqlalchemy"},
    "launches": {"numpy"},
    "stats": {"numpy"},
    "search": {"numpy"},
    "execution": {"numpy"},
    "checks": {"numpy"},
    "advice": {"numpy"},
    "probes": {"numpy"},
    "diagnosis": {"numpy"},
    "referee": {"numpy"},
    "campaigns": {"numpy"},
    "pipeline": {"torch", "numpy"},
    "sinks": {"numpy", "sqlalchemy"},
    "receipts": {"numpy"},
    "present": {"numpy", "rich"},
    "progress": {"rich"},
    "ui": {"numpy", "starlette", "anyio"},
    "cli": {"typer", "rich"},
    "testing": {"numpy"},
}
VAGUE = re.compile(r"(^|_)(utils?|managers?|helpers?|common|base|misc|core)($|_)")
MOST_PUBLIC_NAMES = 35
NAMESPACES = {  # of `tunewright`, beside the names in __all__
    *(
        "advice",
        "agents",
        "budgets",
        "campaigns",
        "costs",
        "errors",
        "executors",
        "importers",
        "launches",
        "pipeline",
    ),
    *(
        "progress",
        "project",
        "protocols",
        "ranges",
        "receipts",
        "schedule",
        "trials",
        "types",
        "ui",
    ),
    "referee",
}


def folder_of(path: Path) -> str:
    """The folder a source file belongs to, or its own name at the top level."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every imported module of a file, with whether it is imported at the top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.append((node.module, id(node) not in inside))
            if node.module == "tunewright":
                names = [alias.name for alias in node.names]
                found += [(f"tunewright.{name}", id(node) not in inside) for name in names]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    folder = folder_of(path)
    ours = {name.split(".")[1] for name, _ in imports(path) if name.startswith("tunewright.")}
    ours -= {folder}
    if folder != "__init__":
        assert folder in ORDER, f"{folder} has no place in ORDER"
        place = ORDER.index(folder)
        higher = {name for name in ours if name in ORDER and ORDER.index(name) > place}
        assert not higher, f"{folder} may not import {sorted(higher)}"
        apart = ours & APART.get(folder, set())
        assert not apart, f"{folder} may not import {sorted(apart)}"
    top = {name.split(".")[0] for name, at_top in imports(path) if at_top}
    allowed = AT_THE_TOP.get(folder, set())
    third = {name for name in top if name not in sys.stdlib_module_names} - {"tunewright"}
    assert third <= allowed, f"{folder}: import {sorted(third - allowed)} inside the function"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_is_one_idea(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 600, "split it: one idea per file"
    assert not VAGUE.search(path.stem), "name the idea the file is about"
    if path.name != "__main__.py":
        first = (ast.get_docstring(ast.parse(text)) or "").splitlines()
        assert first and first[0].endswith((".", "?", ":")), "the first line says what it is for"


# They read what users, other programs and libraries write, which has no codes.
READ_FOREIGN_TEXT = {
    *("design/round.py", "execution/asked_trial.py", "execution/processes/shipping.py"),
    "pipeline/capture.py",
    *("design/schedule.py", "execution/command.py", "execution/executors/ray/cluster.py"),
    *("execution/line_patterns.py", "execution/line_proposals.py"),
    *("execution/command_syntax.py", "execution/processes/output.py"),
    *("execution/executors/ray/crew.py", "execution/processes/attempt.py"),
    "present/figures/figure.py",
    *("importers/_wandb.py", "pipeline/eval_batch.py", "probes/throughput/probe_worker.py"),
}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nobody_looks_inside_a_sentence(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    if name.startswith("messages/") or name in READ_FOREIGN_TEXT:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert operations_on_prose(tree) == 0, "use the code and the facts"
    assert untyped_evidence(tree) == 0, "evidence has types"


@pytest.mark.parametrize(
    "line",
    [
        "own.reason.startswith('the objective')",
        "round.goal.partition(' [')[0]",
        "found = one.message.text\n    found.split()",
        "re.sub('means', '', message.text_for('shell'))",
        "'baseline' in campaign.headline",
        "str(step.reason)[:40]",
    ],
)
def test_looking_inside_a_sentence_is_seen(line: str) -> None:
    tree = ast.parse(f"def look(own):\n    {line}\n")
    assert operations_on_prose(tree) == 1


def test_the_tests_mirror_the_source() -> None:
    """A folder of tests stands where its source does, and a test file is named after a module."""
    beside = {"golden", "faults", "stories", "demo"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        folder = path.parent.relative_to(ROOT / "tests")
        if folder == Path(".") or folder.parts[0] in beside:
            continue
        assert (SOURCE / folder).is_dir(), f"{path} mirrors no folder of the source"


def test_files_beside_the_source_are_short_too() -> None:
    for folder in ("tests", "bench", "docs", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines <= 400, f"{path.relative_to(ROOT)} has {lines} lines: split it by idea"


@pytest.mark.beyond_core
def test_import_is_light() -> None:
    script = "import sys, tunewright; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "tunewright" in loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}


def test_there_are_few_public_names_and_all_of_them_exist() -> None:
    assert len(tunewright.__all__) <= MOST_PUBLIC_NAMES, "put it into a namespace"
    assert sorted(set(tunewright.__all__)) == sorted(tunewright.__all__)
    for name in {*tunewright.__all__, *NAMESPACES}:
        assert getattr(tunewright, name) is not None
    lazy = {name for names in tunewright._HOMES.values() for name in names}
    assert lazy | set(tunewright._MODULES) == set(tunewright.__all__) | NAMESPACES


def test_every_name_of_a_namespace_exists() -> None:
    for name in tunewright._MODULES:
        module = getattr(tunewright, name)
        for inner in getattr(module, "__all__", ()):
            assert getattr(module, inner) is not None, f"tw.{name}.{inner}"


def test_what_moved_is_where_the_error_says() -> None:
    for name, now in tunewright._MOVED.items():
        with pytest.raises(AttributeError, match=re.escape(now)):
            getattr(tunewright, name)
        _, home, inner = now.split(".")
        assert getattr(getattr(tunewright, home), inner) is not None


def test_no_public_name_hides_a_folder() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    functions = {name for names in tunewright._HOMES.values() for name in names}
    assert not functions & folders


def test_a_misspelt_public_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'Workload'"):
        tunewright.Worklaod  # noqa: B018


def test_every_command_is_documented() -> None:
    from tunewright.cli.main import app

    pages = (ROOT / "docs" / "cli").glob("*.md")
    documented = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert commands
    for name, command in commands.items():
        assert command.help, f"{name} has no help"
        assert f"tunewright {name}" in documented, f"docs/cli/ does not show `tunewright {name}`"


def test_every_command_that_is_advised_exists() -> None:
    from tunewright.cli.main import app

    exist = set(get_command(app).commands)  # type: ignore[attr-defined]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for path in [*FILES, *pages]:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?:`|-> |: |\"|\$ )tunewright ([a-z]+)[ `\n]", text):
            assert name in exist | {"demo"}, f"{path.name} says `tunewright {name}`"


def test_links_in_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} points to {target}"


@pytest.mark.parametrize("document", ["capabilities.md", "playbook.md"])
def test_documents_name_tests_that_exist(document: str) -> None:
    page = (ROOT / "docs" / document).read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert named
    for file, function in named:
        path = ROOT / file
        assert path.exists(), f"docs/{document} names {file}"
        if function:
            assert f"def {function}(" in path.read_text(encoding="utf-8"), f"{file}::{function}"


def test_every_test_asserts_something() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        methods = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        for test in methods:
            if test.name.startswith("test_"):
                assert speaks(test, functions), f"{path.name}::{test.name} asserts nothing"


def speaks(function: ast.FunctionDef, beside: dict[str, ast.FunctionDef]) -> bool:
    """Whether it asserts, expects a refusal, or calls something of its file that does."""
    if re.search(r"Assert\(|AssertionError|raises|'(check|assert|wait)\w*'", ast.dump(function)):
        return True
    called = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} & beside.keys()
    return any(speaks(beside[name], beside) for name in called - {function.name})


def test_no_page_is_longer_than_300_lines() -> None:
    pages = [ROOT / "README.md", ROOT / "README.zh-CN.md", *(ROOT / "docs").rglob("*.md")]
    lengths = {page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in pages}
    assert not {name: lines for name, lines in lengths.items() if lines > 300}


def test_every_picture_of_a_page_has_a_caption() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert "![](" not in page.read_text(encoding="utf-8"), f"{page.name}: describe the picture"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not link.startswith(("http:", "https:")):
                waiting.append((page.parent / link).resolve())
    lost = sorted(p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md") if p not in reached)
    assert lost == []
