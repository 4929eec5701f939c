from __future__ import annotations

import tunewright as tw
from tunewright.finding import LegacyFinding as Finding
from tunewright.present.answer import answer
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results

ROUND = tw.Round(
    "decay",
    goal="Does it help?",
    nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
    fixed={"max_train_steps": 1000},
    trials_per_study=8,
)


def made(repeats: int = 0) -> Results:
    world = World(Bowl({"learning_rate": 0.5}), noise_sd=0.01)
    best = results(ROUND, world).best().number or 0
    return results(ROUND, world, repeats={best: repeats} if repeats else None)


def test_warnings_come_before_notes_and_set_the_tone() -> None:
    findings = [
        Finding("density", "all", "note", "a little", advice=("tunewright run decay --trials 16",)),
        Finding("boundary", "all", "warn", "at the edge", advice=("widen it", "tunewright next")),
        Finding("variance", "all", "cannot_judge", "no repeats"),
        Finding("overfitting", "all", "ok", "none"),
    ]
    told = answer(made(), findings)
    assert [f.check for f in told.doubts] == ["boundary", "density"]
    assert told.trust == "1 warning: read what not to trust first."
    assert [f.check for f in told.unknown] == ["variance"]
    commands = [step.command for step in told.next]
    assert commands[:2] == ["tunewright next", "tunewright run decay --trials 16"]
    assert "widen it" not in commands
    assert len(commands) == len(set(commands))


def test_what_is_unknown_is_not_called_fine() -> None:
    assert not answer(made(), []).judged
    assert answer(made(), []).trust == "Nothing could be judged yet."
    unknown = [Finding("variance", "all", "cannot_judge", "no repeats")]
    assert answer(made(), unknown).trust == "Nothing could be judged yet."
    fine = [*unknown, Finding("overfitting", "all", "ok", "none")]
    assert answer(made(), fine).trust == "No warning of the checklist; 1 could not be judged."


def test_what_was_found_has_the_best_the_comparison_and_the_repeats() -> None:
    compared = Finding("comparison", "round decay", "ok", "a is best with 8 trials each")
    told = answer(made(repeats=4), [compared])
    assert told.found[0] == "8 trials: 8 completed."
    assert told.found[1].startswith("Best valid_error: 0.")
    assert "(learning_rate=0.0" in told.found[1]
    assert told.found[2] == "a is best with 8 trials each."
    assert told.found[3].startswith("Repeated 4 times with new seeds, the best trial has mean 0.")
    assert told.caveats == ("holds for max_train_steps = 1000",)


def test_a_round_without_trials() -> None:
    told = answer(Results.from_parts(ROUND, tw.minimize("valid_error"), []), [])
    assert told.found == ("0 trials: none yet.",)
