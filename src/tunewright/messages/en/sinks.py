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


SENTENCES: dict[str, Template] = {
    "sink.behind": _behind,
    "sink.not_started": "the process of {tracker} could not be started: {error}",
    "sink.unknown": "{tracker!r} is no tracker. There is: {known:list}.",
    "sink.bad_text": "sink: {field} is a line of printable text, got {value!r}.",
    "sink.not_a_folder": (
        "sink: {tracker} writes into a folder, got {where!r}. Name a folder: {tracker}:FOLDER."
    ),
    "sink.not_text": "sinks: expected names such as 'mlflow' or Sink(...), got {value!r}.",
    "sink.no_address": "sink {value!r}: an address follows the colon, or leave the colon out.",
    "sink.no_sink": "no sink is named. Name one: --sink mlflow, or sinks = [...] in the workload.",
}
