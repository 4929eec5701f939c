"""Findings about values that a program may not have used: headline first, then the numbers."""

from __future__ import annotations

from collections.abc import Callable

from tunewright.messages import Facts, Template, words

MOST_SHOWN = 3  # of several alike
LONGEST_NAME = 30  # characters of a name in a headline

HEADLINES: dict[str, str] = {
    "echo": "The program reports another {name} than it was given",
    "ranks": "The processes of a trial use different values of {name}",
    "scaled": "The program scales {name} by one factor",
    "curves": "{name} changes nothing: not one digit of any curve",
    "rate": "The logged learning rate does not follow {name}",
    "no_decay": "The learning rate stays constant, whatever {name} was given",
    "decays": "The learning rate decays although {name} is constant",
    "no_warmup": "The learning rate starts at its peak: {name} is not applied",
    "unknown_option": "The program drops {option}: {name} is not applied",
    "unread_option": "The program never reads {option}: {name} is not applied",
}


def applied(verdict: str, facts: Facts) -> list[str]:
    """Were the values really applied?"""
    if verdict == "ok":
        return _fine(facts)
    doubts = facts["doubts"]
    first = doubts[0]
    name = first["name"]
    short = name if len(name) <= LONGEST_NAME and " " not in name else "a hyperparameter"
    option = first["option"] if " " not in first["option"] else "an option"
    headline = HEADLINES[first["kind"]].format(name=short, option=option)
    return [headline, *(_evidence(doubt) for doubt in doubts)]


def _fine(facts: Facts) -> list[str]:
    """What was looked at, where nothing casts doubt."""
    confirmed = facts["confirmed"]
    parts = {
        "reported the values they used": facts["echoed"],
        "logged their learning rate": facts["rates"],
        "had their options looked up in the source": facts["options"],
        "were compared by their curves": facts["curves"],
    }
    looked = [f"{words.count(many, 'trial')} {what}" for what, many in parts.items() if many]
    seen = [f"seen to be applied: {', '.join(confirmed)}"] if confirmed else []
    if facts["unseen"]:
        seen.append(f"not shown for {', '.join(facts['unseen'])}")
    headline = "The program applied the values" if confirmed else "No value was seen to be ignored"
    return [headline, "; ".join(looked), *seen]


def _evidence(doubt: Facts) -> str:
    runs = f"{doubt['runs']} of {words.count(doubt['of'], 'trial')}"
    given, seen = _list_of(doubt["given"]), _list_of(doubt["seen"])
    name, option = doubt["name"], doubt["option"]
    if doubt["kind"] == "curves":
        other = "" if doubt["certain"] else ", or it has no effect in this round"
        return (
            f"{name}: {runs} have the same curves under different values ({given}); the program "
            f"ignores it{other}"
        )
    return {
        "echo": f"{name}: {runs} report {seen} where {given} was given",
        "ranks": f"{name}: {runs} report different values from their ranks: {seen}",
        "scaled": f"{name}: {runs} report {seen} where {given} was given, one factor for all",
        "rate": f"{name}: {runs} log a highest learning rate of {seen} where {given} was given",
        "no_decay": f"{name}: {runs} log a learning rate that never changes under {given}",
        "decays": f"{name}: {runs} log a learning rate that falls under {given}",
        "no_warmup": f"{name}: {runs} log the peak in the first half of the warm-up ({given})",
        "unknown_option": f"{name}: the source defines no option {option} and drops what it does "
        f"not know ({runs})",
        "unread_option": f"{name}: the source defines {option} and never reads its value ({runs})",
    }[doubt["kind"]]


def _list_of(values: list[object]) -> str:
    texts = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values[:MOST_SHOWN]]
    return ", ".join(dict.fromkeys(texts))


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {"applied": applied}
CANNOT_JUDGE: dict[str, str] = {"applied": "Nothing shows whether the values were applied"}
SECTIONS: dict[str, str] = {"applied": "Extracting insight from experimental results"}
SENTENCES: dict[str, Template] = {
    "applied.none_ended": "no trial has ended",
    "applied.nothing_shows": "no trial reports the values it used or logs its learning rate, and "
    "the curves are too short or too coarse to compare",
}
ACTIONS: dict[str, Template] = {
    "report_applied": "report the values that the program uses: run.applied(learning_rate=...), or "
    "run two short trials with one seed (docs/checks/applied.md)",
    "trace_value": "follow {name} through the program to the place that uses it, then run the "
    "round again",
    "compare_by_hand": "start the program twice with different values of {name}: the first losses "
    "must differ",
    "correct_option": "use the program's own name in place of {option}, and parse_args in place "
    "of parse_known_args",
    "read_option": "use the value of {option} in the program, or leave {name} out of the round",
    "same_values_on_ranks": "read {name} on rank 0 and broadcast it, or give every rank the same "
    "configuration",
    "declare_scaled": "search the value that the program uses, or take the factor out of it",
}
