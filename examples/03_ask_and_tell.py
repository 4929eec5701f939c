"""Keep your own loop: ask for a configuration, train it your way, tell what happened.

    python examples/03_ask_and_tell.py

Several processes may do this at once on the same round; none gets a trial of another.
"""

import math
import os

import tunewright as tw

TRIALS = 5 if os.environ.get("TUNEWRIGHT_SHORT") else 20

round_1 = tw.Round(
    "rosenbrock",
    goal="How close does momentum bring gradient descent to the end of the valley?",
    nuisance={"learning_rate": tw.log(1e-5, 1e-2), "momentum": tw.ranges.log_from_one(0.5, 0.99)},
    fixed={"max_train_steps": 500},
    trials_per_study=TRIALS,
)

with tw.open_round(round_1, tw.minimize("distance"), store="examples.db") as session:
    while (trial := session.ask()) is not None:
        rate, momentum = trial.configuration["learning_rate"], trial.configuration["momentum"]
        x = y = -1.0
        vx = vy = 0.0
        for step in range(1, trial.configuration["max_train_steps"] + 1):
            vx = momentum * vx - rate * (2 * (x - 1) + 400 * x * (x * x - y))
            vy = momentum * vy - rate * 200 * (y - x * x)
            x, y = x + vx, y + vy
            if abs(x) + abs(y) > 1e6:
                trial.infeasible(f"diverged at step {step}")
                break
            if step % 50 == 0:
                trial.log(step, distance=math.hypot(x - 1, y - 1))
        else:
            trial.finish()

results = tw.load("examples.db", "rosenbrock")
best = results.best()
print(f"{len(results.trials)} trials, best distance {best.value:.4g}, trial {best.number}")
print("next: tunewright show rosenbrock --store examples.db")
