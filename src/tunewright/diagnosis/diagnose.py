"""The verb `diagnose`: every question about every run of a source, from its curves alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tunewright.actions import Action, Advise
from tunewright.diagnosis import _kinds, _scores
from tunewright.diagnosis._limits import LIMITS
from tunewright.diagnosis._read_curve import ReadCurve, read_curve, why_not
from tunewright.diagnosis._scores import Score
from tunewright.diagnosis.answer import QUESTIONS, Answer, Diagnosis, Question, ReadRun
from tunewright.errors import DesignError
from tunewright.finding import Evidence, NotJudged, Verdict
from tunewright.importers.runs import RecordedRun, read_runs
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Trial

Curves = Mapping[str, Any]  # metric -> values, or (steps, values)
_Role = Literal["train", "valid", "learning_rate", "gradient_norm"]
_ROLES: tuple[_Role, ...] = ("train", "valid", "learning_rate", "gradient_norm")
_DECLARED = {"schedule", "lr_schedule", "lr_scheduler", "scheduler", "lr_scheduler_type"}
_RATES = {"lr", "learning_rate", "peak_lr", "max_lr"}


@dataclass(frozen=True)
class _Seen(Evidence):
    """What a question saw on the curve it read; docs/diagnose.md has what each number means."""

    points: int  # as judged: after thinning and smoothing
    score: float  # the higher, the surer is yes
    yes_from: float  # a score at least this high is a warning
    no_up_to: float  # a score at most this high is a clean bill
    effect: float | None = None  # as a share of what training improved
    value: float | None = None  # in units of the metric
    at_step: int | None = None


def diagnose(
    source: str | os.PathLike[str] | Curves | Results | Trial,
    *,
    run: str | None = None,
    roles: Mapping[str, str] | None = None,
    maximize: Sequence[str] = (),
    chance: float | None = None,
) -> Diagnosis:
    """Ask every question of every run, and answer with a verdict, evidence and its error rate.

    `cannot_judge` is a normal answer: too few evaluations, no such curve, or evidence between the
    two limits. Nothing is trained, and no round is needed.

    Args:
        source: a TensorBoard folder, offline runs of W&B or SwanLab, an MLflow or Trackio store, a
            CSV, JSON or JSON-lines file; or curves, {metric: values} or {metric: (steps, values)};
            or the results of a round, or one of its trials.
        run: the name of one run of the source; None: all of them.
        roles: {"train": metric, "valid": ..., "learning_rate": ..., "gradient_norm": ...}, where
            the names do not show it.
        maximize: metrics of which a larger value is better, where the name does not show it.
        chance: the training or validation value of a guess, for the question `learned`.

    >>> import tunewright as tw
    >>> rising = [1 / (1 + k) + max(0, k - 30) * 0.02 for k in range(60)]
    >>> found = tw.diagnose({"val_loss": rising, "train_loss": [1 / (1 + k) for k in range(60)]})
    >>> [one.question for one in found.of("warn")]
    ['overfitting']
    """
    given = dict(roles or {})
    for role in given:
        if role not in _ROLES:
            raise DesignError("diagnosis.unknown_role", role=role, known=list(_ROLES))
    runs = _runs(source, run)
    metrics = {name for recorded in runs for name in recorded.points}
    for role, name in given.items():
        if name not in metrics:
            raise DesignError(
                "diagnosis.no_such_metric", role=role, name=name, logged=sorted(metrics)
            )
    read: list[ReadRun] = []
    answers: list[Answer] = []
    for recorded in runs:
        about, run_answers = _judge(recorded, given, frozenset(maximize), chance)
        read.append(about)
        answers += run_answers
    path = source if isinstance(source, str | os.PathLike) else None
    return Diagnosis("curves" if path is None else str(path), tuple(read), tuple(answers))


def _runs(source: Any, wanted: str | None) -> list[RecordedRun]:
    if isinstance(source, Results):
        runs = [_run_of_trial(trial) for trial in source.trials if trial.curves]
    elif isinstance(source, Trial):
        runs = [_run_of_trial(source)]
    elif isinstance(source, Mapping):
        points = {str(name): _points(name, values) for name, values in source.items()}
        runs = [RecordedRun(wanted or "run", points, {})]
    else:
        runs = read_runs(source)
    if wanted is not None:
        kept = [recorded for recorded in runs if recorded.name == wanted]
        if not kept:
            names = [recorded.name for recorded in runs]
            raise DesignError("diagnosis.no_such_run", run=wanted, runs=names[:20])
        runs = kept
    if not any(recorded.points for recorded in runs):
        raise DesignError("diagnosis.no_curves", source=str(source)[:200])
    return runs


def _run_of_trial(trial: Trial) -> RecordedRun:
    curves = trial.curves.items()
    points = {name: (curve.steps.tolist(), curve.values.tolist()) for name, curve in curves}
    configuration = dict(trial.configuration or {})
    return RecordedRun(str(trial.shown_number), points, configuration, trial.status)


def _points(name: str, values: Any) -> tuple[Sequence[int], Sequence[float]]:
    pair = isinstance(values, tuple) and len(values) == 2 and np.ndim(values[0]) == 1
    steps, logged = values if pair else (range(1, len(values) + 1), values)
    try:
        numbers = [float(value) for value in logged]
        at = [int(step) for step in steps]
    except (TypeError, ValueError):
        raise DesignError("diagnosis.not_numbers", name=name) from None
    if len(at) != len(numbers):
        raise DesignError("diagnosis.unequal_lengths", name=name, steps=len(at), values=len(logged))
    return at, numbers


@dataclass(frozen=True)
class _Run:
    """The curves that the questions read, by their role."""

    recorded: RecordedRun
    curves: Mapping[_Role, ReadCurve]
    chance: float | None

    def get(self, role: _Role) -> ReadCurve | None:
        return self.curves.get(role)

    def setting(self, names: set[str]) -> Any:
        for name, value in self.recorded.configuration.items():
            if name.rsplit(".", 1)[-1].lower() in names:
                return value
        return None


def _judge(
    run: RecordedRun, roles: Mapping[str, str], maximize: frozenset[str], chance: float | None
) -> tuple[ReadRun, list[Answer]]:
    order = sorted(run.points, key=lambda name: -len(run.points[name][0]))
    chosen: dict[_Role, str] = {}
    for role in _ROLES:
        name = roles.get(role) or _kinds.pick(run.points, role, order)
        if name is not None and name in run.points:
            chosen[role] = name
    curves = {}
    for role, name in chosen.items():
        up = name in maximize or (name not in maximize and _kinds.higher_is_better(name))
        sign = -1.0 if up and role in ("train", "valid") else 1.0
        curves[role] = read_curve(name, *run.points[name], sign)
    longest = max((len(steps) for steps, _ in run.points.values()), default=0)
    last = max((int(max(steps)) for steps, _ in run.points.values() if len(steps)), default=None)
    kinds: dict[str, str] = {name: _kinds.kind_of(name) for name in run.points}
    kinds |= {name: role for role, name in chosen.items()}
    asked_run = _Run(run, curves, chance)
    return ReadRun(run.name, kinds, longest, last), [_answer(asked_run, q) for q in QUESTIONS]


Ask = Callable[[_Run, ReadCurve], Score | None]


def _reader_of(run: _Run, question: Question) -> tuple[ReadCurve | None, Ask]:
    """Which curve a question reads, and how."""
    train, valid = run.get("train"), run.get("valid")
    either = valid or train
    asks: dict[Question, tuple[ReadCurve | None, Ask]] = {
        "diverged": (_worst(train, valid), lambda _, curve: _scores.divergence(curve)),
        "spikes": (train, lambda _, curve: _scores.spike_score(curve)),
        "training_bug": (train, lambda _, curve: _scores.rose(curve)),
        "overfitting": (
            valid,
            lambda its_run, curve: _scores.worsening(curve, its_run.get("train")),
        ),
        "still_improving": (either, lambda _, curve: _scores.improves(curve)),
        "saturated": (either, lambda _, curve: _scores.levelling_off(curve)),
        "noise": (either, lambda _, curve: _scores.jumps(curve)),
        "periodicity": (either, lambda _, curve: _scores.periodic(curve)),
        "gradient_norm": (run.get("gradient_norm"), lambda _, curve: _scores.gradient(curve)),
        "learned": (
            train or valid,
            lambda its_run, curve: _scores.no_learning(curve, its_run.chance),
        ),
        "schedule": (run.get("learning_rate"), _schedule),
    }
    return asks[question]


def _worst(train: ReadCurve | None, valid: ReadCurve | None) -> ReadCurve | None:
    """The training loss, unless validation alone is not finite."""
    if train is None or (train.finite and valid is not None and not valid.finite):
        return valid
    return train


def _schedule(run: _Run, curve: ReadCurve) -> Score | None:
    declared, configured = run.setting(_DECLARED), run.setting(_RATES)
    number = isinstance(configured, int | float) and not isinstance(configured, bool)
    return _scores.off_schedule(
        curve,
        declared if isinstance(declared, str) else None,
        float(configured) if number else None,
    )


def _answer(run: _Run, question: Question) -> Answer:
    curve, ask = _reader_of(run, question)
    limits = LIMITS[question]
    name = run.recorded.name
    if curve is None:
        logged = sorted(run.recorded.points)[:20]
        why = Message("diagnosis.not_logged", {"question": question, "logged": logged})
        return _silent(question, name, None, why, (Advise(f"diagnosis.log.{question}"),))
    finite = curve.finite or question in ("diverged", "gradient_norm")
    score = ask(run, curve) if len(curve.values) else None
    if score is None or (score.points < limits.fewest and score.score < _scores.SURE):
        if question == "schedule" and len(curve.values) >= limits.fewest:
            why = Message("diagnosis.no_schedule_declared")
        else:
            why = why_not(curve, limits.fewest)
        return _silent(question, name, curve.name, why, (Advise("evaluate_more_often"),))
    if not finite and question in ("still_improving", "saturated", "noise", "periodicity"):
        why = Message("diagnosis.not_finite", {"metric": curve.name})
        return _silent(question, name, curve.name, why, ())
    verdict: Verdict = "ok"
    if score.score >= limits.yes and not score.unclear:
        verdict = "warn"
    elif score.score > limits.no or score.unclear:
        facts = {"score": round(score.score, 3), "yes": limits.yes, "no": limits.no}
        why = Message("diagnosis.between", {"metric": curve.name, **facts})
        return _silent(question, name, curve.name, why, (Advise("evaluate_more_often"),))
    evidence = _Seen(
        points=score.points,
        score=round(score.score, 3),
        yes_from=limits.yes,
        no_up_to=limits.no,
        effect=score.effect,
        value=score.value,
        at_step=score.at_step,
    )
    # that training was long enough, or not, is information rather than a fault
    mild = question in ("still_improving", "saturated", "noise")
    if verdict == "warn" and mild:
        verdict = "note"
    actions = tuple(_actions(question)) if verdict in ("warn", "note") else ()
    return Answer(
        question=question,
        run=name,
        metric=curve.name,
        verdict=verdict,
        evidence=evidence,
        error_rate=limits.rate,
        actions=actions,
    )


def _silent(
    question: Question, run: str, metric: str | None, why: Message, actions: tuple[Action, ...]
) -> Answer:
    return Answer(
        question=question,
        run=run,
        metric=metric,
        verdict="cannot_judge",
        evidence=NotJudged(why),
        error_rate=None,
        actions=actions,
    )


def _actions(question: Question) -> Iterator[Action]:
    """What to do about a warning, most useful first; every one is advice, no round is known."""
    count = {"overfitting": 2, "still_improving": 2, "diverged": 3}.get(question, 1)
    for number in range(1, count + 1):
        yield Advise(f"diagnosis.do.{question}.{number}")
