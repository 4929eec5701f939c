"""A trial of several processes under torchrun: one port, one voice, one end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.execution.driving import drive, gone

from tunewright.execution.command import command
from tunewright.execution.executors.local import Local

SOURCE = """
import json, os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor(float(dist.get_rank() + 1))
dist.all_reduce(total)
with open(os.path.join(os.environ["TUNEWRIGHT_FOLDER"], f"pid{dist.get_rank()}"), "w") as file:
    file.write(str(os.getpid()))
dist.barrier()
if dist.get_rank() == 0:
    print(json.dumps({"step": 1, "valid_error": total.item()}), flush=True)
if sys.argv[1] == "diverges":
    if dist.get_rank() == 0:
        print(json.dumps({"step": 2, "valid_error": float("nan")}), flush=True)
    time.sleep(600)
dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.torch
def test_two_ranks_train_and_end_together(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    own = command(
        f"'{sys.executable}' -m torch.distributed.run --nproc-per-node=2 "
        f"--master-port={{run.port}} '{program}' {{way}}"
    )
    executor = Local(workers=2, devices=[])
    try:
        fine, diverged = drive(executor, own, tmp_path, [{"way": "ends"}, {"way": "diverges"}])
    finally:
        executor.close()
    assert fine.end.status == "completed", fine.end
    assert list(fine.curves["valid_error"].values) == [3.0]
    assert diverged.end.status == "infeasible"
    ranks = [int((diverged.folder / f"pid{rank}").read_text()) for rank in (0, 1)]
    assert gone(ranks, within_s=0)
