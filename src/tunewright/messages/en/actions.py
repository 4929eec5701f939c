"""What each action does, in a few words; the command or the call stands beside it."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _run_trials(facts: Facts) -> str:
    per_study = facts["trials_per_study"]
    if per_study is None:
        return "run the trials that are left"
    return f"run more trials, {per_study} per study"


def _repeat(facts: Facts) -> str:
    which = "the best trial" if facts["trial"] is None else f"trial {facts['trial']}"
    return f"train {which} again with {words.count(facts['times'], 'new seed')}"


def _next_round(facts: Facts) -> str:
    if facts["write"]:
        return "write the proposed round"
    return "see what to ask in the next round"


PROBES = {
    "warmup": "find a learning rate warm-up, best against early instability",
    "clip": "find a threshold to clip gradients at, against early and mid-training instability",
    "stability": "look closer at the instability",
}
# what declaring something is good for, where it is not another name
PURPOSES = {
    "steps_per_epoch": ", to compare the period with an epoch",
    "chance": ", the loss of a guess such as log(classes)",
}


def _probe(facts: Facts) -> str:
    return PROBES.get(facts["name"], f"probe {facts['name']}")


def _declare(facts: Facts) -> str:
    return f"declare {facts['name']}{PURPOSES.get(facts['name'], ', if it has another name')}"


def _declare_in_project(facts: Facts) -> str:
    setting = words.as_setting(facts["table"], facts["name"], facts["value"])
    return f"{_declare(facts)}: {setting}"


def _variance(facts: Facts) -> str:
    nouns = {"times": "repeat", "studies": "search/searches", "splits": "data split"}
    counts = []
    for name, noun in nouns.items():
        if facts[name] is not None:
            noun_of_one, _, several = noun.partition("/")
            counts.append(words.count(facts[name], noun_of_one, several or None))
    return f"measure the variance over {' and '.join(counts)}"


ACTIONS: dict[str, Template] = {
    "run_trials": _run_trials,
    "repeat": _repeat,
    "again": "train it anew under its own seed, and compare",
    "stop_round": "ask whoever runs it to stop",
    "remove_round": lambda facts: (
        "bring the round back" if facts["undo"] else "remove the round; it can be brought back"
    ),
    "run_round": "run the proposed round",
    "next_round": _next_round,
    "variance": _variance,
    "launch": "decide whether it becomes the baseline",
    "extend": "train longer: {max_train_steps} steps",
    "show_trial": "look at trial {number}",
    "show_round": "look at the round",
    "check": "read the checklist",
    "probe": _probe,
    "probe_longer": "resume the best trial from its snapshot and train it longer",
    "report": "write the report",
    "export": "write every trial to {path}",
    "declare": {"python": _declare, "shell": _declare_in_project},
    "note": "write down which commit the trials ran",
    "search_range": "search {column} in {range:range}",
    "backup": "write a backup",
    "fix_project_file": "fix tunewright.toml",
    "fix_in": "fix it in {folder}",
    "edit_file": "edit {path}",
    "use_local_disk": "put the store on a local disk",
    "free_space": "free some space",
    "list_backups": "list the backups",
    "init": "make a project here",
    "scan": "make a project of the program; name the metric as it prints it",
    "new_round": "write a round file, and give everything a range or a value",
    "tune": "search its space within a budget of {trials:count training}",
    # remedies that no command carries out
    "use_words": "{words:words}",
    "give_one": "give one of them",
    "list_more": "list more, or {words:words}",
    "did_you_mean": "did you mean {name}?",
    "choose_among": "choose one of {names:list}",
    "name_function": "write train.py:train, or package.module:train",
    "name_measure": '[workload] {key} = "{example}" in tunewright.toml, or --with {example}',
    "rename_file": "rename it, such as {name}",
    "check_name_and_folder": "check the name, and run from the project's folder",
    "find_store": {
        "python": "name the store, or run from the project's folder",
        "shell": "go to the project's folder, or name a store with --store; tunewright init makes "
        "a project, tunewright demo a store to look at",
    },
    "plain_name": "use letters, digits, - and _, such as weight_decay",
    "edit_or_delete": "edit it, or delete it first",
    "name_or_delete": "choose another name, or delete that file",
    "back_up_server": "use pg_dump, or ask the administrator of the server",
    "use_the_seed": "let the program use its seed (run.seeds, {{run.seed}}), or declare "
    "deterministic = true",
    "train_as_long": "train all settings for as many steps",
    "connect_program": "to run it here, make a project (tunewright init) whose program takes "
    "{names:list}, then tunewright next with --write",
    "train_elsewhere": "train more with the tool that recorded the trials, then import them again",
    "save_per_example": "save per_example.npy in run.folder: one number for each example",
}
