"""Every tool under arguments that an attacker, or a confused agent, would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies

from tunewright.mcp.answer import MOST_TOKENS, tokens
from tunewright.mcp.arguments import Argument
from tunewright.mcp.jobs import FOLDER
from tunewright.mcp.tools import TOOLS, call
from tunewright.messages import is_code

HOSTILE = (
    *("", " ", ".", "..", "-", "--help", "--store=/etc/passwd", "~", "/", "//", "/etc/passwd"),
    *(
        "../../etc/passwd",
        "..\\..\\x",
        "rounds/../../x",
        "file:///etc/passwd",
        "a/../../b",
        "out/x",
    ),
    *("$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "&& touch pwned"),
    *(
        "a\nb",
        "a\rb",
        "a\x00b",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "é" * 300,
        "名字",
        "🙂",
        "a" * 100_000,
    ),
    *("%s%s%s", "{0.__class__}", "{run.seed}", "__proto__", "None", "NaN", "' OR 1=1 --"),
)
WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5, float("nan"), float("inf"), -0.0, [], {}, [[]]),
    *({"a": {"b": {"c": [1]}}}, {"__class__": 1}, ["a"] * 5000, {"log": [1, 0]}, {"": ""}),
)
TEXTS = strategies.sampled_from(HOSTILE) | strategies.text(max_size=50)
TABLES = strategies.dictionaries(
    TEXTS.map(lambda text: text[:200]),
    strategies.sampled_from(WRONG)
    | TEXTS
    | strategies.fixed_dictionaries({"log": strategies.lists(strategies.floats(), max_size=3)}),
    max_size=4,
)
FITTING = {
    "name": strategies.sampled_from(["first", "none such", "a.b", "run-1"]) | TEXTS,
    "text": TEXTS,
    "table": TABLES,
    "count": strategies.integers(0, 2000),
    "hours": strategies.floats(0.1, 10),
    "flag": strategies.just(False),
    "path": TEXTS,
}


def value_of(argument: Argument) -> strategies.SearchStrategy[Any]:
    """What may arrive under a name: what fits, hostile texts, wrong types."""
    choices = list(argument.choices)
    fitting = strategies.sampled_from(choices) if choices else FITTING[argument.kind]
    wrong = strategies.sampled_from(WRONG) if argument.kind != "flag" else strategies.just("yes")
    return fitting | wrong | TEXTS


@strategies.composite
def calls(draw: strategies.DrawFn) -> tuple[str, Any]:
    name = draw(strategies.sampled_from(sorted(TOOLS)))
    given = {
        one.name: draw(value_of(one))
        for one in TOOLS[name].arguments
        if one.needed or (one.name != "detail" and draw(strategies.booleans()))
    }
    if draw(strategies.integers(0, 9)) == 0:
        given[draw(TEXTS)] = draw(TEXTS)
    return draw(strategies.sampled_from([name] * 9 + ["check; id"])), given


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a recorded file, a link out of it, and nothing left to train with."""
    home = tmp_path_factory.mktemp("fuzz")
    folder = home / "project"
    (folder / "rounds").mkdir(parents=True)
    (folder / "tunewright.toml").write_text(
        '[workload]\ncommand = "python train.py --rate={rate} --seed={run.seed}"\n'
        'minimize = "error"\nstore = "tuning.db"\n'
    )
    (folder / "budget.toml").write_text("trials = 0\n")
    (home / "secret").write_text("secret\n")
    (folder / "out").symlink_to(home)
    yield folder
    assert sorted(p.name for p in home.iterdir()) == ["project", "secret"]
    assert (home / "secret").read_text() == "secret\n"


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@example(("judge", {"action": "try", "change": "a\x00b"}))
@example(("launch", {"round": "first", "baseline": "a\x00b"}))
@example(("propose_round", {"name": "x", "goal": "a\ud800", "nuisance": {"rate": [1, 2]}}))
@example(("propose_round", {"name": "x", "goal": "a", "nuisance": {"rate\x00": [1, 2]}}))
@example(("propose_round", {"name": "x", "goal": "a", "fixed": {"rate": float("nan")}}))
@example(("diagnose", {"path": "\u00e9" * 200}))
@given(calls())
def test_no_call_trains_leaves_the_project_or_fails_unforeseen(
    project: Path, asked: tuple[str, Any]
) -> None:
    tool, given = asked
    data = call(tool, given, project).to_data()
    json.dumps(data, allow_nan=False).encode()
    assert tokens(data) <= MOST_TOKENS
    assert data["ok"] is ("error" not in data)
    if "error" in data:
        assert data["verdict"] == "refused" and is_code(data["error"]["code"])
        assert data["error"]["code"] != "mcp.unforeseen", (asked, data)
    assert not (project / FOLDER).exists(), "nothing was started"
    assert not list(project.rglob("pwned"))
    known = {"tunewright.toml", "budget.toml", "rounds", "out"}
    assert {p.name for p in project.iterdir()} - known <= {"tuning.db"}
    for made in (project / "rounds").iterdir():
        assert made.suffix == ".toml" and made.is_file()
        made.unlink()
