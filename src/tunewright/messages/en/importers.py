"""Notes of imported and joined rounds: what was guessed, left out, or cannot be known."""

from __future__ import annotations

from tunewright.messages import Facts, Template, declared, words


def _by_spelling(facts: Facts) -> str:
    shown = ", ".join(f"{name} as {meaning}" for meaning, name in facts["means"].items())
    example = declared("means", next(iter(facts["means"]), "learning_rate"))
    return f"by their spelling: {shown}. If one is wrong, declare it: {example}."


SENTENCES: dict[str, Template] = {
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
    "note.joined": lambda facts: _joined(facts),
}


def _joined(facts: Facts) -> str:
    """How many trials of an earlier round count, and what that changes."""
    fit = words.count(facts["trials"], "trial")
    text = f"{fit} of {facts['ended']} of {facts['round']} fit this round and count too"
    if facts["times_as_dense"] is not None:
        dense = facts["times_as_dense"]
        text += f"; where {facts['round']} searched, trials lie {dense:.1f} times as dense"
    if facts["seed_differs"]:
        text += "; their seed differs, and with it the data split, if the program draws one"
    return text
