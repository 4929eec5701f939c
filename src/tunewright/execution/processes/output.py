"""What a trial prints, on disk: the beginning and the end of it, whatever it prints in between.

The log can be read while the trial trains: `log.1.txt` has the beginning, and beside it two tail
files take turns. At the end they become one file again.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

HEAD = 2**20  # bytes kept from the beginning
TAIL = 2**20  # bytes kept from the end
_TRACEBACK = "Traceback (most recent call last)"
_LONGEST_ERROR = 300  # characters


class Output:
    """The log of one attempt, while it is being written."""

    def __init__(self, folder: Path, attempt: int, head: int = HEAD, tail: int = TAIL) -> None:
        """Begin an empty log in the trial's folder; the attempt is part of its name."""
        self.path = folder / log_name(attempt)
        self._recent = folder / f"log.{attempt}.tail.txt"
        self._older = folder / f"log.{attempt}.tail.older.txt"
        self._head, self._tail = head, tail
        self._file = self.path.open("wb", buffering=0)
        self._room = head  # in the file being written
        self._in_tail = False
        self._written = 0
        self._lost = ""  # why nothing more is written

    def write(self, data: bytes) -> None:
        """Add what was printed; a full disk costs the log, never the trial."""
        self._written += len(data)
        view = memoryview(data)
        try:
            while view and not self._lost:
                taken = self._file.write(view[: self._room])
                view = view[taken:]
                self._room -= taken
                if not self._room:
                    self._turn()
        except OSError as error:
            self._lost = str(error)

    def close(self) -> None:
        """Put the log together in one file."""
        with contextlib.suppress(OSError):
            self._file.close()
            if not self._in_tail:
                return
            older = self._older.read_bytes() if self._older.exists() else b""
            end = (older + self._recent.read_bytes())[-self._tail :]
            left_out = self._written - self._head - len(end)
            with self.path.open("ab") as file:
                if left_out:
                    file.write(f"\n... {left_out} bytes left out ...\n".encode())
                file.write(end)
            self._recent.unlink(missing_ok=True)
            self._older.unlink(missing_ok=True)

    def _turn(self) -> None:
        """The file is full: go on in the tail, dropping the older half of it."""
        self._file.close()
        if self._in_tail:
            self._recent.replace(self._older)
        self._in_tail = True
        self._file = self._recent.open("wb", buffering=0)
        self._room = self._tail


def log_name(attempt: int) -> str:
    """The log of an attempt, in the trial's folder."""
    return f"log.{attempt}.txt"


def beginning_and_end(path: Path, most: int = 20_000) -> str:
    """The first and the last part of a log as text: what a program prints again and again."""
    try:
        with path.open("rb") as file:
            data = file.read(most)
            size = file.seek(0, 2)
            file.seek(max(size - most, len(data)))
            data += file.read(most)
    except OSError:
        return ""
    return data.decode("utf-8", "backslashreplace")


def exception_line(text: str) -> str:
    r"""The line of a log that names the exception: the last traceback's, else an error message.

    >>> exception_line("Traceback (most recent call last):\n  File ...\nKeyError: 'lr'\nbye")
    "KeyError: 'lr'"
    >>> exception_line("usage: train.py\ntrain.py: error: unrecognized arguments: --lr")
    'train.py: error: unrecognized arguments: --lr'
    """
    lines = [line.rstrip() for line in text.splitlines()]
    begins = [at for at, line in enumerate(lines) if line.lstrip().startswith(_TRACEBACK)]
    if begins:
        after = (line for line in lines[begins[-1] + 1 :] if line and not line[0].isspace())
        return next(after, "")[:_LONGEST_ERROR]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    return errors[-1].strip()[:_LONGEST_ERROR] if errors else ""


def last_lines(path: Path, most: int = 4000) -> str:
    """The end of a log as text, from the beginning of a line."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - most))
            text = file.read(most).decode("utf-8", "backslashreplace")
    except OSError:
        return ""
    if size > most:
        text = text.partition("\n")[2] or text
    return text.strip()
