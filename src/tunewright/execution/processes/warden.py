"""The warden of a supervisor: a small process that ends what the supervisor leaves behind.

Workers die with their supervisor by themselves. What they have started may not: it may run in a
separate session. The warden runs no training code, so it is always there to see the supervisor's
end, even by `kill -9`, and then ends everything that carries the supervisor's mark.
Started as `python -m tunewright.execution.processes.warden PIPE PARENT MARK`.
"""

from __future__ import annotations

import os
import select
import sys

from tunewright.execution.processes import process_tree

LOOK_S = 1.0  # a process forked by the supervisor may hold the pipe open: look at the parent too


def main(pipe: int, parent: int, mark: str) -> None:
    """Wait for the supervisor's end, then clean up."""
    while os.getppid() == parent:
        if select.select([pipe], [], [], LOOK_S)[0]:
            break  # nothing is ever written: the pipe was closed
    process_tree.kill_marked(mark)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
