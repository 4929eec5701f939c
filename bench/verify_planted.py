"""Each malpractice planted in a round, for bench/verify.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from verify_worlds import (
    cut,
    launched,
    layers_round,
    measure,
    program,
    seeded,
    simulated,
    two_rounds,
    with_curves,
    with_rate,
    workload,
)

import tunewright as tw
from tunewright.receipts.receipt import SEAL, receipt, seal
from tunewright.store.curves import Batch, Curve, Curves, packed
from tunewright.store.trial import Trial, repeat_seed

Plant = Callable[[int, str], dict[str, Any]]


def unequal(seed: int, folder: str) -> dict[str, Any]:
    """One setting was given a third of the other's trials."""
    found = simulated(seed, settings=2, trials=18)
    loser = seed % 2
    trials = tuple(
        replace(t, status="pending", reason=None, curves=Curves(()))
        if t.study == loser and (t.index or 0) >= 6
        else t
        for t in found.recorded
    )
    return receipt(replace(found, recorded=trials, recorded_repeats=()))


def seed_searched(seed: int, folder: str) -> dict[str, Any]:
    """The seed among the hyperparameters, or one configuration by hand under many seeds."""
    if seed % 2:
        nuisance = {"learning_rate": tw.log(1e-3, 1), "random_seed": tw.choice(*range(50))}
        return receipt(simulated(seed, nuisance=nuisance))
    found = simulated(seed)
    best = found.recorded[0]
    count = len(found.recorded)
    more = tuple(
        replace(best, number=count + k, index=None, seed=7000 + k, identity=700 + k)
        for k in range(8)
    )
    return receipt(replace(found, recorded=(*found.recorded, *more)))


def steps_searched(seed: int, folder: str) -> dict[str, Any]:
    """The number of steps, or of epochs, among what was tuned."""
    nuisance = {"learning_rate": tw.log(1e-3, 1), "weight_decay": tw.log(1e-6, 0.1)}
    if seed % 2:
        nuisance["max_train_steps"] = tw.integers(200, 2000)
        return receipt(simulated(seed, nuisance=nuisance, fixed={}))
    return receipt(simulated(seed, scientific={"epochs": [5, 10, 20]}, fixed={}))


def in_mid_decay(seed: int, folder: str) -> dict[str, Any]:
    """The rival was stopped at 60 % of its schedule, or all schedules were cut at half."""
    found = simulated(seed, settings=2)
    done = [t for t in found.recorded if t.status == "completed"]
    chosen = {t.number for t in done if t.study == 0 or seed % 2}
    trials = tuple(
        (with_rate(t, 0.5) if seed % 2 else with_curves(t, lambda _, c: cut(c, 0.6)))
        if t.number in chosen
        else t
        for t in found.recorded
    )
    return receipt(replace(found, recorded=trials, recorded_repeats=()))


def resealed(data: dict[str, Any]) -> dict[str, Any]:
    """A receipt whose seal is right again."""
    return {**data, SEAL: seal(data)}


def history_best(seed: int, folder: str) -> dict[str, Any]:
    """A decision in which the selected trial itself counts as a run."""
    data = receipt(*launched(seed, folder))
    (one,) = data["launches"]
    which = "baseline" if seed % 2 else "candidate"
    number = one[which]["trial"]
    chosen = next(t for t in data["trials"] if t["number"] == number)
    one["decision"][f"{which}_values"] = [chosen["value"]] * 3
    return resealed(data)


def peeked(seed: int, folder: str) -> dict[str, Any]:
    """Several trials were measured on the test set, or the objective is the test set's."""
    if seed % 2:
        found = simulated(seed)
        renamed = tuple(
            replace(
                t,
                curves=Curves(
                    [
                        Batch(
                            1,
                            0,
                            packed(
                                {
                                    n.replace("valid_error", "test_error"): c
                                    for n, c in t.curves.items()
                                }
                            ),
                        )
                    ]
                ),
            )
            for t in found.recorded
        )
        judged = replace(found, recorded=renamed, recorded_repeats=())
        return receipt(judged.with_objective(tw.minimize("test_error")))
    own = workload(folder)
    found = tw.run(layers_round(seed), own, progress="off")
    for trial in found.top(3):
        tw.launches.final_test(trial, own, measure, anyway=True)
    return receipt(str(own.store), "layers")


def dropped(seed: int, folder: str) -> dict[str, Any]:
    """Failed trials, or a bad repeat, are gone from the file."""
    found = simulated(seed)
    if seed % 2 and len(found.recorded_repeats) < 3:
        found = seeded(replace(found, recorded_repeats=()))
    if seed % 2 and found.recorded_repeats:
        data = receipt(found)
        del data["repeats"][1]
        return resealed(data)
    data = receipt(found)
    worst = max(data["trials"], key=lambda t: t["value"] or 9.0)
    data["trials"] = [t for t in data["trials"] if t is not worst]
    return resealed(data)


def other_code(seed: int, folder: str) -> dict[str, Any]:
    """The program's file changed in the middle of the round."""
    found = simulated(seed)
    return receipt(program(found, changed_from=len(found.recorded) // 2))


def narrowed(seed: int, folder: str) -> dict[str, Any]:
    """The rival of the winner was searched in a part of the winner's range."""
    wide, narrow = tw.log(1e-5, 1.0), tw.log(1e-2, 1e-1)
    ranges = {"new": {"learning_rate": wide}, "old": {"learning_rate": narrow}}
    nuisance = {"optimizer": tw.given(ranges), "weight_decay": tw.log(1e-6, 0.1)}
    scientific = {"optimizer": ["new", "old"]}
    found = simulated(seed, settings=2, scientific=scientific, nuisance=nuisance)

    def better(trial: Trial) -> Trial:
        gain = 0.1 if trial.study == 0 else 0.0
        return with_curves(trial, lambda _, c: Curve(c.steps, c.values - gain))

    trials = tuple(better(t) for t in found.recorded)
    return receipt(replace(found, recorded=trials, recorded_repeats=()))


def same_seeds(seed: int, folder: str) -> dict[str, Any]:
    """Repeats under one seed, or one repeat copied."""
    found = simulated(seed)
    best = found.best()
    runs = [t for t in found.recorded if t.status == "completed"][:4]
    again = [
        replace(
            t,
            number=None,
            index=None,
            parent=best.number,
            identity=800 + k,
            study=best.study,
            configuration=best.configuration,
            seed=repeat_seed(found.round.seed, k + 1),
        )
        for k, t in enumerate(runs)
    ]
    if seed % 2:
        again = [replace(one, seed=again[0].seed) for one in again]
    else:
        again[1] = replace(again[1], curves=again[0].curves)
    return receipt(replace(found, recorded_repeats=tuple(again)))


def truncated(seed: int, folder: str) -> dict[str, Any]:
    """A curve was cut in the file, or its bad end was left out before the receipt was written."""
    found = simulated(seed)
    done = [t for t in found.recorded if t.status == "completed"]
    if seed % 2:
        data = receipt(found)
        own = next(t for t in data["trials"] if t["number"] == done[0].number)
        curve = own["curves"]["valid_error"]
        for part in ("steps", "values"):
            curve[part] = curve[part][: len(curve[part]) // 2]
        return resealed(data)
    chosen = done[0].number
    trials = tuple(
        with_curves(t, lambda n, c: cut(c, 0.5) if n == "valid_error" else c)
        if t.number == chosen
        else t
        for t in found.recorded
    )
    return receipt(replace(found, recorded=trials, recorded_repeats=()))


def other_split(seed: int, folder: str) -> dict[str, Any]:
    """The split varies between trials, or candidate and baseline come from different splits."""
    if seed % 2:
        nuisance = {"learning_rate": tw.log(1e-3, 1), "split_seed": tw.choice(*range(20))}
        return receipt(simulated(seed, nuisance=nuisance))
    data = receipt(*two_rounds(seed, folder))
    data["earlier"][0]["round"]["seed"] = 4711
    for name in data["other_rounds"]:
        data["other_rounds"][name]["round"]["seed"] = 4711
    for one in data["launches"]:
        one["decision"]["verdict"] = one["verdict"] = "launch"
    return resealed(data)


PLANTED: dict[str, Plant] = {
    "unequal_tuning": unequal,
    "seed_tuned": seed_searched,
    "steps_tuned": steps_searched,
    "mid_decay": in_mid_decay,
    "best_of_history": history_best,
    "test_peeking": peeked,
    "dropped_failures": dropped,
    "changed_code": other_code,
    "narrowed_rival": narrowed,
    "reused_seeds": same_seeds,
    "truncated_curve": truncated,
    "different_split": other_split,
}
