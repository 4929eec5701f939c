"""How often did the rounds of a store decide something by one evaluation set?

The count is what `pipeline.reuse` judges: the playbook wants an evaluation set large enough for
many evaluations in sequence, and the store knows how many there were.
"""

from __future__ import annotations

from pathlib import Path

from tunewright.pipeline.reuse import Reuse
from tunewright.store.store import Store


def counted(store: Path | str, metric: str, size: int, *, seed: int | None = None) -> Reuse:
    """The selections that a store records on the sample of `size` examples behind `metric`.

    Every trial and repeat with a value of that objective is one: its best checkpoint was chosen on
    the sample, and its configuration was compared on it. So is every launch decision by it. Rounds
    of another `seed` may split the data otherwise: name the seed to count its rounds alone.
    """
    used = Reuse(size)
    with Store.open(store, read_only=True) as opened:
        rounds = [r for r in opened.rounds() if r.objective.metric == metric]
        if seed is not None:
            rounds = [r for r in rounds if r.round.seed == seed]
        names = {record.name for record in rounds}
        for name in names:
            results = opened.results(name)
            repeats = [repeat for trial in results.rows for repeat in results.repeats(trial)]
            judged = (*results.rows, *repeats)
            used = used.again(sum(trial.value is not None for trial in judged))
        decided = (any(name in names for name, _ in launch.pair) for launch in opened.launches())
        return used.again(sum(decided))
