"""Sentences about a project and its program, and of errors raised in `project`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

# ---- what is found about a project and the machine it is on: remarks of `init`, lines of
# `doctor`


def _packages(facts: Facts) -> str:
    return "  ".join(f"{name} {version}" for name, version in facts["versions"].items())


def _devices(facts: Facts) -> str:
    names = ", ".join(str(name) for name in facts["cuda"])
    cuda = f"CUDA {names}" if names else "no CUDA device"
    return f"{cuda}, {words.count(facts['cores'], 'core')}"


def _locks(facts: Facts) -> str:
    state = "hold" if facts["hold"] else "are granted twice"
    return f"{state} in {facts['folder']} ({facts['file_system'] or 'unknown file system'})"


def _damage(facts: Facts) -> str:
    where = "; ".join(f"{fault['where']}: {fault['what']}" for fault in facts["faults"])
    more = facts["count"] - len(facts["faults"])
    others = f"; and {more} more" if more else ""
    return f"{facts['store']} is damaged in {words.count(facts['count'], 'place')}: {where}{others}"


def _means_guessed(facts: Facts) -> str:
    pairs = [
        f"{', '.join(name) if isinstance(name, list | tuple) else name} as {meaning}"
        for meaning, name in facts["means"].items()
    ]
    return (
        f"read by their spelling: {'; '.join(pairs)}. Written under [workload.means] in "
        "tunewright.toml: correct what is wrong"
    )


# ---- what the source of a program gave: comments of the files of `init --scan`, and its notes


_PARTS = {
    "optimizer": "optimizer hyperparameters: tuned anew in every study",
    "regulariser": "the strength of a regulariser: tuned wherever it is on",
    "regulariser choice": "whether to regularise: a question of a round",
    "schedule": "the shape of the learning-rate schedule",
    "schedule choice": "which schedule: a question of a round",
    "optimizer choice": "which optimizer: a question of a round, since each needs its own tuning",
    "strength": "the weight of a part of the loss or the update, by its name",
    "model": "the model: a question of a round",
    "method": "which method: a question of a round",
    "loss choice": "which loss: a question of a round",
    "augmentation": "augmentation: a question of a round",
    "length": "the length of training: never tuned, the longest would win",
    "batch size": "the batch size: never tuned for a validation metric; a probe chooses it",
    "validation": "evaluation alone: never tuned, it changes what is measured",
    "data": "the data: one value, a caveat on every conclusion",
    "seed": "the seed: the run gives it, never tuned",
    "another seed": "another seed: kept as it is",
    "folder": "where it writes: each trial has its own folder",
    "path": "a path: no hyperparameter",
    "logging": "logging and checkpoints: no hyperparameter",
    "machine": "machine and precision: no hyperparameter",
    "unknown": "nothing is known by the name: give it a role, or leave it at its default",
}


def _role(facts: Facts) -> str:
    return _PARTS[facts["part"]]


def _role_line(facts: Facts) -> str:
    names = ", ".join(facts["names"])
    left = "" if facts["passed"] or facts["role"] in ("none", "unknown") else "; not in the command"
    return f"{facts['role']}: {names} ({_PARTS[facts['part']]}{left})"


def _subcommands(facts: Facts) -> str:
    known = ", ".join(facts["known"])
    if facts["chosen"]:
        return f"of the subcommands {known}, the options of {facts['chosen']} were read"
    return f"subcommands {known}: none is called train; write the one that trains into the command"


def _no_seed(facts: Facts) -> str:
    lines = ", ".join(str(line) for line in facts["lines"])
    where = f" {facts['path']} seeds with a plain number in line {lines}." if lines else ""
    return (
        f"No option is a seed, so repeats would repeat nothing.{where} Let the program read "
        "TUNEWRIGHT_SEED from its environment"
    )


def _header(facts: Facts) -> str:
    files = ", ".join(facts["files"][:4]) or "the source"
    return (
        f"Read from {files} ({facts['style']}) without importing or running it. Every role and "
        "range is a proposal: correct what is wrong."
    )


SENTENCES: dict[str, Template] = {
    # ---- project
    "project.means_guessed": _means_guessed,
    "project.program_missing": "{program} is not on the PATH",
    "project.script_missing": "there is no {script} here",
    "project.no_seed": "without {placeholder} in the command, repeats would repeat nothing",
    "doctor.problem": "{text}",
    "doctor.no_project": "no tunewright.toml here or above",
    "doctor.python": "{version} at {at}",
    "doctor.packages": _packages,
    "doctor.absent": "without {packages:list}",
    "doctor.devices": _devices,
    "doctor.workload": "{name}, {objective}",
    "doctor.no_store": "{store} is not there yet",
    "doctor.store": "{store} is whole: {rounds:count round}, {trials:count trial}",
    "doctor.damaged": _damage,
    "doctor.no_backup": "none yet",
    "doctor.backup": "{name}, {seconds:duration} old",
    "doctor.no_locks": "{folder}: {error}",
    "doctor.locks": _locks,
    "doctor.disk": "{free_gb:.1f} GB free, {reserve_mb} MB of it in reserve",
    # ---- errors project
    "function.bad_file_name": "{path} cannot be imported by that name",
    "function.bad_name": "function {named!r}: not a file and a function",
    "function.file_missing": "{path} does not exist",
    "function.file_stands": "the file stands beside tunewright.toml, or below it",
    "function.ends_on_import": (
        "it is a program that runs, and ends, when it is imported: put that below "
        'if __name__ == "__main__"'
    ),
    "function.imported_again": (
        "workers import it again; the name must be an identifier, and none of Python's modules"
    ),
    "function.hidden": "{path} is hidden by another module of that name",
    "function.import_failed": "{name} cannot be imported: {kind}: {error}",
    "function.not_a_function": "{named} is {found!r}, not a function",
    "function.not_found": "{place} has no function {name!r}",
    "project.bad_round_name": "{shown!r} cannot name a round: it is a file's name below {rounds}/",
    "project.file_exists": "{path} is there already",
    "project.no_file": "no {file} here or above",
    "project.no_round": "no round {name!r}: {path} does not exist",
    "project.nearest_round": "did you mean {near!r}?",
    "project.rounds_are": "there is: {known:list}",
    "project.no_store": "no store: neither {file} nor {default_store} is here or above",
    "scan.not_a_command": "{program!r} cannot be split into words: {error}",
    "scan.not_a_program": "{program!r} names no Python file: write train.py, or -m package.module",
    "scan.no_program": "{path} does not exist: give the file of the program",
    "scan.not_started": "{program} could not be started: {error}",
    "scan.bad_time": "{seconds} s: a trial run takes more than 0 and at most {most} s",
    "scan.cannot_try": (
        "the program needs {required:list}: write the values into the command, as in "
        '"python train.py --data=PATH"'
    ),
    # ---- scan
    "scan.role": _role,
    "scan.role_line": _role_line,
    "scan.subcommands": _subcommands,
    "scan.no_seed_option": _no_seed,
    "scan.file_header": _header,
    "scan.file_booleans": "How the program takes true and false.",
    "scan.file_defaults": (
        "The program's own defaults, which hold where a round does not name a hyperparameter."
    ),
    "scan.file_required": "required: only you know it",
    "scan.file_means": "What names mean by their spelling. Guards and checks go by it.",
    "scan.file_off": "The values that switch features off.",
    "scan.file_roles": "Proposed roles of all options, and why:",
    "scan.round_header": (
        "A first round. {trials} trials per study pay for {paid} searched hyperparameters, the "
        "most important first; fix the rest, each a caveat."
    ),
    "scan.round_goal": "Which values of {names:list} suit this program?",
    "scan.round_scientific": "Whose effect is measured. Uncomment one to ask about it.",
    "scan.round_nuisance": "Searched around the program's defaults.",
    "scan.round_fixed": "One value for all; the length and the batch size are never tuned.",
    "scan.type_bool": "{name} has type=bool, which takes every text for true: it is not passed",
    "scan.json_option": (
        "{option} takes a JSON object: write the values to tune into the command, as in\n"
        "{option}='{{\"lr\": 0.001}}'; each becomes a hyperparameter"
    ),
    "scan.nothing_found": "{path} declares no option that can be read: write the command yourself",
    "scan.too_large": "{path} is larger than {largest} bytes and was not read",
    "scan.not_decodable": "{path} is not text in the encoding it declares: {error}",
    "scan.not_readable": "{path} could not be read: {error}",
    "scan.syntax_error": "{path} is no valid Python (line {line}): {error}",
    "scan.library_missing": (
        "{library} is not installed here, so the options of {name} were not read"
    ),
    "scan.no_yaml": "reading {path} needs PyYAML: pip install pyyaml",
    "scan.hydra_not_named": "{path}: hydra.main without a plain config_path and config_name",
    "scan.config_not_found": "no file of the option {name} was found: pass --{name}=FILE",
    "scan.found": "{style}: {options:count option}, {hyperparameters:count hyperparameter}",
    "scan.needs": "no default is known of {required:list}: a round must name a value or a range",
    "scan.tried": (
        "tried for {seconds:duration}; found {patterns:count pattern} of lines in its output and "
        "{files:count file} with measurements in its folder"
    ),
    "scan.tried_file": "{pattern}: {points:count row} of {metrics:list}",
    "scan.not_tried": (
        "{metric} is read from lines of JSON; if the program prints it otherwise, --try {seconds} "
        "runs it briefly and proposes how its lines are read"
    ),
    "scan.tried_json": "tried for {seconds:duration}; it prints measurements as JSON already",
    "scan.tried_stopped": (
        "stopped after {seconds:duration}, before any measurement in its output or its folder. "
        "Allow more seconds with --try, or write [workload.read] yourself"
    ),
    "scan.tried_failed": (
        "ended with exit status {status} after {seconds:duration}, before any measurement in its "
        "output or its folder: the lines above show why"
    ),
    "scan.other_python": (
        "`{word}` starts {found}, but Tunewright runs in {own}: activate that environment, or "
        "write its path into the command, if the program needs what is installed there"
    ),
    "scan.adapter": (
        "no metrics are read yet, and the program imports {library}: the line "
        "`from tunewright.integrations.{module} import {word}` and the argument `{added}` log them "
        "(docs/{module}.md)"
    ),
    "scan.tried_nothing": (
        "tried for {seconds:duration}; no measurement found in its output or its folder. Print one "
        "JSON object per measurement, or write [workload.read] yourself"
    ),
}
