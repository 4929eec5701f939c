"""The crew of a supervisor on a Ray cluster: one actor per seat, asked in turn what has happened.

Everything here runs in the supervisor's thread. Each seat has one question open at any time, which
its host answers when something has happened; if the host or its node is gone, Ray answers instead.
Ray's state is never stored: a crew that is lost has only ever held trials that run again.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tunewright
from tunewright.errors import WorkloadError
from tunewright.execution.executors.executor import Assignment, Ended, Event
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.pool import Isolate
from tunewright.execution.executors.pooled import Load
from tunewright.execution.executors.ray.cluster import as_options, in_words, package
from tunewright.execution.executors.ray.host import Arrived, Host, Printed
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome

_ASK_S = 10.0  # how long a host waits for something to tell
_ORDER_S = 2.0  # an order to stop that had no effect is given again
_UNREACHABLE_S = 60.0  # a host that cannot be reached for so long is given up
_LATE_S = 30.0  # so long after the grace period a host has failed to end its trial
_IDLE_S = 10.0  # a seat without work goes back to the cluster
_WAITING_S = 30.0  # trials that wait for the cluster for so long are spoken of
_CLOSE_S = 10.0  # for all hosts to end their trials
_NO_SHOWS = 3  # hosts in a row that could not be placed: it is not the node's fault
_LARGE = 100_000  # bytes; what is larger is kept by Ray once for all hosts
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Crew:
    """Hosts at work on a cluster."""

    limits: Limits
    isolate: Isolate
    needs: Mapping[str, float]  # resources of one trial
    room: Callable[[], int]  # how many seats there may be

    def __post_init__(self) -> None:
        """Hosts are placed when there is work."""
        self._sign = f".seen-{secrets.token_hex(8)}"
        self._signed: set[Path] = set()  # folders that hold the sign
        self._loads: list[tuple[Load, Any]] = []  # with itself, or the reference to Ray's copy
        self._waiting: deque[tuple[int, Assignment]] = deque()
        self._places: list[Place] = []
        self._questions: dict[Any, Callable[[], None]] = {}  # open questions, and what to do then
        self._happened: list[Event] = []
        self._orders = 0  # to begin an attempt, counted so that a repeated one is known
        self._no_shows = 0
        self._pause_until = 0.0  # after a host that could not be placed
        self._waiting_since: float | None = None
        self._spoken = set[str]()  # what was reported once

    # ---- for the supervisor

    def start(self, load: Load, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts, or let them wait for a seat."""
        number = self._number(load)
        for each in assignments:
            folder = each.folder.parent
            if folder not in self._signed:
                (folder / self._sign).touch()
                self._signed.add(folder)
            self._waiting.append((number, each))
        self._seat_all(time.monotonic())

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened; waits up to `timeout_s` for the first of it."""
        until = time.monotonic() + timeout_s
        while True:
            now = time.monotonic()
            self._seat_all(now)
            self._check(now)
            self._listen(0.0 if self._happened else max(0.0, until - now))
            if self._happened or time.monotonic() >= until:
                happened, self._happened = self._happened, []
                return happened

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it after the grace period."""
        for entry in [entry for entry in self._waiting if entry[1].trial == trial]:
            self._waiting.remove(entry)
            attempt = entry[1].attempt
            early = Message("stopped.before_start")
            self._happened.append(Ended(trial, attempt, Outcome("stopped", early)))
        now = time.monotonic()
        for place in self._places:
            if place.job is not None and place.job.trial == trial:
                until = now + grace_s
                place.stop_by = min(until, until if place.stop_by is None else place.stop_by)
                place.order_at = 0.0
                self._check_stop(place, now)

    def close(self) -> None:
        """End everything and give the seats back; those that do not answer are ended by Ray."""
        ray = package()
        if not ray.is_initialized():  # whoever connected has disconnected: Ray has ended them
            self._places.clear()
        goodbyes = [each.actor.close.remote() for each in self._places if each.arrived is not None]
        if goodbyes:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.wait(goodbyes, num_returns=len(goodbyes), timeout=_CLOSE_S)
        for place in tuple(self._places):
            self._dismiss(place)
        for folder in self._signed:
            with contextlib.suppress(OSError):
                (folder / self._sign).unlink(missing_ok=True)
        self._signed.clear()

    # ---- seats

    def _number(self, load: Load) -> int:
        for number, (known, _) in enumerate(self._loads):
            if known is load:
                return number
        self._loads.append((load, package().put(load) if len(load.body) > _LARGE else load))
        return len(self._loads) - 1

    def _seat_all(self, now: float) -> None:
        for place in self._places:
            if self._waiting and place.arrived is not None and place.job is None:
                self._seat(place, *self._waiting.popleft())
        free = sum(place.job is None for place in self._places)  # about to arrive
        if len(self._waiting) > free and now >= self._pause_until:
            for _ in range(min(len(self._waiting) - free, self.room() - len(self._places))):
                self._place(now)

    def _place(self, now: float) -> None:
        """Ask Ray for one more host."""
        host = package().remote(Host)
        actor = host.options(max_restarts=0, max_concurrency=4, **as_options(self.needs)).remote(
            self.limits, self.isolate, self.needs.get("CPU", 0), self.needs.get("GPU", 0)
        )
        place = Place(actor, idle_since=now)
        self._places.append(place)
        question = actor.arrive.remote()
        self._questions[question] = lambda: self._arrive(place, question)

    def _seat(self, place: Place, number: int, assignment: Assignment) -> None:
        place.job, place.shared, place.stop_by = assignment, True, None
        place.began = time.monotonic()
        self._orders += 1
        self._order(place, self._orders, number, assignment)

    def _order(self, place: Place, order: int, number: int, assignment: Assignment) -> None:
        load = None if number in place.loads else self._loads[number][1]
        place.loads.add(number)
        answer = place.actor.start.remote(order, number, load, assignment, self._sign)
        self._questions[answer] = lambda: self._on_started(place, answer, order, number, assignment)

    def _dismiss(self, place: Place) -> None:
        """End a host with all that it has started, and give its resources back."""
        if place in self._places:
            self._places.remove(place)
        with contextlib.suppress(Exception):  # it may be gone, or never have come
            package().kill(place.actor)

    # ---- answers

    def _listen(self, timeout_s: float) -> None:
        questions = list(self._questions)
        if not questions:
            time.sleep(timeout_s)
            return
        ray = package()
        ready, others = ray.wait(questions, num_returns=1, timeout=timeout_s)
        if ready and others:
            ready += ray.wait(others, num_returns=len(others), timeout=0)[0]
        for question in ready:
            self._questions.pop(question)()

    def _arrive(self, place: Place, question: Any) -> None:
        ray = package()
        if place not in self._places:
            return
        try:
            arrived: Arrived = ray.get(question)
        except ray.exceptions.RayError as error:
            self._no_show(place, error)
            return
        if arrived.version != tunewright.__version__:
            raise WorkloadError(
                "ray.other_version",
                host=arrived.host,
                version=arrived.version,
                own=tunewright.__version__,
            )
        self._no_shows = 0
        place.arrived = arrived
        self._ask(place)

    def _no_show(self, place: Place, error: Exception) -> None:
        """A host could not be placed or begun: wait a little, and raise when it happens again."""
        self._dismiss(place)
        self._no_shows += 1
        self._pause_until = time.monotonic() + _ORDER_S * self._no_shows
        text = first_words(error)
        if self._no_shows >= _NO_SHOWS and not any(each.arrived for each in self._places):
            raise WorkloadError("ray.no_trial_begun", reason=text) from error
        log.warning("a node could not take a trial: %s", text)

    def _on_started(
        self, place: Place, answer: Any, order: int, number: int, assignment: Assignment
    ) -> None:
        ray = package()
        try:
            shared = ray.get(answer)
        except ray.exceptions.ActorUnavailableError:
            if place.job is assignment:
                place.loads.discard(number)
                self._order(place, order, number, assignment)  # perhaps for the second time
            return
        except ray.exceptions.RayActorError:
            return  # the open question is answered in the same way
        except ray.exceptions.RayError as error:
            if place.job is assignment:
                facts = {"text": first_words(error)}
                self._end(place, "failed", Message("trial.not_started", facts))
            return
        if place.job is assignment:
            place.shared = shared
        if not shared:
            self._say_once(
                f"the trial folders in {assignment.folder.parent} are not seen from "
                f"{place.where}: its trials keep their files there, and start at step 0 when they "
                "are stopped or lose their node. A folder that all nodes share (Workload(folder=)) "
                "changes that."
            )

    def _ask(self, place: Place) -> None:
        question = place.actor.tell.remote(place.heard, _ASK_S)
        self._questions[question] = lambda: self._hear(place, question)

    def _hear(self, place: Place, question: Any) -> None:
        ray = package()
        if place not in self._places:
            return
        try:
            first, events = ray.get(question)
        except ray.exceptions.ActorUnavailableError as error:
            now = time.monotonic()
            place.unreachable_since = place.unreachable_since or now
            if now - place.unreachable_since > _UNREACHABLE_S:
                self._lose(place, error)
            else:
                self._ask(place)
            return
        except ray.exceptions.RayError as error:
            self._lose(place, error)
            return
        place.unreachable_since = None
        for event in events[max(0, place.heard - first) :]:
            self._take(place, event)
        place.heard = max(place.heard, first + len(events))
        self._ask(place)

    def _take(self, place: Place, event: Event | Printed) -> None:
        job = place.job
        if job is None or (event.trial, event.attempt) != (job.trial, job.attempt):
            return
        if isinstance(event, Printed):
            with contextlib.suppress(OSError):
                (job.folder / f"log.{event.attempt}.txt").write_bytes(event.text)
            return
        self._happened.append(event)
        if isinstance(event, Ended):
            place.job, place.stop_by = None, None
            place.idle_since = time.monotonic()

    # ---- what goes wrong

    def _lose(self, place: Place, error: Exception) -> None:
        """A host is gone, and the trial it trained is due for another attempt."""
        self._dismiss(place)
        if place.job is None:
            return
        self._end(place, *place.loss(error))

    def _end(self, place: Place, end: End, cause: Message) -> None:
        job, place.job = place.job, None
        assert job is not None
        now = time.monotonic()
        place.stop_by, place.idle_since = None, now
        outcome = Outcome(end, cause, seconds=now - place.began)
        self._happened.append(Ended(job.trial, job.attempt, outcome))

    def _check(self, now: float) -> None:
        for place in tuple(self._places):
            self._check_stop(place, now)
            if place.job is None and not self._waiting and now - place.idle_since > _IDLE_S:
                self._dismiss(place)
        if not self._waiting or any(place.arrived for place in self._places):
            self._waiting_since = None
            return
        self._waiting_since = self._waiting_since or now
        if now - self._waiting_since > _WAITING_S:
            self._say_once(
                f"for {_WAITING_S:.0f} s the Ray cluster has given no trial its place: each needs "
                f"{in_words(self.needs)}, which others may use"
            )

    def _check_stop(self, place: Place, now: float) -> None:
        """Repeat the stop request until the trial ends; a host that never ends it is ended."""
        if place.stop_by is None:
            return
        if now > place.stop_by + _LATE_S:
            self._dismiss(place)
            silent = Message("stopped.no_answer", {"where": place.where})
            self._end(place, "stopped", silent)
        elif now >= place.order_at:
            assert place.job is not None
            place.order_at = now + _ORDER_S
            # an order that is lost, or that overtakes the start, is given again
            place.actor.stop.remote(place.job.trial, max(0.0, place.stop_by - now))

    def _say_once(self, text: str) -> None:
        if text not in self._spoken:
            self._spoken.add(text)
            log.warning("%s", text)


# ---- One seat on a cluster as the supervisor knows it: an actor, the trial it trains, its loss.


@dataclass(eq=False)
class Place:
    """A seat on some node: an actor, and the trial it trains."""

    actor: Any
    arrived: Arrived | None = None  # None: Ray has not placed it yet
    loads: set[int] = field(default_factory=set)  # what it has been sent
    job: Assignment | None = None
    shared: bool = True  # whether the supervisor sees the job's folder
    began: float = 0.0  # when the job was given to it, by the monotonic clock as all times here
    heard: int = 0  # how much of what it sent has been acknowledged
    idle_since: float = 0.0
    unreachable_since: float | None = None
    stop_by: float | None = None  # its trial was asked to stop
    order_at: float = 0.0  # when to ask again

    @property
    def where(self) -> str:
        """The machine, for messages."""
        return self.arrived.host if self.arrived else "a node"

    def loss(self, error: Exception) -> tuple[End, Message]:
        """How its trial ends when Ray reports that the host is gone."""
        if self.stop_by is not None:
            return "stopped", Message("stopped.host_lost", {"where": self.where})
        text = first_words(error)
        facts = {
            "what": "node" if "node" in text else "process",
            "where": self.where,
            "text": text,
            "folder_lost": not self.shared,
        }
        outcome: End = "stopped" if getattr(error, "preempted", False) else "died"
        return outcome, Message("host.lost", facts)


def first_words(error: Exception) -> str:
    """The most informative sentence of Ray's error: the first of its last line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentence = lines[-1].partition(". ")[0].rstrip(".") if lines else ""
    return sentence[:300] or type(error).__name__
