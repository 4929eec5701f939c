"""Progress of training, patterns that read a program's lines, and why a round stops early."""

from __future__ import annotations

from tunewright.messages import Facts, Template, text

_SLOW = {
    "group": "a group that repeats can take very long on one line; only ? may follow a group",
    "any": ".* occurs too often, which can take very long on one line; write what stands between",
}


def _hopeless(facts: Facts) -> str:
    reason = facts["reason"]
    cause = text(reason["code"], {name: fact for name, fact in reason.items() if name != "code"})
    who = "a repeat" if facts["trial"] is None else f"trial {facts['trial']}"
    if facts["mute"]:
        found = f"{who} ran to its end and logged nothing, so no other trial can be judged: {cause}"
    else:
        found = f"the first {facts['trials']} trials have all failed, the last: {cause}"
    return f"{found}. {facts['finishing']}; fix the program, then run again"


def _not_restored(facts: Facts) -> str:
    who = "a repeat" if facts["number"] is None else f"trial {facts['number']}"
    return (
        f"{who}: a snapshot of step {facts['step']} exists, but the program did not read "
        "run.restored: it starts at step 0"
    )


def _own_process(facts: Facts) -> str:
    who = "a repeat" if facts["number"] is None else f"trial {facts['number']}"
    return f"{who} trains in its own process, not in the pack: {facts['reason']}"


SENTENCES: dict[str, Template] = {
    "packed.own_process": _own_process,
    "progress.bad": 'progress={progress!r}: give "auto", "off" or a tw.progress.Watcher.',
    "progress.bad_variable": "{variable}={value}: set it to off, plain or auto.",
    "round.hopeless": _hopeless,
    "run.not_restored": _not_restored,
    "read.not_table": (
        "read: {value!r} is not a table; write [workload.read] and below it line = '...'."
    ),
    "read.not_text": (
        "read: {pattern!r} is not a regular expression as text, such as "
        r"'step (?P<step>\d+): val loss (?P<val_loss>\S+)'."
    ),
    "read.not_regex": "read: {pattern!r} is no regular expression: {error}.",
    "read.no_group": (
        "read: {pattern!r} has no named group; name each metric, such as (?P<val_loss>\\S+)."
    ),
    "read.step_alone": (
        "read: {patterns:list} name no metric; add a group such as (?P<val_loss>\\S+)."
    ),
    "read.slow": lambda facts: f"read: {facts['pattern']!r}: {_SLOW[facts['why']]}.",
    "read.too_many": "read: {count} patterns; at most {most}.",
    "read.without_command": (
        "read: lines are read of a command only; a function calls run.log(step, metric=value)."
    ),
}
