"""Errors of no folder in particular, and what helps after an error in a few words."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "error.text": "{text}",  # of another program, or of a caller
    "extra.missing": "{purpose} needs {package}: pip install 'tunewright[{extra}]'",
}
REMEDIES: dict[str, Template] = {
    "first_run": "run a round, or name another store with --store",
    "list_rounds": "see which rounds there are",
    "join_round": "join it, or end it with `tunewright stop`",
    "doctor": "check the machine and the store",
    "restore": lambda facts: (
        "make the store again from its trial folders"
        if facts["rebuild"]
        else "bring the newest backup back"
    ),
}
