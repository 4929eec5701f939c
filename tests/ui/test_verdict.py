"""The checklist in a process of its own: kept, made anew, ended with the server, failing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.ui.small_world import NAME, fill, run_alone

import tunewright as tw
from tunewright.present.report_parts import tally
from tunewright.ui import verdict
from tunewright.ui.verdict import Judge, judge

pytestmark = pytest.mark.beyond_core  # it starts processes


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "tuning.db")
    fill(path)
    return path


def test_the_same_facts_as_in_this_process(store: str) -> None:
    made = judge(store, NAME)
    findings = tw.check(tw.load(store, NAME))
    assert made["verdicts"] == [finding.verdict for finding in findings]
    assert made["warnings"] == tally(findings)["warn"] == 1, "two settings share one warning"
    assert {figure["kind"] for figure in made["figures"]} >= {"isolation", "best_of_k"}


def test_a_verdict_is_kept_until_trials_end(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "PAUSE", 0.0)

    async def story() -> None:
        own = Judge(store)
        first = own.verdict(NAME, 1)
        assert (first.state, first.data, own.chips(NAME)) == ("working", None, None)
        await own.wait_for(NAME)
        assert first.state == "ready" and first.data is not None
        kept = first.task
        assert own.verdict(NAME, 1).task is kept, "nothing has changed"
        again = own.verdict(NAME, 2)
        assert again.task is not kept and again.state == "ready", "the old one is shown meanwhile"
        await own.wait_for(NAME)
        assert again.about == 2
        chips = own.chips(NAME)
        assert chips is not None and sum(chips.values()) == len(first.data["verdicts"])
        own.forget()
        assert own.chips(NAME) == chips, "shown until it is judged anew"
        ended = again.task
        assert own.verdict(NAME, 2).task is not ended
        await own.close()

    run_alone(story())


def test_a_judgement_is_not_begun_again_at_once(store: str) -> None:
    async def story() -> None:
        own = Judge(store)
        own.verdict(NAME, 1)
        await own.wait_for(NAME)
        known = own.verdict(NAME, 2)
        assert known.task is not None and known.task.done(), "a round in which trials end all along"
        first = known.task
        assert own.verdict(NAME, 2, running=False).task is not first, "its last verdict is at once"
        await own.wait_for(NAME)
        await own.close()

    run_alone(story())


def test_a_round_that_is_not_there(store: str) -> None:
    async def story() -> None:
        own = Judge(store)
        known = own.verdict("nope", 1)
        await own.wait_for("nope")
        assert known.state == "failed" and known.error is not None
        assert known.error["code"] == "round.not_found"
        assert own.verdict("nope", 1).task is known.task, "not tried again before it changes"
        assert own.chips("nope") is None
        await own.close()

    run_alone(story())


def program(tmp_path: Path, text: str) -> str:
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_child_that_dies(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dying = program(tmp_path, "import os, sys; print('bad', file=sys.stderr); os._exit(7)")
    monkeypatch.setattr(sys, "executable", dying)

    async def story() -> None:
        own = Judge(store)
        known = own.verdict(NAME, 1)
        await own.wait_for(NAME)
        assert known.state == "failed" and known.error is not None
        assert known.error["code"] == "ui.judge_died"
        await own.close()

    run_alone(story())


def test_the_child_ends_with_the_server(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "pid"
    waiting = program(
        tmp_path,
        f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)",
    )
    monkeypatch.setattr(sys, "executable", waiting)

    async def story() -> None:
        own = Judge(store)
        own.verdict(NAME, 1)
        while not (note.exists() and note.read_text()):
            await asyncio.sleep(0.01)
        pid = int(note.read_text())
        os.kill(pid, 0)
        began = time.monotonic()
        await own.close()
        assert time.monotonic() - began < 60
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    run_alone(story())


CHILD = """
import os, sys, time
from tunewright.ui import verdict
verdict.LOOKS_S = 0.05
verdict.end_with_parent()
print(os.getpid(), flush=True)
time.sleep(600)
"""
KILLED = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip(), flush=True)
os._exit(9)
"""


def test_a_judgement_ends_when_its_server_is_killed() -> None:
    command = [sys.executable, "-c", KILLED, CHILD]
    pid = int(subprocess.run(command, capture_output=True, text=True, timeout=120).stdout)
    for _ in range(600):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists(), "it still runs"


def test_the_address_is_on_no_command_line(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address may hold a password, and every user of a machine sees its command lines."""
    note = tmp_path / "argv"
    monkeypatch.setattr(
        sys,
        "executable",
        program(tmp_path, f"import sys; open({str(note)!r}, 'w').write(repr(sys.argv))"),
    )

    async def story() -> None:
        own = Judge("postgresql://me:secret@db.example/tuning")
        own.verdict(NAME, 1)
        await own.wait_for(NAME)
        await own.close()

    run_alone(story())
    assert "secret" not in note.read_text()
