"""What the store must say after any order of events, as a model in plain Python.

It knows nothing of SQL. It says who holds which trial, which owners an observer may take for dead,
what becomes of their trials, and which points a curve consists of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.store.hand_clock import SLEEP_S

from tunewright.messages import Message
from tunewright.store.leases import LeaseWatch
from tunewright.store.store import Claim, Store, Worker
from tunewright.store.trial import ENDED

LEASE_S = 60.0
Points = dict[int, float]  # step -> value
Place = tuple[int, int]  # a trial's key, an attempt's number


@dataclass(frozen=True)
class End:
    """How an attempt ended, as its owner tells it or leaves it in the trial folder."""

    status: str  # pending: another attempt is due
    reason: Message | None
    died: bool
    seconds: float
    start_step: int
    batches: Mapping[int, Points]  # by their place among the attempt's

    @property
    def outcome(self) -> str:
        return self.status if self.status in ENDED else "died" if self.died else "stopped"


@dataclass
class KnownAttempt:
    """One attempt at a trial."""

    worker: int
    outcome: str = ""
    start_step: int = 0
    began: bool = False
    seconds: float = 0.0
    batches: dict[int, Points] = field(default_factory=dict)

    def keep(self, batches: Mapping[int, Points]) -> None:
        for place, points in batches.items():
            self.batches.setdefault(place, points)  # told twice, it stands once


@dataclass
class KnownTrial:
    """One trial, or one repeat."""

    key: int
    number: int | None
    parent: int | None  # the number of the trial it repeats
    filled: bool
    status: str = "pending"
    reason: Message | None = None
    crashes: int = 0
    seconds: float = 0.0
    attempts: list[KnownAttempt] = field(default_factory=list)
    snapshots: set[tuple[int, int]] = field(default_factory=set)  # attempt, step
    left: dict[int, End] = field(default_factory=dict)  # in its folder, by attempt

    @property
    def holder(self) -> int | None:
        return self.attempts[-1].worker if self.status == "running" else None

    def curve(self) -> Points:
        """What an attempt logged counts; of earlier attempts, what lies before its start."""
        points: Points = {}
        for attempt in self.attempts:
            if attempt.began or attempt.batches:
                points = {s: v for s, v in points.items() if s <= attempt.start_step}
                for place in sorted(attempt.batches):
                    points |= attempt.batches[place]
        return dict(sorted(points.items()))

    def row(self) -> tuple[Any, ...]:
        """What its row in the record must hold."""
        last = self.attempts[-1].worker if self.attempts else None
        # the third crash makes it failed, and is told by that
        deaths = min(self.crashes, 2)
        return self.status, self.reason, len(self.attempts), deaths, last, self.seconds

    def end(self, attempt: KnownAttempt, end: End) -> None:
        self.status, self.reason = end.status, end.reason
        self.seconds += end.seconds
        self.crashes += end.died
        attempt.outcome, attempt.seconds = end.outcome, end.seconds
        attempt.keep(end.batches)


class Watch(LeaseWatch):
    """A watch that lets a test act between the look at the beats and the taking back."""

    between: Callable[[], None] = staticmethod(lambda: None)

    def dead_workers(self, beats: Iterable[tuple[int, int, float]]) -> set[int]:
        found = super().dead_workers(beats)
        self.between()
        return found


@dataclass(eq=False)
class Owner:
    """A process that may own trials, with its own connection and what it saw of others' beats."""

    worker: Worker
    store: Store
    near: bool
    exclusive: bool
    ahead: float  # its wall clock
    beaten: float  # when, by the true clock
    watch: Watch
    beat: int = 0
    killed: bool = False
    retired: bool = False
    looks: list[tuple[float, dict[int, int]]] = field(default_factory=list)

    @property
    def gone(self) -> bool:
        """Whether its process has certainly ended, as seen from the others' machine."""
        return self.killed and self.near

    def watched(self, key: int) -> float:
        """How long this observer has seen another's beat stand still, looking often enough."""
        now, beats = self.looks[-1]
        since = later = now
        for at, seen in reversed(self.looks):
            if later - at > LEASE_S / 3 or seen.get(key) != beats[key]:
                break
            since = later = at
        return now - since


@dataclass(eq=False)
class Held:
    """A claim in the hands of its owner, who may have lost it without knowing."""

    claim: Claim
    owner: Owner
    filled: bool
    start_step: int = 0
    step: int = 0
    batches: list[Points] = field(default_factory=list)
    told: int = 0  # so many batches are surely in the record
    ending: End | None = None  # once made up, it is not changed


class Model:
    """One round, its owners, and the wishes of people."""

    def __init__(self, shared_clock: bool) -> None:
        """PostgreSQL has a clock that all share; a SQLite file has none."""
        self.shared_clock = shared_clock
        self.trials: dict[int, KnownTrial] = {}
        self.owners: dict[int, Owner] = {}
        self.stops: set[int | None] = set()

    # what is there

    def numbered(self) -> list[KnownTrial]:
        own = [t for t in self.trials.values() if t.number is not None]
        return sorted(own, key=lambda t: t.number or 0)

    def repeats(self, number: int) -> list[KnownTrial]:
        return [t for _, t in sorted(self.trials.items()) if t.parent == number]

    def counts(self) -> dict[str, int]:
        return dict(Counter(t.status for t in self.numbered()))

    def holds(self, claim: Claim) -> bool:
        """Whether a write under this claim must be accepted."""
        trial = self.trials[claim.trial]
        return trial.holder == claim.worker and len(trial.attempts) == claim.attempt

    def has_end(self, claim: Claim, end: End) -> bool:
        """Whether this very end is committed: written again, it counts once."""
        own = self.attempt(claim)
        told = own.worker, own.outcome, own.seconds
        return told == (claim.worker, end.outcome, end.seconds)

    def attempt(self, claim: Claim) -> KnownAttempt:
        return self.trials[claim.trial].attempts[claim.attempt - 1]

    # claims

    def claimable(self) -> list[int]:
        """Keys of the pending trials that nobody asked to stop, lowest numbers first."""
        free = (t for t in self.numbered() if t.number not in self.stops)
        return [t.key for t in free if t.status == "pending"]

    def claim(self, key: int, owner: Owner) -> KnownTrial:
        trial = self.trials[key]
        assert trial.status == "pending", "a trial is claimed while it is held, or after its end"
        trial.status = "running"
        trial.attempts.append(KnownAttempt(owner.worker.id))
        return trial

    def reopen(self) -> list[int]:
        """The failed trials are pending again, their deaths forgotten; their numbers."""
        found = [t for t in self.numbered() if t.status == "failed"]
        for trial in found:
            trial.status, trial.reason, trial.crashes = "pending", None, 0
        return [t.number for t in found if t.number is not None]

    # leases

    def owning(self) -> dict[int, Owner]:
        """The owners of running trials."""
        holders = {t.holder for t in self.trials.values()}
        return {key: owner for key, owner in self.owners.items() if key in holders}

    def look(self, observer: Owner, now: float) -> dict[int, int]:
        """The owners that this observer takes for dead by now, with their beats."""
        owning = self.owning()
        observer.looks.append((now, {key: owner.beat for key, owner in owning.items()}))
        dead = {}
        for key, owner in owning.items():
            watched = observer.watched(key)
            silent = self.shared_clock and now - owner.beaten > LEASE_S
            expired = watched >= LEASE_S or (silent and watched >= LEASE_S / 3)
            assert not expired or now - owner.beaten >= LEASE_S, "it has beaten within its lease"
            if owner.retired or owner.gone or expired:
                dead[key] = owner.beat
        return dead

    def take_back(self, dead: Mapping[int, int]) -> list[Place]:
        """Their trials are pending again, unless they have beaten since; which, and whose."""
        taken = []
        owning = self.owning()
        certain = [key for key in dead if key in owning and owning[key].beat == dead[key]]
        for key in certain:
            self.owners[key].retired = True
        for trial in sorted(self.trials.values(), key=lambda t: t.key):
            if trial.holder in certain:
                trial.status, trial.reason = "pending", Message("owner.lost")
                trial.attempts[-1].outcome = "lost"
                taken.append((trial.key, len(trial.attempts)))
        return taken

    def import_left(self, only: Collection[int] | None = None) -> dict[Place, str]:
        """Results in folders of trials that nobody alive runs count, if their end is unknown."""
        imported = {}
        for trial in self.trials.values():
            holder = trial.holder
            owned = trial.status in ENDED or (
                holder is not None and not self.owners[holder].retired
            )
            end = trial.left.get(len(trial.attempts))
            if owned or end is None or (only is not None and trial.key not in only):
                continue
            newest = trial.attempts[-1]
            if newest.outcome in ("", "lost"):
                newest.start_step = end.start_step
                trial.end(newest, end)
                imported[trial.key, len(trial.attempts)] = end.status
        return imported

    # who may run the round alone

    def rivals(self) -> list[Owner]:
        return [o for o in self.owners.values() if o.exclusive and not o.retired]

    def busy(
        self, now: float, ahead: float, beating: Collection[Owner], apart: Owner | None = None
    ) -> bool:
        """Whether one of them lives: it beat within the lease, or beats while it is watched.

        `apart` is the old name of who asks.

        A clock that is ahead of the owner's, or behind it, says so of a beat that is older.
        """
        watched = LEASE_S - SLEEP_S  # the last look at which it can still be found alive
        for rival in self.rivals():
            if rival is apart:
                continue
            age = now - rival.beaten + (0 if self.shared_clock else ahead - rival.ahead)
            # a beat in what seems to be the future comes nearer while its owner is watched
            heard = age <= LEASE_S and age + watched >= -LEASE_S
            if not rival.gone and (heard or rival in beating):
                return True
        return False
