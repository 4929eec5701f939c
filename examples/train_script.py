"""A separate training program: it knows nothing of tunewright and prints JSON lines.

    python examples/train_script.py --learning-rate=0.3 --seed=1 --steps=200

Any language will do. Lines that are not JSON objects are its log.
"""

import argparse
import json
import math
import random

parser = argparse.ArgumentParser(description="Fit a line by stochastic gradient descent.")
parser.add_argument("--learning-rate", type=float, required=True)
parser.add_argument("--decay", choices=["constant", "linear"], default="constant")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=200)
args = parser.parse_args()

rng = random.Random(args.seed)
slope, offset = 0.0, 0.0
print(f"fitting a line with a {args.decay} learning rate")
for step in range(1, args.steps + 1):
    share = 1 - (step - 1) / args.steps if args.decay == "linear" else 1.0
    x = rng.uniform(-1, 1)
    error = slope * x + offset - (3 * x - 1 + rng.gauss(0, 0.5))
    slope -= args.learning_rate * share * 2 * error * x
    offset -= args.learning_rate * share * 2 * error
    if not math.isfinite(slope + offset) or abs(slope) + abs(offset) > 1e9:
        print(json.dumps({"infeasible": f"diverged at step {step}"}))
        break
    if step % 20 == 0:
        distance = math.hypot(slope - 3, offset + 1)
        print(json.dumps({"step": step, "train_loss": error**2, "valid_error": distance}))
