"""Names that mean the same everywhere are known; ambiguous ones are left alone."""

from __future__ import annotations

from tunewright.design.names import NAMES
from tunewright.design.objective import minimize
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.foreign import ForeignTrial, Source
from tunewright.design.spellings import SPELLINGS, usual_meanings


def test_every_meaning_is_one_the_package_knows() -> None:
    assert set(SPELLINGS) <= set(NAMES)
    spelled = [name for names in SPELLINGS.values() for name in names]
    assert len(spelled) == len(set(spelled)), "a spelling has one meaning"


def test_ambiguous_and_right_names_are_left_alone() -> None:
    assert usual_meanings(["encoder.lr", "decoder.lr"]) == {}
    assert usual_meanings(["learning_rate", "lr"]) == {}
    assert usual_meanings(["lr_decay", "train", "loss"]) == {}


def test_the_users_word_counts_first() -> None:
    trials = tuple(
        ForeignTrial(str(n), {"lr": 0.1 + n, "wd": n}, "completed", points={"l": ([1], [n])})
        for n in range(3)
    )

    def meaning(**options: dict[str, str]) -> dict[str, str]:
        said: Options = options  # type: ignore[assignment]
        return dict(take_over(Source("a test", "r", trials), minimize("l"), said).meaning.means)

    assert meaning() == {"learning_rate": "lr", "weight_decay": "wd"}
    assert meaning(means={"warmup_steps": "lr"}) == {"weight_decay": "wd", "warmup_steps": "lr"}
    assert meaning(means={"learning_rate": "wd"}) == {"learning_rate": "wd"}
