from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.errors import WorkloadError
from tunewright.execution.executors.ray.cluster import (
    Node,
    as_options,
    check_resources,
    no_room,
    room,
)
from tunewright.execution.executors.ray.ray import Ray

NODES = [
    Node("a", "10.0.0.1", {"CPU": 4.0, "memory": 8e9, "node:10.0.0.1": 1.0}),
    Node("b", "10.0.0.2", {"CPU": 16.0, "GPU": 2.0, "memory": 64e9, "fast_disk": 1.0}),
]


@pytest.mark.parametrize(
    "needs, fit",
    [
        ({"CPU": 1}, 20),
        ({"CPU": 3}, 1 + 5),
        ({"CPU": 1, "GPU": 1}, 2),
        ({"CPU": 1, "GPU": 0.5}, 4),
        ({"CPU": 1, "GPU": 0.6}, 2),  # three times 0.6 is less than 2, but a GPU is not cut
        ({"CPU": 0, "GPU": 0.1}, 20),
        ({"CPU": 0.6}, 6 + 26),  # CPUs are
        ({"CPU": 1, "memory": 10e9}, 6),
        ({"CPU": 1, "fast_disk": 1}, 1),
        ({"CPU": 0}, 20),  # nothing asked for: one per CPU
        ({"CPU": 17}, 0),
        ({"CPU": 1, "TPU": 1}, 0),
    ],
)
def test_how_many_trials_fit(needs: dict[str, float], fit: int) -> None:
    assert room(needs, NODES) == fit


@given(
    st.floats(0.01, 8), st.lists(st.integers(0, 64), max_size=5), st.sampled_from(["CPU", "rack"])
)
def test_what_fits_is_there(amount: float, sizes: list[int], name: str) -> None:
    nodes = [Node(str(at), "", {name: float(size)}) for at, size in enumerate(sizes)]
    fit = room({name: amount}, nodes)
    assert fit * amount <= sum(sizes) + 1e-6
    assert all(size < (fit + 1) * amount + 1e-6 for size in sizes)


def test_the_refusal_names_what_the_cluster_has() -> None:
    said = str(no_room({"CPU": 1, "fast_disc": 1}, NODES))
    assert "needs CPU 1, fast_disc 1" in said
    assert "10.0.0.1: CPU 4, memory 8 GB; 10.0.0.2: CPU 16, GPU 2, memory 64 GB" in said
    assert "Did you mean fast_disk?" in said
    assert "no node at all" in str(no_room({"CPU": 1}, []))


def test_ray_is_told_in_its_own_words() -> None:
    assert as_options({"CPU": 1, "memory": 8e9}) == {"num_cpus": 1, "num_gpus": 0, "memory": 8e9}
    assert check_resources(None) == {"CPU": 1}
    assert check_resources({"CPU": 0, "GPU": 1}) == {"CPU": 0, "GPU": 1}


def test_settings_that_make_no_sense_are_refused_at_once() -> None:
    with pytest.raises(WorkloadError) as refused:
        Ray(
            resources={"gpu": 1, "GPU": 1.5, "CPU": -1, "disk": float("nan"), "": 1},
            workers=0,
            trial_timeout_s=-1,
            isolate="sometimes",  # type: ignore[arg-type]
        )
    for part in (
        "'gpu' is written 'GPU'",
        "GPU=1.5: more than one GPU must be a whole number",
        "CPU=-1 is not a number of at least 0",
        "disk=nan",
        "'' is not the name of a resource",
        "workers=0",
        "trial_timeout_s=-1",
        "isolate='sometimes'",
    ):
        assert part in str(refused.value)
    with pytest.raises(WorkloadError, match=r"grows=True: give the number of trials at once"):
        Ray(grows=True)
    assert Ray(grows=True, workers=7).slots == 7  # without asking any cluster
