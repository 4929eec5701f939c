"""Tools without the protocol: few tokens, refusals with codes, hostile arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from tunewright.actions import CheckRound, Note, RunTrials
from tunewright.mcp.answer import MOST_TOKENS, Answer, call_for, tokens
from tunewright.mcp.arguments import LARGEST_TABLE, Argument, schema_of
from tunewright.mcp.jobs import FOLDER
from tunewright.mcp.tools import TOOLS, call
from tunewright.messages import is_code

FIELDS = {
    *("schema_version", "tool", "ok", "verdict", "sentence", "numbers", "error_rate", "next"),
    *("cost", "budget_left"),
}
ROUND = {
    "name": "first",
    "goal": "Which rate?",
    "nuisance": {"rate": {"log": [0.001, 1]}},
    "trials": 4,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tunewright.toml").write_text(
        '[workload]\ncommand = "python train.py --rate={rate} --seed={run.seed}"\n'
        'minimize = "error"\nstore = "tuning.db"\n'
    )
    (tmp_path / "rounds").mkdir()
    return tmp_path


def refusal(project: Path, tool: str, **given: Any) -> str:
    """The code that a call is refused with; it starts nothing and stays small."""
    data = call(tool, given, project).to_data()
    assert set(data) == FIELDS | {"error"} and not data["ok"]
    assert tokens(data) <= MOST_TOKENS
    assert not (project / FOLDER).exists(), "a refused call starts nothing"
    return str(data["error"]["code"])


def test_an_answer_has_every_field(project: Path) -> None:
    data = call("propose_round", ROUND, project).to_data()
    assert set(data) == FIELDS and data["ok"] and data["verdict"] == "proposed"
    assert data["next"] == {"tool": "dry_run", "arguments": {"round": "first"}}
    assert (project / "rounds" / "first.toml").exists()
    following = call("dry_run", {"round": "first"}, project).to_data()
    assert following["numbers"]["left"] == 4 and following["next"]["tool"] == "run"


def test_what_statistics_forbid_is_refused_before_a_file_is_written(project: Path) -> None:
    seeds = {**ROUND, "nuisance": {"rate": {"log": [0.001, 1]}, "seed": [1, 2]}}
    data = call("propose_round", seeds, project).to_data()
    assert data["error"]["refusal"] == "seed_as_idea"
    assert not list((project / "rounds").iterdir())


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("nothing", {}, "mcp.unknown_tool"),
        ("check", {}, "mcp.missing_argument"),
        ("check", {"round": 7}, "mcp.wrong_type"),
        ("check", {"round": ["a"]}, "mcp.wrong_type"),
        ("check", {"round": "a", "shell": "rm -rf /"}, "mcp.unknown_argument"),
        ("check", {"round": "../../etc/passwd"}, "mcp.bad_name"),
        ("check", {"round": "a; rm -rf /"}, "mcp.bad_name"),
        ("check", {"round": "$(id)"}, "mcp.bad_name"),
        ("check", {"round": "a\n"}, "mcp.bad_name"),
        ("check", {"round": "--help"}, "mcp.bad_name"),
        ("check", {"round": "a" * 5000}, "mcp.too_large"),
        ("check", {"round": "a" * 100_000}, "mcp.too_large"),
        ("run", {"round": "a", "trials": True}, "mcp.wrong_type"),
        ("run", {"round": "a", "trials": 10**9}, "mcp.too_large"),
        ("run", {"round": "a", "trials": -1}, "mcp.too_large"),
        ("run", {"round": "a", "max_hours": float("inf")}, "mcp.wrong_type"),
        ("run", {"round": "a", "workers": "2; id"}, "mcp.wrong_type"),
        ("run", {"round": "missing"}, "project.no_round"),
        ("status", {"handle": "run-1"}, "mcp.no_handle"),
        ("status", {"handle": "../run-1"}, "mcp.bad_name"),
        ("status", {}, "mcp.missing_argument"),
        ("diagnose", {"path": "/etc/passwd"}, "mcp.outside_project"),
        ("diagnose", {"path": "../x"}, "mcp.outside_project"),
        ("diagnose", {"path": "a\0b"}, "mcp.outside_project"),
        ("judge", {"action": "end"}, "mcp.bad_choice"),
        ("judge", {"action": "try"}, "referee.no_lineage"),
        ("propose_round", {**ROUND, "nuisance": [1]}, "mcp.wrong_type"),
        ("propose_round", {**ROUND, "nuisance": {"a": "x" * LARGEST_TABLE}}, "mcp.too_large"),
        ("propose_round", {**ROUND, "name": "/tmp/x"}, "mcp.bad_name"),
        ("propose_round", {**ROUND, "nuisance": {"rate": {"lgo": [1, 2]}}}, None),
    ],
)
def test_hostile_arguments(project: Path, tool: str, given: Any, code: str | None) -> None:
    found = refusal(project, tool, **given)
    assert is_code(found) and (code is None or found == code)


def test_a_link_out_of_the_project_is_followed_and_refused(project: Path, tmp_path: Path) -> None:
    (project / "out").symlink_to("/etc")
    assert refusal(project, "diagnose", path="out/passwd") == "mcp.outside_project"


def test_a_deep_table_is_refused(project: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(50):
        deep = {"a": deep}
    assert refusal(project, "propose_round", **{**ROUND, "nuisance": deep}) == "mcp.too_large"


def test_no_project_is_a_refusal_too(tmp_path: Path) -> None:
    data = call("check", {"round": "a"}, tmp_path).to_data()
    assert data["error"]["code"] == "project.no_file" and data["cost"] is None


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    strategies.dictionaries(
        strategies.text(max_size=30),
        strategies.recursive(
            strategies.none() | strategies.booleans() | strategies.floats() | strategies.text(),
            lambda inner: (
                strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner)
            ),
        ),
        max_size=6,
    ),
    strategies.sampled_from(sorted(TOOLS)),
)
def test_whatever_is_sent_is_answered_within_the_limit(
    tmp_path: Path, given: dict[str, Any], tool: str
) -> None:
    data = call(tool, {"round": given.get("round", "x"), **given}, tmp_path).to_data()
    json.dumps(data, allow_nan=False)
    assert tokens(data) <= MOST_TOKENS and data["verdict"] in ("refused", "none")


@given(
    strategies.dictionaries(
        strategies.sampled_from(["warnings", "advice", "configuration", "counts"]),
        strategies.text(max_size=6000) | strategies.lists(strategies.text(), max_size=200),
    ),
    strategies.text(max_size=3000),
)
def test_an_answer_is_cut_to_the_limit(numbers: dict[str, Any], sentence: str) -> None:
    data = Answer(tool="check", verdict="ok", sentence=sentence, numbers=numbers).to_data()
    assert tokens(data) <= MOST_TOKENS and set(data) == FIELDS
    assert data["numbers"].keys() == numbers.keys()


def test_detail_may_be_long() -> None:
    data = Answer(tool="check", verdict="ok", sentence="x", detail=["long"] * 1000).to_data()
    assert len(data["detail"]) == 1000 and tokens(data) > MOST_TOKENS


def test_an_action_is_a_tool_or_a_command() -> None:
    assert call_for(RunTrials("r", 32)) == {
        "tool": "run",
        "arguments": {"round": "r", "trials": 32},
    }
    assert call_for(CheckRound("r")) == {"tool": "check", "arguments": {"round": "r"}}
    assert call_for(Note("a b"))["command"].startswith("tunewright note 'a b'")


def test_a_schema_names_what_is_needed() -> None:
    own = (Argument("round", "name", "x", needed=True), Argument("n", "count", "y"))
    schema = schema_of(own)
    assert schema["required"] == ["round"] and schema["additionalProperties"] is False
    assert schema["properties"]["n"]["type"] == "integer"
