"""Tune a JAX program: any loop that logs its measurements and, if it likes, saves its state.

    pip install 'tunewright[jax]'
    python examples/14_jax.py

Logging a loss that is still being computed does not wait for it, and `run.save` takes the tree of
arrays as it is: kill the program, run it again, and every trial resumes where it was.
"""

import os

import jax
import jax.numpy as jnp

import tunewright as tw

SHORT = bool(os.environ.get("TUNEWRIGHT_SHORT"))
TRIALS, STEPS = (3, 60) if SHORT else (16, 500)


def train(run, learning_rate, momentum=0.9, hidden_units=64, max_train_steps=STEPS):
    """A network with one hidden layer learns whether a point lies inside a wavy ring."""
    train_set, valid_set = ring(jax.random.key(run.seeds.split))
    state = run.restored or start(jax.random.key(run.seeds.init), hidden_units)
    update = jax.jit(lambda state: step_of(state, train_set, learning_rate, momentum))
    error = jax.jit(lambda weights: jnp.mean((logits(weights, valid_set[0]) > 0) != valid_set[1]))

    for step in run.steps(max_train_steps):
        state, loss, gradient_norm = update(state)
        run.log(step, train_loss=loss, gradient_norm=gradient_norm)
        if run.eval_due(step):
            run.log(step, valid_error=error(state["weights"]))
        if run.save_due(step):
            run.save(state)


def start(key, hidden_units):
    first, second = jax.random.split(key)
    weights = {
        "hidden": jax.random.normal(first, (3, hidden_units)),
        "output": jax.random.normal(second, (hidden_units,)) / jnp.sqrt(hidden_units),
    }
    return {"weights": weights, "velocity": jax.tree.map(jnp.zeros_like, weights)}


def step_of(state, data, learning_rate, momentum):
    loss, gradient = jax.value_and_grad(loss_of)(state["weights"], *data)
    velocity = jax.tree.map(
        lambda v, g: momentum * v - learning_rate * g, state["velocity"], gradient
    )
    weights = jax.tree.map(jnp.add, state["weights"], velocity)
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
    return {"weights": weights, "velocity": velocity}, loss, norm


def loss_of(weights, points, inside):
    signs = jnp.where(inside, 1.0, -1.0)
    return jnp.mean(jax.nn.softplus(-signs * logits(weights, points)))


def logits(weights, points):
    with_one = jnp.concatenate([points, jnp.ones((len(points), 1))], axis=1)
    return jnp.tanh(with_one @ weights["hidden"]) @ weights["output"]


def ring(key):
    points = jax.random.uniform(key, (1000, 2), minval=-2, maxval=2)
    angle, radius = jnp.arctan2(points[:, 1], points[:, 0]), jnp.linalg.norm(points, axis=1)
    inside = jnp.abs(radius - 1 - 0.3 * jnp.sin(3 * angle)) < 0.35
    return (points[:600], inside[:600]), (points[600:], inside[600:])


rates = tw.Round(
    "jax_ring",
    goal="Which learning rate and momentum?",
    nuisance={"learning_rate": tw.log(1e-2, 10.0), "momentum": tw.ranges.log_from_one(0.5, 0.98)},
    fixed={"max_train_steps": STEPS, "hidden_units": 64},
    trials_per_study=TRIALS,
)
workload = tw.Workload(
    train, tw.minimize("valid_error"), store="examples.db", executor=tw.Local(workers=2)
)
results = tw.run(rates, workload)

best = results.best()
print(f"best valid_error {best.value:.4f}, trial {best.number}, at step {best.best_step}")
print({name: round(value, 4) for name, value in best.configuration.items()})
