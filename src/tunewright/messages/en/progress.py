"""Sentences shown while trials run, and of cards in a notebook."""

from __future__ import annotations

from tunewright.messages import Facts, Template, text, words

# ---- progress of training, patterns that read a program's lines, and why a round stops early


_SLOW = {
    "group": "a group that repeats can take very long on one line; only ? may follow a group",
    "any": ".* occurs too often, which can take very long on one line; write what stands between",
}


def _hopeless(facts: Facts) -> str:
    reason = facts["reason"]
    cause = text(reason["code"], {name: fact for name, fact in reason.items() if name != "code"})
    who = "a repeat" if facts["trial"] is None else f"trial {facts['trial']}"
    if facts["mute"]:
        head = f"{who} ran to its end and logged nothing, so no other trial can be judged: {cause}"
    else:
        head = f"the first {facts['trials']} trials have all failed, the last: {cause}"
    return f"{head}. {facts['finishing']}; fix the program, then run again"


def _not_restored(facts: Facts) -> str:
    who = "a repeat" if facts["number"] is None else f"trial {facts['number']}"
    return (
        f"{who}: a snapshot of step {facts['step']} exists, but the program did not read "
        "run.restored: it starts at step 0"
    )


def _own_process(facts: Facts) -> str:
    who = "a repeat" if facts["number"] is None else f"trial {facts['number']}"
    return f"{who} trains in its own process, not in the pack: {facts['reason']}"


_ENDED = {
    "finished": "every trial has ended",
    "interrupted": "interrupted",
    "terminated": "ended by SIGTERM",
    "asked to stop": "stopped on request",
    "out of time": "time limit reached",
    "budget spent": "the budget is spent",
    "limit": "the requested number of trials has run",
    "all failed": "the first trials have all failed",
    "no suggestion": "the search has no further suggestion",
    "error": "an error ended it",
}
_WHOLE = ("finished", "no suggestion")  # nothing is left to resume


def _ending(facts: Facts) -> str:
    if facts["stopped"]:
        return "every trial has ended, except those asked to stop"
    return _ENDED[facts["why"]]


def _ending_in_python(facts: Facts) -> str:
    """Why a call returned, and how to resume from Python."""
    if facts["why"] == "all failed":
        return f"{_ending(facts)}. Fix the workload, then call it again with retry_failed=True"
    if facts["why"] in _WHOLE and not facts["stopped"]:
        return _ending(facts)
    return f"{_ending(facts)}. Make the same call again to resume"


def _ending_at_a_shell(facts: Facts) -> str:
    """The same for a reader at a shell: the command that resumes."""
    command = f"tunewright run {words.shell_word(facts['round'])}"
    if facts["why"] == "all failed":
        return f"{_ending(facts)}. Fix the workload, then: {command} --retry-failed"
    if facts["why"] == "finished" and not facts["stopped"]:
        return "finished"
    if facts["why"] in _WHOLE and not facts["stopped"]:
        return _ending(facts)
    return f"{_ending(facts)}; {command} resumes"


# ---- words of the cards that a notebook shows of a trial, a round, a launch and so on


def _findings(facts: Facts) -> str:
    kinds = ("warn", "note", "ok", "cannot_judge")
    named = {"warn": "warning", "note": "note"}
    parts = []
    for kind in kinds:
        if count := facts[kind]:
            noun = named.get(kind)
            fine = "fine" if kind == "ok" else "not judged"
            parts.append(words.count(count, noun) if noun else f"{count} {fine}")
    return ", ".join(parts) or "no findings"


def _trial(facts: Facts) -> str:
    name = "repeat" if facts["number"] is None else f"trial {facts['number']}"
    value = "" if facts["value"] is None else f", {words.number(facts['value'])}"
    step = "" if facts["step"] is None else f" at step {facts['step']}"
    return f"{name}: {facts['status']}{value}{step}"


def _results(facts: Facts) -> str:
    counts = ", ".join(f"{n} {status}" for status, n in facts["counts"].items())
    return f"{words.count(facts['trials'], 'trial')}: {counts}" if counts else "no trials yet"


SENTENCES: dict[str, Template] = {
    # ---- progress
    "run.ended": _ending_in_python,
    "run.outcome": _ending_at_a_shell,
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
    "read.not_regex": "read: {pattern!r} is not a regular expression: {error}.",
    "read.no_group": (
        "read: {pattern!r} has no named group; name each metric, such as (?P<val_loss>\\S+)."
    ),
    "read.step_alone": (
        "read: {patterns:list} name no metric; add a group such as (?P<val_loss>\\S+)."
    ),
    "read.slow": lambda facts: f"read: {facts['pattern']!r}: {_SLOW[facts['why']]}.",
    "read.too_many": "read: {count} patterns; at most {most}.",
    "read.bad_file": "read: file = {file!r} is not a path below the trial's folder.",
    "read.unknown_kind": "read: file = {file!r}: the ending is none of {known:list}.",
    "read.bad_step": "read: step = {step!r} is not the name of a column.",
    "read.bad_step_times": "read: step_times = {step_times!r} is not a whole number above zero.",
    "read.file_and_line": "read: line and file = {file!r} exclude each other: keep one.",
    "read.step_without_file": "read: {keys:list} without file; name the file that has them.",
    "read.without_command": (
        "read: lines are read of a command only; a function calls run.log(step, metric=value)."
    ),
    # ---- cards
    "card.findings": _findings,
    "card.fine": "{count} fine",
    "card.not_judged": "{count} not judged",
    "card.trial": _trial,
    "card.results": _results,
    "card.round": "{name}: {studies:count study/studies}, {trials:count trial} each",
    "card.study": "{label}: {trials:count trial}",
    "card.variances": "How far chance moves {metric} in {round}",
    "card.proposals": "What to do next, the most useful first",
    "card.campaign": "{name}: {spent} of {total:count trial} in {rounds:count round}",
    "card.limits": "What limits it: {text}",
    "card.label.hyperparameter": "hyperparameter",
    "card.label.role": "role",
    "card.label.searched": "value or range",
    "card.label.scientific": "scientific",
    "card.label.nuisance": "nuisance",
    "card.label.fixed": "fixed",
    "card.label.conditional": "only {condition}",
    "card.label.candidate": "candidate",
    "card.label.baseline": "baseline",
    "card.label.probability": "probability",
    "card.label.gain": "gain",
    "card.label.interval": "90 % interval",
    "card.label.runs": "runs",
    "card.label.seconds": "time",
    "card.label.seed": "seed",
    "card.label.attempts": "attempts",
    "card.label.memory": "peak memory",
    "card.label.source": "source",
    "card.label.sd": "standard deviation",
    "card.label.how": "measured from",
    "card.label.step": "step",
    "card.label.why": "why",
    "card.label.round": "round",
    "card.label.what": "what",
    "card.label.best": "best",
    "card.label.study": "study",
    "card.label.trial": "trial",
    "card.none_completed": "no completed trial to {objective}",
}
