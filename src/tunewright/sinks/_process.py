"""The process of one sink: it follows a round in the store and writes to the tracker.

The supervisor starts one per sink and never waits for it while trials train. What to do comes as
JSON in the environment variable TUNEWRIGHT_SINK. End of file on standard input means that the round
came to its end, or that the supervisor died: a last pass follows, then the process ends.

Trackers may hang, so that they run in a thread, and the main thread watches it. A call that takes
longer than `patience_s` while the round runs restarts this process in place; after the end of the
round it ends it. The store has everything, so that nothing is lost: `tunewright sync` catches up.
"""

from __future__ import annotations

import importlib
import os
import select
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from tunewright.design.workload_file import Sink
from tunewright.execution.sink_processes import BUSY, PROGRAM, SETTINGS, Settings
from tunewright.sinks._queue import Queue, Written, alone, state_file
from tunewright.sinks._trial_run import Tracker
from tunewright.store.store import Store

_AGAIN = "TUNEWRIGHT_SINK_RESTARTS"  # how often a hung tracker made this process start again
LOOK_S = 0.1  # how often the main thread looks at the clock and at standard input
SHARE = 10  # a pass that takes t seconds is followed by at least ten times t of rest
_LONGEST_REST_S = 60.0
_MOST_RESTARTS = 20
HUNG = 75  # the exit code where a tracker did not answer


def _open_tracker(sink: Sink) -> Tracker:
    """Import the tracker's module and open it; this may take seconds, or raise anything."""
    module = importlib.import_module(f"tunewright.sinks._{sink.tracker}")
    opened: Tracker = module.open_tracker(sink)
    return opened


class Watch:
    """The time since the tracker last answered, for the main thread."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._since: float | None = None

    def begin_call(self) -> None:
        """A call begins now."""
        self._since = time.monotonic()

    def end_call(self) -> None:
        """A call came back."""
        self._since = None

    @property
    def waiting_s(self) -> float:
        """How long the present call has taken."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since


def follow(settings: Settings, closing: threading.Event, watch: Watch) -> int:
    """Write what changes until `closing`, then everything once more; the exit code."""
    with Store.open(settings.store, create=False, read_only=True) as store:
        record = store.round(settings.round)
        while True:
            with alone(store, record, settings.sink) as held:
                if held:
                    return _work(store, settings, closing, watch)
            if closing.wait(settings.every_s):
                return BUSY  # the process that has the sink writes these trials too


def _work(store: Store, settings: Settings, closing: threading.Event, watch: Watch) -> int:
    def open_tracker() -> Tracker:
        return _open_tracker(settings.sink)

    queue = Queue(store, settings.round, settings.sink, open_tracker, watch.begin_call)
    rest = settings.every_s
    while not closing.wait(rest):
        began = time.monotonic()
        written = _pass(queue, watch)
        took = time.monotonic() - began
        rest = max(settings.every_s, SHARE * took, 2 * rest if written.error else 0.0)
        rest = min(rest, _LONGEST_REST_S)
    written = _pass(queue, watch, last=True)
    watch.begin_call()
    error = queue.close()
    watch.end_call()
    if error:
        written.error = error
        written.save()
    return 1 if written.left or written.error else 0


def _pass(queue: Queue, watch: Watch, last: bool = False) -> Written:
    watch.begin_call()
    try:
        return queue.work(last=last)
    finally:
        watch.end_call()


def supervise(
    work: Callable[[threading.Event, Watch], int],
    patience_s: float,
    restart: Callable[[], Any],
    give_up: Callable[[int], Any] = os._exit,
) -> int:
    """Run `work` in a thread, and end or restart the process when a call takes too long."""
    closing, watch, codes = threading.Event(), Watch(), list[int]()

    def run() -> None:
        try:
            codes.append(work(closing, watch))
        except BaseException:
            traceback.print_exc()
            codes.append(1)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        if not closing.is_set() and _at_end(LOOK_S):
            closing.set()
        thread.join(LOOK_S if closing.is_set() else 0.0)
        if watch.waiting_s > patience_s:
            if closing.is_set():
                give_up(HUNG)
                return HUNG
            restart()
            return HUNG
    return codes[0] if codes else 1


def _at_end(wait_s: float) -> bool:
    """Whether standard input has come to its end."""
    ready, _, _ = select.select([0], [], [], wait_s)
    return bool(ready) and os.read(0, 1) == b""


def main() -> int:
    """Follow the round that the environment names."""
    settings = Settings.from_json(os.environ[SETTINGS])
    restarts = int(os.environ.get(_AGAIN, "0"))

    def restart() -> None:
        if restarts >= _MOST_RESTARTS:
            os._exit(HUNG)
        _note_hang(settings)
        os.environ[_AGAIN] = str(restarts + 1)
        os.execv(sys.executable, [sys.executable, "-m", PROGRAM])

    def give_up(code: int) -> None:
        _note_hang(settings)
        os._exit(code)

    return supervise(
        lambda closing, watch: follow(settings, closing, watch),
        settings.patience_s,
        restart,
        give_up,
    )


def _note_hang(settings: Settings) -> None:
    """Put into the sink's file that the tracker did not answer in time."""
    with Store.open(settings.store, create=False, read_only=True) as store:
        written = Written.read(state_file(store, store.round(settings.round), settings.sink))
    written.left = max(1, written.left)
    written.error = f"TimeoutError: no answer within {settings.patience_s:g} s"
    written.save()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of trackers that hang must not keep it
