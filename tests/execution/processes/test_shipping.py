"""How training functions reach a worker: by name, by value, or not at all and why."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.execution import misbehaving
from tests.execution.driving import DEADLINE_S, drive

from tunewright.errors import WorkloadError
from tunewright.execution.executors.local import Local
from tunewright.execution.processes.shipping import LARGEST, receive, ship

BIG = np.zeros(LARGEST // 8 + 1)
LOCK = threading.Lock()


def uses_big_data(run: Any) -> None:
    run.log(1, valid_error=float(BIG[0]))


def uses_a_lock(run: Any) -> None:
    with LOCK:
        pass


def test_an_importable_function_travels_by_name() -> None:
    shipment = ship(misbehaving.fine)
    assert (shipment.module, shipment.name) == (
        "tests.execution.misbehaving",
        "fine",
    )
    assert shipment.pickled == b""
    assert shipment.folder == os.getcwd()
    assert str(Path(misbehaving.__file__).parents[2]) in shipment.path
    assert receive(shipment) is misbehaving.fine


def test_what_has_no_name_travels_by_value() -> None:
    factor = 3.0
    logged = []

    def local_function(run: Any, x: float) -> None:
        logged.append(factor * x)

    for train in (local_function, lambda run, x: factor * x, partial(misbehaving.fine, x=2.0)):
        shipment = ship(train)
        assert shipment.pickled and not shipment.module
        assert callable(receive(shipment))


def test_a_module_that_others_could_not_find_travels_by_value(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.py"
    file.write_text("FACTOR = 2\ndef train(run, x): return FACTOR * x\n")
    spec = importlib.util.spec_from_file_location("elsewhere", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["elsewhere"] = module
    try:
        spec.loader.exec_module(module)
        shipment = ship(module.train)
        assert shipment.pickled
        del sys.modules["elsewhere"]
        assert receive(shipment)(None, 4) == 8
    finally:
        sys.modules.pop("elsewhere", None)


def test_a_name_that_means_another_file_elsewhere_travels_by_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, value in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same_name.py").write_text(f"def train(run): return {value}\n")
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    import same_name  # type: ignore[import-not-found]

    monkeypatch.syspath_prepend(str(tmp_path / "two"))
    try:
        assert ship(same_name.train).pickled
    finally:
        del sys.modules["same_name"]


def by_value(train: Any) -> Any:
    """The same function as a script's own: one that no module can be asked for."""
    import types

    own = types.FunctionType(train.__code__, globals(), "script_function", None, train.__closure__)
    own.__module__ = "__main__"
    return own


def test_too_much_data_is_refused_naming_the_variable() -> None:
    with pytest.raises(WorkloadError, match=r"BIG \(a ndarray\) is larger than 50 MB"):
        ship(by_value(uses_big_data))
    data = np.zeros(LARGEST // 8 + 1)
    with pytest.raises(WorkloadError, match=r"data \(a ndarray\) is larger than 50 MB.*load it"):
        ship(lambda run: data.sum())


def test_what_cannot_be_pickled_is_named() -> None:
    with pytest.raises(WorkloadError, match=r"LOCK \(a lock\) cannot be sent.*create it inside"):
        ship(by_value(uses_a_lock))
    batches = (batch for batch in range(3))

    def inner() -> int:
        return next(batches)

    with pytest.raises(WorkloadError, match=r"batches \(a generator\)"):
        ship(lambda run: inner())

    class Trainer:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def train(self, run: Any) -> None: ...

    with pytest.raises(WorkloadError, match=r"lock \(a lock\)"):
        ship(Trainer().train)


@pytest.mark.beyond_core
def test_functions_by_value_train_in_workers(tmp_path: Path) -> None:
    factor = 3.0

    def train(run: Any, x: float) -> None:
        run.log(1, valid_error=factor * x)

    executor = Local(workers=2, devices=[])
    try:
        told = drive(executor, train, tmp_path, [{"x": 1.0}, {"x": 2.0}])
    finally:
        executor.close()
    assert [list(each.curves["valid_error"].values) for each in told] == [[3.0], [6.0]]


@pytest.mark.beyond_core
def test_a_module_that_cannot_be_loaded_fails_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "only_here.py"
    file.write_text("def train(run): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import only_here  # type: ignore[import-not-found]

    train = only_here.train
    executor = Local(workers=1, devices=[])
    file.write_text("raise ValueError('not in a worker')\n")
    try:
        (told,) = drive(executor, train, tmp_path, [{}])
    finally:
        executor.close()
        del sys.modules["only_here"]
    assert told.end.status == "failed"
    assert told.end.reason is not None and told.end.reason.code == "trial.not_loaded"
    assert "not in a worker" in told.end.reason.facts["cause"]["text"]
    assert "only_here.py" in told.end.detail


# the same program as a script, and cell by cell in a notebook
UNGUARDED = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from tests.execution.driving import drive
from tunewright.execution.executors.local import Local

SCALE = 2.0

class Model:
    def error(self, x):
        return SCALE * x

def train(run, x):
    for step in run.steps(3):
        run.log(step, valid_error=Model().error(x))

executor = Local(workers=2, devices=[])
told = drive(executor, train, Path({folder!r}), [dict(x=1.0), dict(x=2.0)])
executor.close()
print("ends", [each.end.status for each in told])
print("values", [float(each.curves["valid_error"].values[-1]) for each in told])
"""


def unguarded(folder: Path) -> str:
    tests = str(Path(__file__).parent)
    return textwrap.dedent(UNGUARDED).format(tests=tests, folder=str(folder / "trials"))


@pytest.mark.beyond_core
def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(unguarded(tmp_path))
    answer = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        cwd=tmp_path,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    # once: nothing imports the script a second time
    assert answer.stdout.splitlines() == ["ends ['completed', 'completed']", "values [2.0, 4.0]"]


@pytest.mark.beyond_core
def test_a_notebook_needs_no_guard(tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    source = f"""
import asyncio, warnings
warnings.simplefilter("ignore")
import nbformat
from nbclient import NotebookClient
cells = {unguarded(tmp_path)!r}.split("\\n\\n")
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.outputs:
        print(output.get("text", ""), end="")
"""
    answer = subprocess.run(  # in a process of its own: a kernel client leaves threads and sockets
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        cwd=tmp_path,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "values [2.0, 4.0]" in answer.stdout
