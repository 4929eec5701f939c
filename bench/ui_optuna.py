"""Part of bench/ui.py: fill Optuna's storage and serve it, with the packages of its folder.

python bench/ui_optuna.py fill URL TRIALS POINTS
python bench/ui_optuna.py serve URL PORT
"""

from __future__ import annotations

import datetime
import sys


def fill(url: str, trials: int, points: int) -> None:
    import numpy as np
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution
    from sqlalchemy import create_engine, text

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name="bench", storage=url)
    noise = np.random.default_rng(0)
    now = datetime.datetime.now()
    space = {
        "learning_rate": FloatDistribution(1e-5, 1e-1, log=True),
        "dropout": FloatDistribution(0.0, 0.6),
        "weight_decay": FloatDistribution(1e-6, 1e-1, log=True),
        "beta1": FloatDistribution(0.8, 0.99),
        "optimizer": CategoricalDistribution(("adam", "nesterov")),
        "width": CategoricalDistribution((64, 128)),
    }
    for _ in range(trials):
        study.add_trial(
            optuna.trial.FrozenTrial(
                number=-1,
                trial_id=-1,
                state=optuna.trial.TrialState.COMPLETE,
                value=float(noise.random()),
                values=None,
                datetime_start=now,
                datetime_complete=now,
                params={
                    "learning_rate": float(10 ** noise.uniform(-5, -1)),
                    "dropout": float(noise.uniform(0, 0.6)),
                    "weight_decay": float(10 ** noise.uniform(-6, -1)),
                    "beta1": float(noise.uniform(0.8, 0.99)),
                    "optimizer": "adam",
                    "width": 64,
                },
                distributions=space,
                user_attrs={},
                system_attrs={},
                intermediate_values={},
            )
        )
    # one metric of as many points: its storage has room for one, and takes hours to fill by calls
    engine = create_engine(url)
    with engine.begin() as connection:
        keys = [row[0] for row in connection.execute(text("SELECT trial_id FROM trials"))]
        insert = text(
            "INSERT INTO trial_intermediate_values "
            "(trial_id, step, intermediate_value, intermediate_value_type) "
            "VALUES (:trial, :step, :value, 'FINITE')"
        )
        for key in keys:
            values = 0.1 + np.exp(-6 * np.arange(points) / points) + noise.normal(0, 0.01, points)
            connection.execute(
                insert,
                [{"trial": key, "step": s, "value": float(v)} for s, v in enumerate(values)],
            )


def serve(url: str, port: int) -> None:
    from optuna_dashboard import run_server

    run_server(url, host="127.0.0.1", port=port)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        serve(sys.argv[2], int(sys.argv[3]))
