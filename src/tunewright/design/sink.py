"""A sink: the tracker that receives a copy of every trial, and its address.

    Sink.parse("mlflow:http://tracking.example:5000")
    Sink("tensorboard", where="runs")

A sink is plain data, so that a workload can name it without importing any tracker.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tunewright.errors import DesignError, MissingExtra
from tunewright.messages import Message
from tunewright.remedies import use

# each tracker, the package that writes it, and the folder it uses where no address is given
_TRACKERS = {
    "mlflow": ("mlflow", "mlruns"),
    "swanlab": ("swanlab", "swanlog"),
    "tensorboard": ("tensorboard", "runs"),
    "trackio": ("trackio", "trackio"),
    "wandb": ("wandb", "wandb"),
}
# where users have set the address of a tracker already
_ENVIRONMENT = {"mlflow": "MLFLOW_TRACKING_URI", "trackio": "TRACKIO_DIR"}
LONGEST = 2000  # characters of an address


@dataclass(frozen=True)
class Sink:
    """A tracker and where it keeps its runs.

    `tracker` is mlflow, tensorboard, wandb, trackio or swanlab. `where` is a folder; for mlflow
    also a URL. `project` names the project of W&B, Trackio and SwanLab; it precedes the round's
    name in MLflow and TensorBoard.
    """

    tracker: str
    where: str = ""
    project: str = ""

    def __post_init__(self) -> None:
        """Refuse a tracker that nobody knows and an address that is no text."""
        if self.tracker not in _TRACKERS:
            near = difflib.get_close_matches(str(self.tracker), _TRACKERS, n=1)
            raise DesignError(
                "sink.unknown",
                tracker=self.tracker,
                known=sorted(_TRACKERS),
                remedy=use("--sink", near[0]) if near else None,
            )
        for field in ("where", "project"):
            text = getattr(self, field)
            if not isinstance(text, str) or len(text) > LONGEST or not _plain(text):
                raise DesignError("sink.bad_text", field=field, value=text)
        if "://" in self.where and self.tracker != "mlflow":
            raise DesignError("sink.not_a_folder", tracker=self.tracker, where=self.where)

    @classmethod
    def parse(cls, text: str | Sink) -> Sink:
        """A sink from its text: TRACKER, TRACKER:WHERE.

        >>> Sink.parse("mlflow"), Sink.parse("tensorboard:runs/a")
        (Sink(tracker='mlflow', where='', project=''), \
Sink(tracker='tensorboard', where='runs/a', project=''))
        """
        if isinstance(text, Sink):
            return text
        if not isinstance(text, str):
            raise DesignError("sink.not_text", value=text)
        tracker, colon, where = text.partition(":")
        if colon and not where.strip():
            raise DesignError("sink.no_address", value=text)
        return cls(tracker.strip(), where.strip())

    @property
    def text(self) -> str:
        """What `parse` reads; a project has no place in it."""
        return f"{self.tracker}:{self.where}" if self.where else self.tracker

    @property
    def mark(self) -> str:
        """A short name of a file for this sink: equal addresses have equal marks."""
        own = f"{self.tracker}\0{self.where}\0{self.project}".encode()
        return f"{self.tracker}-{hashlib.sha256(own).hexdigest()[:12]}"

    def placed(self, folder: Path | None = None) -> Sink:
        """This sink with its address filled in; relative folders begin at `folder`."""
        where = self.where or os.environ.get(_ENVIRONMENT.get(self.tracker, ""), "")
        where = where or _TRACKERS[self.tracker][1]
        if "://" in where or (self.tracker == "mlflow" and where.startswith("databricks")):
            return replace(self, where=where)
        own = Path(where).expanduser()
        return replace(self, where=str((folder or Path.cwd()) / own))

    def need(self) -> None:
        """Refuse a tracker whose package is not installed, before anything trains."""
        package = _TRACKERS[self.tracker][0]
        if importlib.util.find_spec(package) is None:
            purpose = f"sink {self.tracker}"
            raise MissingExtra("extra.missing", purpose=purpose, package=package, extra="trackers")


def sinks_from(given: Iterable[str | Sink] | str | Sink) -> tuple[Sink, ...]:
    """Sinks from what users write, every problem at once; each address once.

    >>> [sink.text for sink in sinks_from(["mlflow", "mlflow", "tensorboard:a"])]
    ['mlflow', 'tensorboard:a']
    """
    if isinstance(given, str | Sink):
        given = (given,)
    found: list[Sink] = []
    problems: list[Message] = []
    for one in given:
        try:
            sink = Sink.parse(one)
        except DesignError as error:
            problems += error.problems
        else:
            if sink not in found:
                found.append(sink)
    if problems:
        raise DesignError.several(problems)
    return tuple(found)


def _plain(text: str) -> bool:
    return text.isprintable() and not text.startswith("-")
