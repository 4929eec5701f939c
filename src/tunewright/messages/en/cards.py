"""Words of the cards that a notebook shows of a trial, a round, a launch and so on."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _findings(facts: Facts) -> str:
    kinds = ("warn", "note", "ok", "cannot_judge")
    named = {"warn": "warning", "note": "note"}
    parts = []
    for kind in kinds:
        if count := facts[kind]:
            noun = named.get(kind)
            fine = "fine" if kind == "ok" else "not judged"
            parts.append(words.count(count, noun) if noun else f"{count} {fine}")
    return ", ".join(parts) or "no findings"


def _trial(facts: Facts) -> str:
    name = "repeat" if facts["number"] is None else f"trial {facts['number']}"
    value = "" if facts["value"] is None else f", {words.number(facts['value'])}"
    step = "" if facts["step"] is None else f" at step {facts['step']}"
    return f"{name}: {facts['status']}{value}{step}"


def _results(facts: Facts) -> str:
    counts = ", ".join(f"{n} {status}" for status, n in facts["counts"].items())
    return f"{words.count(facts['trials'], 'trial')}: {counts}" if counts else "no trials yet"


SENTENCES: dict[str, Template] = {
    "card.findings": _findings,
    "card.fine": "{count} fine",
    "card.not_judged": "{count} not judged",
    "card.trial": _trial,
    "card.results": _results,
    "card.round": "{name}: {studies:count study/studies}, {trials:count trial} each",
    "card.study": "{label}: {trials:count trial}",
    "card.variances": "How far chance moves {metric} in {round}",
    "card.proposals": "What to do next, the most useful first",
    "card.campaign": "{name}: {spent} of {total:count trial} in {rounds:count round}",
    "card.limits": "What limits it: {text}",
    "card.label.hyperparameter": "hyperparameter",
    "card.label.role": "role",
    "card.label.searched": "value or range",
    "card.label.scientific": "scientific",
    "card.label.nuisance": "nuisance",
    "card.label.fixed": "fixed",
    "card.label.conditional": "only {condition}",
    "card.label.candidate": "candidate",
    "card.label.baseline": "baseline",
    "card.label.probability": "probability",
    "card.label.gain": "gain",
    "card.label.interval": "90 % interval",
    "card.label.runs": "runs",
    "card.label.seconds": "time",
    "card.label.seed": "seed",
    "card.label.attempts": "attempts",
    "card.label.memory": "peak memory",
    "card.label.source": "source",
    "card.label.sd": "standard deviation",
    "card.label.how": "measured from",
    "card.label.step": "step",
    "card.label.why": "why",
    "card.label.round": "round",
    "card.label.what": "what",
    "card.label.best": "best",
    "card.label.study": "study",
    "card.label.trial": "trial",
    "card.none_completed": "no completed trial to {objective}",
}
