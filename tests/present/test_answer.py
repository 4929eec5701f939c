from __future__ import annotations

from dataclasses import replace

from tests.present.sample_findings import MORE, REMEDIES, edge, few, unknown

import tunewright as tw
from tunewright.actions import Advise, RunTrials
from tunewright.checks.comparison import comparison
from tunewright.messages import Message
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
    noted, warned = few("note"), edge("all", "warn", (Advise("larger_batch"), *REMEDIES))
    told = answer(made(), [noted, warned, unknown("overfitting", "all"), edge("all")])
    assert told.doubts == (warned, noted)
    assert told.trust.facts == {"warnings": 1, "judged": True, "unknown": 1}
    assert [f.check for f in told.unknown] == ["overfitting"]
    assert [step.action for step in told.next][:2] == [REMEDIES[0], MORE]
    assert [step.why.code for step in told.next][:2] == ["next.advised"] * 2
    assert all(step.action.argv for step in told.next)
    commands = [step.action.command for step in told.next]
    assert len(commands) == len(set(commands))


def test_what_is_left_comes_first_while_trials_wait() -> None:
    own = made()
    waiting = replace(own.recorded[0], status="pending")
    half = replace(own, recorded=(waiting, *own.recorded[1:]))
    told = answer(half, [edge("all", "warn", REMEDIES)])
    assert told.next[0].action == RunTrials("decay")


def test_what_is_unknown_is_not_called_fine() -> None:
    assert not answer(made(), []).judged
    assert not answer(made(), [unknown("overfitting", "all")]).judged
    both = answer(made(), [unknown("overfitting", "all"), edge("all")])
    assert both.judged and both.trust.facts["unknown"] == 1
    assert len({both.trust.text, answer(made(), []).trust.text}) == 2


def test_what_was_found_has_the_best_the_comparison_and_the_repeats() -> None:
    asked = tw.Round(
        "r", goal="?", scientific={"act": ["a", "b"]}, nuisance=ROUND.nuisance, trials_per_study=16
    )
    world = World(Bowl({"learning_rate": 0.5}), effect=lambda s: 0.5 * s.number)
    (compared,) = comparison(results(asked, world))
    told = answer(made(repeats=4), [compared])
    assert told.compared == (compared,)
    counts, best, repeated = told.summary
    assert (counts.code, counts.facts["counts"]) == ("answer.counts", {"completed": 8})
    assert set(best.facts["settings"]) == {"learning_rate"}
    assert (best.code, best.facts["value"]) == ("answer.best", made().best().value)
    assert (repeated.code, repeated.facts["times"]) == ("answer.repeated", 4)
    assert repeated.facts["sd"] > 0
    assert told.caveats == (
        Message("round.holds_for", {"fixed": {"max_train_steps": 1000}, "when": {}}),
    )


def test_a_round_without_trials() -> None:
    told = answer(Results.from_parts(ROUND, tw.minimize("valid_error"), []), [])
    (counts,) = told.summary
    assert counts.facts == {"counts": {}, "trials": 0}
