"""Sentences about one recorded trial or round: trained again, removed, brought back, renamed."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words


def _which(facts: Facts) -> str:
    if facts["trial"] is None:
        return f"the repeat in {facts['round']}"
    return f"{facts['round']} trial {facts['trial']}"


def _others(facts: Facts) -> str:
    if not facts["others"]:
        return ""
    names = ", ".join(facts["others"])
    return f" (other metrics that differ: {names})"


def _equal(facts: Facts) -> str:
    if facts["value"] is None:
        return f"{_which(facts)} is reproduced: {facts['status']} again{_others(facts)}"
    value = words.number(facts["value"])
    return f"{_which(facts)} is reproduced: {facts['metric']} {value} again{_others(facts)}"


def _differs(facts: Facts) -> str:
    now, before = words.number(facts["value"]), words.number(facts["recorded"])
    by = words.number(facts["difference"])
    since = "" if facts["step"] is None else f"; the curves part at step {facts['step']}"
    return (
        f"{_which(facts)} differs: {facts['metric']} {now} now, {before} recorded, a difference of "
        f"{by}{since}"
    )


def _same_value(facts: Facts) -> str:
    return (
        f"{_which(facts)} has the same {facts['metric']}, by another way: the curves part at step "
        f"{facts['step']}"
    )


def _different_ending(facts: Facts) -> str:
    why = "" if facts["reason"] is None else f" ({sentence(facts['reason'])})"
    return (
        f"{_which(facts)} ended differently: {facts['status']}{why} now, "
        f"{facts['recorded_status']} recorded"
    )


def _not_removed(facts: Facts) -> str:
    known = ", ".join(facts["known"]) or "none"
    return f"no round {facts['name']!r} was removed. Removed rounds: {known}."


def _holds_for(facts: Facts) -> str:
    fixed = ", ".join(f"{name} = {value}" for name, value in facts["fixed"].items())
    under = " and ".join(f"{name} = {value}" for name, value in facts["when"].items())
    return f"holds for {fixed}{f' under {under}' if under else ''}"


SENTENCES: dict[str, Template] = {
    # ---- rounds
    "remove.continued": "{round}: {rounds:list} continues it, and would lose its trials.",
    "remove.has_replicates": "{round}: {rounds:list} repeats its search, and would be left alone.",
    "remove.in_campaign": (
        "{round} is a step of the campaign {campaign}, which would not know what was tried."
    ),
    "remove.launched": (
        "{round}: {launches:count launch decision} rest on its trials; the history must stay."
    ),
    "remove.running": "{round} is running: stop it first.",
    "removed.not_found": _not_removed,
    "round.holds_for": _holds_for,
    "changed.value": "{what}: was {before}, is {after}",
    "changed.gone": "{what}: was {before}, is gone",
    "changed.new": "{what}: is new, {after}",
    "changed.order": (
        "{what}: the order was {before}, is {after}; the order decides which points are drawn"
    ),
    "changed.objective": (
        "objective: was {before}, is {after}. Without running anything, "
        "load(store, name).with_objective(...) judges the finished trials anew"
    ),
    "rm.no_round": "name the round to remove.",
    "rename.name_taken": "the store has a round {name!r} already: choose another name.",
    "rename.in_campaign": "{round} is a step of the campaign {campaign}, which finds it by name.",
    "rename.same_name": "{name} is called that already.",
    "trial.diff_cut": "... and {lines:count line} more: tunewright trial ROUND N --json",
    "again.equal": _equal,
    "again.differs": _differs,
    "again.same_value": _same_value,
    "again.ended_differently": _different_ending,
    "again.changed": "not the code that the trial ran: {files:list}",
    "again.code_unknown": "the store does not have which files the trial ran",
    "again.resumed": (
        "the recorded trial took {attempts:count attempt}: a resumed training may differ"
    ),
    "again.code_differs": (
        "{round} trial {trial} ran other code: {files:list}. Check out that code, or train it "
        "anyway."
    ),
    "again.folder_in_use": "{folder} is not empty: name a folder that is new.",
    "again.not_a_trial": "again({trial!r}): give a trial, such as results.best().",
    "again.imported": (
        "{round} was imported: another tool trained it, so there is no program to train with."
    ),
    "again.no_such_repeat": "{round} trial {trial} has {there:count repeat}, not {repeat}.",
    # ---- goals
    "goal.clip": "Is learning rate {rate:.3g} stable with gradients clipped at {norm:.3g}?",
    "goal.critical_batch": (
        "How many steps to the goal at batch size {batch_size}, everything tuned anew?"
    ),
    "goal.final": (
        "Train trial {trial} of {round} on training and validation data together, for good: its "
        "validation metrics measure training data now."
    ),
    "goal.imported": "imported from {origin}",
    "goal.longer": "Does training that is a little longer end better?",
    "goal.measure": "How long does a training take?",
    "goal.prepended": "Is the whole training better with the warm-up prepended?",
    "goal.replicate": (
        "How much of the result of {round} is noise? The same search with other points."
    ),
    "goal.split": "How much of trial {trial} of {round} is the data split?",
    "goal.stability": "From which learning rate above {rate:.3g} on is training unstable?",
    "goal.train_steps": (
        "How soon does the fastest constant learning rate fit the training data perfectly?"
    ),
    "goal.tune": "Which configuration is best?",
    "goal.warmup": "Do {warmup_steps} warm-up steps make learning rate {rate:.3g} stable?",
}
