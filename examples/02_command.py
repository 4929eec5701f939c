"""Tune any program, in any language: a command with fields for the hyperparameters.

    python examples/02_command.py

The program (examples/train_script.py) prints one JSON object per measurement.
"""

import os
import shlex
import sys
from pathlib import Path

import tunewright as tw

TRIALS = 3 if os.environ.get("TUNEWRIGHT_SHORT") else 12
SCRIPT = Path(__file__).with_name("train_script.py")

round_1 = tw.Round(
    "decay",
    goal="Does a decaying learning rate find the line more exactly?",
    scientific={"decay": ["constant", "linear"]},
    nuisance={"learning_rate": tw.log(1e-2, 3.0)},
    fixed={"steps": 200},
    trials_per_study=TRIALS,
)
train = tw.command(
    f"{shlex.quote(sys.executable)} {shlex.quote(str(SCRIPT))} --learning-rate={{learning_rate}} "
    "--decay={decay} --steps={steps} --seed={run.seed}"
)
workload = tw.Workload(
    train,
    tw.minimize("valid_error", at="last"),  # the final value, not the best one on the way
    store="examples.db",
    executor=tw.Local(workers=2),
    means={"max_train_steps": "steps"},  # how this program calls the playbook's ideas
)
results = tw.run(round_1, workload)

for study in results.studies:
    best = results.best(**study.scientific)
    rate = best.configuration["learning_rate"]
    print(f"{study.label}: best valid_error {best.value:.4f} at learning_rate {rate:.4g}")
print("next: tunewright show decay --store examples.db")
