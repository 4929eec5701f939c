"""Keras under a trial: killed, stopped in the middle of an epoch, and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integrations.troubled import check_resumed, needs, trained

pytestmark = needs("keras", "h5py")
PROGRAM = """
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from tunewright.integrations.keras import callback

run = tw.current_run()

class Trouble(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        trouble(run, int(self.model.optimizer.iterations), 0, os.getpid())

keras.utils.set_random_seed(run.seeds.init % 2**32)
x = np.random.default_rng(0).standard_normal((32, 4)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5], [0.0]], dtype="float32")
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(run.configuration["lr"], momentum=0.5), "mse")
model.fit(x, y, batch_size=8, epochs=run.configuration["max_steps"] // 4, verbose=0,
          validation_data=(x, y), callbacks=[Trouble(), callback()])
print("updates", int(model.optimizer.iterations))
"""


def test_killed_stopped_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    trial = trained(tmp_path, PROGRAM, metric="val_loss")
    assert trial.curves["loss"].steps.tolist() == list(range(1, 21)), "updates, not epochs"
    assert trial.curves["val_loss"].steps[-1] == 20 and len(trial.curves["val_loss"]) >= 4
    values = trial.curves["val_loss"].values.tolist()
    assert values[-1] < values[0]
    assert trial.applied is not None
    assert trial.applied["optimizer.learning_rate"] == pytest.approx(trial.configuration["lr"])
    assert trial.applied["optimizer.momentum"] == 0.5 and trial.applied["epochs"] == 5
    check_resumed(tmp_path, trial, ranks=1)
