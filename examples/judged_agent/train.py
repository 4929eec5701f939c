"""A small network on handwritten digits in numpy: what an agent edits. Prints JSON lines."""

import argparse
import json

import numpy as np
from evaluate import error, split

LEARNING_RATE = 0.1
MOMENTUM = 0.0
HIDDEN = 16
WEIGHT_DECAY = 0.0
STEPS = 300
BATCH = 32
SCALE = 1.0  # of the first weights


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    random = np.random.default_rng(parser.parse_args().seed)
    x, y, held_x, held_y = split()
    shapes = ((64, HIDDEN), (HIDDEN, 10))
    weights = [SCALE * random.normal(size=s) / np.sqrt(s[0]) for s in shapes]
    speed = [np.zeros(s) for s in shapes]
    for step in range(1, STEPS + 1):
        rows = random.integers(0, len(x), BATCH)
        hidden = np.maximum(x[rows] @ weights[0], 0)
        scores = hidden @ weights[1]
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(BATCH), y[rows]] -= 1
        back = (chances @ weights[1].T) * (hidden > 0)
        slopes = (x[rows].T @ back / BATCH, hidden.T @ chances / BATCH)
        for k in range(2):
            speed[k] = MOMENTUM * speed[k] - LEARNING_RATE * (slopes[k] + WEIGHT_DECAY * weights[k])
            weights[k] = weights[k] + speed[k]
        if step == STEPS:
            print(json.dumps({"step": step, "valid_error": error(weights, held_x, held_y)}))


if __name__ == "__main__":
    main()
