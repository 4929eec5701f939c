"""All that is known of JAX here: its arrays as arrays of numpy, and back.

JAX is never imported for somebody who does not use it: without `jax` in `sys.modules` no value
can be one of its arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tunewright.errors import need


def is_jax_array(value: object) -> bool:
    """Whether it is an array of JAX, typed random keys included."""
    jax: Any = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def pack(value: Any) -> tuple[str, list[Any], Any]:
    """A tag, a header of plain values and an array of numpy, from which `unpacked` makes it again.

    Refuses, by ValueError, what this process cannot see whole.
    """
    import jax
    import numpy as np

    if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
        return "jax.key", [str(jax.random.key_impl(value))], np.asarray(jax.random.key_data(value))
    if not value.is_fully_addressable:
        raise ValueError("an array spread over several hosts (gather it first)")
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":  # bfloat16 and its kin, which numpy knows by jax alone
        array = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return "jax", [value.dtype.name, list(value.shape)], array


def unpack(tag: str, header: Sequence[Any], array: Any) -> Any:
    """The array of JAX again, on its default device."""
    jax: Any = need("jax", extra="jax", purpose="reading this snapshot")
    if tag == "jax.key":
        return jax.random.wrap_key_data(array, impl=header[0])
    dtype, shape = header
    return jax.numpy.array(array.view(jax.numpy.dtype(dtype)).reshape(shape))


def numbers(values: Sequence[Any]) -> list[float]:
    """The numbers in arrays of no dimensions, in one transfer."""
    import jax

    return [float(value) for value in jax.device_get(list(values))]
