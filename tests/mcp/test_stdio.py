"""A real client over stdio: a whole round, a launch, a server that ends while it trains."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tunewright.mcp.answer import MOST_TOKENS, tokens

pytest.importorskip("mcp")
pytestmark = pytest.mark.beyond_core  # it starts a server, and training

TRAIN = """
import math, random, time


def train(run, learning_rate, layers=1, max_train_steps=40):
    noise = random.Random(run.seeds.init + layers)
    luck = noise.gauss(0, 0.004)
    for step in run.steps(max_train_steps):
        loss = 0.1 * (math.log10(learning_rate) + 1.5) ** 2 + 1 / step
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=0.3 + loss - 0.05 * layers + luck)
    time.sleep(0.1)
"""
PROPOSED = {
    "name": "layers",
    "goal": "Do more layers help?",
    "scientific": {"layers": [1, 2]},
    "nuisance": {"learning_rate": {"log": [0.001, 1.0]}},
    "fixed": {"max_train_steps": 40},
    "trials": 6,
}
Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "tunewright.toml").write_text(
        '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\nstore = "tuning.db"\n'
        '[workload.means]\nmax_train_steps = "max_train_steps"\n'
    )
    (tmp_path / "rounds").mkdir()
    (tmp_path / "budget.toml").write_text("trials = 60\n")
    return tmp_path


def with_client(project: Path, use: Callable[[Call, Any], Awaitable[None]]) -> None:
    """Use a server in a separate process through the client of the official package."""
    from mcp.client.stdio import StdioServerParameters

    from mcp import Client

    environment = {"PYTHONPATH": os.environ["PYTHONPATH"], "OMP_NUM_THREADS": "1"}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tunewright", "mcp"],
        cwd=str(project),
        env=environment,
    )

    async def main() -> None:
        async with Client(server) as client:

            async def call(tool: str, **given: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, given)
                data = json.loads(result.content[0].text)
                assert result.is_error is not data["ok"]
                assert given.get("detail") or tokens(data) <= MOST_TOKENS, (tool, tokens(data))
                return dict(data)

            await use(call, client)

    asyncio.run(main())


async def ended(call: Call, handle: str) -> dict[str, Any]:
    """The status of a handle once it no longer runs."""
    for _ in range(600):
        data = await call("status", handle=handle)
        if data["verdict"] != "running":
            return data
        await asyncio.sleep(0.2)
    raise AssertionError("it never ended")


def test_a_whole_round_and_a_launch(project: Path) -> None:
    async def use(call: Call, client: Any) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names >= {"propose_round", "dry_run", "run", "status", "check", "next", "launch"}
        assert (await call("propose_round", **PROPOSED))["verdict"] == "proposed"
        assert (await call("dry_run", round="layers"))["numbers"]["left"] == 12
        started = await call("run", round="layers")
        assert started["verdict"] == "started" and started["next"]["tool"] == "status"
        waiting = started["next"]["arguments"]
        assert waiting["wait"] == 50
        assert (await call("status", **{**waiting, "wait": 1}))["verdict"] in (
            "running",
            "finished",
        )
        done = await ended(call, started["numbers"]["handle"])
        assert done["verdict"] == "finished" and done["numbers"]["counts"] == {"completed": 12}
        assert done["cost"]["trials"] == 12 and done["budget_left"] == {"trials": 48}
        assert done["next"] == {"tool": "check", "arguments": {"round": "layers"}}
        checked = await call("check", round="layers")
        assert checked["verdict"] in ("ok", "note", "warn") and "next" in checked
        detailed = await call("check", round="layers", detail=True)
        assert len(detailed["detail"]) > 10
        proposed = await call("next", round="layers")
        assert proposed["numbers"]["kinds"] and proposed["next"]
        best = checked["numbers"]["best"]["trial"]
        assert (await call("why", round="layers", trial=best))["numbers"]["rank"] == 1
        launched = await call("launch", round="layers", times=3)
        decided = await ended(call, launched["numbers"]["handle"])
        assert decided["verdict"] in ("launch", "keep", "undecided"), decided
        history = await call("history")
        assert history["numbers"]["launches"] in (0, 1)
        refused = await call("run", round="layers; rm -rf /")
        assert refused["error"]["code"] == "mcp.bad_name"

    with_client(project, use)


def test_an_agent_in_an_empty_folder_learns_what_to_do(tmp_path: Path) -> None:
    async def use(call: Call, client: Any) -> None:
        refused = await call("propose_round", **PROPOSED)
        assert refused["error"]["code"] == "project.no_file"
        assert refused["next"]["command"].startswith("tunewright init")
        (tmp_path / "train.py").write_text(TRAIN)
        (tmp_path / "tunewright.toml").write_text(
            '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\n'
        )
        assert (await call("history"))["verdict"] == "none"
        unknown = await call("check", round="layers")
        assert unknown["error"]["code"] == "mcp.nothing_ran" and unknown["next"] is None
        assert (await call("propose_round", **PROPOSED))["ok"]
        again = await call("propose_round", **PROPOSED)
        assert again["error"]["code"] == "mcp.round_exists"
        run = {"tool": "run", "arguments": {"round": "layers"}}
        assert again["next"] == (await call("check", round="layers"))["next"] == run
        needs = await call("judge", action="begin")
        assert needs["error"]["code"] == "mcp.judge_needs_command"

    with_client(tmp_path, use)


def test_training_survives_the_server(project: Path) -> None:
    handles: list[str] = []

    async def begin(call: Call, client: Any) -> None:
        await call("propose_round", **PROPOSED)
        handles.append((await call("run", round="layers", workers=1))["numbers"]["handle"])

    async def look(call: Call, client: Any) -> None:
        done = await ended(call, handles[0])
        assert done["verdict"] == "finished" and done["numbers"]["counts"] == {"completed": 12}

    with_client(project, begin)
    time.sleep(0.5)
    with_client(project, look)


def test_a_spent_budget_is_refused_at_once(project: Path) -> None:
    (project / "budget.toml").write_text("trials = 0\n")

    async def use(call: Call, client: Any) -> None:
        await call("propose_round", **PROPOSED)
        data = await call("run", round="layers")
        assert data["error"]["refusal"] == "budget_spent" and data["budget_left"] == {"trials": 0}

    with_client(project, use)
    assert not (project / ".tunewright").exists()
