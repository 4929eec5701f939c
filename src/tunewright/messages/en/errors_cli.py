"""Sentences of the errors raised in `cli`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _no_space_file(facts: Facts) -> str:
    there = words.count(len(facts["known"]), "round")
    others = f", and there are {there}" if facts["known"] else ""
    return f"which space? {facts['rounds']}/{facts['space']}.toml does not exist{others}"


SENTENCES: dict[str, Template] = {
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
}
