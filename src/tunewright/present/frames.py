"""Arrays for a browser: a head and arrays in one run of bytes.

It is `uint32 length | JSON head | arrays`, each array at a multiple of eight bytes after the head;
the head names every array with its type, shape and offset. `frames.js` reads it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.present.plain import plain


def frame(head: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """A head and arrays as one answer.

    >>> len(frame({"a": 1}, {"x": np.arange(3, dtype=np.uint16)})) % 8
    0
    """
    listed: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        data = little.tobytes()
        listed[name] = {"type": array.dtype.name, "shape": list(array.shape), "at": at}
        padded = data + bytes(-len(data) % 8)
        parts.append(padded)
        at += len(padded)
    text = json.dumps({**plain(head), "arrays": listed}, allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([struct.pack("<I", len(text)), text, *parts])
