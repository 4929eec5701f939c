"""Python values and tensors as JSON with types, plus named arrays: the codec of a snapshot.

JSON alone turns the optimizer-state key 0 into "0" and tuples into lists. Here every JSON object
is a tagged value with one key, `{"tuple": [...]}`; text, true, false, null, lists, finite floats
and 64-bit integers represent themselves. Tensors and arrays go next to the tree, each named by
its place in it, in a form that any safetensors reader opens.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tunewright._jax_arrays import is_jax_array, pack, unpack
from tunewright.errors import SnapshotError, need

_DEEPEST = 100  # levels of nesting, both ways; also what stops a tree that contains itself
# What every supported safetensors carries; the rest is stored as bytes, its dtype in the tree.
NATIVE = (
    *("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)

Json = Any
Place = tuple[object, ...]


@dataclass(frozen=True)
class Encoded:
    """A tree as JSON, and the arrays it refers to by name."""

    node: Json
    arrays: dict[str, Any]
    library: str  # "torch" or "numpy": what the arrays are, and what reads them back


def encode(value: object, root: str = "state", *, arrays_allowed: bool = True) -> Encoded:
    """Encode a tree, or refuse it naming every place that cannot be stored.

    >>> encode({0: (1, None)}).node
    {'pairs': [[0, {'tuple': [1, None]}]]}
    """
    encoder = _Encoder(root, arrays_allowed)
    node = encoder.encode(value, ())
    if encoder.problems:
        places = "; ".join(encoder.problems[:10])
        more = len(encoder.problems) - 10
        raise SnapshotError(
            "snapshot.not_storable", shown=places, more=f"; and {more} more" if more > 0 else ""
        )
    arrays = encoder.name_arrays()
    return Encoded(node, arrays, "torch" if encoder.views else "numpy")


def decode(node: Json, arrays: Mapping[str, Any], library: str = "numpy") -> Any:
    """The value of an encoded tree; anything but this module's own tags is refused."""
    try:
        return _Decoder(arrays, library).decode(node, 0)
    except SnapshotError:
        raise
    except Exception as error:  # a hostile or damaged tree may raise anything in numpy or torch
        raise SnapshotError(
            "snapshot.tree_unreadable", kind=type(error).__name__, error=error
        ) from error


def to_json(node: Json, indent: int | None = None) -> bytes:
    """Strict JSON: no NaN, ASCII only, so that any text survives."""
    return json.dumps(node, allow_nan=False, indent=indent).encode()


def from_json(data: bytes, source: object) -> Json:
    """Parse strict JSON, or refuse `source`, which holds something else."""
    try:
        return json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SnapshotError("snapshot.torn_json", source=source, error=error) from None


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is not JSON")


@dataclass
class _Encoder:
    root: str
    arrays_allowed: bool
    problems: list[str] = field(default_factory=list)
    numpys: dict[tuple[object, ...], tuple[Place, Any, list[dict[str, Json]]]] = field(
        default_factory=dict
    )
    views: dict[tuple[object, ...], list[tuple[Place, Any, dict[str, Json]]]] = field(
        default_factory=dict
    )

    def encode(self, value: object, place: Place) -> Json:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if isinstance(value, int) and kind is int:
            return value if -(2**63) <= value < 2**63 else {"int": hex(value)}
        if isinstance(value, float) and kind is float:
            # NaN and the infinities are not JSON.
            return value if value - value == 0.0 else {"float": repr(value)}
        if len(place) > _DEEPEST:
            return self._refuse(place, f"nested deeper than {_DEEPEST} levels (or inside itself)")
        if isinstance(value, bytes) and kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, complex) and kind is complex:
            return {"complex": [self.encode(part, place) for part in (value.real, value.imag)]}
        if kind.__module__.partition(".")[0] == "torch" or _is_torch_tensor(value):
            return self._torch(value, place)
        if kind.__module__.partition(".")[0] == "numpy":
            return self._numpy(value, place)
        if is_jax_array(value):
            return self._jax(value, place)
        if isinstance(value, list):
            return [self.encode(item, (*place, i)) for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, (*place, i)) for i, item in enumerate(value)]}
        if isinstance(value, Mapping):
            return self._mapping(value, place)
        return self._refuse(place, kind.__qualname__)

    def _refuse(self, place: Place, what: str) -> None:
        path = "".join(f'["{key}"]' if isinstance(key, str) else f"[{key!r}]" for key in place[:12])
        self.problems.append(f"{self.root}{path}{'...' if len(place) > 12 else ''}: {what}")

    def _mapping(self, value: Mapping[object, object], place: Place) -> Json:
        ordered = type(value) is OrderedDict
        if all(type(key) is str for key in value) and not ordered:
            return {"dict": {k: self.encode(v, (*place, k)) for k, v in value.items()}}
        pairs = []
        for key, item in value.items():
            if _is_torch_tensor(key):
                self._refuse((*place, "<key>"), "a tensor as a key")
            else:
                pairs.append(
                    [self.encode(key, (*place, "<key>")), self.encode(item, (*place, key))]
                )
        if not ordered:
            return {"pairs": pairs}
        # torch keeps the versions of its modules there; load_state_dict reads them.
        metadata = self.encode(getattr(value, "_metadata", None), (*place, "_metadata"))
        return {"ordered": {"pairs": pairs, "metadata": metadata}}

    def _numpy(self, value: Any, place: Place) -> Json:
        import numpy as np

        if isinstance(value, np.dtype):
            return {"numpy.dtype": value.str} if _plain(value) else self._refuse(place, f"{value}")
        if not isinstance(value, np.ndarray | np.generic):
            return self._refuse(place, f"numpy.{type(value).__name__} (keep its state instead)")
        if isinstance(value, np.str_ | np.bytes_):  # by content: their dtype forgets trailing NULs
            inner: Json = self.encode(value.item(), place)
            return {"scalar": [value.dtype.kind, inner]}
        if not _plain(value.dtype) or type(value) not in (np.ndarray, value.dtype.type):
            return self._refuse(place, f"numpy.{type(value).__name__} of dtype {value.dtype}")
        if isinstance(value, np.generic):
            data = base64.b64encode(value.tobytes()).decode()
            return {"scalar": [value.dtype.str, data]}
        if not self.arrays_allowed:
            return self._refuse(place, "an array (only plain values here)")
        node: dict[str, Json] = {"dtype": value.dtype.str, "shape": list(value.shape)}
        pointer = value.__array_interface__["data"][0] if value.size else id(value)
        alike = (pointer, value.shape, value.strides, value.dtype.str)
        self.numpys.setdefault(alike, (place, value, []))[2].append(node)
        return {"numpy": node}

    def _jax(self, value: Any, place: Place) -> Json:
        try:
            tag, header, array = pack(value)
        except ValueError as error:
            return self._refuse(place, str(error))
        return {tag: [*header, self.encode(array, place)]}

    def _torch(self, value: Any, place: Place) -> Json:
        import torch

        if isinstance(value, torch.Size):
            return {"torch.Size": list(value)}
        if isinstance(value, torch.dtype):
            return {"torch.dtype": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"torch.device": str(value)}
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return self._refuse(place, f"{type(value).__module__}.{type(value).__qualname__}")
        if value.layout is not torch.strided or value.is_quantized or value.device.type == "meta":
            return self._refuse(place, f"a {value.layout} {value.dtype} tensor on {value.device}")
        if not self.arrays_allowed:
            return self._refuse(place, "a tensor (only plain values here)")
        tensor = value.detach().resolve_conj().resolve_neg()
        storage = tensor.untyped_storage().data_ptr() if tensor.numel() else 0
        alike = (str(tensor.device), storage) if storage else ("empty", id(value))
        node: dict[str, Json] = {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
        }
        self.views.setdefault(alike, []).append((place, tensor, node))
        return {"torch": node}

    def name_arrays(self) -> dict[str, Any]:
        """Give every array a name, once; fill it into the nodes that represent it."""
        arrays: dict[str, Any] = {}

        def keep(place: Place, array: Any) -> str:
            name = ".".join(map(str, place)).encode("utf-8", "replace").decode() or self.root
            if name in arrays or name == "__metadata__":
                name = f"{name}#{len(arrays)}"
            arrays[name] = array
            return name

        for group in self.views.values():
            self._name_views(group, keep)
        for place, array, nodes in self.numpys.values():
            name = keep(place, _numpy_storable(array, as_torch=bool(self.views)))
            for node in nodes:
                node["name"] = name
        return arrays

    @staticmethod
    def _name_views(
        group: list[tuple[Place, Any, dict[str, Json]]], keep: Callable[[Place, Any], str]
    ) -> None:
        import torch

        place, first, _ = group[0]
        views = {(t.storage_offset(), t.shape, t.stride(), t.dtype) for _, t, _ in group}
        if len(views) == 1:
            name = keep(place, _torch_storable(first))
            layout = {} if first.is_contiguous() else _memory_format(first)
            for *_, node in group:
                node.update(name=name, **layout)
        else:  # several windows on one storage: keep the storage, and how each looks at it
            whole = torch.empty(0, dtype=torch.uint8, device=first.device)
            name = keep(place, whole.set_(first.untyped_storage()).cpu())
            for _, tensor, node in group:
                node.update(name=name, offset=tensor.storage_offset(), stride=list(tensor.stride()))


def _is_torch_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _plain(dtype: Any) -> bool:
    return dtype.fields is None and dtype.itemsize > 0 and dtype.kind in "biufcSUmM"


def _memory_format(tensor: Any) -> dict[str, Json]:
    import torch

    for name, dimensions in (("channels_last", 4), ("channels_last_3d", 5)):
        if tensor.dim() == dimensions and tensor.is_contiguous(memory_format=getattr(torch, name)):
            return {"memory_format": name}
    return {}


def _torch_storable(tensor: Any) -> Any:
    import torch

    tensor = tensor.cpu().contiguous()
    if str(tensor.dtype).removeprefix("torch.") in NATIVE:
        return tensor
    return tensor.reshape(-1).view(torch.uint8)


def _numpy_storable(array: Any, *, as_torch: bool) -> Any:
    import numpy as np

    array = np.array(array, order="C")
    if array.dtype.name not in NATIVE or not array.dtype.isnative:
        array = np.frombuffer(bytearray(array.tobytes()), dtype=np.uint8)
    if as_torch:
        import torch

        return torch.from_numpy(array)
    return array


@dataclass
class _Decoder:
    arrays: Mapping[str, Any]
    library: str
    met: dict[str, Any] = field(default_factory=dict)  # one object per array: tied stays tied

    def decode(self, node: Json, depth: int) -> Any:
        if depth > _DEEPEST + 1:
            raise SnapshotError("snapshot.tree_too_deep", deepest=_DEEPEST)
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise SnapshotError("snapshot.untagged_object", keys=sorted(node)[:5])
        (tag, content), down = *node.items(), depth + 1
        if tag in ("tuple", "pairs", "ordered", "dict", "complex"):
            return self._container(tag, content, down)
        if tag in ("numpy", "torch"):
            key = json.dumps(node, sort_keys=True)
            if key not in self.met:
                self.met[key] = self._numpy(content) if tag == "numpy" else self._torch(content)
            return self.met[key]
        if tag in ("jax", "jax.key"):
            return unpack(tag, content[:-1], self.decode(content[-1], down))
        return _leaf(tag, content)

    def _container(self, tag: str, content: Json, depth: int) -> Any:
        if tag == "dict":
            return {key: self.decode(item, depth) for key, item in content.items()}
        if tag == "ordered":
            ordered = OrderedDict(self._container("pairs", content["pairs"], depth))
            metadata = self.decode(content["metadata"], depth)
            if metadata is not None:
                ordered._metadata = metadata  # type: ignore[attr-defined]
            return ordered
        if tag == "pairs":
            return {self.decode(key, depth): self.decode(item, depth) for key, item in content}
        items = [self.decode(item, depth) for item in content]
        return tuple(items) if tag == "tuple" else complex(*items)

    def _numpy(self, node: Mapping[str, Json]) -> Any:
        import numpy as np

        array = self.arrays[node["name"]]
        array = array.numpy() if self.library == "torch" else array
        return array.view(_numpy_dtype(np, node["dtype"])).reshape(node["shape"])

    def _torch(self, node: Mapping[str, Json]) -> Any:
        import torch

        stored, dtype = self.arrays[node["name"]], _torch_dtype(torch, node["dtype"])
        if "stride" in node:
            empty = torch.empty(0, dtype=dtype)
            storage = stored.untyped_storage()
            return empty.set_(storage, node["offset"], node["shape"], node["stride"])
        tensor = stored if stored.dtype == dtype else stored.view(dtype)
        tensor = tensor.reshape(node["shape"])
        if "memory_format" in node:
            tensor = tensor.contiguous(memory_format=getattr(torch, node["memory_format"]))
        return tensor


def _leaf(tag: str, content: Json) -> Any:
    """The value of a tag that holds no other values."""
    if tag == "int":
        return int(content, 16)
    if tag == "float":
        return float(content)
    if tag == "bytes":
        return base64.b64decode(content, validate=True)
    if tag in ("scalar", "numpy.dtype"):
        import numpy as np

        if tag == "numpy.dtype":
            return _numpy_dtype(np, content)
        kind, inner = content
        if kind in ("U", "S"):
            return np.str_(inner) if kind == "U" else np.bytes_(_leaf("bytes", inner["bytes"]))
        return np.frombuffer(base64.b64decode(inner), _numpy_dtype(np, kind))[0]
    if tag in ("torch.Size", "torch.dtype", "torch.device"):
        torch: Any = need("torch", extra="torch", purpose="reading this snapshot")
        if tag == "torch.Size":
            return torch.Size(content)
        return torch.device(content) if tag == "torch.device" else _torch_dtype(torch, content)
    raise SnapshotError("snapshot.unknown_tag", tag=tag)


def _numpy_dtype(numpy: Any, name: str) -> Any:
    dtype = numpy.dtype(str(name))
    if not _plain(dtype):
        raise SnapshotError("snapshot.unknown_numpy_dtype", name=name)
    return dtype


def _torch_dtype(torch: Any, name: str) -> Any:
    dtype = getattr(torch, str(name), None)
    if not isinstance(dtype, torch.dtype):
        raise SnapshotError("snapshot.unknown_torch_dtype", name=name)
    return dtype
