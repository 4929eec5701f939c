"""Sentences of the errors raised in `project`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "function.bad_file_name": "{path} cannot be imported by that name",
    "function.bad_name": "function {named!r}: not a file and a function",
    "function.file_missing": "{path} does not exist",
    "function.file_stands": "the file stands beside tunewright.toml, or below it",
    "function.ends_on_import": (
        "it is a program that runs, and ends, when it is imported: put that below "
        'if __name__ == "__main__"'
    ),
    "function.imported_again": (
        "workers import it again; the name must be an identifier, and none of Python's modules"
    ),
    "function.hidden": "{path} is hidden by another module of that name",
    "function.import_failed": "{name} cannot be imported: {kind}: {error}",
    "function.not_a_function": "{named} is {found!r}, not a function",
    "function.not_found": "{place} has no function {name!r}",
    "project.bad_round_name": "{shown!r} cannot name a round: it is a file's name below {rounds}/",
    "project.file_exists": "{path} is there already",
    "project.no_file": "no {file} here or above",
    "project.no_round": "no round {name!r}: {path} does not exist",
    "project.nearest_round": "did you mean {near!r}?",
    "project.rounds_are": "there is: {known:list}",
    "project.no_store": "no store: neither {file} nor {default_store} is here or above",
    "scan.not_a_command": "{program!r} cannot be split into words: {error}",
    "scan.not_a_program": "{program!r} names no Python file: write train.py, or -m package.module",
    "scan.no_program": "{path} does not exist: give the file of the program",
    "scan.not_started": "{program} could not be started: {error}",
    "scan.bad_time": "{seconds} s: a trial run takes more than 0 and at most {most} s",
    "scan.cannot_try": (
        "the program needs {required:list}: write the values into the command, as in "
        '"python train.py --data=PATH"'
    ),
}
