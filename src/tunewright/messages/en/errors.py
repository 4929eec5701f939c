"""Sentences of errors: those that any part raises, and of `cli`, `search`, `stats`, `testing`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words

# ---- errors of no folder in particular, and what helps after an error in a few words


def _hint(facts: Facts, otherwise: str, known: str = "known") -> str:
    """The name that was meant, or all that there are."""
    if facts["near"]:
        return f"Did you mean {facts['near']!r}?"
    return f"{otherwise}{', '.join(map(str, facts[known]))}."


def _setting(setting: Facts) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def _no_round(facts: Facts) -> str:
    there = _hint(facts, "It has: ") if facts["near"] or facts["known"] else "It has none yet."
    return f"no round {facts['name']!r} in {facts['store']}. {there}"


def _no_store(facts: Facts) -> str:
    there = f" There is: {', '.join(facts['others'])}." if facts["others"] else ""
    return f"no store at {facts['path']}.{there}"


def _no_trial(facts: Facts) -> str:
    first, last = facts["first"], facts["last"]
    there = "it has none" if first is None else f"its trials are {first} to {last}"
    return f"{facts['round']} has no trial {facts['trial']}: {there}."


def _none_completed(facts: Facts) -> str:
    under = f" with {_setting(facts['setting'])}" if facts["setting"] else ""
    counts = ", ".join(f"{n} {status}" for status, n in facts["counts"].items()) or "no trials"
    return f"{facts['round']}: no completed trial{under} ({counts})."


def _no_metric(facts: Facts) -> str:
    there = _hint(facts, "It logged: ", known="logged")
    return f"trial {facts['trial']} never logged {facts['metric']!r}. {there}"


def _not_scientific(facts: Facts) -> str:
    there = _hint(facts, "It has: ")
    return f"{facts['round']}: {facts['name']!r} is not a scientific list of this round. {there}"


def _no_study(facts: Facts) -> str:
    setting, studies = _setting(facts["setting"]), "; ".join(facts["studies"])
    return f"{facts['round']}: no study with {setting}. It has: {studies}."


def _unknown_fact(facts: Facts) -> str:
    near = f"{{run.{facts['near']}}}" if facts["near"] else ""
    known = ", ".join(f"{{run.{name}}}" for name in facts["known"])
    hint = f"Did you mean {near}?" if near else f"Known: {known}."
    return f"{{{facts['field']}}}: not known of a run. {hint}"


def _no_room(facts: Facts) -> str:
    has = "; ".join(facts["nodes"]) or "no node at all"
    hints = "".join(f" Did you mean {name}?" for name in facts["near"])
    return (
        f"a trial needs {facts['needs']}, and no node of the Ray cluster has that. It has {has}."
        f"{hints} Ask for less (resources=), or add a node that has it."
    )


def _configuration(facts: Facts) -> str:
    """Where a listed configuration stands; one given by itself has no number."""
    number = facts["number"]
    return facts["source"] if number is None else f"{facts['source']}: configuration {number}"


def _not_listed(facts: Facts) -> str:
    studies = ", ".join(facts["studies"])
    return f"{_configuration(facts)}, {facts['listed']}, belongs to none of the studies {studies}."


def _unknown_listed(facts: Facts) -> str:
    near = facts["near"]
    hint = f"Did you mean {near!r}?" if near else f"It has {facts['known']}."
    return f"{_configuration(facts)}: study {facts['study']} has no {facts['name']!r}. {hint}"


REMEDIES: dict[str, Template] = {
    "first_run": "run a round, or name another store with --store",
    "list_rounds": "see which rounds there are",
    "join_round": "join it, or end it with `tunewright stop`",
    "set_budget": "raise the budget, if more may be spent",
    "doctor": "check the machine and the store",
    "restore": lambda facts: (
        "make the store again from its trial folders"
        if facts["rebuild"]
        else "bring the newest backup back"
    ),
}


# ---- sentences of the errors raised in `cli`


def _no_space_file(facts: Facts) -> str:
    there = words.count(len(facts["known"]), "round")
    others = f", and there are {there}" if facts["known"] else ""
    return f"which space? {facts['rounds']}/{facts['space']}.toml does not exist{others}"


SENTENCES: dict[str, Template] = {
    "cli.unknown_language": "--lang {asked}: there is English (en) and Chinese (zh).",
    # ---- errors
    "error.text": "{text}",  # of another program, or of a caller
    "extra.missing": "{purpose} needs {package}: pip install 'tunewright[{extra}]'",
    "problems.more": "and {count} more",
    "problems.more_rows": "{problem:message} (and {rows} more rows)",
    "round.not_found": _no_round,
    "store.not_found": _no_store,
    "trial.not_found": _no_trial,
    "trial.none_completed": _none_completed,
    "metric.not_found": _no_metric,
    "study.not_found": _no_study,
    "study.no_such_number": "{round} has studies 0 to {last}.",
    "study.not_a_scientific_list": _not_scientific,
    "command.problem": "command: {problem:message}",
    "command.unknown_fact": _unknown_fact,
    "ray.no_room": _no_room,
    "throughput.unknown_argument": lambda facts: (
        f"{facts['subject']} takes no {facts['name']!r}. {_hint(facts, 'It takes: ')}"
    ),
    "import.role_of_some_trials": (
        "{argument} {name}: {said}, but {lacking} of {of} trials have no value of it ({trials}), "
        "and no other hyperparameter decides which. Add the values, or leave it out: "
        'roles={{"{name}": "left_out"}}, --leave-out {name}.'
    ),
    "import.role_without_range": (
        "{argument} {name}: {said}, but every trial has the same value of it. Give its range "
        '(ranges=, --range "{name} = ..."), or make it fixed.'
    ),
    "importers.no_study": "trial {trial}: no study of the round has {setting}.",
    "importers.trial": "trials: trial {trial}: {problem:message}",
    "listed.empty": "{source}: no configurations. List at least one.",
    "listed.not_a_mapping": lambda facts: (
        f"{_configuration(facts)}, {facts['listed']!r}, is not a mapping."
    ),
    "listed.of_no_study": _not_listed,
    "listed.too_few": (
        "{source}: study {study} has {configurations} configurations for {trials} trials. List "
        "more, or lower trials_per_study."
    ),
    "listed.problem": lambda facts: f"{_configuration(facts)}: {sentence(facts['problem'])}",
    "listed.not_fixed": lambda facts: (
        f"{_configuration(facts)}: {facts['name']} = {facts['value']}, but the round fixes it at "
        f"{facts['fixed']}."
    ),
    "listed.unknown_hyperparameter": _unknown_listed,
    # ---- errors cli
    "demo.folder_taken": "{folder} is there already, and is not the demo's",
    "demo.package_missing": "the demo needs {package}: pip install 'tunewright[demo]'",
    "evaluate.no_measure": ("what measures a checkpoint? Give --with, or {key} in tunewright.toml"),
    "evaluate.measure_is": (
        "a function full(checkpoint) that returns its metrics, or a command with {{checkpoint}}"
    ),
    "file.exists": "{path} is there already",
    "importers.bad_means_option": "--means {text}: not MEANING=NAME",
    "importers.bad_range_option": "--range {text}: not a name and a range ({kinds:list})",
    "importers.metric_unknown": "which metric? This source does not name its objective",
    "importers.range_needs_two_ends": "--range {text}: {kind}() takes a low and a high end",
    "importers.role_given_twice": "{name}: given two roles, {first} and {role}",
    "importers.second_address": "import {source} takes one address, and {part!r} is a second",
    "listed.bad_ending": "{path}: a list of configurations ends in {endings:list}.",
    "listed.file_and_search": ("--listed {file} and --search {search}: a list is itself a search"),
    "listed.no_such_file": "--listed {path}: no such file",
    "listed.not_a_list": '{path}: not a list of configurations: [{{"learning_rate": 0.1}}].',
    "listed.single_brackets": "{path}: one table of each: write [[{table}]], with two brackets.",
    "next.no_such_proposal": "--take {number}: there are {count:count proposal}",
    "next.nothing_to_write": "{kind}: no round is to be written, but something to be done first",
    "objective.logged_were": "logged were {metrics:list}",
    "objective.not_logged": "{option} {metric}: no trial of {round} has logged it",
    "objective.nothing_logged": "{option} {metric}: no trial of {round} has logged anything yet",
    "objective.two_directions": (
        "--minimize {minimize} and --maximize {maximize}: one objective at a time"
    ),
    "option.bad_resource": "--resources {text}: {part!r} is not a name and an amount",
    "option.bad_steps": "--steps {text}: not a batch size and its number of steps",
    "option.no_metric": "which metric? Give one of --minimize and --maximize",
    "option.not_name_and_value": "{option} {text}: not a name and a value",
    "option.not_name_value": "--fixed {text}: not NAME=VALUE",
    "option.not_numbers": "{option} {text}: not numbers with commas between",
    "option.not_one_of": "{option} {name}: not one of {known:list}",
    "option.bad_slurm": "--slurm {part}: give NAME=VALUE with one of {known:list}",
    "option.only_for_slurm": "--slurm is for a Slurm cluster",
    "option.not_with_pack": "{option} does not go with --pack.",
    "option.bad_pack": "--pack {pack}: give a number of trials, or auto.",
    "option.only_for_ray": "{option} is for a Ray cluster",
    "option.store_is_folder": "--store {address}: a folder, not a store.",
    "option.trial_without_round": "--trial {trial}: of which round?",
    "probe.no_batch_sizes": "which batch sizes?",
    "probe.noise_scale_not_two": "--noise-scale: {count} sizes, not two",
    "probe.recorded_and_fixed": "--fixed with --recorded: what is recorded cannot be changed",
    "probe.recorded_without_round": "--recorded: of which round?",
    "tune.no_space_file": _no_space_file,
    # ---- errors testing
    "testing.bad_evaluations": "shape(evaluations={evaluations}): at least 1 is needed.",
    "testing.unknown_noise": "noise({kind!r}): not one of {noises:list}.",
    "testing.unknown_shape": "shape({name!r}): not one of {shapes:list}.",
    "testing.unknown_trial_noise": "trial_noise({kind!r}): not one of normal, skew, t3, outlier.",
    # ---- errors stats
    "gain.bad_sd": "sd={sd!r}: the standard deviation of the metric between two runs.",
    # ---- errors search
    "bayesian.compares_settings": (
        "Bayesian search is for tuning to the best value, and {round} asks what {names:list} "
        "does: settings must be compared on the same, evenly spread points. Leave out the "
        "search (quasi-random is the default), or give Bayesian(scientific=True) if an uneven "
        "comparison will do."
    ),
    "bayesian.earlier_objective": (
        "Bayesian(earlier=...): {round} is judged by {objective}, this round by {own}. Give "
        "its results as results.with_objective(...) with the objective of this round."
    ),
    "search.not_a_search": (
        "search={search!r} is not a search: give tw.search.Halton(), tw.search.Bayesian(), or an "
        "object with name, adaptive and suggest()"
    ),
    "search.too_many_dimensions": (
        "{dimensions} hyperparameters are searched at once, and {most} is the most that "
        "quasi-random points exist for. Fix the rest."
    ),
}
