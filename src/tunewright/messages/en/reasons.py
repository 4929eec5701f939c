"""Why a trial is infeasible, failed, pruned or due for another attempt."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Facts, Template, text, words


def _at_step(facts: Facts) -> str:
    """Where it happened; a reason that speaks of several trials has no step."""
    step = facts.get("step")
    return "" if step is None else f" at step {step}"


def _pruning(facts: Facts) -> str:
    """Why it could not win; another tool's reason has a step at most."""
    if "bound" not in facts:
        return f"pruned{_at_step(facts)}"
    return (
        f"pruned{_at_step(facts)}: {facts['metric']} is {words.number(facts['value'])} and ends at "
        f"{words.number(facts['bound'])} at best, worse than the {facts['place']}th best "
        f"({words.number(facts['reference'])}; {facts['curves']} finished curves)"
    )


def _inner(facts: Facts) -> str:
    """The sentence of the reason inside another."""
    cause = facts["cause"]
    return text(cause["code"], {name: fact for name, fact in cause.items() if name != "code"})


def _read(patterns: Sequence[str]) -> str:
    """The patterns that read its log, as a project file has them."""
    if not patterns:
        return ""
    written = [f"'''{pattern}'''" if "'" in pattern else f"'{pattern}'" for pattern in patterns]
    line = written[0] if len(written) == 1 else f"[{', '.join(written)}]"
    return f", or have its log read: under [workload.read] write line = {line}"


def _never_logged(facts: Facts) -> str:
    metric, logged, near = facts["metric"], facts.get("logged"), facts.get("near")
    text = f"the objective {metric} was never logged"
    if logged is None:
        return text
    if not logged and facts.get("command"):
        example = f'{{"step": 100, "{metric}": 0.5}}'
        text = f"{text}, nor anything else: print one line per measurement, such as {example}"
        return text + _read(facts.get("read") or ())
    if not logged:
        return (
            f"{text}, nor anything else: "
            f'call run.log(step, {{"{metric}": ...}}), or print one JSON object per measurement'
        )
    remedy = f"Did you mean {near}?" if near else f"Log {metric}, or change the objective."
    return f"{text}, only {', '.join(logged)}{' ...' if facts.get('more') else ''}. {remedy}"


def _not_finite(facts: Facts) -> str:
    return f"{facts['metric']} is {facts['value']}{_at_step(facts)}"


def _broken(facts: Facts) -> str:
    metric, relation, limit = facts["metric"], facts["relation"], facts["limit"]
    return f"{metric} is {facts['value']:g}{_at_step(facts)}, not {relation} {limit:g}"


def _value_text(facts: Facts) -> str:
    such = f", such as float({facts['value']})" if facts["reads_as_number"] else ""
    return f"{facts['metric']}: {facts['value']} is text; log a number{such}"


def _bad_name(facts: Facts) -> str:
    unprintable = "it has unprintable characters"
    why = unprintable if facts["why"] == "unprintable" else "use text of 1 to 200 characters"
    return f"{facts['name']} cannot name a metric: {why}"


def _went_back(facts: Facts) -> str:
    number, after = facts["number"], facts["after"]
    who = "this repeat" if number is None else f"trial {number}"
    before = f"it resumed at step {after}" if facts["resumed"] else f"step {after}"
    return f"{who} logged step {facts['step']} after {before} within one attempt"


def _exception(facts: Facts) -> str:
    return f"{facts['type']}: {facts['text']}" if facts["text"] else str(facts["type"])


def _exit(facts: Facts) -> str:
    if facts["status"] >= 0:
        error = f": {facts['error']}" if facts.get("error") else ""
        return f"exit status {facts['status']}{error}"
    return f"killed by {facts['signal'] or 'signal ' + str(-facts['status'])}"


def _host_lost(facts: Facts) -> str:
    what = "node" if facts["what"] == "node" else "the process on"
    alone = "; its folder was on that node alone, so the next attempt starts at step 0"
    text = f"{what} {facts['where']} was lost: {facts['text']}"
    return text + alone if facts["folder_lost"] else text


def _folder_missing(facts: Facts) -> str:
    return (
        f"{_inner(facts)} (this node, {facts['host']}, has no folder {facts['folder']}: "
        'share it, or ship it with runtime_env={"working_dir": "."})'
    )


def _owner_lost(facts: Facts) -> str:
    return f"owner lost ({facts['owner']})" if facts.get("owner") else "owner lost"


SENTENCES: dict[str, Template] = {
    # ---- reasons
    "trial.unmeasured": "it has no {metric}: nothing has measured that",
    # the objective, the losses and the constraints
    "objective.never_logged": _never_logged,
    "metric.not_finite": _not_finite,
    "constraint.never_logged": (
        "{metric} was never logged, so {metric} {relation} {limit:g} cannot be judged"
    ),
    "constraint.broken": _broken,
    # what was logged is not a number, or not a step
    "value.too_large": "{metric}: {value} is too large for a float; log its logarithm",
    "value.none": (
        "{metric}: None is not a number; does the function that computes it return something?"
    ),
    "value.truth": "{metric}: {value} is a truth value; log 1.0 or 0.0 if you mean that",
    "value.text": _value_text,
    "value.complex": "{metric}: {value} is complex; log abs() or .real of it",
    "value.dictionary": ("{metric}: {value} is a dictionary; log each entry under a separate name"),
    "value.collection": "{metric}: {value} is a {type}; log one number per name",
    "value.array": lambda facts: (
        f"{facts['metric']}: an array of shape {tuple(facts['shape'])} is not one number; log "
        ".item(), or .mean() of it"
    ),
    "value.not_read": "{metric}: {value} is not a number ({text})",
    "value.other": "{metric}: {value} is a {type}; log float() of it if it is a number",
    "metric.bad_name": _bad_name,
    "metrics.not_a_mapping": (
        "run.log(step, {value}): the second argument is a dictionary of metrics, as in "
        'run.log(step, {{"train/loss": loss}})'
    ),
    "step.not_whole": "step {value} is not a whole number: steps count updates, 0, 1, 2, ...",
    "step.out_of_bounds": "step {value} is out of bounds: steps count updates, 0, 1, 2, ...",
    "step.went_back": _went_back,
    # the training program
    "trial.raised": _exception,
    "trial.infeasible": lambda facts: facts["text"] or "infeasible, without a reason given",
    "trial.failed": lambda facts: facts["text"] or "failed, without a reason given",
    "trial.no_folder": "its folder {folder} cannot be written: {text}",
    "trial.died": "died, without a reason given",
    "trial.died_repeatedly": lambda facts: (
        f"died {facts['deaths']} times, at last: {_inner(facts)}"
    ),
    "trial.called_exit": "the training program called sys.exit({status})",
    "trial.pruned": _pruning,
    "trial.not_loaded": lambda facts: (
        f"the training function could not be loaded in a worker: {_inner(facts)}"
    ),
    "trial.not_started": "it could not be started: {text}",
    "trial.folder_missing": _folder_missing,
    "program.not_started": "{program} could not be started: {text}",
    "program.exited": _exit,
    "process.exited": lambda facts: f"the process ended: {_exit(facts)}",
    # what it may use
    "memory.exhausted": lambda facts: f"out of memory: {_exception(facts)}",
    "memory.killed": "out of memory: the kernel killed the {what}",
    "limit.memory": "out of memory: it took {used_gb:.3g} GB of {limit_gb:g} GB (memory_gb)",
    "limit.time": "timeout: it ran for {limit_s:g} s (trial_timeout_s)",
    "limit.no_progress": (
        "timeout: no step was reported for {limit_s:g} s (no_progress_timeout_s)"
    ),
    "disk.full": lambda facts: f"no space left: {_exception(facts)}",
    # who trained it
    "owner.lost": _owner_lost,
    "host.lost": _host_lost,
    "slurm.preempted": "Slurm pre-empted task {task}",
    "slurm.terminated": "Slurm ended its task: it saved, and resumes in a new one",
    "slurm.time_limit": "its Slurm task neared its time limit: it saved, and a new one resumes it",
    "slurm.superseded": "a later attempt of the trial was submitted",
    "slurm.orphaned": "its supervisor showed no sign of life",
    "slurm.restarted": "Slurm started task {task} a second time; a new one resumes it",
    "slurm.forgotten": "Slurm lost task {task}; a new one resumes it",
    "slurm.ended": "Slurm task {task} ended without a result: {state}",
    "stopped.asked": "asked to stop",
    "stopped.before_start": "stopped before it began",
    "stopped.after_step": "stopped after step {step}",
    "stopped.without_snapshot": "stopped before step {step}, without a snapshot",
    "stopped.after_saving": "stopped after saving at step {step}",
    "stopped.program_exited": lambda facts: f"stopped, {_exit(facts)}",
    "stopped.grace_over": "stopped: it did not end within the grace period",
    "stopped.pack_lost": "its pack of {trials} trials lost its process ({how}); it runs again",
    "stopped.pack_crowded": "no memory left beside {beside:count trial}; it runs again with fewer",
    "stopped.no_answer": "stopped: {where} did not answer",
    "stopped.host_lost": "stopped: {where} was lost meanwhile",
    "stopped.executor_closed": "the executor was closed",
    "stopped.supervisor_ended": "its supervisor ended",
    "stopped.session_closed": "its session was closed",
    "stopped.branched": "starts from the snapshot of step {step} of trial {trial} of {round}",
    "stopped.not_started": "could not be started",
    "stopped.no_suggestion": "the search has no more configurations",
    # an offline evaluation
    "evaluation.no_metrics": (
        "the evaluation returned {value}: return its metrics as a dictionary, such as "
        '{{"full_valid_error": 0.08}}'
    ),
    "evaluation.no_checkpoint": "it is {status}, so no checkpoint of it was selected",
    "evaluation.field_taken": (
        "{name} is one of its hyperparameters, and a field of the command as well"
    ),
    "evaluation.no_snapshot": (
        "it has no snapshot: let the training save, or use {{folder}} instead"
    ),
    "evaluation.nothing_measured": "it ended without a metric",
    "evaluation.metric_taken": (
        "training logged {metric} itself: give the offline metric another name, such as "
        "full_{metric}"
    ),
    "evaluation.ended": "{outcome}",
    # text of other programs, or of version 0.1
    "foreign": "{text}",
    "foreign.no_reason": "{state} in {source}, which keeps no reason",
    "legacy": "{text}",
    # ---- judging
    "finding.by_chance": "no more than chance explains among {studies} studies",
    "judge.feasible_trials": "{feasible:count feasible trial}; this check needs {needed}",
}
