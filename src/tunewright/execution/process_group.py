"""Ask and tell under a process group: rank 0 asks and writes, the other ranks receive.

PyTorch is looked for, never imported: without an initialised process group there is one rank.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from tunewright.errors import TunewrightError


def rank() -> int:
    """This process's rank; 0 without an initialised process group."""
    group = _group()
    return 0 if group is None else int(group.get_rank())


def shared(produce: Callable[[], Any]) -> Any:
    """What `produce` gives on rank 0, on every rank; plain JSON data. Every rank must call it.

    An exception of rank 0 is raised on every rank: none of them waits for an answer in vain.
    """
    group = _group()
    if group is None:
        return produce()
    if group.get_rank() != 0:
        box: list[str] = [""]
        group.broadcast_object_list(box, src=0)
        answer = json.loads(box[0])
        if "refused" in answer:
            raise TunewrightError("process_group.rank_zero_refused", reason=answer["refused"])
        return answer["given"]
    try:
        given = produce()
    except Exception as error:
        refusal = json.dumps({"refused": f"{type(error).__name__}: {error}"})
        group.broadcast_object_list([refusal], src=0)
        raise
    group.broadcast_object_list([json.dumps({"given": given})], src=0)
    return given


def _group() -> Any:
    group = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return group
