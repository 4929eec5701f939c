"""The GitHub Action of the examples: valid YAML whose step writes the comment, run here by bash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.receipts.test_verify import healthy

import tunewright as tw

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.beyond_core  # it starts git, bash and commands
ACTION = Path(__file__).parents[2] / "examples" / "receipt_action.yml"


def action() -> dict[Any, Any]:
    return dict(yaml.safe_load(ACTION.read_text(encoding="utf-8")))


def git(folder: Path, *words: str) -> str:
    who = ("git", "-c", "user.name=a", "-c", "user.email=a@b", *words)
    done = subprocess.run(who, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_it_runs_on_pull_requests_and_may_comment() -> None:
    own = action()
    assert "pull_request" in own[True], "YAML reads the key `on` as true"
    assert own["permissions"] == {"contents": "read", "pull-requests": "write"}
    steps = own["jobs"]["verify"]["steps"]
    comment = next(one for one in steps if one.get("name") == "Comment")
    assert "gh pr comment" in comment["run"] and "--body-file comment.md" in comment["run"]
    assert steps[-1]["if"] == "steps.verify.outputs.failed == '1'"


@pytest.mark.parametrize("honest", [True, False])
def test_its_step_writes_the_comment(tmp_path: Path, honest: bool) -> None:
    (step,) = [one for one in action()["jobs"]["verify"]["steps"] if one.get("id") == "verify"]
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "README").write_text("x\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "base")
    base = git(repository, "rev-parse", "HEAD")
    data = tw.receipts.receipt(healthy())
    if not honest:
        del data["trials"][3]
    named = repository / "a round's; layers.receipt.json"
    named.write_text(json.dumps(data))
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "receipt")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "tunewright"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tunewright "$@"\n')
    command.chmod(0o755)
    output = tmp_path / "output"
    environment = {**os.environ, "BASE": base, "GITHUB_OUTPUT": str(output)}
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    words = ["bash", "-e", "-c", step["run"]]
    done = subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    comment = (repository / "comment.md").read_text()
    assert f"### {named.name}" in comment and "layers" in comment
    assert output.read_text() == f"failed={0 if honest else 1}\n"
    assert ("dropped_failures" in comment) is not honest
