"""A network stored as ONNX, evaluated by numpy: the YAHPO surrogates need no runtime of their own.

Reads the wire format and knows the eighteen operations of those files. Agrees with onnxruntime to
1e-5 of an output's size (tests compare them where onnxruntime can be imported).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 11: np.float64}  # TensorProto.DataType


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """(field number, value) of a protobuf message; nested ones stay bytes."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield key >> 3, value
            continue
        length, at = _number(data, at) if kind == 2 else ({5: 4, 1: 8}[kind], at)
        yield key >> 3, data[at : at + length]
        at += length


def _tensor(data: bytes) -> tuple[str, Array]:
    shape, kind, raw, name = [], 1, b"", ""
    for field, value in _fields(data):
        if field == 1:
            shape.append(value)
        elif field == 2:
            kind = value
        elif field == 8:
            name = value.decode()
        elif field == 9:
            raw = value
    return name, np.frombuffer(raw, _TYPES[kind]).reshape(shape)


def _attributes(data: list[bytes]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in data:
        fields = dict(_fields(one))
        if 5 in fields:
            found[fields[1].decode()] = _tensor(fields[5])[1]
        elif 2 in fields:
            found[fields[1].decode()] = struct.unpack("<f", fields[2])[0]
        else:
            found[fields[1].decode()] = fields.get(3, 0)
    return found


def _batch_norm(
    x: Array, scale: Array, bias: Array, mean: Array, var: Array, epsilon: float
) -> Array:
    return (x - mean) / np.sqrt(var + np.float32(epsilon)) * scale + bias


def _slice(x: Array, start: Array, end: Array, axis: Array) -> Array:
    cut = [slice(None)] * x.ndim
    cut[int(axis[0])] = slice(int(start[0]), int(end[0]))
    return x[tuple(cut)]


def _divide(x: Array, y: Array) -> Array:
    return x // y if np.issubdtype(x.dtype, np.integer) else x / y


_OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "Constant": lambda value: value,
    "Gather": lambda x, i, axis=0: np.take(x, i, axis=axis),
    "Concat": lambda *xs, axis: np.concatenate(xs, axis=axis),
    "Cast": lambda x, to: x.astype(_TYPES[to]),
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Neg": np.negative,
    "Exp": np.exp,
    "Log": np.log,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Shape": lambda x: np.array(x.shape, np.int64),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(int(a) for a in axes)),
    "Gemm": lambda x, w, b, alpha, beta, transB: x @ w.T + b,
    "BatchNormalization": lambda x, s, b, m, v, epsilon, momentum: _batch_norm(
        x, s, b, m, v, epsilon
    ),
    "Slice": _slice,
}


@dataclass(frozen=True)
class Network:
    """The graph of a file; call it with its inputs by name to get the output."""

    path: Path

    @cached_property
    def _graph(self) -> bytes:
        return next(value for field, value in _fields(self.path.read_bytes()) if field == 7)

    @cached_property
    def _weights(self) -> dict[str, Array]:
        return dict(_tensor(value) for field, value in _fields(self._graph) if field == 5)

    @cached_property
    def _nodes(self) -> list[tuple[str, list[str], str, dict[str, Any]]]:
        nodes = []
        for field, value in _fields(self._graph):
            if field == 1:
                parts = list(_fields(value))
                operation = next(v.decode() for f, v in parts if f == 4)
                inputs = [v.decode() for f, v in parts if f == 1]
                output = next(v.decode() for f, v in parts if f == 2)
                nodes.append(
                    (operation, inputs, output, _attributes([v for f, v in parts if f == 5]))
                )
        return nodes

    def __call__(self, **inputs: Array) -> Array:
        """The last node's output."""
        known: dict[str, Array] = {**self._weights, **inputs}
        output = ""
        for operation, names, output, attributes in self._nodes:
            known[output] = _OPERATIONS[operation](*(known[n] for n in names), **attributes)
        return known[output]
