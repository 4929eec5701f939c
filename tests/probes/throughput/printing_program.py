"""A training program that prints its steps: python printing_program.py BATCH STEPS EVERY HOW."""

from __future__ import annotations

import json
import sys
import time


def main(batch: int, steps: int, every: int, how: str) -> None:
    held = bytearray(batch * 2**19)
    if batch > 40 and how == "infeasible":
        print(json.dumps({"infeasible": "batch of 41 and more"}))
        sys.exit(0)
    if batch > 40 and how == "words":
        sys.exit("torch.cuda.OutOfMemoryError: CUDA out of memory")
    if how == "mute":
        sys.exit(0)
    if how == "broken":
        sys.exit("no file of examples")
    print("a line for the log")
    for step in range(1, min(steps, 4 if how == "short" else steps) + 1):
        time.sleep(0.002 + 1e-4 * batch)
        if step % every == 0:
            print(json.dumps({"step": step, "train_loss": 1.0}))
    del held


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
