"""The verdict of a round, made in a separate process and kept until the round changes.

The checklist reads every curve, which takes seconds and gigabytes where a round is large. The
server must stay quick and small, so that a child process does it and answers with a page of facts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tunewright.actions import Action
from tunewright.errors import TunewrightError
from tunewright.finding import Finding
from tunewright.messages import Message, language, read_in, words
from tunewright.present.envelope import plain

# while a round runs the next judgement waits so many times as long as the last one took
PAUSE = 9.0
_NICE = 3  # more than the server gives way; with 19 a verdict starves where processors are busy
LOOKS_S = 1.0  # how often a judgement looks whether its server is still there


@dataclass
class Judgement:
    """What is known of one round's verdict."""

    state: str = "waiting"  # waiting, working, ready, failed
    data: dict[str, Any] | None = None
    error: dict[str, Any] | None = None  # code and message, where the last one failed
    about: object = None  # the state of the trials that it judged
    version: str = ""  # names `data`: a page that has it is not sent it again
    took: float = 0.0
    ended: float = 0.0
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class Judge:
    """Verdicts of a store's rounds, each made when it is asked for and the round has changed."""

    def __init__(self, store: str) -> None:
        """Judge rounds of a store, in any number of processes, one at a time."""
        self._store = store
        self._known: dict[str, Judgement] = {}
        self._turn = asyncio.Semaphore(1)

    def verdict(self, name: str, about: object, running: bool = True) -> Judgement:
        """The newest verdict on a round; a new one is begun where its trials have changed."""
        known = self._known.setdefault(name, Judgement())
        working = known.task is not None and not known.task.done()
        waited = not running or time.monotonic() - known.ended >= PAUSE * known.took
        if not working and known.about != about and waited:
            known.state = "working" if known.data is None else "ready"
            known.task = asyncio.create_task(self._work(name, known, about))
        return known

    async def wait_for(self, name: str) -> None:
        """Wait until no judgement of a round is under way."""
        known = self._known.get(name)
        if known is not None and known.task is not None:
            await known.task

    async def _work(self, name: str, known: Judgement, about: object) -> None:
        began = time.monotonic()
        async with self._turn:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", __name__),
                stdin=asyncio.subprocess.PIPE,  # an address may hold a password, and
                stdout=asyncio.subprocess.PIPE,  # other users can read command lines
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                out, errors = await child.communicate(
                    json.dumps([self._store, name, language()]).encode()
                )
            except asyncio.CancelledError:
                child.kill()
                await child.wait()
                raise
        known.took, known.ended = time.monotonic() - began, time.monotonic()
        known.about = about
        verdict_data = _parse(out) if child.returncode == 0 else None
        if verdict_data is not None:
            known.state, known.data, known.error = "ready", verdict_data, None
            known.version = secrets.token_hex(6)
        else:
            known.state = "failed" if known.data is None else "ready"
            known.error = _error(out, child.returncode, errors)

    def chips(self, name: str) -> dict[str, int] | None:
        """How many findings of each verdict a round has; None unless that is known already."""
        known = self._known.get(name)
        if known is None or known.data is None:
            return None
        return dict(Counter(known.data["verdicts"]))

    def forget(self) -> None:
        """Judge every round anew when it is asked for."""
        for known in self._known.values():
            known.about = None

    async def close(self) -> None:
        """End the judgements under way."""
        for known in self._known.values():
            if known.task is not None and not known.task.done():
                known.task.cancel()
                await asyncio.gather(known.task, return_exceptions=True)


def _parse(out: bytes) -> dict[str, Any] | None:
    """What a child has printed; None for anything but a JSON object."""
    try:
        data = json.loads(out)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _error(out: bytes, code: int | None, errors: bytes) -> dict[str, Any]:
    """Why a child has failed: its own words, or how it ended."""
    if data := _parse(out):
        return data
    last = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
    facts = {"code": code, "said": words.printable(last[0]) if last else ""}
    return {"code": "ui.judge_died", "message": str(Message("ui.judge_died", facts))}


def judge(store: str, name: str) -> dict[str, Any]:
    """Check a round: its answer, findings, actions and the data of its figures."""
    from tunewright.checks.checklist import check
    from tunewright.present.answer import answer
    from tunewright.store.joined import with_earlier
    from tunewright.store.store import Store

    with Store.open(store, create=False, read_only=True) as opened:
        results = with_earlier(opened, name)
    findings = list(check(results))
    verdict_of = answer(results, findings)
    return {
        "asked": str(verdict_of.goal),
        "headline": str(verdict_of.headline),
        "found": [str(finding) for finding in verdict_of.summary],
        "verdicts": [finding.verdict for finding in findings],
        "trust": str(verdict_of.trust),
        "warnings": verdict_of.warnings,
        "compared": [_finding_data(finding) for finding in verdict_of.compared],
        "findings": entries_data(findings),
        "caveats": [str(finding) for finding in verdict_of.caveats],
        "next": [{**_action_data(step.action), "why": str(step.why)} for step in verdict_of.next],
        "figures": _figures(results, findings),
    }


def entries_data(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as pages show them: those that agree share an entry."""
    from tunewright.present.report_parts import entries

    return [
        {
            "verdict": entry.verdict,
            "check": entry.check,
            "found": [
                {
                    "about": about,
                    "headline": str(found_words.headline),
                    "evidence": [str(line) for line in found_words.evidence],
                }
                for about, found_words in entry.words_by_setting
            ],
            "actions": [_action_data(action) for action in entry.actions],
            "others": entry.others,
        }
        for entry in entries(findings)
    ]


def _finding_data(finding: Finding) -> dict[str, Any]:
    """One finding: its verdict and words."""
    return {
        "verdict": finding.verdict,
        "check": finding.check,
        "headline": str(finding.headline),
        "evidence": [str(line) for line in finding.words.evidence],
    }


def _action_data(action: Action) -> dict[str, Any]:
    """An action: the command to copy, and what it does."""
    return {"kind": action.kind, "command": action.command, "text": str(action.shell_text)}


def _figures(results: Any, findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The data of the figures that need every curve, with their captions."""
    from tunewright.present.live_figures import DRAWN, figure_data
    from tunewright.present.report_parts import chapters

    return [
        figure_data(chapter.kind, figure)
        for chapter in chapters(results, findings, only=DRAWN)
        for figure in chapter.figures
    ]


def end_with_parent() -> None:
    """End this process when the one that started it has ended: a server may be killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOKS_S)
        os._exit(1)

    threading.Thread(target=watch, name="tunewright-parent", daemon=True).start()


def main() -> int:
    """Judge the round that standard input names, with less priority than the server."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    end_with_parent()
    store, name, spoken = json.loads(sys.stdin.read())
    try:
        # whatever else prints goes where nobody reads an answer
        with contextlib.redirect_stdout(sys.stderr), read_in(spoken):
            data = plain(judge(store, name))
    except TunewrightError as error:
        print(json.dumps({"code": error.code, "message": str(error)}))
        return 1
    print(json.dumps(data, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
