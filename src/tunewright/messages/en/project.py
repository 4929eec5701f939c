"""What is found about a project and the machine it is on: remarks of `init`, lines of `doctor`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _packages(facts: Facts) -> str:
    return "  ".join(f"{name} {version}" for name, version in facts["versions"].items())


def _devices(facts: Facts) -> str:
    names = ", ".join(str(name) for name in facts["cuda"])
    shown = f"CUDA {names}" if names else "no CUDA device"
    return f"{shown}, {words.count(facts['cores'], 'core')}"


def _locks(facts: Facts) -> str:
    state = "hold" if facts["hold"] else "are granted twice"
    return f"{state} in {facts['folder']} ({facts['file_system'] or 'unknown file system'})"


def _damaged(facts: Facts) -> str:
    shown = "; ".join(f"{fault['where']}: {fault['what']}" for fault in facts["faults"])
    more = facts["count"] - len(facts["faults"])
    others = f"; and {more} more" if more else ""
    return f"{facts['store']} is damaged in {words.count(facts['count'], 'place')}: {shown}{others}"


def _means_guessed(facts: Facts) -> str:
    pairs = [
        f"{', '.join(name) if isinstance(name, list | tuple) else name} as {meaning}"
        for meaning, name in facts["means"].items()
    ]
    return (
        f"read by their spelling: {'; '.join(pairs)}. Written under [workload.means] in "
        "tunewright.toml: correct what is wrong"
    )


SENTENCES: dict[str, Template] = {
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
    "doctor.damaged": _damaged,
    "doctor.no_backup": "none yet",
    "doctor.backup": "{name}, {seconds:duration} old",
    "doctor.no_locks": "{folder}: {error}",
    "doctor.locks": _locks,
    "doctor.disk": "{free_gb:.1f} GB free, {reserve_mb} MB of it in reserve",
}
