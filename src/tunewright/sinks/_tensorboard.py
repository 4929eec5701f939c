"""TensorBoard: a folder of event files per trial, under the round's.

Points are appended while a trial runs. A folder that another process left, or whose points a later
attempt replaced, is written anew beside the old one and takes its place, so that no point stands
there twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tunewright.design.workload_file import Sink
from tunewright.sinks._trial_run import PREFIX, Tracker, TrialRun, first_points, same_points

NEW = ".new"  # of a folder that is being written
_TEXT_PLUGIN = "text"
_TEXT_TENSOR = 7  # TensorFlow's DT_STRING


def open_tracker(sink: Sink) -> Tracker:
    """Write under a folder; TensorBoard itself shows it with `tensorboard --logdir`."""
    return _TensorBoard(Path(sink.where) / sink.project if sink.project else Path(sink.where))


class _TensorBoard:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # of running trials: the writer of what was appended, if any, and what the folder has
        self._open: dict[str, tuple[Any, TrialRun]] = {}

    def put(self, run: TrialRun) -> None:
        """Append what is new, or write the folder anew."""
        folder = self._folder / plain(run.round) / plain(run.name)
        writer, before = self._open.pop(run.key, (None, None))
        if before is not None and _continues(run, before) and folder.is_dir():
            writer = writer or _writer(folder)
            _write(writer, run, before)
        else:
            _close(writer)
            writer = None
            _anew(folder, run)
        if run.over:
            _close(writer)
        else:
            self._open[run.key] = (writer, run)

    def close(self) -> None:
        """Close the files of the trials that still run; they are written anew later."""
        for writer, _ in self._open.values():
            _close(writer)
        self._open.clear()


def _continues(run: TrialRun, before: TrialRun) -> bool:
    return run.configuration == before.configuration and all(
        name in run.curves and same_points(first_points(run.curves[name], len(curve)), curve)
        for name, curve in before.curves.items()
    )


def _writer(folder: Path) -> Any:
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    return EventFileWriter(str(folder))


def _close(writer: Any) -> None:
    if writer is not None:
        writer.close()


def _anew(folder: Path, run: TrialRun) -> None:
    """Write the whole run beside its place and move it there.

    The writer is closed before: without TensorFlow it opens its file by name for every event.
    """
    beside = folder.with_name(folder.name + NEW)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(beside)
    beside.mkdir(parents=True)
    writer = _writer(beside)
    try:
        _write(writer, run, None)
    except BaseException:
        with contextlib.suppress(Exception):
            writer.close()
        raise
    writer.close()
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    os.rename(beside, folder)


def _write(writer: Any, run: TrialRun, before: TrialRun | None) -> None:
    for event in _events(run, before):
        writer.add_event(event)
    writer.flush()
    if failed := _failure(writer):
        raise failed


def _failure(writer: Any) -> BaseException | None:
    """What the writer's own thread ran into; it raises it only at the next event."""
    thread = getattr(getattr(writer, "_async_writer", None), "_worker", None)
    error = getattr(thread, "exception", None)
    return error if isinstance(error, BaseException) else None


def _events(run: TrialRun, before: TrialRun | None) -> Iterator[Any]:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    at = run.began if run.ended is None else run.ended
    if before is None:
        yield _hyperparameters(run)
    for name, curve in run.curves.items():
        count = len(before.curves.get(name, ())) if before is not None else 0
        pairs = zip(curve.steps[count:].tolist(), curve.values[count:].tolist(), strict=True)
        for step, value in pairs:
            scalar = Summary.Value(tag=name, simple_value=_single(value))
            yield Event(step=step, wall_time=at, summary=Summary(value=[scalar]))
    if run.ended is not None:
        yield _end(run, run.ended)


def _hyperparameters(run: TrialRun) -> Any:
    """The settings as the hparams page of TensorBoard reads them."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionStartInfo

    start = SessionStartInfo(
        group_name=run.name, start_time_secs=run.began, monitor_url=f"{PREFIX}{run.key}"
    )
    for name, value in run.configuration.items():
        field = start.hparams[name]
        if isinstance(value, bool):
            field.bool_value = value
        elif isinstance(value, int | float):
            field.number_value = value
        else:
            field.string_value = value if isinstance(value, str) else json.dumps(value)
    data = HParamsPluginData(version=0, session_start_info=start)
    return _plugin_event("_hparams_/session_start_info", "hparams", data, run.began)


def _end(run: TrialRun, at: float) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.plugins.hparams.api_pb2 import STATUS_FAILURE, STATUS_SUCCESS
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo

    good = run.status in ("completed", "unmeasured")
    end = SessionEndInfo(status=STATUS_SUCCESS if good else STATUS_FAILURE, end_time_secs=at)
    data = HParamsPluginData(version=0, session_end_info=end)
    event = _plugin_event("_hparams_/session_end_info", "hparams", data, at)
    summary = {"round": run.round, "study": run.study, "seed": run.seed, **run.summary}
    tensor = TensorProto(dtype=_TEXT_TENSOR, string_val=[json.dumps(summary).encode()])
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=_TEXT_PLUGIN))
    text = Summary.Value(tag=f"{PREFIX}summary", metadata=metadata, tensor=tensor)
    event.summary.value.append(text)
    assert isinstance(event, Event)
    return event


def _plugin_event(tag: str, plugin: str, data: Any, at: float) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata

    plugin_data = SummaryMetadata.PluginData(plugin_name=plugin, content=data.SerializeToString())
    value = Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin_data))
    return Event(step=0, wall_time=at, summary=Summary(value=[value]))


def _single(value: float) -> float:
    """TensorBoard keeps single precision; what is too large for it becomes infinity there."""
    largest = 3.4028234663852886e38
    if value != value or abs(value) <= largest:
        return value
    return float("inf") if value > 0 else float("-inf")


def plain(name: str) -> str:
    """A name as one folder.

    >>> plain("depth/2 a"), plain("..")
    ('depth_2 a', '_')
    """
    folder = re.sub(r"[/\\\0:]", "_", name)
    return folder if folder.strip(". ") else "_"
