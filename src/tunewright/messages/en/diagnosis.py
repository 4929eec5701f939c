"""Sentences of a diagnosis: one question to the curves of one run."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

QUESTIONS = {
    "diverged": "whether training diverged",
    "spikes": "whether training spikes",
    "training_bug": "whether training loss rises and stays up",
    "overfitting": "whether it overfits",
    "still_improving": "whether it still improves at the end",
    "saturated": "whether it levelled off by half of training",
    "noise": "whether late evaluations jump",
    "periodicity": "whether evaluations have a period",
    "gradient_norm": "whether the gradient norm explodes or vanishes",
    "learned": "whether it is better than a guess",
    "schedule": "whether the learning rate follows its schedule",
}
ROLES = {
    **dict.fromkeys(("spikes", "training_bug"), "training loss"),
    "overfitting": "validation metric",
    "gradient_norm": "gradient norm",
    "schedule": "learning rate",
}


def _percent(value: float | None) -> str:
    return "an unknown share" if value is None else f"{100 * value:.3g} %"


def _at(facts: Facts) -> str:
    return "" if facts["at_step"] is None else f" at step {facts['at_step']}"


def _over(facts: Facts) -> str:
    return f"{facts['metric']}, {words.count(facts['points'], 'point')}"


def _divergence(facts: Facts) -> str:
    if facts["effect"] is None:
        return f"{_over(facts)}: not finite{_at(facts)}."
    return (
        f"{_over(facts)}: {_percent(facts['effect'])} of the improvement was lost again at the "
        f"end (a diverged run loses more than {_percent(facts['yes_from'])})."
        if facts["yes_from"] < 50
        else f"{_over(facts)}: the end is {words.number(facts['value'])}."
    )


def _spikes(facts: Facts) -> str:
    if not facts["score"]:
        return f"{_over(facts)}: no jump of 10 % that stands out from the noise."
    return (
        f"{_over(facts)}: {words.count(round(facts['value'] or 0), 'spike')}, the clearest by "
        f"{_percent(facts['effect'])}{_at(facts)}, {facts['score']:.1f} robust standard deviations."
    )


def _rise(facts: Facts) -> str:
    return (
        f"{_over(facts)}: the clearest lasting rise is {_percent(facts['effect'])} of the "
        f"improvement, from step {facts['at_step']} on; z = {facts['score']:.1f}."
    )


def _worse(facts: Facts) -> str:
    return (
        f"{_over(facts)}: best {words.number(facts['value'])}{_at(facts)}; the end is worse by "
        f"{_percent(facts['effect'])} of the improvement, z = {facts['score']:.1f}."
    )


def _improves(facts: Facts) -> str:
    return (
        f"{_over(facts)}: since step {facts['at_step']} it improved by "
        f"{_percent(facts['effect'])} of its whole improvement, at least {facts['score']:.2g} %."
    )


def _level_off(facts: Facts) -> str:
    return (
        f"{_over(facts)}: the second half changed {_percent(facts['effect'])} of the improvement, "
        f"at most {-facts['score']:.2g} %."
    )


def _noise(facts: Facts) -> str:
    return (
        f"{_over(facts)}: one late evaluation has a standard deviation of "
        f"{words.number(facts['value'])}, {_percent(facts['effect'])} of the improvement."
    )


def _period(facts: Facts) -> str:
    chance = 10 ** -facts["score"]
    return (
        f"{_over(facts)}: the strongest cycle takes {words.number(facts['value'])} steps; chance "
        f"makes one so strong with probability {words.probability(chance)}."
    )


def _gradient(facts: Facts) -> str:
    if facts["effect"] is None:
        return f"{_over(facts)}: not finite or zero{_at(facts)}."
    factor = 10 ** facts["effect"]
    return f"{_over(facts)}: its end is {words.number(factor)} times the median of mid-training."


def _learning(facts: Facts) -> str:
    return (
        f"{_over(facts)}: the end, {words.number(facts['value'])}, is "
        f"{_percent(facts['effect'])} better than where it began or than a guess."
    )


def _schedule(facts: Facts) -> str:
    return (
        f"{_over(facts)}: peak {words.number(facts['value'])}, its end or peak is "
        f"{words.number(facts['effect'])} times what was expected to compare with."
    )


SENTENCES: dict[str, Template] = {
    "diagnosis.tally": (
        "{runs:count run}: {warn:count warning}, {note:count note}, {cannot_judge} not judged"
    ),
    "diagnosis.cannot_judge": lambda facts: f"Cannot judge {QUESTIONS[facts['question']]}",
    "diagnosis.why": "{why:message}",
    "diagnosis.error_rate": (
        "Of {curves} labelled curves without this fault, {false_alarms:percent} drew this warning."
    ),
    # ---- why a question cannot be judged
    "diagnosis.few_points": "{metric} has {points:count evaluation}, {needed} are needed.",
    "diagnosis.uneven_steps": "{metric} was not logged at about equal steps.",
    "diagnosis.not_finite": "{metric} is not finite.",
    "diagnosis.between": (
        "{metric} shows neither clearly: its score is {score}; from {yes} on it is yes, up to "
        "{no} it is no."
    ),
    "diagnosis.not_logged": lambda facts: (
        f"no {ROLES.get(facts['question'], 'loss or metric')} was recognised among "
        f"{', '.join(facts['logged']) or 'no curves'}."
    ),
    "diagnosis.no_schedule_declared": (
        "the configuration has neither a schedule nor a learning rate to compare with."
    ),
    # ---- errors
    "diagnosis.unknown_role": "{role!r} is no role of a curve; the roles are {known:list}.",
    "diagnosis.no_such_metric": (
        "{name!r} was given as {role}, but no run logged it; logged are {logged:few}."
    ),
    "diagnosis.no_such_run": "there is no run {run!r}; there are {runs:few}.",
    "diagnosis.no_curves": "{source} has no curves.",
    "diagnosis.not_numbers": "the curve {name!r} holds something that is not a number.",
    "diagnosis.unequal_lengths": "the curve {name!r} has {steps} steps and {values} values.",
    # ---- headlines and evidence, by question and verdict
    "diagnosis.diverged.warn": "Training diverged",
    "diagnosis.diverged.ok": "Training did not diverge",
    "diagnosis.diverged.evidence": _divergence,
    "diagnosis.spikes.warn": "The training loss spikes",
    "diagnosis.spikes.ok": "The training loss has no spikes",
    "diagnosis.spikes.evidence": _spikes,
    "diagnosis.training_bug.warn": "The training loss rises and stays up: suspect a bug",
    "diagnosis.training_bug.ok": "The training loss does not rise",
    "diagnosis.training_bug.evidence": _rise,
    "diagnosis.overfitting.warn": "Validation gets worse while training does not: overfitting",
    "diagnosis.overfitting.ok": "Validation does not get worse",
    "diagnosis.overfitting.evidence": _worse,
    "diagnosis.still_improving.note": "It still improves when training ends",
    "diagnosis.still_improving.ok": "It no longer improves when training ends",
    "diagnosis.still_improving.evidence": _improves,
    "diagnosis.saturated.note": "It had levelled off by half of training",
    "diagnosis.saturated.ok": "The second half of training still changed it",
    "diagnosis.saturated.evidence": _level_off,
    "diagnosis.noise.note": "Late evaluations jump by much of what training gained",
    "diagnosis.noise.ok": "Late evaluations are calm",
    "diagnosis.noise.evidence": _noise,
    "diagnosis.periodicity.warn": "Evaluations go up and down with a period",
    "diagnosis.periodicity.ok": "Evaluations show no period",
    "diagnosis.periodicity.evidence": _period,
    "diagnosis.gradient_norm.warn": "The gradient norm leaves its usual size",
    "diagnosis.gradient_norm.ok": "The gradient norm keeps its size",
    "diagnosis.gradient_norm.evidence": _gradient,
    "diagnosis.learned.warn": "Nothing was learned: it is no better than a guess",
    "diagnosis.learned.ok": "It learned something",
    "diagnosis.learned.evidence": _learning,
    "diagnosis.schedule.warn": "The learning rate departs from its schedule",
    "diagnosis.schedule.ok": "The learning rate follows its schedule",
    "diagnosis.schedule.evidence": _schedule,
}

ACTIONS: dict[str, Template] = {
    **{
        f"diagnosis.log.{question}": f"log a {ROLES.get(question, 'loss')} to have this answered"
        for question in QUESTIONS
    },
    "diagnosis.log.schedule": "log the learning rate at every evaluation",
    "diagnosis.do.diverged.1": "lower the peak learning rate by half",
    "diagnosis.do.diverged.2": "warm the learning rate up",
    "diagnosis.do.diverged.3": "clip the gradient norm",
    "diagnosis.do.spikes.1": "clip the gradient norm, or lower the learning rate",
    "diagnosis.do.training_bug.1": "look for a bug in the data or in the loss before tuning",
    "diagnosis.do.overfitting.1": "tune a regulariser: weight decay, dropout, augmentation",
    "diagnosis.do.overfitting.2": "keep the best checkpoint rather than the last",
    "diagnosis.do.still_improving.1": "train for more steps",
    "diagnosis.do.still_improving.2": "decay the learning rate to zero by the end",
    "diagnosis.do.saturated.1": "train for fewer steps, and spend what is saved on more trials",
    "diagnosis.do.noise.1": "decay the learning rate, average weights, or evaluate on more data",
    "diagnosis.do.periodicity.1": "shuffle the training data anew in every epoch",
    "diagnosis.do.gradient_norm.1": "clip the gradient norm, or warm the learning rate up",
    "diagnosis.do.learned.1": "fit ten examples first; if that fails, look for a bug",
    "diagnosis.do.schedule.1": "look where the optimizer receives its learning rate",
}
