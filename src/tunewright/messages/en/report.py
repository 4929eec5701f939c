"""Sentences of reports, pages and the dashboard, and of errors raised in `present`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words

# ---- sentences and headings of the pages about a round or a campaign


STATUSES = {  # in this order, as readers call them
    **{name: name for name in ("completed", "infeasible", "failed", "pruned")},
    "unmeasured": "not measured",
    **{name: name for name in ("running", "pending")},
}


def _counts(facts: Facts) -> str:
    counted = facts["counts"]
    parts = [
        f"{counted[status]} {word}" for status, word in STATUSES.items() if counted.get(status)
    ]
    return f"{words.count(facts['trials'], 'trial')}: {', '.join(parts) or 'none yet'}"


def _trust(facts: Facts) -> str:
    if facts["warnings"]:
        return f"{words.count(facts['warnings'], 'warning')} of the checklist."
    if not facts["judged"]:
        return "Nothing could be judged yet."
    unknown = f"; {facts['unknown']} could not be judged" if facts["unknown"] else ""
    return f"No warning of the checklist{unknown}."


def _best(facts: Facts) -> str:
    return (
        f"Best {facts['metric']}: {words.number(facts['value'])}, trial {facts['trial']} at step "
        f"{facts['step']} ({words.settings(facts['settings'])})."
    )


def _ahead(facts: Facts) -> str:
    """Which setting is ahead, by how much, and how surely."""
    trials = words.count(facts["trials"], "trial")
    sure = f"weak: {trials} each" if facts["weak"] else f"{trials} each"
    of = f" of {facts['other']}" if facts["others"] > 1 else ""
    text = f"{facts['best']} is ahead{of} by {_two(facts['gap'])} ({sure})"
    return {"yes": "Yes: ", "no": "No: "}.get(facts["says"], "") + text


def _no_clear_gap(facts: Facts) -> str:
    trials = words.count(facts["trials"], "trial")
    best, other = facts["best"], facts["other"]
    if facts["says"] == "yes":
        return f"Yes: {best} leads, {other} close behind ({trials} each)"
    gap = "" if facts["gap"] is None else f" by {_two(facts['gap'])}"
    return f"No clear difference: {best} leads {other}{gap} ({trials} each)"


def _two(x: float) -> str:
    return words.number(float(f"{x:.2g}"))


def _trend(facts: Facts) -> str:
    if facts["follows"]:
        return f"Yes: the best value follows {facts['name']} (p {facts['p']:.2g})"
    return f"No effect of {facts['name']} beyond the noise"


def _nothing_completed(facts: Facts) -> str:
    counted = facts["counts"]
    ended = [f"{counted[s]} {s}" for s in ("infeasible", "failed", "pruned") if counted.get(s)]
    of = words.count(facts["trials"], "trial")
    return f"No answer: none of {of} completed" + (f" ({', '.join(ended)})" if ended else "")


def _tile_trials(facts: Facts) -> str:
    counted = facts["counts"]
    parts = [f"{counted[status]} {status}" for status in STATUSES if counted.get(status)]
    studies = f"in {facts['studies']} studies: " if facts["studies"] > 1 else ""
    return studies + (", ".join(parts) or "none yet")


def _tile_best(facts: Facts) -> str:
    step = "" if facts["step"] is None else f" at step {facts['step']}"
    return f"trial {facts['trial']}{step}"


def _tile_chosen(facts: Facts) -> str:
    if not facts["repeats"]:
        return f"{facts['place']}, one trial"
    return f"{facts['place']}, average of {words.count(facts['repeats'], 'seed')}"


def _undrawn(facts: Facts) -> str:
    parts = [f"{figure['figure']} ({_clause(figure['why'])})" for figure in facts["missing"]]
    return f"Not drawn: {'; '.join(parts)}."


def _clause(text: str) -> str:
    return str(text).rstrip(".")


def _commits(facts: Facts) -> str:
    changed = " with uncommitted changes" if facts["changed"] else ""
    noun = "commit" if len(facts["commits"]) == 1 else "commits"
    return f"{noun} {', '.join(facts['commits'][:3])}{changed}"


def _hosts(facts: Facts) -> str:
    devices = f" ({', '.join(facts['devices'][:4])})" if facts["devices"] else ""
    more = f" and {len(facts['hosts']) - 3} more" if len(facts["hosts"]) > 3 else ""
    return f"on {', '.join(facts['hosts'][:3])}{more}{devices}"


def _version(facts: Facts) -> str:
    older = f" (trials ran with {', '.join(facts['ran_with'])})" if facts["ran_with"] else ""
    return f"Tunewright {facts['version']}{older}"


def _why_not_completed(facts: Facts) -> str:
    numbers = facts["numbers"]
    listed = ", ".join(str(number) for number in numbers[:8]) + (" ..." if len(numbers) > 8 else "")
    what = "trial" if len(numbers) == 1 else "trials"
    return f"{len(numbers)} of {facts['trials']}: {facts['reason']} ({what} {listed})"


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
    text = f"{words.count(facts['trials'], 'trial')}, the best by {facts['metric']} first"
    if not facts["left_out"]:
        return text
    return f"{text}; {facts['left_out']} are not shown: {facts['export']} has all"


# campaigns


def _choice(facts: Facts) -> str:
    whose = "The candidate" if facts["verdict"] in ("keep", "undecided") else "The best"
    return f"{whose}: {_measurement(facts)}"


def _measurement(facts: Facts) -> str:
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


def _launch_line(facts: Facts) -> str:
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
    if reason := facts["reason"]:  # version 1 stored a sentence
        parts.append(reason if isinstance(reason, str) else sentence(reason))
    return "; ".join(parts) + "."


def _test(facts: Facts) -> str:
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


# ---- sentences of the dashboard: what it refuses, and what it prints when it starts


PERMITS = {
    "read": "read the store",
    "actions": "write notes and request stops",
    "run": "start rounds of this project",
}


def _permits(facts: Facts) -> str:
    text = ", ".join(PERMITS[permit] for permit in facts["permits"])
    others = "" if len(facts["permits"]) > 1 else "; nothing is changed"
    return f"Pages may {text}{others}."


SENTENCES: dict[str, Template] = {
    # ---- report
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
    # the answer in the first line
    "headline.ahead": _ahead,
    "headline.no_clear_gap": _no_clear_gap,
    "headline.trend": _trend,
    "headline.best": lambda facts: (
        f"Best {facts['metric']} so far: {words.number(facts['value'])}, with "
        f"{words.settings(facts['settings']) or 'nothing searched'}"
    ),
    "headline.not_judged": "Not clear yet: {best} is ahead, but {why:message}",
    "headline.nothing_completed": _nothing_completed,
    "tile.best": "best {metric}",
    "tile.best.detail": _tile_best,
    "tile.chosen.detail": _tile_chosen,
    "tile.none.detail": "no trial completed",
    "tile.trials": "trials",
    "tile.trials.detail": _tile_trials,
    "tile.spent.detail": "of {total} in {rounds:count round}",
    "tile.time": "training time",
    "tile.time.detail": lambda facts: (
        f"{facts['hours']:.1f} hours over all trials and repeats"
        if facts["hours"] >= 1
        else "over all trials and repeats"
    ),
    "tile.no_time.detail": "not recorded",
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
    "heading.caveats": "Holds for",
    "heading.figures": "Figures",
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
    "trials.status": "status",
    "trials.best_step": "at step",
    "trials.time": "time",
    "trials.ended": lambda facts: (
        f"{facts['status']}: {facts['reason']}" if facts["reason"] else facts["status"]
    ),
    "trials.again": "again",
    "steps.step": "step",
    "steps.kind": "what",
    "steps.why": "why",
    "steps.round": "round",
    **{f"status.{status}": status for status in STATUSES},
    "report.undrawn": _undrawn,
    "report.commits": _commits,
    "report.hosts": _hosts,
    "report.version": _version,
    "report.written": "written {date}",
    "report.searched_by": "{objective}, searched by {search}",
    "report.objective": "{objective}",
    # campaigns
    "campaign.chosen": _choice,
    "campaign.place": "It is {place}, best at step {step}.",
    "campaign.launched": _launch_line,
    "campaign.tested": _test,
    "campaign.spent": _spent,
    "campaign.probe": "Probe {probe}: {answer:message}",
    "campaign.lengths": "Short against long training: {says}.",
    "campaign.left_out": lambda facts: f"Left out: {facts['what'].rstrip('.')}.",
    "campaign.budget": _budget,
    # ---- pages on a screen
    "page.trial.snapshot": "{path} at step {step}",
    "page.trial.retry": "{command}  (once the program is fixed)",
    "page.trial.earlier": "trial {trial} of {round}",
    "page.trial.rank": "{rank} of {of} completed",
    "page.trial.time": "{seconds:duration} in {attempts:count attempt}",
    "page.trial.memory": "{memory} at most",
    "page.proposals": lambda facts: (
        f"{facts['round']}: one way on"
        if facts["proposals"] == 1
        else f"{facts['round']}: {facts['proposals']} ways on, the most urgent first"
    ),
    # ---- errors present
    "plot.bad_ending": "{what}: cannot write {target!r}. End the path in {first} or {second}.",
    "plot.no_best_step": (
        "the objective is the last value of {metric}, so no step is better than the last. "
        "Judge by the best value to see when it was reached."
    ),
    "plot.no_gradient_norm": (
        "{round}: none of the best trials logged {metric!r}. Log the norm of the gradient, and "
        "declare its name: {declare.means.gradient_norm}."
    ),
    "plot.no_such_hyperparameter": (
        "{round}: no searched hyperparameter {name!r}. It has: {known:list}."
    ),
    "plot.not_a_pair": "{round}: no two searched hyperparameters occur together.",
    "plot.not_results": "progress: give the Results of one round or more.",
    "plot.not_scientific": "{round}: {name!r} is not scientific. It has: {known:list}.",
    "plot.nothing_scientific": (
        "{round} has no scientific hyperparameter, so there is nothing to isolate. "
        "plots.axis() shows its trials."
    ),
    "report.bad_ending": (
        "report: cannot write {target!r}. End the path in .html for a page or .txt for plain text."
    ),
    "report.campaign_empty": "the campaign {campaign} has run nothing yet.",
    # ---- ui
    "ui.at": "Dashboard of {store}: {url}",
    "ui.bad_body": "the body of the request is not a JSON object",
    "ui.bad_field": "{field}: expected {kind}",
    "ui.export_permits": "--export writes files, which permit nothing",
    "ui.folder_taken": "{folder} has files that are not an exported dashboard's",
    "ui.judge_died": "the checklist ended with code {code} and printed {said!r}",
    "ui.no_project": "--allow-run needs a project: no tunewright.toml here, for {store}",
    "ui.no_round_file": "{round}: no round file of this project. It has: {known:list}.",
    "ui.no_such_file": "{path!r}: no such file of this trial",
    "ui.not_results": "show() expects Results as its first argument, got {kind}",
    "ui.not_started": "the dashboard's server did not start",
    "ui.opened": (
        "Browsers read these pages from a web server only. Run the command below in this folder, "
        "then open http://localhost:8000/."
    ),
    "ui.scriptless": (
        "This dashboard needs JavaScript. The command tunewright report makes a page that does not."
    ),
    "ui.other_store": "--allow-run: the project's store is {own}, and {store} is another",
    "ui.permits": _permits,
    "ui.port_taken": "{address}:{port} cannot be used: {reason}. Choose another --port.",
    "ui.round_runs": "{round}: started from this dashboard already, and still running",
    "ui.token_needed": "a dashboard that other machines can reach needs a token",
    "ui.too_large": "the body of the request exceeds {most} bytes",
    "ui.unknown_permission": "{asked:list}: not one of {known:list}",
    "ui.wrote": "wrote {files:count file} ({megabytes:.1f} MB) to {folder}",
}
