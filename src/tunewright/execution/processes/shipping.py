"""How a training function reaches a worker process.

A function that can be imported travels as module and name. One that is defined in a script, a
notebook or another function travels by value, through cloudpickle, from parent to child over a pipe
and nowhere else. The import path and the working folder travel in both cases, so scripts need no
`if __name__ == "__main__"`.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tunewright.errors import WorkloadError
from tunewright.execution.workload import Train

LARGEST = 50 * 2**20  # bytes by value; more is data, which belongs in the function


@dataclass(frozen=True)
class Shipment:
    """A training function on its way to a worker."""

    path: tuple[str, ...]  # sys.path
    folder: str  # the working folder
    module: str = ""  # importable: where ...
    name: str = ""  # ... and under which name
    pickled: bytes = b""  # otherwise: by value


def ship(train: Train) -> Shipment:
    """Make a training function ready to travel; refuses one that cannot, naming the variable."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        raise WorkloadError("workload.folder_deleted") from None
    path = tuple(os.path.abspath(entry) for entry in sys.path)
    if _importable(train):
        return Shipment(path, folder, module=train.__module__, name=train.__qualname__)
    return Shipment(path, folder, pickled=_by_value(train))


def receive(shipment: Shipment) -> Train:
    """In the worker: take over the import path and the folder, and build the function again."""
    sys.path[:] = shipment.path
    os.chdir(shipment.folder)
    importlib.invalidate_caches()
    train: Train
    if shipment.pickled:
        import cloudpickle

        train = cloudpickle.loads(shipment.pickled)
    else:
        train = _resolve(importlib.import_module(shipment.module), shipment.name)
    return train


def _resolve(module: types.ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _importable(train: Train) -> bool:
    """Whether another process would find this very function under its module and name."""
    module, name = getattr(train, "__module__", None), getattr(train, "__qualname__", None)
    if module in (None, "__main__", "__mp_main__") or name is None or module not in sys.modules:
        return False
    try:
        if _resolve(sys.modules[module], name) is not train:
            return False
    except AttributeError:  # <locals>, <lambda>, or deleted since
        return False
    return _findable(module)


def _findable(module: str) -> bool:
    """Whether an import in another process would load the same file."""
    loaded = sys.modules[module]
    parent = module.rpartition(".")[0]
    if parent and (parent not in sys.modules or not _findable(parent)):
        return False
    places = getattr(sys.modules[parent], "__path__", None) if parent else None
    for finder in sys.meta_path:
        spec = finder.find_spec(module, places, None)
        if spec is not None:
            return bool(spec.origin == getattr(loaded, "__file__", spec.origin))
    return False


# ---- by value


class _TooLarge(Exception):
    """More bytes than may travel."""


class _Limited(io.RawIOBase):
    """Takes up to LARGEST bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._size += len(piece)
        if self._size > LARGEST:
            raise _TooLarge
        self.parts.append(piece)
        return len(piece)


def _by_value(train: Train) -> bytes:
    try:
        return _pickle(train)
    except Exception as error:
        raise _why_not(train, error) from error


def _pickle(value: object) -> bytes:
    import cloudpickle

    module = _module_of(value)
    by_value = (
        module is not None and module.__name__ != "__main__" and not _findable(module.__name__)
    )
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        sink = _Limited()
        cloudpickle.Pickler(sink).dump(value)
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return b"".join(sink.parts)


def _module_of(value: object) -> types.ModuleType | None:
    return sys.modules.get(getattr(value, "__module__", None) or "")


def _why_not(train: Train, error: Exception) -> WorkloadError:
    function = getattr(train, "__qualname__", type(train).__name__)
    name, value, reason = _culprit(train, error, depth=4) or (function, train, error)
    kind = type(value).__name__
    if isinstance(reason, _TooLarge):
        return WorkloadError(
            "workload.too_large", name=name, kind=kind, largest=LARGEST // 2**20, function=function
        )
    text = str(reason).partition("\n")[0]
    return WorkloadError(
        "workload.not_sendable", name=name, kind=kind, function=function, reason=text
    )


def _culprit(value: object, error: Exception, depth: int) -> tuple[str, object, Exception] | None:
    """The innermost captured variable that cannot travel, with the reason."""
    if depth == 0:
        return None
    for name, captured in _captures(value):
        try:
            _pickle(captured)
        except Exception as reason:
            return _culprit(captured, reason, depth - 1) or (name, captured, reason)
    return None


def _captures(value: Any) -> Iterator[tuple[str, object]]:
    """What would travel with a function or an object, by name."""
    if isinstance(value, partial):
        yield from _captures(value.func)
        yield from value.keywords.items()
        yield from ((f"argument {at}", given) for at, given in enumerate(value.args, 1))
    elif isinstance(value, types.MethodType):
        yield from _captures(value.__func__)
        yield from _captures(value.__self__)
    elif isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:  # not set yet
                continue
        for name in _names(value.__code__):
            if name in value.__globals__:
                yield name, value.__globals__[name]
        for defaults in (value.__defaults__ or (), (value.__kwdefaults__ or {}).values()):
            yield from (("a default value", given) for given in defaults)
    elif not isinstance(value, type | types.ModuleType):
        yield from getattr(value, "__dict__", {}).items()


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
