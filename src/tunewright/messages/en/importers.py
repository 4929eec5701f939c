"""Sentences about other tools: importers, sinks, and errors raised in `importers`."""

from __future__ import annotations

import shlex

from tunewright.messages import Facts, Template, declaration, words

# ---- notes of imported and joined rounds: what was guessed, left out, or cannot be known


def _by_spelling(facts: Facts) -> str:
    meanings = ", ".join(f"{name} as {meaning}" for meaning, name in facts["means"].items())
    example = declaration("means", next(iter(facts["means"]), "learning_rate"))
    return f"by their spelling: {meanings}. If one is wrong, declare it: {example}."


def _join(facts: Facts) -> str:
    """How many trials of an earlier round count, and what that changes."""
    fit = words.count(facts["trials"], "trial")
    text = f"{fit} of {facts['ended']} of {facts['round']} fit this round and count too"
    if facts["times_as_dense"] is not None:
        dense = facts["times_as_dense"]
        text += f"; where {facts['round']} searched, trials lie {dense:.1f} times as dense"
    if facts["seed_differs"]:
        text += "; their seed differs, and with it the data split, if the program draws one"
    return text


# ---- sentences about sinks: the trackers that receive a copy of every trial


def _behind(facts: Facts) -> str:
    command = shlex.join(
        ["tunewright", "sync", facts["round"], "--sink", f"{facts['tracker']}:{facts['where']}"]
    )
    lacks = f"{facts['tracker']} lacks {words.count(facts['left'], 'trial')}"
    if not facts["left"]:
        lacks = f"{facts['tracker']} could not be closed"
    return f"{lacks} ({facts['error']}). The store has all of them; write them with: {command}"


def _sync(facts: Facts) -> str:
    has = f"{facts['tracker']} has {words.count(facts['written'], 'trial')} in {facts['where']}"
    if facts["busy"]:
        return f"{has}; another process writes to it now"
    if facts["left"]:
        return f"{has} and lacks {facts['left']} ({facts['error']})"
    return f"{has} ({facts['error']})" if facts["error"] else has


SENTENCES: dict[str, Template] = {
    "importers.no_runs": (
        "{path}: neither event files of TensorBoard, offline runs of W&B or SwanLab, a store of "
        "MLflow or Trackio, nor a .csv, .json, .jsonl or .parquet table."
    ),
    # ---- importers
    "imported.unfinished": "{count:count trial} had not ended and were left out.",
    "imported.final_values": (
        "the export has final values alone: questions about curves cannot be answered."
    ),
    "imported.torn_files": (
        "{count:count .wandb file} torn or of another version; what is whole was read."
    ),
    "imported.torn_runs": "{count:count run} with a torn file; what is whole was read.",
    "imported.no_status": (
        "{tool} keeps no status: {count:count run} taken as completed, also one that crashed."
    ),
    "imported.no_curves": "{count:count run} without a .wandb file: only final values are known.",
    "imported.torn_events": "{count:count trial} with an event file that is torn at its end.",
    "imported.no_hyperparameters": (
        "{count} of {of} trials logged no hyperparameters (add_hparams); give them by "
        "configurations={{folder: {{...}}}}."
    ),
    "imported.ended_early": (
        "{count} of {of} completed trials ended before step {step}: if a scheduler stopped them, "
        "their values are those of shorter training."
    ),
    "imported.search_not_rays": (
        "the search algorithm is not Ray's own random or grid one, so these trials are taken as "
        'adaptive. Give search="random" if they were not.'
    ),
    "imported.sampler_unknown": (
        "Optuna does not record its sampler, so these trials are taken as adaptive, and "
        'statistics of the search space leave them out. Give search="random" if they were drawn '
        "at random."
    ),
    "imported.pruned": "{count:count pruned trial}: cut short, without a value.",
    "imported.no_reason": (
        "Optuna keeps no reason for {count:count failed trial}; a nan objective is one of them."
    ),
    "imported.several_objectives": (
        "the study has several objectives ({metrics:list}); these results judge one."
    ),
    "imported.no_study": (
        "{trials:few} failed or were pruned, belong to no study, and were left out."
    ),
    "imported.incomplete": (
        "trials {trials:few}: left out, without a value of {names:few} that the other trials have."
    ),
    "imported.by_spelling": _by_spelling,
    "imported.range_guessed": (
        "the range of {names:few} was guessed from the values tried; give ranges= if you know it: "
        "findings about the ends of ranges depend on it."
    ),
    "imported.unexplained": (
        "{names:few}: only some trials have it, and no other hyperparameter decides which; it has "
        "no role in this round."
    ),
    "imported.labels": (
        "{names:few}: left out as a seed or a label, since it is no hyperparameter; give roles= to "
        "include it."
    ),
    "imported.length_varies": (
        "{name} varies: trials of different length are compared with each other."
    ),
    "note.judged_by": "judged by {now} in place of {before}, which the round was tuned for",
    "note.joined": lambda facts: _join(facts),
    # ---- errors importers
    "importers.not_parquet": "{path}: not a Parquet file ({error}).",
    "importers.text_too_large": (
        "{path}: {size:,} bytes of text, more than the {largest:,} allowed."
    ),
    "importers.unreadable_file": "{path}: cannot be read as {expected} ({reason}).",
    "importers.too_many_columns": (
        "{path}: {columns:,} columns, more than the {most_columns:,} allowed. A table has "
        "one row for each trial and one column for each hyperparameter."
    ),
    "importers.too_many_cells": (
        "{path}: {rows:,} rows of {columns:,} columns, more than the {most_cells:,} cells "
        "allowed. Export fewer columns, or every tenth step of the curves."
    ),
    "frames.column_without_role": (
        "trials: the column {name!r} is neither a hyperparameter of the round nor a metric. Give "
        "it a role, or drop the column.{hint}"
    ),
    "frames.curves_column_missing": "curves: no column {name!r}.{hint}",
    "frames.hyperparameter_column_missing": "trials: no column for {column!r}.{hint}",
    "frames.no_metric": "curves: {metric!r} of trial {trial!r} names no metric.",
    "frames.no_study": "trials: trial {trial}: no study of the round has {setting}.",
    "frames.row_without_trial": "trials: row {row} names no trial.",
    "frames.step_not_whole": "curves: step {step!r} of trial {trial!r} is not a whole number.",
    "frames.trial_twice": "trials: trial {trial!r} stands in {times} rows.",
    "frames.trials_column_missing": "trials: no column {name!r}.{hint}",
    "frames.unknown_status": "trials: trial {trial} has the status {status!r}.{hint}",
    "frames.unknown_trial": "curves: trial {trial!r} is not among the trials.",
    "frames.value_not_number": "curves: {value!r} of trial {trial!r} is not a number.",
    "importers.direction_differs": (
        "{said} {metric}: the Optuna study {plain_name!r} was made to {study_direction} its "
        "value. Give --{study_direction} {metric}, or tw.{study_direction}({metric!r})."
    ),
    "importers.bad_curve_point": "curves: step {step!r}, value {value!r} of trial {trial!r}.",
    "importers.bad_status": "row {row} has the status {status!r}.{hint}",
    "importers.bad_table_ending": "{path}: tables end in .csv, .parquet, .json or .jsonl.",
    "importers.csv_row_length": "{path}: line {line} has {cells} cells, not {columns}.",
    "importers.curves_column_missing": "curves: no column {missing}.",
    "importers.doubled_columns": "{what}: several columns are called {doubled:list}.",
    "importers.doubled_csv_columns": "{path}: several columns are called {doubled}.",
    "importers.empty_file": "{path}: an empty file.",
    "importers.event_file_cut": "{path}: ends in the middle of a record.",
    "importers.event_wrong_length": "{path}: a record with a wrong length.",
    "importers.file_too_large": "{path}: {size:,} bytes, more than the {largest:,} allowed.",
    "importers.fixed_but_varies": (
        "roles {name}: fixed, but the trials have {count} values of it. Make it nuisance or "
        'scientific, or "left_out" of the round.'
    ),
    "importers.line_not_json": "{path}: line {line} is not JSON ({error}).",
    "importers.mlflow_no_experiment": "{path} holds no experiment {name!r}.{hint}",
    "importers.mlflow_no_runs": "{path} holds no MLflow runs.",
    "importers.mlflow_not_a_store": "{path}: neither a folder nor a SQLite file of MLflow.",
    "importers.mlflow_several_experiments": (
        "{path} holds {count} experiments with runs: choose one. There is: {experiments}."
    ),
    "importers.mlflow_unreadable": "{path} could not be read as a database of MLflow: {error}",
    "importers.no_ended_trial": "{origin} holds no trial that has ended.",
    "importers.no_file": "no {what} at {path}. Check the path.",
    "importers.no_metric": "{origin} has no metric {metric!r}.{hint}",
    "importers.not_a_frame": (
        "{what}: a {kind} is not a frame. Give a polars or pandas frame, a mapping of columns, or "
        "a list of rows."
    ),
    "importers.not_a_range": (
        "ranges {name}: {given!r} is neither a range, such as log(1e-4, 1e-1), nor a list."
    ),
    "importers.not_a_wandb_file": "{path}: not a file of W&B, or of a version not known here.",
    "importers.not_csv": "{path}: not a CSV file ({error}).",
    "importers.not_rows": "{path}: not a list of rows, one JSON object each.",
    "importers.optuna_missing": (
        "importers.optuna() reads the storage with Optuna itself: pip install optuna"
    ),
    "importers.optuna_no_storage": (
        "no Optuna storage at {path}. Give the file that optuna.create_study(storage=...) "
        "names, or its address: sqlite:///study.db."
    ),
    "importers.optuna_no_studies": "{shown} holds no study.",
    "importers.optuna_no_study": "{shown} holds no study {study!r}.{hint}",
    "importers.optuna_other_database": "{path} is a database, but not one of Optuna's.",
    "importers.optuna_several_studies": "{shown} holds {count} studies: choose one.{hint}",
    "importers.ray_tune_no_step": "step: {folder} has no {step!r}.{hint}",
    "importers.ray_tune_no_trials": (
        "{folder} holds no trials: no result.json or progress.csv below it."
    ),
    "importers.roles_twice": "round= gives every role already; leave out roles= and ranges=.",
    "importers.table_column_missing": "the table has no column {name!r}.{hint}",
    "importers.tensorboard_no_events": (
        "{folder} holds no event files (their names contain {events!r})."
    ),
    "importers.tensorboard_no_trial": "configurations: no trial {name!r}.{hint}",
    "importers.too_many_files": "{folder} holds over {most:,} files; name a folder below it.",
    "importers.unequal_columns": "{what}: the columns have different lengths.",
    "importers.value_not_fixed": "{column} = {value!r}, but the round fixes it at {fixed!r}.",
    "importers.value_outside_range": "{column} = {value!r} is not of {range}.",
    "importers.values_and_range": "drawn from values and from a range",
    "importers.swanlab_no_run": "{folder} holds no run of SwanLab: no .swanlab file.",
    "importers.trackio_no_project": "{folder} holds no project of Trackio: no .db file.",
    "importers.trackio_not_a_project": "{path}: not a project of Trackio, which is an SQLite file.",
    "importers.trackio_unreadable": "{path}: cannot be read as a project of Trackio ({error}).",
    "importers.trackio_which_project": (
        "{folder} holds the projects {projects}: name one of them.{hint}"
    ),
    "importers.wandb_checksum": "{path}: a record whose checksum is wrong.",
    "importers.wandb_column_missing": "the export has no column {name!r}.{hint}",
    "importers.wandb_no_run": (
        "{folder} holds no run of W&B: no .wandb file, no wandb-summary.json."
    ),
    "importers.wire_field_cut": "a message ends in the middle of a field.",
    "importers.wire_not_a_float": "a field that should hold a float does not.",
    "importers.wire_number_cut": "a message ends in the middle of a number.",
    "importers.wire_unknown_kind": "a field of the unknown kind {kind}.",
    "importers.yaml_missing": "{path} is a YAML file: pip install pyyaml",
    "importers.role_of_some_trials": (
        "{what} {name}: {declared}, but {lacking} of {trials} trials have no value of it "
        "({called:few}), and no other hyperparameter decides which. Add the values, or leave it "
        'out: roles={{"{name}": "left_out"}}, --leave-out {name}.'
    ),
    "importers.role_without_range": (
        "{what} {name}: {declared}, but every trial has the same value of it. Give its range "
        '(ranges=, --range "{name} = ..."), or make it fixed.'
    ),
    "importers.range_without_role": (
        "ranges {name}: {chosen}, but roles {name}: {roles}, which has no range. Give one of "
        "the two."
    ),
    "roles.unknown_hyperparameter": (
        "{argument} {name!r}: no trial has a hyperparameter of this name.{hint}"
    ),
    "roles.unknown_role": "roles {name}: {role!r} is not one of {known:list}.{hint}",
    "importers.yaml_too_large": (
        "{path}: over {most_nodes:,} values or {deepest_yaml} levels once its aliases "
        "(*name) are followed. The settings of a run are far fewer."
    ),
    "importers.not_yaml": "{path}: not YAML ({line}).",
    # ---- sinks
    "sink.behind": _behind,
    "sink.synced": _sync,
    "sink.not_started": "the process of {tracker} could not be started: {error}",
    "sink.unknown": "{tracker!r} is not a tracker. Choose one of {known:list}.",
    "sink.bad_text": "sink: {field} is a line of printable text, got {value!r}.",
    "sink.not_a_folder": (
        "sink: {tracker} writes into a folder, got {where!r}. Name a folder: {tracker}:FOLDER."
    ),
    "sink.not_text": "sinks: expected names such as 'mlflow' or Sink(...), got {value!r}.",
    "sink.no_address": "sink {value!r}: an address follows the colon, or leave the colon out.",
    "sink.not_deleted": "{folder}: the run {run} cannot be deleted to be written anew.",
    "sink.not_whole": "{folder}: the run {run} was written, but cannot be read back whole.",
    "sink.no_sink": "no sink is named. Name one: --sink mlflow, or sinks = [...] in the workload.",
}
