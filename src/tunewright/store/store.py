"""The store: the only way to the database.

    with Store.open("tuning.db") as store:
        record = store.begin(round, objective, meaning, search="halton", suggestions=...)
        worker = store.register(record.id, "supervisor", exclusive=True)
        for claim in store.claim(record.id, worker, count=4):
            store.log(claim, [pack({"valid_error": ([100], [0.2])})])
            store.end(claim, Outcome("completed"))
        results = store.results(round.name)

Every method is one transaction; several in a `with store.transaction():` block are one together.
It may be used from several threads. Errors: OutOfDate (the trial is no longer this owner's),
NotFound and Damaged are final; any other StoreError of a write may pass and is worth trying again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import NotFound, StoreError
from tunewright.messages import Message
from tunewright.store import (
    backup,
    campaigns,
    claims,
    fenced_writes,
    launches,
    leases,
    open_store as opening,
    provenance as provenances,
    read_round as reading,
    replay,
    rounds,
    spool,
    user_requests,
)
from tunewright.store.backup import Fault
from tunewright.store.campaigns import CampaignRecord, CampaignStep, ProbeRecord
from tunewright.store.claims import At, Suggestions
from tunewright.store.judge import judge_trial
from tunewright.store.launches import Baseline, Evaluation, Launched, Place, Receipt
from tunewright.store.leases import LEASE_S, Kind, LeaseWatch, Reclaimed, Worker
from tunewright.store.outcome import Outcome
from tunewright.store.provenance import Provenance, read_origins
from tunewright.store.read_round import Attempt, Snapshot
from tunewright.store.replay import Imported
from tunewright.store.results import Results
from tunewright.store.rounds import RoundRecord
from tunewright.store.schema import trial as table
from tunewright.store.trial import Claim, Trial
from tunewright.store.user_requests import Note, Removed, Renamed, Stops

log = logging.getLogger(__name__)
__all__ = ["Claim", "LeaseWatch", "Reclaimed", "RoundRecord", "Stops", "Store", "Worker"]


class Store:
    """An open store; make one with `Store.open`."""

    def __init__(self, opened: opening.Opened) -> None:
        """Take what `opening.open_store` opened."""
        self._database = opened.database
        self.identity = opened.identity  # the mark by which the folder of trials knows its store

    @classmethod
    def open(
        cls, url: str | os.PathLike[str], *, create: bool = True, read_only: bool = False
    ) -> Store:
        """Open a store: a file such as tuning.db, or a sqlite:/// or postgresql:// address.

        With `create`, a store that is not there yet is made; without it, that is NotFound. A store
        of an older schema is migrated, after a backup. With `read_only` nothing is created,
        migrated or written, and every write is refused.
        """
        return cls(opening.open_store(url, create, read_only))

    def __enter__(self) -> Store:
        """Use it for a block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"Store({self.url!r})"

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._database.address.masked

    @property
    def path(self) -> Path | None:
        """The file of a SQLite store."""
        return self._database.address.path

    def faults(self, folders: bool = False) -> list[Fault]:
        """Records that are not what was written; `folders` compares the trial folders too."""
        return list(backup.faults(self._database, folders))

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def back_up(self, *, if_due: bool = False) -> Path | None:
        """Write a checked backup beside a SQLite store; with `if_due`, one every ten minutes.

        None if none was due, or the store is PostgreSQL, whose server makes its own backups.
        """
        if self.path is None or (if_due and not backup.due(self.path)):
            return None
        return backup.make(self.path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction for all writes of a block: many trials are flushed by one commit.

        A fenced write that raises OutOfDate has written nothing, and may be caught in the block.
        """
        with self._database.writing(durable=False):  # the writes inside say whether they are
            yield

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent view of the tables for a block, for readers of this package."""
        return self._database.reading()

    def server_lock(self, number: int) -> AbstractContextManager[bool]:
        """Hold a lock of the PostgreSQL server for a block; whether it is held."""
        return self._database.server_lock(number)

    def trial_root(self, folder: Path | None = None) -> Path:
        """The folder of trials, made and marked as this store's: `<store>.trials/`, or `folder`."""
        return opening.trial_root(self._database, self.identity, folder)

    def root_of(self, round: RoundRecord) -> Path:
        """The folder of trials of a round: the one that it names, else the store's."""
        return self.trial_root(Path(round.folder) if round.folder else None)

    # rounds

    def begin(
        self,
        round: Round,
        objective: Objective,
        meaning: Meaning,
        *,
        search: str,
        suggestions: Suggestions | None,
        command: str = "",
        folder: str = "",
        campaign: str = "",
        purpose: str = "",
        ahead: bool = False,
    ) -> RoundRecord:
        """Record a round with its trials pending, or continue the same one (`.continued`).

        `suggestions(study, count)` gives the first `count` configurations of a study; None is
        an adaptive search, which fills each trial after it is claimed. With `ahead` only the first
        trials get rows now; `claim` makes the others. A round that begins for a `campaign` belongs
        to it, for a `purpose`. A different round of the same name is RoundChanged.
        """

        if not folder and self.path is not None and opening.marked(self.path):
            self.trial_root()  # refused before anything is written, if it is another store's

        def adopt(connection: Connection, key: int) -> None:
            if campaign:
                campaigns.adopt(self._database, connection, key, campaign, purpose)
            else:
                rounds.set_purpose(connection, key, purpose)

        record = rounds.begin(
            self._database,
            round,
            objective,
            meaning,
            search,
            suggestions,
            command,
            folder,
            adopt if campaign or purpose else None,
            ahead=ahead,
        )
        if self.path is not None or record.folder:
            root = self.root_of(record)
            spool.write_round(rounds.inside(root, record.directory), record)
        if not record.continued:
            try:
                self.back_up()
            except StoreError as error:  # a round can be run without: better than not at all
                log.warning("%s", error)
        return record

    def keep(self, results: Results, command: str = "") -> RoundRecord:
        """Write results that were made elsewhere, so that they can be read like any round."""
        return self.round(replay.keep_imported(self._database, results, command))

    def rounds(self) -> list[RoundRecord]:
        """All rounds, oldest first."""
        return rounds.every(self._database)

    def round(self, name: str) -> RoundRecord:
        """The round of this name."""
        return rounds.find(self._database, name)

    def remove(self, name: str) -> Removed:
        """Take a round out of every list; `bring_back` undoes it."""
        return user_requests.remove(self._database, self.round(name))

    def list_removed(self) -> list[Removed]:
        """The rounds that were removed, the newest first."""
        return user_requests.list_removed(self._database)

    def bring_back(self, name: str) -> Removed:
        """Undo the newest removal of a round of this name."""
        return user_requests.bring_back(self._database, name)

    def rename(self, old: str, new: str) -> Renamed:
        """Give a round another name."""
        return user_requests.rename(self._database, self.round(old), new)

    # who runs it

    def register(
        self,
        round_id: int | None,
        kind: Kind,
        exclusive: bool,
        lease_s: float = LEASE_S,
        *,
        replacing: Worker | None = None,
    ) -> Worker:
        """Add this process as a worker; an exclusive one is Busy while another lives.

        The worker that it is `replacing` retires in the same transaction.
        """
        return leases.register(
            self._database, round_id, kind, exclusive, lease_s, replacing=replacing
        )

    def beat(self, worker: Worker) -> None:
        """Say that this worker lives: every sixth of the lease, from a thread."""
        leases.beat(self._database, worker)

    def retire(self, worker: Worker) -> None:
        """Take this worker off the list; trials it still holds can be reclaimed at once."""
        leases.retire(self._database, worker)

    def reclaim(
        self, round_id: int, watch: LeaseWatch, root: Path | None = None
    ) -> list[Reclaimed]:
        """Put the trials of dead owners back to pending, and say which.

        With the folder of trials as `root`, a result that an owner left there before it died is
        taken over in the same transaction, so that nobody trains that trial again.
        """
        dead = leases.dead_owners(self._database, round_id, watch)
        if not dead:
            return []
        with self.transaction():
            taken = leases.take_back(self._database, round_id, dead)
            if root is None or not taken:
                return taken
            keys = {each.trial for each in taken}
            statuses = {each.trial: each.status for each in self.import_spool(round_id, root, keys)}
        return [replace(each, ended_as=statuses.get(each.trial)) for each in taken]

    def import_spool(
        self, round_id: int, root: Path, only: Collection[int] | None = None
    ) -> list[Imported]:
        """Take over results that reached the trial folders but not the store; again, it is a no-op.

        `only` limits it to these trials, by their identity.
        """
        return replay.import_spool(self._database, round_id, root, only)

    # trials

    def claim(self, round_id: int, worker: Worker, count: int, at: At | None = None) -> list[Claim]:
        """Take up to `count` pending trials, lowest numbers first.

        `at(study, first, count)` fills trials that have no row yet; without it they are empty.
        """
        return claims.claim(self._database, round_id, worker, count, at)

    def add(
        self,
        round_id: int,
        worker: Worker,
        configuration: Mapping[str, Value],
        study: int,
        unit: Mapping[str, float],
    ) -> Claim:
        """Open and claim a trial for a configuration of one's own, under the next free number."""
        return claims.add(self._database, round_id, worker, configuration, study, unit)

    def add_repeats(self, round_id: int, parent_number: int, times: int) -> int:
        """Create the repeats a trial lacks, so that it has `times`; how many were created."""
        return claims.add_repeats(self._database, round_id, parent_number, times)

    def claim_repeats(
        self, round_id: int, worker: Worker, parent_number: int, count: int
    ) -> list[Claim]:
        """Take up to `count` pending repeats of a trial."""
        return claims.claim_repeats(self._database, round_id, worker, parent_number, count)

    def reopen(self, round_id: int) -> list[int]:
        """Put the failed trials back to pending, and say their numbers."""
        return claims.reopen(self._database, round_id)

    # fenced writes; OutOfDate when the worker does not hold the trial any more

    def fill(
        self, claim: Claim, configuration: Mapping[str, Value], unit: Mapping[str, float]
    ) -> None:
        """Give a claimed trial the configuration an adaptive search suggested."""
        fenced_writes.fill(self._database, claim, configuration, unit)

    def began(self, claim: Claim, start_step: int, worker_text: str, command: str = "") -> None:
        """The training starts after `start_step` updates; `command` reproduces this trial."""
        fenced_writes.began(self._database, claim, start_step, worker_text, command)

    def log(self, claim: Claim, batches: Sequence[bytes], first: int | None = None) -> None:
        """Keep packed points.

        `first` is the place of the first batch among this attempt's, from 0: with it, a batch that
        is written twice after a lost answer counts once. Without it they come after the others.
        """
        fenced_writes.log(self._database, claim, batches, first)

    def add_snapshot(self, claim: Claim, step: int, path: str, sha256: str) -> None:
        """A snapshot was written; `path` is relative to the trial folder."""
        fenced_writes.add_snapshot(self._database, claim, step, path, sha256)

    def end(self, claim: Claim, outcome: Outcome) -> None:
        """End an attempt: its outcome and its last points together; written twice, it counts once.

        After `died` and `stopped` the trial is pending again; only a death counts towards the limit
        of three.
        """
        fenced_writes.end(self._database, claim, outcome)

    def add_provenance(self, claim: Claim, provenance: Provenance) -> None:
        """Keep where an attempt comes from; equal ones are stored once."""
        provenances.add(self._database, claim, provenance)

    def keep_applied(self, claim: Claim, values: Mapping[str, Any]) -> None:
        """Keep the values that an attempt's program reports it used, all of them so far."""
        provenances.keep_applied(self._database, claim, values)

    # reading

    def results(self, name: str) -> Results:
        """A round as recorded, judged by its objective."""
        with self._database.reading() as connection:
            record = self.round(name)
            elsewhere = replay.is_imported(connection, table.c.round == record.id)
            trials, repeats = reading.read_trials(self._database, record, not elsewhere)
            written = tuple(note.text for note in self.notes(record))
            origins = read_origins(self._database, record.id)
            supervised = leases.is_supervised(self._database, connection, record.id)
        return replace(
            self._as_results(record, trials, repeats),
            waiting=reading.Waiting.of(record),
            root=str(self._database.root_of(record.folder) or ""),
            notes=written,
            origins=origins,
            imported=elsewhere,
            supervised=supervised,
        )

    def results_of_claimed(self, record: RoundRecord) -> Results:
        """What a search learns from: the trials and repeats of a round that somebody claimed."""
        return self._as_results(record, *reading.read_claimed(self._database, record))

    def _as_results(
        self, record: RoundRecord, trials: Sequence[Trial], repeats: Sequence[Trial]
    ) -> Results:
        return Results(
            round=record.round,
            objective=record.objective,
            meaning=record.meaning,
            recorded=tuple(trials),
            recorded_repeats=tuple(repeats),
            search=record.search,
            store=self.url,
        )

    def trials(self, name: str, numbers: Sequence[int]) -> list[Trial]:
        """Some trials of a round by their numbers, judged; those not there are left out."""
        record = self.round(name)
        keys = rounds.keys_of(self._database, record.id, numbers)
        waiting = reading.Waiting.of(record)
        return [
            self.trial(keys[n]) if n in keys else waiting.pending_trial(n)
            for n in numbers
            if n in keys or n in waiting.numbers
        ]

    def keys_of(self, name: str, numbers: Sequence[int]) -> dict[int, int]:
        """The identities of a round's trials by number; those that are not there are left out."""
        return rounds.keys_of(self._database, self.round(name).id, numbers)

    def trial(self, key: int) -> Trial:
        """One trial or repeat by its identity, judged by the objective of its round."""
        trial = reading.read_trial(self._database, key, not self._is_imported(key))
        if trial is None:
            raise NotFound("trial.no_such_key", key=key, url=self.url)
        return judge_trial(rounds.objective_of(self._database, key), trial)

    def keys_of_finished(self, round_id: int) -> list[int]:
        """The identities of a round's trials that completed or were pruned, repeats left out."""
        return reading.keys_of_finished(self._database, round_id)

    def is_imported(self, trial: Trial) -> bool:
        """Whether another tool made this trial."""
        return self._is_imported(trial.identity)

    def _is_imported(self, key: int) -> bool:
        with self._database.reading() as connection:
            return replay.is_imported(connection, table.c.id == key)

    def batches(self, claim: Claim) -> list[bytes]:
        """The stored batches of this attempt, in order."""
        return reading.batches(self._database, claim)

    def attempts(self, trial: Trial | int) -> list[Attempt]:
        """The attempts at a trial, or at the one of an identity."""
        return reading.attempts(self._database, _identity(trial))

    def snapshots(self, trial: Trial | int) -> list[Snapshot]:
        """The snapshots of a trial, or of the one of an identity, oldest first."""
        return reading.snapshots(self._database, _identity(trial))

    def provenance(self, trial: Trial | int) -> Provenance | None:
        """Where a trial comes from, or the one of an identity; None if nothing was kept."""
        return provenances.of_trial(self._database, _identity(trial))

    # notes, and requests to stop

    def note(self, round: RoundRecord | str, text: str | Message) -> None:
        """Keep a note about a round."""
        user_requests.add_note(self._database, self._key(round), text)

    def notes(self, round: RoundRecord | str) -> list[Note]:
        """The notes of a round, oldest first."""
        return user_requests.notes_of(self._database, self._key(round))

    def ask_stop(self, round_id: int, number: int | None = None) -> None:
        """Ask whoever runs a round to stop one trial, or all of it."""
        user_requests.ask_stop(self._database, round_id, number)

    def stops(self, round_id: int) -> Stops:
        """Which trials of a round are to be stopped."""
        return user_requests.stops(self._database, round_id)

    def clear_stops(self, round_id: int, number: int | None = None) -> None:
        """Forget an honoured stop request: one trial's, or every one of the round."""
        user_requests.clear_stops(self._database, round_id, number)

    # what was concluded from trials

    def add_evaluation(self, round_id: int, evaluation: Evaluation) -> None:
        """Add an offline evaluation, and its metrics to the curves of its trial."""
        launches.add_evaluation(self._database, round_id, evaluation)

    def evaluations(self, round_id: int | None = None) -> list[Evaluation]:
        """The offline evaluations of one round or of all, oldest first."""
        return launches.read_evaluations(self._database, round_id)

    def add_launch(
        self, decision: Mapping[str, Any], candidate: Place, against: Place | None, receipt: Receipt
    ) -> int:
        """Record a launch decision about a candidate and what it was compared with; its key."""
        return launches.add(self._database, decision, candidate, against, receipt)

    def launches(self) -> list[Launched]:
        """Every launch decision, oldest first."""
        return launches.read(self._database)

    def add_baseline(self, launch: int, runs: int) -> None:
        """Make the candidate of a launch the baseline; `runs` repeats of it decided."""
        launches.add_baseline(self._database, launch, runs)

    def baselines(self) -> list[Baseline]:
        """Every baseline, oldest first."""
        return launches.read_baselines(self._database)

    def add_probe(
        self,
        name: str,
        workload: str,
        answer: Mapping[str, Any],
        *,
        metric: str = "",
        campaign: str = "",
    ) -> int:
        """Keep the answer of a probe about a workload, as plain data; its key."""
        return campaigns.add_probe(
            self._database, name, workload, answer, metric=metric, campaign=campaign
        )

    def probes(
        self, workload: str | None = None, *, campaign: int | None = None, name: str | None = None
    ) -> list[ProbeRecord]:
        """The answers about a workload, of a campaign, of one probe, or all; oldest first."""
        return campaigns.read_probes(
            self._database, workload=workload, campaign=campaign, name=name
        )

    # campaigns

    def add_campaign(self, name: str, definition: Mapping[str, Any]) -> int:
        """Write what a campaign is asked for, or change it for one that is there; its key."""
        return campaigns.add(self._database, name, definition)

    def campaign(self, name: str) -> CampaignRecord | None:
        """The campaign of this name; None: there is none."""
        return campaigns.find(self._database, name)

    def campaigns(self) -> list[CampaignRecord]:
        """All campaigns, oldest first."""
        return campaigns.every(self._database)

    def add_campaign_step(self, campaign: int, kind: str, reason: Message, round: str = "") -> int:
        """Add a step to a campaign, about a round that may still have to begin; its number."""
        return campaigns.add_step(self._database, campaign, kind, reason, round)

    def campaign_steps(self, campaign: int) -> list[CampaignStep]:
        """The steps of a campaign, in order."""
        return campaigns.steps(self._database, campaign)

    def campaign_rounds(self, campaign: int) -> list[tuple[str, str]]:
        """The name and the purpose of each round of a campaign, oldest first."""
        return campaigns.rounds_of(self._database, campaign)

    def link_probe(self, campaign: int, probe: int) -> None:
        """Note on the campaign's newest step the answer that it led to."""
        campaigns.link_probe(self._database, campaign, probe)

    def _key(self, round: RoundRecord | str) -> int:
        return round.id if isinstance(round, RoundRecord) else self.round(round).id


def _identity(trial: Trial | int) -> int:
    return trial.identity if isinstance(trial, Trial) else trial
