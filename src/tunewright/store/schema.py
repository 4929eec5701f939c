"""The tables of the store: one schema for SQLite and PostgreSQL, version 3.

    campaign --< campaign_step
        `--< round --< trial --< attempt --< curve (packed batches, never a row per point)
                         |          `-- provenance
                         |--< trial (its repeats)
                         |--< evaluation (a checkpoint measured offline)
                         |--< launch (a decision about it) --< baseline (that it became)
                         `-- trial_summary, curve_summary (what the dashboard draws)
    probe: the answer of a probe, with the workload that it measured
    worker: one row per supervisor, joined worker or ask-and-tell process; leases belong to it

Structured values are JSON text, written and read with limits by `plain_json`, so that both
databases hold the same characters. A `reason` or `cause` is a message, its code and facts, as JSON
(`store.reason`); empty where there is none. A conclusion (`CONCLUSIONS`) is a row that somebody
drew from trials; each is also a file in the folder of trials (`store.journal`).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = 3

metadata = MetaData()
_Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows only under INTEGER


def _key() -> Column[int]:
    return Column("id", _Key, primary_key=True)


def _round(nullable: bool = False) -> Column[int]:
    return Column("round", _Key, ForeignKey("round.id"), nullable=nullable, index=True)


about = Table(
    "about",
    metadata,
    Column("key", Text, primary_key=True),  # schema, identity
    Column("value", Text, nullable=False),
)
campaign = Table(
    "campaign",
    metadata,
    _key(),
    Column("name", Text, nullable=False, unique=True),
    Column("definition", Text, nullable=False),  # what it was asked for, as plain data
    Column("created", Double, nullable=False),
    Column("written", Double, nullable=False),  # when the definition was last changed
)
round_table = Table(
    "round",
    metadata,
    _key(),
    Column("name", Text, nullable=False, unique=True),
    Column("definition", Text, nullable=False),  # the round as plain data
    Column("objective", Text, nullable=False),
    Column("meaning", Text, nullable=False),
    Column("search", Text, nullable=False),
    Column("split_seed", BigInteger, nullable=False),
    Column("directory", Text, nullable=False, unique=True),  # under the folder of trials
    Column("folder", Text, nullable=False),  # the folder of trials, when not beside the store
    Column("command", Text, nullable=False),
    Column("created", Double, nullable=False),  # seconds since 1970, for readers only
    Column("campaign", _Key, ForeignKey("campaign.id"), index=True),
    Column("purpose", Text, nullable=False, server_default=""),  # in its campaign: explore, probe
    # how many positions of each study have a row; none: every trial has one. A declared trial gets
    # its row when somebody is about to claim it
    Column("made", Integer),
)
trial = Table(
    "trial",
    metadata,
    _key(),
    Column("round", _Key, ForeignKey("round.id"), nullable=False),
    Column("study", Integer, nullable=False),  # the study's number
    Column("number", Integer),  # round-wide; none for a repeat
    Column("position", Integer),  # in the study's sequence; none when added by hand
    Column("parent", _Key, ForeignKey("trial.id")),
    Column("repeat", Integer),
    Column("configuration", Text),  # none until an adaptive search has filled it
    Column("unit", Text),
    Column("seed", BigInteger, nullable=False),
    Column("search", Text, nullable=False),
    Column("folder", Text, nullable=False),  # relative to the folder of trials
    # pending, running, completed, infeasible, failed; pruned: early stopping ended it
    Column("status", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("detail", Text, nullable=False, server_default=""),
    Column("command", Text, nullable=False, server_default=""),
    Column("attempt", Integer, nullable=False, server_default="0"),  # the newest one's number
    Column("deaths", Integer, nullable=False, server_default="0"),
    Column("worker", _Key),  # who runs it, or ran it last
    Column("seconds", Double, nullable=False, server_default="0"),
    Column("peak_memory_mb", Double),
    UniqueConstraint("round", "number"),
    UniqueConstraint("parent", "repeat"),
)
# only of those that can be claimed or reclaimed: an ended trial costs no index its place
_pending, _running = (text(f"status = '{status}'") for status in ("pending", "running"))
Index(
    "trial_pending", trial.c.round, trial.c.number, sqlite_where=_pending, postgresql_where=_pending
)
Index("trial_running", trial.c.round, sqlite_where=_running, postgresql_where=_running)
provenance = Table(
    "provenance",
    metadata,
    _key(),
    Column("sha256", Text, nullable=False, unique=True),  # many attempts share one
    Column("payload", Text, nullable=False),
)
attempt = Table(
    "attempt",
    metadata,
    _key(),
    Column("trial", _Key, ForeignKey("trial.id"), nullable=False),
    Column("n", Integer, nullable=False),  # from 1
    Column("worker", _Key, nullable=False),
    Column("place", Text, nullable=False, server_default=""),  # host and pid of the training
    Column("start_step", BigInteger, nullable=False, server_default="0"),
    Column("began", Double),
    Column("ended", Double),
    Column("outcome", Text, nullable=False, server_default=""),
    Column("cause", Text, nullable=False, server_default=""),
    Column("seconds", Double, nullable=False, server_default="0"),
    Column("provenance", _Key, ForeignKey("provenance.id")),
    UniqueConstraint("trial", "n"),
)
curve = Table(
    "curve",
    metadata,
    _key(),
    Column("trial", _Key, ForeignKey("trial.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),  # of this attempt's batches, from 0
    Column("points", LargeBinary, nullable=False),
    UniqueConstraint("trial", "attempt", "sequence"),
)
snapshot = Table(
    "snapshot",
    metadata,
    _key(),
    Column("trial", _Key, ForeignKey("trial.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("path", Text, nullable=False),  # relative to the trial folder
    Column("sha256", Text, nullable=False),
    Column("saved", Double, nullable=False),
    UniqueConstraint("trial", "attempt", "step", "path"),
)
worker = Table(
    "worker",
    metadata,
    _key(),
    _round(nullable=True),
    Column("kind", Text, nullable=False),  # supervisor, session or worker
    Column("exclusive", Boolean, nullable=False),
    Column("host", Text, nullable=False),
    Column("boot", Text, nullable=False),  # of the machine, with its process namespace
    Column("pid", Integer, nullable=False),
    Column("started", Text, nullable=False),  # marks the process, as a later one may have that pid
    Column("registered", Double, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("beaten", Double, nullable=False),  # when: PostgreSQL's own clock, or this machine's
    Column("retired", Double),
)
stop = Table(
    "stop",
    metadata,
    _key(),
    _round(),
    Column("number", Integer),  # of the trial; none: the whole round
)
# A cache for pages that show thousands of trials; a trial without a row is read from its curves.
trial_summary = Table(
    "trial_summary",
    metadata,
    Column("trial", _Key, ForeignKey("trial.id"), primary_key=True, autoincrement=False),
    Column("status", Text, nullable=False),  # judged by the objective of the round
    Column("value", Double),
    Column("step", BigInteger),  # at which the value was reached
)
curve_summary = Table(
    "curve_summary",
    metadata,
    Column("trial", _Key, ForeignKey("trial.id"), primary_key=True, autoincrement=False),
    Column("metric", Text, primary_key=True),
    Column("last", BigInteger, nullable=False),  # step: the buckets divide 0 to this one
    Column("buckets", LargeBinary, nullable=False),  # lowest and highest, float32, NaN: no point
)
note = Table(
    "note",
    metadata,
    _key(),
    _round(),
    Column("written", Double, nullable=False),
    Column("text", Text, nullable=False),
)
probe = Table(
    "probe",
    metadata,
    _key(),
    Column("name", Text, nullable=False),  # of the probe, as in tunewright.probes
    # what was measured: the training function, the command or the factory of steps; the metric
    # where the answer depends on it. Empty: unknown, an answer of version 1
    Column("workload", Text, nullable=False),
    Column("metric", Text, nullable=False, server_default=""),
    Column("campaign", _Key, ForeignKey("campaign.id"), index=True),
    Column("settings", Text, nullable=False),  # what to put into the configuration
    Column("answer", Text, nullable=False),
    Column("written", Double, nullable=False),
)
Index("probe_workload", probe.c.workload, probe.c.name)
campaign_step = Table(
    "campaign_step",
    metadata,
    _key(),
    Column("campaign", _Key, ForeignKey("campaign.id"), nullable=False),
    Column("number", Integer, nullable=False),  # from 1
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _round(nullable=True),  # that it is about
    Column("probe", _Key, ForeignKey("probe.id")),  # the answer that it led to
    Column("written", Double, nullable=False),
    UniqueConstraint("campaign", "number"),
)
launch = Table(
    "launch",
    metadata,
    _key(),
    Column("candidate", _Key, ForeignKey("trial.id"), index=True),
    _round(nullable=True),  # of the candidate
    Column("baseline", _Key, ForeignKey("trial.id")),  # none: there was nothing to compare with
    # places whose trials this store lacks, {column: place}: a store rebuilt without an import
    Column("elsewhere", Text, nullable=False, server_default=""),
    Column("verdict", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("decision", Text, nullable=False),  # probability, gain, values, reasons
    Column("who", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("commit", Text, nullable=False),
    Column("written", Double, nullable=False),
)
baseline = Table(
    "baseline",
    metadata,
    _key(),
    Column("trial", _Key, ForeignKey("trial.id")),
    Column("elsewhere", Text, nullable=False, server_default=""),
    Column("launch", _Key, ForeignKey("launch.id")),  # none: its file was lost
    Column("runs", Integer, nullable=False),
    Column("written", Double, nullable=False),
)
evaluation = Table(
    "evaluation",
    metadata,
    _key(),
    Column("trial", _Key, ForeignKey("trial.id"), index=True),  # none: a rebuilt store lacks it
    _round(nullable=True),
    Column("step", BigInteger, nullable=False),  # of the checkpoint
    Column("metrics", Text, nullable=False),
    Column("measured_by", Text, nullable=False),  # the function or command
    Column("workload", Text, nullable=False),
    Column("objective", Text, nullable=False),  # the metric that chose the checkpoint
    Column("value", Double),  # and its value there
    Column("look", Integer, nullable=False),  # at the test set, from 1; 0: it did not look there
    Column("written", Double, nullable=False),
)

# parents first: restored in this order, every reference finds its row
CONCLUSIONS: dict[str, Table] = {
    table.name: table
    for table in (campaign, probe, campaign_step, launch, baseline, evaluation, note)
}
