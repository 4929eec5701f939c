"""Every storable tree comes back equal in type and value; real training states go on as if kept."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from tunewright import _typed_tree as typed_tree, snapshot
from tunewright.errors import SnapshotError

torch = pytest.importorskip("torch")
QUICK = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def through(value: object) -> Any:
    """Encode, write to bytes, read from bytes, decode."""
    encoded = typed_tree.encode(value)
    node = typed_tree.from_json(typed_tree.to_json(encoded.node), "here")
    save = snapshot._safetensors(encoded.library).save
    arrays = snapshot._read_arrays(save(encoded.arrays), encoded.library)
    return typed_tree.decode(node, arrays, encoded.library)


def alike(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        same = one.dtype == other.dtype and one.shape == other.shape and other.device.type == "cpu"
        bits = [t.detach().contiguous().reshape(-1).view(torch.uint8) for t in (one, other)]
        return same and torch.equal(*bits)
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and one.tobytes() == other.tobytes()
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=False)
        return len(one) == len(other) and all(alike(a, b) for a, b in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, complex):
        return alike(one.real, other.real) and alike(one.imag, other.imag)
    return bool(one == other)


TORCH_DTYPES = [
    getattr(torch, name)
    for name in (*typed_tree.NATIVE, "uint16", "uint32", "uint64", "complex64", "complex128")
]


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    dtype = draw(st.sampled_from(TORCH_DTYPES))
    shape = draw(st.lists(st.integers(0, 3), max_size=4))
    count = math.prod(shape)
    data = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    if dtype == torch.bool:
        data = bytes(byte % 2 for byte in data)
    tensor = torch.empty(shape, dtype=dtype)
    if count:
        tensor = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    if draw(st.booleans()):
        tensor = tensor.permute(tuple(range(len(shape)))[::-1])  # not contiguous
    return tensor


numpy_dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    hnp.datetime64_dtypes(),
    hnp.unicode_string_dtypes(max_len=4),
    hnp.byte_string_dtypes(max_len=4),
)
arrays = hnp.arrays(numpy_dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**63, max_value=2**200),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(exclude_categories=[])),  # lone surrogates and NUL too
    st.binary(),
)
numpy_scalars = hnp.arrays(numpy_dtypes, (1,)).map(lambda array: array[0])
marks = st.sampled_from(
    [torch.Size([2, 3]), torch.float8_e5m2, torch.device("cuda:1"), np.dtype(">i2")]
)
keys = st.one_of(scalars, st.tuples(scalars, scalars))
trees = st.recursive(
    st.one_of(scalars, numpy_scalars, arrays, tensors(), marks),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


@QUICK
@given(trees)
def test_every_tree_comes_back(tree: object) -> None:
    assert alike(tree, through(tree))


@QUICK
@given(st.lists(arrays, max_size=3), st.booleans())
def test_arrays_come_back_writable_with_and_without_torch(found: list, with_torch: bool) -> None:
    back = through([found, torch.ones(1) if with_torch else None])[0]
    assert alike(found, back)
    assert all(array.flags.writeable for array in back)


def test_integer_keys_and_tuples_keep_their_types() -> None:
    tree = {0: (1, [2]), "0": {True: 1, 2: 2, 1.5: 3, None: 4, b"x": 5, (1, "a"): 6}}
    assert repr(through(tree)) == repr(tree)


def test_tied_tensors_are_stored_once_and_come_back_tied() -> None:
    weight = torch.nn.Parameter(torch.randn(4, 3))
    state = {"embed": weight, "head": {"weight": weight.data, "other": torch.ones(2)}}
    encoded = typed_tree.encode(state)
    assert sorted(encoded.arrays) == ["embed", "head.other"]
    back = through(state)
    back["embed"][0, 0] = 42.0
    assert back["head"]["weight"][0, 0] == 42.0
    assert back["head"]["other"].untyped_storage().data_ptr() != (
        back["embed"].untyped_storage().data_ptr()
    )


def test_windows_on_one_storage_stay_windows() -> None:
    flat = torch.arange(12.0)
    state = {
        "flat": flat,
        "grid": flat.view(3, 4).t(),
        "tail": flat[8:],
        "bits": flat.view(torch.int32),
    }
    assert len(typed_tree.encode(state).arrays) == 1
    back = through(state)
    assert alike(state, back)
    back["flat"].zero_()
    assert all(int(window.ne(0).sum()) == 0 for window in back.values())


def test_a_slice_alone_does_not_drag_its_storage_along() -> None:
    encoded = typed_tree.encode(torch.zeros(10**6)[:3])
    assert [array.shape for array in encoded.arrays.values()] == [(3,)]
    assert typed_tree.encode([torch.zeros(0), torch.zeros(0)]).node[0] != {}


def test_channels_last_is_kept() -> None:
    images = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    back = through(images)
    assert torch.equal(images, back) and back.stride() == images.stride()


def test_conjugate_views() -> None:
    tensor = torch.randn(3, dtype=torch.complex64)
    assert torch.equal(through(tensor.conj()), tensor.conj().resolve_conj())


@pytest.mark.parametrize(
    "value",
    [
        torch.nn.Linear(1, 1),
        torch.Generator(),
        torch.eye(2).to_sparse(),
        torch.ones(1, device="meta"),
        np.random.default_rng(0),
        np.zeros(2, dtype=[("a", int)]),
        np.ma.masked_array([1]),
        {1, 2},
        bytearray(b"x"),
        range(3),
        {torch.ones(1): 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_refused(value: object) -> None:
    with pytest.raises(SnapshotError, match=r'cannot be stored: state\["x"\]'):
        typed_tree.encode({"x": value})


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, 0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW([{"params": p, "betas": (0.8, 0.9)}], 0.01),
    "nadam": lambda p: torch.optim.NAdam(p, 0.01),
    "adam_tensor": lambda p: torch.optim.Adam(
        p, torch.tensor(0.01), foreach=False, capturable=False
    ),
    "lbfgs": lambda p: torch.optim.LBFGS(p, 0.1, max_iter=2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_and_scheduler_go_on_as_if_kept(name: str) -> None:
    torch.manual_seed(0)
    batches = torch.randn(8, 16, 5)

    def build() -> tuple[Any, Any, Any]:
        model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.BatchNorm1d(4))
        optimizer = OPTIMIZERS[name](list(model.parameters()))
        return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2)

    def train(model: Any, optimizer: Any, scheduler: Any, part: Any) -> None:
        for batch in part:

            def closure(batch: Any = batch) -> Any:
                optimizer.zero_grad()
                loss = model(batch).square().mean()
                loss.backward()
                return loss

            optimizer.step(closure)
            scheduler.step()

    first = build()
    train(*first, batches[:4])
    kept = through([copy.deepcopy(part.state_dict()) for part in first])
    second = build()
    for part, state in zip(second, kept, strict=True):
        part.load_state_dict(state)
    train(*first, batches[4:])
    train(*second, batches[4:])
    assert alike([p.state_dict() for p in first], [p.state_dict() for p in second])


def test_scaler_and_every_random_state() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(torch.ones(1))
    assert alike(scaler.state_dict(), through(scaler.state_dict()))
    generator, numbers = torch.Generator(), np.random.default_rng(3)
    legacy = np.random.RandomState(5)
    random.seed(1)
    states = (
        random.getstate(),
        numbers.bit_generator.state,
        legacy.get_state(),
        generator.get_state(),
    )
    expected = (
        random.random(),
        numbers.random(),
        legacy.rand(),
        torch.rand(1, generator=generator),
    )
    back = through(states)
    random.setstate(back[0])
    numbers.bit_generator.state = back[1]
    legacy.set_state(back[2])
    generator.set_state(back[3])
    again = (random.random(), numbers.random(), legacy.rand(), torch.rand(1, generator=generator))
    assert alike(expected, again)


def test_module_versions_survive() -> None:
    state = torch.nn.Sequential(torch.nn.BatchNorm1d(2)).state_dict()
    back = through(state)
    assert type(back) is type(state) and back._metadata == state._metadata
