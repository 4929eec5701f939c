"""Sentences of the MCP server: what its tools are for, what they answer, what they refuse."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _dry_run(facts: Facts) -> str:
    if not facts["left"]:
        return f"{facts['round']}: nothing is left to run"
    if facts["low_hours"] is None:
        return f"{facts['round']}: {words.count(facts['left'], 'trial')}, cost not known yet"
    low, high = facts["low_hours"] * 3600, facts["high_hours"] * 3600
    took = words.duration_range(low, high)
    return f"{facts['round']}: {words.count(facts['left'], 'trial')}, {took} expected"


def _status(facts: Facts) -> str:
    counts = ", ".join(f"{n} {status}" for status, n in facts["counts"].items()) or "no trials yet"
    return f"{facts['verdict']}: {counts}"


_LAUNCHED = {
    "launch": "the best trial of {about} becomes the baseline",
    "keep": "the baseline stays; the best trial of {about} is not better by enough",
    "undecided": "noise hides the difference; the baseline stays, nothing is shown of {about}",
    "none": "no decision about {about}",
}
_JUDGED = {
    "keep": "keep {about}: commit it, then make the next change",
    "discard": "discard {about}: undo it, then make the next change",
    "undecided": "nothing is shown of {about} yet",
}


def _launch_verdict(facts: Facts) -> str:
    verdict = facts["verdict"]
    return f"{verdict}: {_LAUNCHED[verdict].format(about=facts['about'])}{_chance(facts)}"


def _judge_verdict(facts: Facts) -> str:
    verdict = facts["verdict"]
    if verdict in _JUDGED:
        return f"{_JUDGED[verdict].format(about=facts['about'])}{_chance(facts)}"
    if facts["removed"] is not None:
        return f"audit: {words.count(facts['removed'], 'kept change')} removed"
    if facts["gain"] is not None and facts["interval"]:
        low, high = (words.number(end) for end in facts["interval"])
        return f"quote: {words.number(facts['gain'])} gained in all (95 % interval {low} to {high})"
    return f"{facts['about']}: answered"


def _chance(facts: Facts) -> str:
    sure = facts["probability"]
    return "" if sure is None else f" (better with probability {words.probability(sure)})"


def _judge_stands(facts: Facts) -> str:
    tried = words.count(facts["tried"], "change")
    gain = words.number(facts["running_gain"])
    return (
        f"{facts['kept']} of {tried} kept; running estimate of the gain, not to be quoted: {gain}"
    )


def _history(facts: Facts) -> str:
    if not facts["launches"]:
        return "nothing has been launched yet"
    return f"{words.count(facts['launches'], 'decision')}; the baseline is {facts['baseline']}"


def _no_handle(facts: Facts) -> str:
    known = f" Known: {', '.join(facts['known'])}." if facts["known"] else ""
    return f"no job {facts['handle']!r}.{known}"


SENTENCES: dict[str, Template] = {
    "mcp.instructions": (
        "Tune deep learning training with verdicts that have measured error rates. Loop: "
        "propose_round, dry_run, run, status until finished, check, then do what `next` of the "
        "answer names, until nothing warns; then launch. Never tune a seed or the number of "
        "steps, never conclude from a single run, never look at the test set before the end. "
        "For changes of code: judge begin once; then change, judge try, keep or undo as it answers."
    ),
    "mcp.about.propose_round": "Write a round: a goal, and a role for each hyperparameter.",
    "mcp.about.dry_run": "What running a round would do and cost; nothing is recorded.",
    "mcp.about.run": "Start a round in the background; answers at once with a handle.",
    "mcp.about.status": "How far a round or a handle is; its decision when it has ended.",
    "mcp.about.check": "Can the round be trusted? The most pressing finding and its action.",
    "mcp.about.next": "What to do after a round; write=true writes the proposed round.",
    "mcp.about.launch": "Decide in the background whether the best becomes the baseline.",
    "mcp.about.judge": "Keep or discard code changes, one by one, by runs of its command.",
    "mcp.nothing_ran": "no trial of {round} has run yet.",
    "mcp.round_exists": "round {name} exists; choose another name, or run it.",
    "mcp.judge_needs_command": (
        "this project trains a Python function; a referee needs a command. In a shell: tunewright "
        "judge begin COMMAND --minimize METRIC."
    ),
    "mcp.about.history": "Launch decisions so far, and the baseline.",
    "mcp.about.why": "What became of one trial, and why.",
    "mcp.about.diagnose": "What the curves of a run of any tool show.",
    "mcp.proposed": "{name}: {settings:count setting}, {trials:count trial} in all",
    "mcp.dry_run": _dry_run,
    "mcp.check_fine": "{round}: nothing warns",
    "mcp.no_proposal": "{round}: no further round is proposed",
    "mcp.history": _history,
    "mcp.why": "trial {trial} is {status}: {reason}",
    "mcp.no_reason": "nothing went wrong",
    "mcp.started": "{kind} of {about} runs in the background as {handle}",
    "mcp.status": _status,
    "mcp.launched": _launch_verdict,
    "mcp.judged": _judge_verdict,
    "mcp.judge_begun": "the lineage begins at {current}; change the program, then judge try",
    "mcp.judge_stands": _judge_stands,
    "mcp.judge_history": "{decisions:count decision}, the newest {newest} here",
    "mcp.by_hand": "do by hand what the sentence states, then run the round again",
    "mcp.diagnosed": "{run}: {headline}",
    "mcp.diagnosed_nothing": "nothing warns",
    # ---- errors
    "mcp.unknown_tool": "no tool {tool!r}. There are: {known:list}.",
    "mcp.unknown_argument": "{tool}: no argument {name!r}. It takes: {known:list}.",
    "mcp.missing_argument": "{tool}: {name} is missing",
    "mcp.wrong_type": "{tool}: {name} is not a {kind}",
    "mcp.too_large": "{tool}: {name} is too large (at most {most})",
    "mcp.bad_name": (
        "{tool}: {name} = {shown!r}: a name has letters, digits, spaces, dots, - and _"
    ),
    "mcp.bad_text": "{tool}: {name} has control characters, such as NUL",
    "mcp.bad_choice": "{tool}: {name} is one of {known:list}",
    "mcp.outside_project": "{tool}: {name} = {shown!r} is not in the project",
    "mcp.no_handle": _no_handle,
    "mcp.unforeseen": "not foreseen: {kind}: {text}",
}
