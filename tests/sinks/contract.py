"""What every sink must do: equal the store, survive what a tracker does, never write twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.small_disk import fill

import tunewright as tw
from tunewright.design.workload_file import Sink
from tunewright.execution.sink_processes import PROGRAM, SETTINGS, Settings
from tunewright.sinks import Synced, sync

ROUND = "lr"
OBJECTIVE = tw.minimize("valid_error")


@dataclass(frozen=True)
class Found:
    """A run as a tracker's own reader gives it back."""

    status: str
    configuration: dict[str, Any]
    curves: dict[str, list[tuple[int, float]]]
    summary: dict[str, Any]


Reader = Callable[[Path], dict[str, Found]]


def recorded(folder: Path, trials: int = 5, steps: int = 30) -> str:
    """A store with completed trials, an infeasible and a failed one; nothing is started."""
    store = str(folder / "tuning.db")
    asked = tw.Round(
        ROUND,
        goal="which learning rate?",
        nuisance={"learning_rate": tw.log(1e-3, 1.0), "optimizer": tw.choice("adam", "sgd")},
        fixed={"max_train_steps": steps},
        trials_per_study=trials,
        seed=0,
    )
    with tw.open_round(asked, OBJECTIVE, store=store) as session:
        while (trial := session.ask()) is not None:
            rate = float(trial.configuration["learning_rate"])
            for step in range(1, steps + 1):
                trial.log(step, train_loss=rate + 1 / step)
                if step % 10 == 0:
                    trial.log(step, valid_error=0.3 + rate / step)
            if trial.number == 1:
                trial.infeasible("out of memory")
            elif trial.number == 2:
                trial.fail("broken")
            else:
                trial.finish()
    return store


def expected(store: str) -> dict[str, Found]:
    """The runs that a tracker must hold, from the store alone."""
    results = tw.load(store, ROUND)
    return {
        f"{ROUND}-{trial.number}": Found(
            trial.status,
            dict(trial.configuration),
            {
                name: list(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
                for name, curve in trial.curves.items()
            },
            {},
        )
        for trial in results.trials
    }


def check_equal(found: dict[str, Found], store: str, single: bool = False) -> None:
    """Compare what a tracker holds with the store: runs, settings, steps, values, statuses."""
    wanted = expected(store)
    assert sorted(found) == sorted(wanted)
    for name, run in wanted.items():
        own = found[name]
        assert own.status == run.status
        assert {k: str(v) for k, v in own.configuration.items()} == {
            k: str(v) for k, v in run.configuration.items()
        }
        assert sorted(own.curves) == sorted(run.curves)
        for metric, points in run.curves.items():
            assert [step for step, _ in own.curves[metric]] == [step for step, _ in points]
            for (_, value), (_, exact) in zip(own.curves[metric], points, strict=True):
                assert abs(value - exact) <= (1e-6 * abs(exact) if single else 0.0)
        assert "check.density" in own.summary


def one(answers: tuple[Synced, ...]) -> Synced:
    """The only answer."""
    (found,) = answers
    return found


def caught_up(store: str, sink: Sink, round: str = ROUND) -> None:
    """Sync until the tracker has everything: on a busy machine its own start may time out."""
    for _ in range(3):
        answer = one(sync(store, round, sink))
        if answer.whole:
            return
        assert answer.error, "a tracker that lacks something must show why"
    assert (answer.left, answer.error) == (0, "")


def check_sink(sink: Sink, read: Reader, folder: Path, single: bool = False) -> None:
    """Write a round, read it back; write it again, with and without the sink's own file."""
    store = recorded(folder)
    where = Path(sink.where)
    caught_up(store, sink)
    check_equal(read(where), store, single)
    caught_up(store, sink)
    for path in folder.rglob("sinks/*.json"):
        path.unlink()  # what was written is forgotten: the tracker itself is asked
    answer = one(sync(store, ROUND, sink))
    assert (answer.left, answer.error, answer.written) == (0, "", 5)
    check_equal(read(where), store, single)


def check_killed(
    sink: Sink, read: Reader, folder: Path, delays: tuple[float, ...], single: bool = False
) -> None:
    """Kill the sink's process in the middle of its work, again and again, then catch up."""
    store = recorded(folder, trials=8)
    killed = 0
    for delay in delays:
        process = following(store, sink)
        assert process.stdin is not None
        process.stdin.close()  # the last pass begins
        began = time.monotonic()
        state = None
        while process.poll() is None and time.monotonic() - began < 60:
            state = next(iter(folder.rglob("sinks/*.json")), None)
            if state is not None and written(state) >= 1:
                break
            time.sleep(0.005)
        time.sleep(delay)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
        if state is not None and delay != delays[-1]:
            state.unlink()  # the next one has to find out by itself what is there
    assert killed
    caught_up(store, sink)
    check_equal(read(Path(sink.where)), store, single)


def written(state: Path) -> int:
    """How many trials a sink's file has as written."""
    try:
        return len(json.loads(state.read_text())["done"])
    except (OSError, ValueError):
        return 0


def following(store: str, sink: Sink, **environment: str) -> subprocess.Popen[bytes]:
    """The process of a sink, as a supervisor starts it."""
    settings = Settings(store, ROUND, sink, patience_s=60.0, every_s=0.05)
    return subprocess.Popen(
        [sys.executable, "-m", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, SETTINGS: settings.to_json(), **environment},
    )


def check_unreachable(sink: Sink, read: Reader, folder: Path, single: bool = False) -> None:
    """A tracker that raises at every call costs nothing, and is caught up once it works."""
    store = recorded(folder)
    blocked = Path(sink.where)
    blocked.write_text("a file where the tracker's folder should be")
    answer = one(sync(store, ROUND, sink))
    assert (answer.written, answer.left) == (0, 5) and answer.error
    blocked.unlink()
    caught_up(store, sink)
    check_equal(read(blocked), store, single)


def check_full(sink: Sink, read: Reader, folder: Path, disk: Path, single: bool = False) -> None:
    """A tracker on a full disk costs nothing, and is caught up once there is room."""
    store = recorded(folder)
    filling = disk / "filling"
    fill(filling)
    answer = one(sync(store, ROUND, sink))
    assert answer.left == 5 and answer.error
    filling.unlink()
    caught_up(store, sink)
    check_equal(read(Path(sink.where)), store, single)


def quiet(work: Callable[[], Any]) -> Any:
    """Call something of another library, whose warnings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()
