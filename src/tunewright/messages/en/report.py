"""Sentences and headings of the pages about a round or a campaign."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

STATUSES = {  # in this order, as readers call them
    **{name: name for name in ("completed", "infeasible", "failed", "pruned")},
    "unmeasured": "not measured",
    **{name: name for name in ("running", "pending")},
}


def _counts(facts: Facts) -> str:
    counted = facts["counts"]
    parts = [
        f"{counted[status]} {shown}" for status, shown in STATUSES.items() if counted.get(status)
    ]
    return f"{words.count(facts['trials'], 'trial')}: {', '.join(parts) or 'none yet'}"


def _trust(facts: Facts) -> str:
    if facts["warnings"]:
        return f"{words.count(facts['warnings'], 'warning')}: read what not to trust first."
    if not facts["judged"]:
        return "Nothing could be judged yet."
    unknown = f"; {facts['unknown']} could not be judged" if facts["unknown"] else ""
    return f"No warning of the checklist{unknown}."


def _best(facts: Facts) -> str:
    return (
        f"Best {facts['metric']}: {words.number(facts['value'])}, trial {facts['trial']} at step "
        f"{facts['step']} ({words.settings(facts['settings'])})."
    )


def _why_not_completed(facts: Facts) -> str:
    numbers = facts["numbers"]
    shown = ", ".join(str(number) for number in numbers[:8]) + (" ..." if len(numbers) > 8 else "")
    what = "trial" if len(numbers) == 1 else "trials"
    return f"{len(numbers)} of {facts['trials']}: {facts['reason']} ({what} {shown})"


def _earlier(facts: Facts) -> str:
    rounds, counted = facts["rounds"], sum(facts["rounds"].values())
    of = ", ".join(f"{number} of {words.printable(name)}" for name, number in rounds.items())
    verb = "counts" if counted == 1 else "count"
    return f"{words.count(counted, 'earlier trial')} {verb} too: {of}"


def _settings(facts: Facts) -> str:
    names = facts["names"]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _tally(facts: Facts) -> str:
    return (
        f"{words.printable(facts['round'])}: {words.count(facts['warn'], 'warning')}, "
        f"{words.count(facts['note'], 'note')}, {facts['ok']} fine, "
        f"{facts['cannot_judge']} cannot be judged"
    )


def _trials(facts: Facts) -> str:
    said = f"{words.count(facts['trials'], 'trial')}, the best by {facts['metric']} first"
    if not facts["left_out"]:
        return said
    return f"{said}; {facts['left_out']} are not shown: {facts['export']} has all"


# campaigns


def _chosen(facts: Facts) -> str:
    whose = "The candidate" if facts["verdict"] in ("keep", "undecided") else "The best"
    return f"{whose}: {_measured(facts)}"


def _measured(facts: Facts) -> str:
    metric, values = facts["metric"], facts["repeats"]
    settings = words.settings(facts["settings"])
    if not values:
        return f"{metric} {words.number(facts['value'])} in one trial: {settings}."
    mean = words.number(facts["mean"])
    if len(values) == 1:
        return f"{metric} {mean} in one repeat: {settings}."
    spread = words.number(float(f"{facts['sd']:.2g}"))
    if facts["picked"]:
        return (
            f"{metric} {mean} on average of the {len(values)} repeats that chose it (sd {spread}; "
            f"a little optimistic): {settings}."
        )
    return f"{metric} {mean} on average of {len(values)} fresh seeds (sd {spread}): {settings}."


LAUNCHES = {
    "launch": "It beats the baseline",
    "keep": "It does not beat the baseline: keep that",
    "undecided": "Whether it beats the baseline is undecided",
}


def _launched(facts: Facts) -> str:
    if facts["baseline"] is None:
        return "It is the first baseline of this store: there was none to compare it with."
    parts = [f"{LAUNCHES.get(facts['verdict'], facts['verdict'])} ({facts['baseline']})"]
    if facts["probability"] is not None:
        parts.append(f"probability of a gain {facts['probability']:.2f}")
    if facts["gain"] is not None and facts["interval"]:
        low, high = (words.number(float(x)) for x in facts["interval"])
        gain = words.number(float(facts["gain"]))
        parts.append(f"gain {gain}, 90 % interval {low} to {high}")
    if facts["deterministic"] and facts["gain"] is not None:
        parts.append(f"deterministic: gain {words.number(float(facts['gain']))}, no probability")
    elif facts["false_launch_rate"] is not None:
        rate = f"{facts['false_launch_rate']:.0%}"
        parts.append(f"campaigns launch a change that does nothing in about {rate} of cases")
    if facts["reason"]:
        parts.append(str(facts["reason"]))
    return "; ".join(parts) + "."


def _tested(facts: Facts) -> str:
    measured = ", ".join(f"{name} {words.number(v)}" for name, v in facts["metrics"].items())
    look = facts["look"]
    times = "the first look" if look == 1 else f"look number {look}: be careful"
    return f"On the test set ({times}): {measured}."


def _spent(facts: Facts) -> str:
    return (
        f"{facts['spent']} of {words.count(facts['total'], 'trial')} used in "
        f"{words.count(facts['rounds'], 'round')} ({words.count(facts['repeats'], 'repeat')}, "
        f"{facts['infeasible']} infeasible), {words.duration(facts['seconds'])} of training."
    )


def _budget(facts: Facts) -> str:
    hours = f" or {facts['hours']:g} hours" if facts["hours"] is not None else ""
    return f"Within {words.count(facts['trials'], 'trial')}{hours}."


SENTENCES: dict[str, Template] = {
    "round.counts": _counts,
    "round.best": lambda facts: (
        f"{_counts(facts)}. Best {words.number(facts['value'])} {facts['metric']}, trial "
        f"{facts['trial']} at step {facts['step']}: {words.configuration(facts['settings'])}"
    ),
    "round.none_completed": lambda facts: f"{_counts(facts)}. No trial completed yet.",
    "round.why_not_completed": _why_not_completed,
    "round.other_reasons": "other reasons",
    "round.earlier_trials": _earlier,
    "checklist.tally": _tally,
    "checklist.all_failed": "{failed:count trial}, all failed: {reason}",
    "checklist.others": "and {others} more",
    "checklist.settings": _settings,
    "checklist.of_setting": "{about}: {text}",
    "answer.counts": lambda facts: f"{_counts(facts)}.",
    "answer.best": _best,
    "answer.repeated": lambda facts: (
        f"Repeated {facts['times']} times with new seeds, the best trial has mean "
        f"{words.number(facts['mean'])} and standard deviation "
        f"{words.number(float(format(facts['sd'], '.2g')))}."
    ),
    "answer.trust": _trust,
    # why an action comes next
    "next.advised": "advised by: {check}",
    "next.failed_elsewhere": "what is known of its failure ({failed:count trial} failed)",
    "next.failed": "why it failed, with the end of its log ({failed:count trial} failed)",
    "next.join": "help whoever runs it: {left:count trial} left",
    "next.stop": "ask them to save and stop",
    "next.left": "{left:count trial} left; nothing that has ended runs again",
    "next.check": "what can and cannot be trusted",
    "next.report": "the same with every figure, on one page",
    "next.propose": "which round to run then, and why",
    "next.went_wrong": "no trial completed: see how one went wrong",
    "next.repeat": "train the best again with new seeds: how much of it is noise?",
    "next.launch": "whether it becomes the baseline: both trained again until that is decided",
    "next.export": "every trial as a table",
    # headings
    "heading.verdict": "Verdict",
    "heading.found": "What it found",
    "heading.doubts": "What not to trust",
    "heading.caveats": "Every conclusion",
    "heading.next": "Next",
    "heading.checklist": "The rest of the checklist",
    "heading.fine": "{findings} fine",
    "heading.unknown": "{findings} could not be judged",
    "heading.trials": "Trials",
    "heading.progress": "How it came about",
    "heading.steps": "Every step, and why",
    "heading.together": "All its trials together",
    "note": "Note: {text}",
    "trials.caption": _trials,
    "trials.trial": "trial",
    "trials.study": "study",
    "trials.status": "status",
    "trials.best_step": "at step",
    "trials.configuration": "configuration",
    "trials.why": "why",
    "trials.again": "again",
    "steps.step": "step",
    "steps.kind": "what",
    "steps.why": "why",
    "steps.round": "round",
    "report.searched_by": "{objective}, searched by {search}",
    "report.objective": "{objective}",
    # the figures of a report
    "chapter.axis": "Every trial along every hyperparameter",
    "chapter.isolation": "What the scientific hyperparameters do",
    "chapter.curves": "Training curves of the best trials",
    "chapter.best_step": "When the best value was reached",
    "chapter.gradient_norm": "Gradient norms",
    "chapter.best_of_k": "Have we sampled enough?",
    "chapter.sensitivity": "Which hyperparameters matter",
    # campaigns
    "campaign.chosen": _chosen,
    "campaign.place": "It is {place}, best at step {step}.",
    "campaign.launched": _launched,
    "campaign.tested": _tested,
    "campaign.spent": _spent,
    "campaign.probe": "Probe {probe}: {answer:message}",
    "campaign.lengths": "Short against long training: {says}.",
    "campaign.left_out": "Left out: {what}.",
    "campaign.budget": _budget,
}
