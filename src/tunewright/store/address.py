"""Where a store is: a file name, a sqlite:/// or a postgresql:// address; no secret is stored.

What is masked is masked for good: the store, its backups, messages and error traces are read by
more users than may know a password.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tunewright.errors import StoreError, need

_MASK = "***"

# user:password@ up to the last @ of the word: a password may hold any other character
_USERINFO = re.compile(r"(?i)([a-z][a-z0-9+.-]*:/{1,3}[^\s:@/?#]*:)[^\s]+@")
_PARAMETER = re.compile(
    r"(?i)(?<![a-z0-9])((?:ssl)?(?:password|passwd|passphrase|pwd|secret)=)[^&\s'\"]+"
)
_OPTION = re.compile(
    r"(?i)(?:.*[-_.])?(?:password|passwd|passphrase|pwd|secrets?|credentials?|api[-_]?key"
    r"|(?:secret|access|private)[-_]?key)"
    r"|(?:(?:auth|access|api|bearer|hf|github|wandb|session|refresh)[-_])?token"
)

# files whose uncommitted changes are left out, as patterns of git
_SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
    *(
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.jks",
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
    ),
    *("*secret*", "*credential*", "*password*", "*.kdbx"),
)
INSTEAD = (
    "Put the store on a local disk, or use PostgreSQL: postgresql://user@host/database, "
    "with Workload(folder=...) for the trial folders."
)

# no shared memory between hosts, and locks that may lie: SQLite's write-ahead log needs both
NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.gcsfuse"),
        *("fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb2", "smb3"),
        *("smbfs", "virtiofs"),
    )
)
_LONGEST_NAME = 200  # bytes of a file's name: a log, a lock and backups are called after it
_MISTYPED = re.compile(
    r"(?i)[a-z][a-z0-9+.-]+:/?[^/\\]*@|(postgres|postgresql|mysql|sqlite)\S*:/[^/]"
)


def mask(text: str) -> str:
    """Text with the password of every address in it masked.

    >>> mask("POSTGRESQL://me:geheim@db/x and postgresql://me@db/x?sslpassword=geheim&a=1")
    'POSTGRESQL://me:***@db/x and postgresql://me@db/x?sslpassword=***&a=1'
    """
    return _PARAMETER.sub(rf"\1{_MASK}", _USERINFO.sub(rf"\1{_MASK}@", text))


def mask_words(words: Sequence[str]) -> list[str]:
    """A command line without secrets: addresses, and the values of options that look secret.

    >>> mask_words(["train", "--api-key", "abc", "--password=abc", "--max_tokens=8"])
    ['train', '--api-key', '***', '--password=***', '--max_tokens=8']
    """
    hidden: list[str] = []
    hide = False
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        secret = bool(_OPTION.fullmatch(name))
        if hide and not word.startswith("-"):
            hidden.append(_MASK)
        elif secret and equals and value:
            hidden.append(f"{word[: len(word) - len(value)]}{_MASK}")
        else:
            hidden.append(mask(word))
        hide = secret and not equals and word.startswith("-")
    return hidden


def without_secrets() -> list[str]:
    """The pathspecs for git that leave out files that look secret, wherever they are."""
    return [":/", *(f":(top,exclude,icase,glob)**/{name}" for name in _SECRET_FILES)]


@dataclass(frozen=True)
class Address:
    """A parsed store address."""

    masked: str  # for messages: without a password
    path: Path | None = None  # the file of a SQLite store
    url: str = ""  # of a PostgreSQL store, as SQLAlchemy takes it: with driver and password


def parse(given: str | os.PathLike[str]) -> Address:
    """The store a name or URL means.

    >>> parse("postgresql://me:secret@db.example/tuning").masked
    'postgresql://me:***@db.example/tuning'
    >>> parse("sqlite:///tuning.db").path.name
    'tuning.db'
    """
    text = os.fspath(given)
    scheme, divider, rest = text.partition("://")
    scheme = scheme.lower()
    if not divider:
        if _MISTYPED.match(text):
            raise StoreError("store.one_slash", masked=mask(text))
        return _file(Path(text))
    if scheme in ("sqlite", "sqlite+pysqlite"):
        if not rest.startswith("/") or rest in ("/", "/:memory:"):
            raise StoreError("store.in_memory", masked=mask(text))
        return _file(Path(rest[1:]))
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return _server(text, rest)
    raise StoreError("store.bad_address", masked=mask(text))


def _file(path: Path) -> Address:
    if not path.name or "\x00" in str(path):
        raise StoreError("store.bad_file_name", path=str(path))
    if len(os.fsencode(path.name)) > _LONGEST_NAME:
        raise StoreError("store.file_name_too_long", path=str(path)[:60])
    try:
        # resolved, since SQLite keeps its log beside the file that a link leads to
        path = path.expanduser().resolve()
        path.exists()  # raises where a folder's name, or all of it, is too long
    except (OSError, RuntimeError) as error:
        raise StoreError("store.cannot_be_a_store", path=path, error=error) from None
    return Address(str(path), path)


def _server(text: str, rest: str) -> Address:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    need("psycopg", extra="postgres", purpose="a postgresql:// store")
    try:
        url = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        raise StoreError("store.bad_server_address") from None
    public = mask(url.set(drivername="postgresql").render_as_string(hide_password=True))
    return Address(public, url=url.render_as_string(hide_password=False))


def file_system(path: Path, mounts: str | None = None) -> str:
    """The kind of file system that holds a path, as /proc/self/mountinfo has it; empty if unknown.

    >>> mounts = "1 0 8:1 / / rw - ext4 /dev/sda rw\\n2 1 0:5 / /home rw - nfs4 server:/home rw"
    >>> file_system(Path("/home/me/tuning.db"), mounts)
    'nfs4'
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text()
            path = path.resolve()
        except OSError:
            return ""
    kind, depth = "", -1
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = Path(fields[4].encode().decode("unicode_escape"))  # spaces stand as \040
        # of mounts on one point the last one counts
        if (path == point or point in path.parents) and len(point.parts) >= depth:
            kind, depth = right.split()[0], len(point.parts)
    return kind


def check_place(path: Path) -> None:
    """Refuse a folder that cannot hold a SQLite store safely, with the reason."""
    folder = path.parent
    if path.is_dir():
        raise StoreError("store.is_folder", path=path, example=path / "tuning.db")
    kind = file_system(path if path.exists() else folder)
    if kind in NETWORK:
        raise StoreError("store.network_file_system", path=path, kind=kind, instead=INSTEAD)
    read_only = os.statvfs(folder).f_flag & os.ST_RDONLY if hasattr(os, "statvfs") else 0
    if read_only or not os.access(folder, os.W_OK):
        raise StoreError("store.read_only_folder", folder=folder, instead=INSTEAD)
    if path.exists() and not os.access(path, os.W_OK | os.R_OK):
        raise StoreError("store.no_permission", path=path)
