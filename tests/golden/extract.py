"""The facts in what a command answers: numbers, verdicts, statuses and names, never sentences.

There is one function for each command, in the table `FACTS` at the end. When the layout of the JSON
changes, these functions follow it, and the recorded facts stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

Data = Any  # what json.loads returns
ENVELOPE = {"schema_version", "data"}
# of a probe: sentences, or their codes and facts
SENTENCES = {"says", "message", "caveats", "missing", "label", "criterion", "notes", "what"}
PROVENANCE = ("commit", "diff_sha256", "untracked", "packages", "python", "devices")
SETTINGS_OF_A_ROUND = ("trials_per_study", "seed", "scientific", "nuisance", "fixed")
DECIDED = (
    *("verdict", "probability", "gain", "interval", "shrunk_gain", "runs_needed", "claim"),
    *("threshold", "false_launch_rate", "metric", "complexity", "not_worse_by", "sd", "sources"),
    *("method", "looks", "candidate_values", "baseline_values", "history_sd", "history_dropped"),
)
MANY = 16  # numbers of one part of an evidence: more are summed up
OF_THIS_PROJECT = ("workload", "program", "folder", "store")  # what `doctor` says of no machine


def data_of(text: str) -> Data:
    """The answer in a command's envelope; None where it is an error."""
    read = json.loads(text)
    return read["data"] if read.keys() >= ENVELOPE else None


def some(data: Mapping[str, Data], *names: str) -> dict[str, Data]:
    """These entries of a record; one that is missing is None."""
    return {name: data.get(name) for name in names}


def leaves(data: Data, path: str = "") -> Iterator[tuple[str, Data]]:
    """Everything that is no list and no record, with its place."""
    if isinstance(data, Mapping):
        for name, inner in data.items():
            yield from leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(data, list | tuple):
        for place, inner in enumerate(data):
            yield from leaves(inner, f"{path}.{place}" if path else str(place))
    else:
        yield path, data


def numbers(data: Data) -> dict[str, float]:
    """Every number and truth value of some data, by its place."""
    return {place: leaf for place, leaf in leaves(data) if isinstance(leaf, bool | int | float)}


def digest(data: Data) -> list[float]:
    """How many numbers some data have, and their sum: enough to see that one has changed."""
    found = [float(number) for number in numbers(data).values()]
    return [len(found), sum(found)]


def evidence_facts(data: Mapping[str, Data]) -> Data:
    """The numbers of a finding's evidence; of a part that has many, their digest."""
    if "edges" in data:  # what is at an end, without the ranges, which version 0.1 wrote as text
        edges = [{**own["seen"], "times": own["times"]} for own in data["edges"]]
        data = {**data, "edges": edges}
    parts = {name: numbers({name: part}) for name, part in data.items()}
    few = {place: n for found in parts.values() if len(found) <= MANY for place, n in found.items()}
    return few | {name: digest(data[name]) for name, found in parts.items() if len(found) > MANY}


# ---- records that several commands show


def round_facts(data: Mapping[str, Data] | None) -> Data:
    """A round without its goal."""
    if data is None:
        return None
    rest = {"detect": data.get("detect"), "continues": data.get("continues") or ""}
    return {"name": data["name"], **some(data, *SETTINGS_OF_A_ROUND), **rest}


def trial_facts(data: Mapping[str, Data], fixed: Mapping[str, Data]) -> Data:
    """A trial without its curves and what its round fixes; of its reason whether there is one."""
    told = some(data, "number", "study", "index", "status", "value", "best_step")
    more = some(data, "seed", "attempts", "search", "origin")
    own = {name: value for name, value in data["configuration"].items() if name not in fixed}
    return {**told, **more, "configuration": own, "has_reason": bool(data["reason"])}


def curve_facts(data: Mapping[str, Data]) -> Data:
    """Each metric as its number of points, its last step and the sum of its values."""
    return {
        metric: [*digest(curve["values"]), curve["steps"][-1] if curve["steps"] else None]
        for metric, curve in data.items()
    }


def finding_facts(data: Sequence[Mapping[str, Data]]) -> Data:
    """What each check says of each study: its verdict and its numbers."""
    found = [
        {
            **some(one, "check", "verdict"),
            "about": _about(one),
            "evidence": evidence_facts(one["evidence"]),
        }
        for one in data
    ]
    return sorted(found, key=lambda one: (one["check"], one["about"]))


def _about(finding: Mapping[str, Data]) -> str:
    """What a finding is about, as version 0.1 wrote it."""
    whole = finding.get("scope") == "round"
    return f"round {finding['about']}" if whole else str(finding["about"])


def place_facts(data: Mapping[str, Data] | None) -> Data:
    """A trial by its round and number."""
    return None if data is None else [data["round"], data["trial"]]


def spread_facts(data: Mapping[str, Data] | None) -> Data:
    """A standard deviation with its interval."""
    return None if data is None else some(data, "source", "sd", "low", "high", "freedom")


# ---- commands that read


def ls(data: Data) -> Data:
    """The tracking table."""
    return [
        {
            **some(row, "name", "counts", "trials"),
            "best": row["best"] and some(row["best"], "number", "value", "best_step", "status"),
            "checkpoint": PurePath(row["checkpoint"]).name,
            "definition": PurePath(row["definition"]).name,
            "has_note": bool(row["note"]),
        }
        for row in data["rounds"]
    ]


def show(data: Data) -> Data:
    """A round, its studies and its trials."""
    return {
        "round": round_facts(data["round"]),
        "objective": data["objective"],
        "search": data["search"],
        "counts": data["counts"],
        "studies": [
            {**some(one, "number", "scientific"), "columns": [h["column"] for h in one["space"]]}
            for one in data["studies"]
        ],
        "trials": [trial_facts(one, data["round"]["fixed"]) for one in data["trials"]],
        "repeats": [some(one, "parent", "status", "seed", "attempts") for one in data["repeats"]],
        "caveats": len(data["round"]["fixed"]),
        "notes": len(data["notes"]),
    }


def trial(data: Data) -> Data:
    """One trial with its curves, its repeats and its attempts."""
    own, history = data["trial"], data["history"]
    provenance = history["provenance"]
    return {
        **trial_facts(own, {}),
        "seconds": own["seconds"],
        "unit": own["unit"],
        "curves": curve_facts(own["curves"]),
        "repeats": [some(one, "status", "value", "best_step", "seed") for one in data["repeats"]],
        "attempts": [
            {**some(one, "n", "start_step", "outcome", "seconds"), "has_cause": bool(one["cause"])}
            for one in history["attempts"]
        ],
        "snapshots": [one["step"] for one in history["snapshots"]],
        "provenance": provenance and some(provenance, *PROVENANCE),
    }


def _number(trial: Mapping[str, Data] | None) -> Data:
    """The number of a trial, or of the trial that it repeats: they tie in a model."""
    if trial is None:
        return None
    return trial["parent"] if trial["number"] is None else trial["number"]


def believe(data: Data) -> Data:
    """What a model of the trials believes of each study."""
    return [
        {
            "study": one["study"]["scientific"],
            **some(one, "outcomes", "earlier", "infeasible", "saturated"),
            "recommended": _number(one["recommended"]),
            **some(one, "predicted", "feasible", "gain", "worthwhile", "axes"),
        }
        for one in data["beliefs"]
    ]


def check(data: Data) -> Data:
    """The checklist."""
    return finding_facts(data["findings"])


def next_(data: Data) -> Data:
    """The proposals in their order."""
    return {
        "proposals": [
            {
                **some(one, "kind", "search"),
                "because": sorted(one["because"]),
                "round": round_facts(one["round"]),
            }
            for one in data["proposals"]
        ],
        "wrote": data["wrote"] and PurePath(data["wrote"]).name,
    }


def extend(data: Data) -> Data:
    """The longer round, and what became of each hyperparameter."""
    made = data["extension"]
    return {
        "round": round_facts(made["round"]),
        "best": made["best"]["number"],
        **some(made, "old_steps", "new_steps"),
        "roles": {
            one["name"]: [one["role"], one["transfer"]["likelihood"]]
            for one in made["hyperparameters"]
        },
        "wrote": data["wrote"] and PurePath(data["wrote"]).name,
    }


def variance(data: Data) -> Data:
    """Every source of chance."""
    return {
        **some(data, "round", "metric", "optimism"),
        **{name: spread_facts(data[name]) for name in ("trial", "data", "data_of_gain", "splits")},
        "study": {label: spread_facts(one) for label, one in data["study"].items()},
        "missing": sorted(data["missing"]),
    }


def decision(data: Mapping[str, Data]) -> Data:
    """One launch decision; the first baseline has a verdict alone."""
    return some(data, *DECIDED)


def launch(data: Data) -> Data:
    """What a launch decided, and the baseline after it."""
    made = data["decision"]
    return {**decision(made), "runs": made["runs"], "now": place_facts(data["now"])}


def history(data: Data) -> Data:
    """The lineage: every decision, and the baselines that came of them."""
    return {
        "launches": [
            {
                "candidate": place_facts(one["candidate"]),
                "baseline": place_facts(one["baseline"]),
                "configuration": one["candidate"]["configuration"],
                "decision": decision(one["decision"]),
            }
            for one in data["launches"]
        ],
        "baselines": [
            {"place": place_facts(one["place"]), "runs": one["runs"]} for one in data["baselines"]
        ],
    }


def plot(data: Data) -> Data:
    """Each figure by its kind and file, with a digest of each part of its data."""
    return [
        {
            "kind": one["kind"],
            "file": PurePath(one["path"]).name,
            "data": {name: digest(part) for name, part in one["data"].items()},
        }
        for one in data["figures"]
    ]


def report(data: Data) -> Data:
    """Which findings are doubts, which are fine, and which could not be judged."""
    parts = {"doubts": ("warn", "note"), "unknown": ("cannot_judge",), "fine": ("ok",)}
    return {
        "path": data["path"] and PurePath(data["path"]).name,
        **{
            part: sorted(
                [one["check"], _about(one), one["verdict"]]
                for one in data["findings"]
                if one["verdict"] in verdicts
            )
            for part, verdicts in parts.items()
        },
        "caveats": len(data["round"]["fixed"]),
        "findings": len(data["findings"]),
    }


def doctor(data: Data) -> Data:
    """What is said of the project and its store; the machine is another one each time."""
    return {
        one["what"]: one["verdict"] for one in data["examined"] if one["what"] in OF_THIS_PROJECT
    }


# ---- commands that measure


def evaluate(data: Data) -> Data:
    """What was measured of each trial."""
    return [some(one, "trial", "step", "metrics", "proxy") for one in data]


def final(data: Data) -> Data:
    """A look at the test set, after the earlier ones."""
    names = ("number", "step", "metrics", "objective", "value", "look")
    return {
        "evaluation": some(data["evaluation"], *names),
        "earlier": [some(one, *names) for one in data["earlier"]],
    }


def probe(data: Data) -> Data:
    """The answer of a probe without its sentences, and whether it lacks something."""
    kept = {name: part for name, part in data.items() if name not in SENTENCES}
    return {"lacks": bool(data.get("missing")), **dict(_without_sentences(kept))}


def _without_sentences(data: Mapping[str, Data]) -> Iterator[tuple[str, Data]]:
    return ((place, leaf) for place, leaf in leaves(data) if place.split(".")[-1] not in SENTENCES)


FACTS: Mapping[str, Callable[[Data], Data]] = {
    "ls": ls,
    "show": show,
    "trial": trial,
    "believe": believe,
    "check": check,
    "next": next_,
    "extend": extend,
    "variance": variance,
    "launch": launch,
    "history": history,
    "plot": plot,
    "report": report,
    "doctor": doctor,
    "evaluate": evaluate,
    "final": final,
    "probe": probe,
}
