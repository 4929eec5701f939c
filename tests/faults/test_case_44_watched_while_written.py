"""Case 44: 16 workers write while three pages watch; no worker fails, no page misses a trial."""

from __future__ import annotations

import json
import multiprocessing
import threading
from pathlib import Path

import httpx
import pytest
from tests.faults.watched_round import NAME, OBJECTIVE, a_round, work

import tunewright as tw
from tunewright.store.store import Store
from tunewright.ui.serve import serve_in_thread

SPAWN = multiprocessing.get_context("spawn")
WORKERS, TRIALS, PAGES = 16, 96, 3


class Page(threading.Thread):
    """A page that follows the round and loads what it shows, again and again."""

    def __init__(self, base: str) -> None:
        super().__init__(daemon=True)
        self.base, self.over = base, threading.Event()
        self.problems: list[str] = []
        self.loads = 0

    def run(self) -> None:
        with httpx.Client(base_url=self.base, timeout=120) as client:
            while not self.over.is_set():
                for path in (
                    *("/api/home", f"/api/round/{NAME}", f"/api/round/{NAME}/table"),
                    *(f"/api/round/{NAME}/density?metric=valid_error", f"/api/bests?round={NAME}"),
                    f"/api/round/{NAME}/verdict",
                ):
                    answer = client.get(path)
                    if answer.status_code != 200:
                        self.problems.append(f"{path}: {answer.status_code} {answer.text[:200]}")
                self.loads += 1
                self.over.wait(0.2)


def test_case_44(store_url: str, tmp_path: Path) -> None:
    with tw.open_round(a_round(TRIALS), OBJECTIVE, store=store_url):
        pass
    start, answers = SPAWN.Event(), SPAWN.Queue()
    given = (store_url, TRIALS, start, answers)
    workers = [SPAWN.Process(target=work, args=given) for _ in range(WORKERS)]
    with serve_in_thread(store_url) as about:
        pages = [Page(about.url) for _ in range(PAGES)]
        for one in (*workers, *pages):
            one.start()
        assert [answers.get(timeout=300) for _ in workers] == ["ready"] * WORKERS
        start.set()
        found = [answers.get(timeout=300) for _ in workers]
        for worker in workers:
            worker.join(60)
        for page in pages:
            page.over.set()
            page.join(120)
        shown = httpx.get(f"{about.url}api/round/{NAME}", timeout=60).json()
    assert [problem for _, problem in found if problem] == []
    assert sorted(one.number for told, _ in found for one in told) == list(range(TRIALS))
    assert all(worker.exitcode == 0 for worker in workers)
    assert [page.problems for page in pages] == [[]] * PAGES
    assert all(page.loads > 0 for page in pages)
    assert shown["counts"] == {"completed": TRIALS}


def test_case_44_a_page_that_stops_reading(store_url: str, tmp_path: Path) -> None:
    """An open stream that nobody reads holds no worker back, and no transaction open."""
    with (
        tw.open_round(a_round(TRIALS), OBJECTIVE, store=store_url) as session,
        serve_in_thread(store_url) as about,
        httpx.Client(base_url=about.url, timeout=60) as client,
        client.stream("GET", f"/api/round/{NAME}/events", params={"cursor": "x"}) as events,
    ):
        lines = events.iter_lines()
        while not next(lines).startswith("data: "):
            pass
        for _ in range(20):
            trial = session.ask()
            assert trial is not None
            trial.log(1, valid_error=0.5)
            trial.finish()
        data = next(json.loads(x.removeprefix("data: ")) for x in lines if x.startswith("data: "))
        assert data["kind"] == "trials"
    with Store.open(store_url, create=False) as store:
        assert store.round(NAME).counts["completed"] == 20


@pytest.mark.parametrize("times", [3])
def test_case_44_a_server_that_is_killed(store_url: str, tmp_path: Path, times: int) -> None:
    """Killed while it reads, again and again: the workers' store is as it was."""
    from tests.faults.dashboard import command

    with tw.open_round(a_round(TRIALS), OBJECTIVE, store=store_url) as session:
        for _ in range(times):
            process = command("--json", "--port", "0", store_url)
            assert process.stdout is not None
            text = ""
            for line in process.stdout:
                text += line
                if line.rstrip() == "}":
                    break
            base = json.loads(text)["data"]["url"]
            assert httpx.get(f"{base}api/round/{NAME}", timeout=60).status_code == 200
            process.kill()
            process.communicate()
            trial = session.ask()
            assert trial is not None
            trial.log(1, valid_error=0.5)
            trial.finish()
    with Store.open(store_url, create=False) as store:
        assert store.round(NAME).counts["completed"] == times
        assert store.faults() == []
