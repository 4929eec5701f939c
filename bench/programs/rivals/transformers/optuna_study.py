import re
import subprocess
import tempfile

import optuna


def objective(trial):
    config = {
        "learning_rate": trial.suggest_float("learning_rate", 5e-06, 0.0005, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-06, 0.01, log=True),
        "warmup_steps": trial.suggest_int("warmup_steps", 0, 1000),
    }
    folder = tempfile.mkdtemp()
    command = (
        "python run_clm.py --model_name_or_path=gpt2 --train_file=train.txt --do_train "
        f"--do_eval --output_dir={folder} --learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']} "
        f"--warmup_steps={config['warmup_steps']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""'eval_loss': '?([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
