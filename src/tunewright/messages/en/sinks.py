"""Sentences about sinks: the trackers that receive a copy of every trial."""

from __future__ import annotations

import shlex

from tunewright.messages import Facts, Template, words


def _behind(facts: Facts) -> str:
    command = shlex.join(
        ["tunewright", "sync", facts["round"], "--sink", f"{facts['tracker']}:{facts['where']}"]
    )
    lacks = f"{facts['tracker']} lacks {words.count(facts['left'], 'trial')}"
    if not facts["left"]:
        lacks = f"{facts['tracker']} could not be closed"
    return f"{lacks} ({facts['error']}). The store has all of them; write them with: {command}"


def _synced(facts: Facts) -> str:
    has = f"{facts['tracker']} has {words.count(facts['written'], 'trial')} in {facts['where']}"
    if facts["busy"]:
        return f"{has}; another process writes to it now"
    if facts["left"]:
        return f"{has} and lacks {facts['left']} ({facts['error']})"
    return f"{has} ({facts['error']})" if facts["error"] else has


SENTENCES: dict[str, Template] = {
    "sink.behind": _behind,
    "sink.synced": _synced,
    "sink.not_started": "the process of {tracker} could not be started: {error}",
    "sink.unknown": "{tracker!r} is not a tracker. Choose one of {known:list}.",
    "sink.bad_text": "sink: {field} is a line of printable text, got {value!r}.",
    "sink.not_a_folder": (
        "sink: {tracker} writes into a folder, got {where!r}. Name a folder: {tracker}:FOLDER."
    ),
    "sink.not_text": "sinks: expected names such as 'mlflow' or Sink(...), got {value!r}.",
    "sink.no_address": "sink {value!r}: an address follows the colon, or leave the colon out.",
    "sink.not_deleted": "{folder}: the run {run} cannot be deleted to be written anew.",
    "sink.not_whole": "{folder}: the run {run} was written, but cannot be read back whole.",
    "sink.no_sink": "no sink is named. Name one: --sink mlflow, or sinks = [...] in the workload.",
}
