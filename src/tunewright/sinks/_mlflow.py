"""MLflow: an experiment per round, a run per trial, found again by a tag.

What the tracking store has is read before anything is added, so that a run that was half written
gets only what is missing. Points cannot be taken back there: where a later attempt of a trial
replaced points that were sent, the run is deleted and written anew.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tunewright.design.workload_file import Sink
from tunewright.importers._mlflow import flat_yaml
from tunewright.sinks._trial_run import PREFIX, Tracker, TrialRun, first_points, same_points
from tunewright.store.curves import Curve

KEY = f"{PREFIX}key"
STATES = {
    "running": "RUNNING",
    "completed": "FINISHED",
    "unmeasured": "FINISHED",
    "infeasible": "FAILED",
    "failed": "FAILED",
    "pruned": "KILLED",
}
_MOST_METRICS, _MOST_PARAMETERS = 1000, 100  # of one request, by MLflow's own limits
_LONGEST_VALUE = 500  # characters of a parameter, so that older servers take it too
LARGEST = 1.7976931348623157e308  # what a database of MLflow keeps in place of infinity
# so that a server that is down is noticed before our own patience ends
LIMITS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "20", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}


def open_tracker(sink: Sink) -> Tracker:
    """A client of the tracking server, database or folder."""
    for name, value in LIMITS.items():
        os.environ.setdefault(name, value)
    if "://" not in sink.where:
        # a folder was asked for by its name: MLflow 3 wants to hear that it is meant
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        os.makedirs(sink.where, exist_ok=True)
    from mlflow.tracking import MlflowClient

    folder = None if "://" in sink.where else Path(sink.where)
    return _MLflow(MlflowClient(tracking_uri=sink.where), sink.project, folder)


@dataclass
class _Sent:
    """What is known of a run in the tracking store."""

    identity: str
    state: str
    curves: dict[str, Curve] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()


class _MLflow:
    def __init__(self, client: Any, project: str, folder: Path | None) -> None:
        self._client = client
        self._folder = folder
        self._project = project
        self._experiments: dict[str, str] = {}
        self._sent: dict[str, _Sent] = {}  # by the key of the run

    def put(self, run: TrialRun) -> None:
        """Add what the run lacks; replace it where it has what the trial has not."""
        sent = self._sent.pop(run.key, None)  # unknown again if anything below raises
        if sent is None:
            sent = self._existing(run)
        if sent is not None and not _begins_with(run, sent):
            self._client.delete_run(sent.identity)
            sent = None
        if sent is None:
            sent = self._create(run)
        self._add_parameters(run, sent)
        self._add_points(run, sent)
        self._add_tags(run, sent)
        state = STATES[run.status]
        if sent.state != state:
            if run.ended is None:
                self._client.update_run(sent.identity, status=state)
            else:
                self._client.set_terminated(sent.identity, state, end_time=_ms(run.ended))
            sent.state = state
        self._sent[run.key] = sent

    def close(self) -> None:
        """Every call was committed already."""

    def _experiment(self, round: str) -> str:
        name = f"{self._project}/{round}" if self._project else round
        if name not in self._experiments:
            experiment = self._client.get_experiment_by_name(name)
            if experiment is not None and experiment.lifecycle_stage != "active":
                self._client.restore_experiment(experiment.experiment_id)
            identity = self._client.create_experiment(name) if experiment is None else None
            self._experiments[name] = identity or experiment.experiment_id
        return self._experiments[name]

    def _existing(self, run: TrialRun) -> _Sent | None:
        """The run of a trial, as far as it was written.

        By its name, since a process that was killed may have made it without its tags. Of several,
        those that are too many are deleted.
        """
        experiment = self._experiment(run.round)
        if self._folder is not None:
            _drop_torn(self._folder / experiment, run.name, self._client)
        name = run.name.replace("'", "\\'")
        of_name = self._client.search_runs([experiment], f"attributes.run_name = '{name}'")
        # the tag of a torn run is empty
        runs = [there for there in of_name if (there.data.tags.get(KEY) or run.key) == run.key]
        for other in runs[1:]:
            self._client.delete_run(other.info.run_id)
        if not runs:
            return None
        identity, data = runs[0].info.run_id, runs[0].data
        curves = {
            metric: _curve(self._client.get_metric_history(identity, metric))
            for metric in data.metrics
        }
        return _Sent(identity, runs[0].info.status, curves, dict(data.tags), frozenset(data.params))

    def _create(self, run: TrialRun) -> _Sent:
        created = self._client.create_run(
            self._experiment(run.round),
            start_time=_ms(run.began),
            run_name=run.name,
            tags={KEY: run.key},
        )
        return _Sent(created.info.run_id, "RUNNING", tags={KEY: run.key})

    def _add_parameters(self, run: TrialRun, sent: _Sent) -> None:
        from mlflow.entities import Param

        lacking = [
            Param(name, _text(value))
            for name, value in run.configuration.items()
            if name not in sent.parameters
        ]
        for at in range(0, len(lacking), _MOST_PARAMETERS):
            self._client.log_batch(sent.identity, params=lacking[at : at + _MOST_PARAMETERS])
        sent.parameters = frozenset(run.configuration)

    def _add_points(self, run: TrialRun, sent: _Sent) -> None:
        from mlflow.entities import Metric

        now = _ms(time.time() if run.ended is None else run.ended)
        points = []
        for name, curve in run.curves.items():
            known = len(sent.curves[name]) if name in sent.curves else 0
            pairs = zip(curve.steps[known:].tolist(), curve.values[known:].tolist(), strict=True)
            points += [Metric(name, value, now, step) for step, value in pairs]
        for at in range(0, len(points), _MOST_METRICS):
            self._client.log_batch(sent.identity, metrics=points[at : at + _MOST_METRICS])
        sent.curves = dict(run.curves)

    def _add_tags(self, run: TrialRun, sent: _Sent) -> None:
        from mlflow.entities import RunTag

        wanted = {KEY: run.key, **{PREFIX + name: _text(value) for name, value in _tags(run)}}
        changed = {n: value for n, value in wanted.items() if sent.tags.get(n) != value}
        if changed:
            tags = [RunTag(name, value) for name, value in changed.items()]
            self._client.log_batch(sent.identity, tags=tags)
        sent.tags = {**sent.tags, **changed}


def _drop_torn(experiment: Path, name: str, client: Any) -> None:
    """Remove the folder of this run that a killed process left torn: MLflow cannot read it.

    Its file store writes a run as many small files, and one without its content makes every search
    in the experiment fail. Runs of other names are left alone.
    """
    for meta in experiment.glob("*/meta.yaml"):
        if flat_yaml(meta.read_text(encoding="utf-8")).get("run_name") != name:
            continue
        try:
            run = client.get_run(meta.parent.name)
            for metric in run.data.metrics:
                client.get_metric_history(meta.parent.name, metric)
        except Exception:  # whatever it cannot read
            shutil.rmtree(meta.parent)


def _tags(run: TrialRun) -> list[tuple[str, Any]]:
    about: Mapping[str, Any] = {"round": run.round, "study": run.study, "goal": run.goal}
    return [*about.items(), ("seed", run.seed), *run.summary.items()]


def _begins_with(run: TrialRun, sent: _Sent) -> bool:
    """Whether everything that was sent is what the trial begins with."""
    return all(
        name in run.curves
        and same_points(first_points(_as_kept_there(run.curves[name]), len(curve)), curve)
        for name, curve in ((n, _as_kept_there(c)) for n, c in sent.curves.items())
    ) and sent.parameters <= set(run.configuration)


def _as_kept_there(curve: Curve) -> Curve:
    """A curve as a database of MLflow gives it back: the largest float in place of infinity."""
    return Curve(curve.steps, np.clip(curve.values, -LARGEST, LARGEST))


def _curve(history: list[Any]) -> Curve:
    ordered = sorted(history, key=lambda point: point.step)
    steps = np.array([point.step for point in ordered], np.int64)
    return Curve(steps, np.array([point.value for point in ordered], np.float64))


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text[:_LONGEST_VALUE]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
