import re
import subprocess
import tempfile

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        f"python main.py --workdir={folder} --config=configs/default.py "
        f"--config.learning_rate={config['learning_rate']} "
        f"--config.momentum={config['momentum']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""test_loss: ([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"test_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "learning_rate": tune.loguniform(0.01, 1),
        "momentum": tune.uniform(0.5, 0.98),
    },
    tune_config=tune.TuneConfig(metric="test_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
