import json
import subprocess
import tempfile
from pathlib import Path

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    hparams = {k: config[k] for k in ("lr", "weight_decay")}
    command = f"python -m domainbed.scripts.train --data_dir=data --output_dir={folder}".split()
    command += [f"--algorithm={config['algorithm']}", f"--hparams={json.dumps(hparams)}"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    lines = Path(folder, "results.jsonl").read_text().splitlines()
    values = [json.loads(line)["env1_out_acc"] for line in lines]
    for value in values:
        tune.report({"env1_out_acc": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "algorithm": tune.choice(["ERM", "IRM"]),
        "lr": tune.loguniform(1e-05, 0.001),
        "weight_decay": tune.loguniform(1e-06, 0.01),
    },
    tune_config=tune.TuneConfig(metric="env1_out_acc", mode="max", num_samples=20),
)
print(tuner.fit().get_best_result().config)
