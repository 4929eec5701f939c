from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.cli._options import amounts, executor
from tunewright.errors import Misuse
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.ray.ray import Ray
from tunewright.execution.executors.slurm.slurm import Slurm


def test_the_options_say_who_trains() -> None:
    assert executor("local", 3) == Local(workers=3)
    assert executor("inline", None) == Inline()
    made = executor("ray", 4, "10.0.0.1:6379", "CPU=2, GPU=0.5")
    assert made == Ray("10.0.0.1:6379", {"CPU": 2.0, "GPU": 0.5}, workers=4)
    assert executor("ray", None) == Ray()
    given = ["partition=gpu", "time=4:00:00", "gpus=1", "cpus=2", "line=module load a=b"]
    assert executor("slurm", 16, slurm=given) == Slurm(
        partition="gpu",
        time_limit="4:00:00",
        gpus=1,
        cpus=2,
        lines=("module load a=b",),
        workers=16,
    )
    assert executor("slurm", None) == Slurm()


def test_packs_are_counted_and_go_with_nothing_else() -> None:
    assert executor("local", None, pack="4").slots % 4 == 0
    assert executor("local", None, pack="auto").trials is None
    for options, code in (
        ({"pack": "many"}, "option.bad_pack"),
        ({"pack": "4", "workers": 2}, "option.not_with_pack"),
        ({"pack": "4", "on": "ray"}, "option.not_with_pack"),
        ({"pack": "4", "slurm": ["gpus=1"]}, "option.not_with_pack"),
    ):
        with pytest.raises(Misuse) as caught:
            executor(**{"on": "local", "workers": None, **options})
        assert caught.value.problems[0].code == code


def test_resources_are_names_with_amounts() -> None:
    assert amounts("fast_disk=1") == {"fast_disk": 1.0}
    assert amounts(None) is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--on", "rya"), "--on ray"),
        (("--resources", "GPU=1"), "--resources GPU=1 --on ray"),
        (("--ray-address", "10.0.0.1:6379"), "--ray-address 10.0.0.1:6379 --on ray"),
        (("--on", "ray", "--resources", "GPU"), "'GPU' is not a name and an amount"),
        (("--on", "ray", "--resources", "GPU=many"), "'GPU=many' is not a name and an amount"),
        (("--on", "ray", "--resources", "=1"), "'=1' is not a name and an amount"),
        (("--on", "ray", "--resources", "gpu=1"), "'gpu' is written 'GPU'"),
        (("--slurm", "partition=gpu"), "--slurm partition=gpu --on slurm"),
        (("--on", "slurm", "--slurm", "queue=gpu"), "--slurm queue=gpu"),
        (("--on", "slurm", "--slurm", "gpus=many"), "--slurm gpus=many"),
        (("--on", "slurm", "--slurm", "partition="), "--slurm partition="),
        (("--on", "ray", "--resources", "GPU=-1"), "GPU=-1.0 is not a number of at least 0"),
    ],
)
def test_wrong_use_is_answered_with_the_right_one(
    tunewright: Tunewright, project: Path, arguments: tuple[str, ...], says: str
) -> None:
    for command in ("run", "repeat"):
        if command == "repeat":
            tunewright("run", "layers", "--on", "inline", "--trials", "1")
        answer = tunewright(command, "layers", *arguments)
        assert answer.code == 2
        assert says in answer.err
