"""Tune a plain Python function: its signature is the list of hyperparameters.

    python examples/01_function.py

Run it again and nothing is trained twice; raise TRIALS and only what is missing runs.
"""

import os

import numpy as np

import tunewright as tw

TRIALS = 4 if os.environ.get("TUNEWRIGHT_SHORT") else 16


def train(run, learning_rate, momentum=0.9, hidden_units=8, max_train_steps=300):
    """A network with one hidden layer learns which of two spirals a point lies on."""
    points, labels = spirals(run.seeds.split)
    train_x, train_y, valid_x, valid_y = points[:400], labels[:400], points[400:], labels[400:]
    rng = np.random.default_rng(run.seeds.init)
    weights = [rng.normal(size=(3, hidden_units)), rng.normal(size=(hidden_units + 1, 1)) / 4]
    velocity = [np.zeros_like(w) for w in weights]
    for step in run.steps(max_train_steps):
        loss, gradients = loss_and_gradients(weights, train_x, train_y)
        for w, v, g in zip(weights, velocity, gradients, strict=True):
            v *= momentum
            v -= learning_rate * g
            w += v
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            outputs, _ = forward(weights, valid_x)
            run.log(step, valid_error=np.mean((outputs > 0) != (valid_y > 0)))


def spirals(seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], size=(600, 1))
    angle = rng.uniform(0.5, 6, size=(600, 1))
    noise = rng.normal(scale=0.2, size=(600, 2))
    x = angle / 3 * labels * np.hstack([np.cos(angle), np.sin(angle)]) + noise
    return np.hstack([x, np.ones((600, 1))]), labels


def forward(weights, x):
    hidden = np.hstack([np.tanh(x @ weights[0]), np.ones((len(x), 1))])
    return hidden @ weights[1], hidden


def loss_and_gradients(weights, x, y):
    outputs, hidden = forward(weights, x)
    with np.errstate(over="ignore", invalid="ignore"):  # a diverging trial is data, not a warning
        error = outputs - y
        back = (error @ weights[1][:-1].T) * (1 - hidden[:, :-1] ** 2)
        gradients = [x.T @ back * 2 / len(x), hidden.T @ error * 2 / len(x)]
        return np.mean(error**2), gradients


round_1 = tw.Round(
    "hidden_units",
    goal="Do more hidden units lower the validation error?",
    scientific={"hidden_units": [8, 32]},
    nuisance={"learning_rate": tw.log(1e-3, 1.0), "momentum": tw.ranges.log_from_one(0.5, 0.98)},
    fixed={"max_train_steps": 300},
    trials_per_study=TRIALS,
)
workload = tw.Workload(
    train, tw.minimize("valid_error"), store="examples.db", executor=tw.Local(workers=2)
)
results = tw.run(round_1, workload)

for study in results.studies:
    best = results.best(**study.scientific)
    print(f"{study.label}: best valid_error {best.value:.4f}, trial {best.number}")
infeasible = [trial for trial in results.trials if trial.status == "infeasible"]
print(f"{len(results.trials)} trials, {len(infeasible)} infeasible")
print("next: tunewright show hidden_units --store examples.db")
