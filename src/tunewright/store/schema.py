"""The tables of the record: one schema for SQLite and PostgreSQL.

    round --< study
      `--< trial --< attempt --< curve (packed batches, never a row per point)
             |          `-- provenance
             `--< trial (its repeats)
    worker: one row per supervisor, joined worker or ask-and-tell process; leases belong to it

Structured values are JSON text, written and read with limits by `plain_json`, so that both
databases hold the same characters. `revision` grows with every change, for `store.changes`.
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

SCHEMA_VERSION = 1

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
clock = Table(  # SQLite alone: PostgreSQL takes its transaction numbers
    "clock",
    metadata,
    _key(),
    Column("revision", BigInteger, nullable=False),
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
    Column("created", Double, nullable=False),  # seconds since 1970, for people only
)
study = Table(
    "study",
    metadata,
    _key(),
    _round(),
    Column("number", Integer, nullable=False),
    Column("scientific", Text, nullable=False),
    Column("label", Text, nullable=False),
    UniqueConstraint("round", "number"),
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
    Column("status", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("detail", Text, nullable=False, server_default=""),
    Column("command", Text, nullable=False, server_default=""),
    Column("attempt", Integer, nullable=False, server_default="0"),  # the newest one's number
    Column("deaths", Integer, nullable=False, server_default="0"),
    Column("worker", _Key),  # who runs it, or ran it last
    Column("seconds", Double, nullable=False, server_default="0"),
    Column("peak_memory_mb", Double),
    Column("revision", BigInteger, nullable=False),
    UniqueConstraint("round", "number"),
    UniqueConstraint("parent", "repeat"),
)
# only of those that can be claimed or reclaimed: an ended trial costs no index its place
_pending, _running = (text(f"status = '{status}'") for status in ("pending", "running"))
Index(
    "trial_pending",
    trial.c.round,
    trial.c.number,
    sqlite_where=_pending,
    postgresql_where=_pending,
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
    Column("revision", BigInteger, nullable=False),
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
    Column("revision", BigInteger, nullable=False, index=True),
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
    Column("started", Text, nullable=False),  # tells the process from a later one of that pid
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
note = Table(
    "note",
    metadata,
    _key(),
    _round(),
    Column("written", Double, nullable=False),
    Column("text", Text, nullable=False),
)


def _document(name: str) -> Table:
    return Table(
        name,
        metadata,
        _key(),
        _round(nullable=True),
        Column("written", Double, nullable=False),
        Column("payload", Text, nullable=False),
    )


# what later stages conclude: plain JSON, so that nothing needs a second schema
documents = {name: _document(name) for name in ("probe", "finding", "launch", "baseline")}
