"""Every check of the space and the round, in every verdict: short headlines, filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.curve_worlds import results_of, rise

from tunewright.checks.baseline import baseline
from tunewright.checks.boundary import boundary
from tunewright.checks.comparison import comparison
from tunewright.checks.density import density
from tunewright.checks.fairness import fairness
from tunewright.checks.infeasible import infeasible
from tunewright.checks.same_code import same_code
from tunewright.checks.sensitivity import sensitivity
from tunewright.checks.variance import variance
from tunewright.design.conditions import given
from tunewright.design.names import Meaning
from tunewright.design.objective import maximize
from tunewright.design.ranges import choice, integers, linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.messages.en import findings_space
from tunewright.store.joined import joined
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.testing import Bowl, Unlucky, Walled, World, results

MOST_WORDS = 12
CHECKS = (
    *(baseline, same_code, boundary, density, infeasible),
    *(fairness, comparison, sensitivity, variance),
)
RATE = {"learning_rate": log(1e-4, 1e-1)}
WIDE = {name: linear(0.0, 1.0) for name in "abcd"}
BOWL = Bowl({"learning_rate": 0.5})
ARMS = {"act": ["a", "b"]}
ORIGIN = Provenance("python train.py", ".", commit="0123456789abcdef")


def made(world: Any = BOWL, repeats: dict[int, int] | None = None, **changes: Any) -> Results:
    settings: dict[str, Any] = {"goal": "?", "nuisance": RATE, "trials_per_study": 16, **changes}
    return results(Round("r", **settings), world, repeats=repeats)


def stuck(own: Results) -> Results:
    """The results with a chance that nothing beats."""
    return replace(own, meaning=Meaning({"chance": 1e-9, "valid_loss": "valid_error"}))


def with_origins(own: Results, commit: Callable[[int], str]) -> Results:
    recorded = tuple(replace(t, identity=100 + (t.number or 0)) for t in own.recorded)
    origins = {t.identity: replace(ORIGIN, commit=commit(t.number or 0)) for t in recorded}
    return replace(own, recorded=recorded, origins=origins)


def unequal(own: Results) -> Results:
    kept = [t for t in own.recorded if t.study == 0 or (t.index or 0) < 7]
    return replace(own, recorded=tuple(kept))


def at_ends(inside: Results, outside: Results) -> Results:
    pairs = zip(inside.recorded, outside.recorded, strict=True)
    return replace(inside, recorded=tuple(i if i.study == 0 else o for i, o in pairs))


def two_lengths() -> Results:
    """One setting is best at the end of training, the other early in it."""
    levels = 0.01 * np.arange(12)[:, None]
    curves = np.tile(np.linspace(1.0, 0.2, 50), (12, 1)) + levels
    curves[1::2] = rise(50, 0.3, 0.2) + levels[1::2]
    rates = [{"layers": 1 + n % 2, "learning_rate": 0.001 if n % 2 else 0.1} for n in range(12)]
    settings = {"scientific": {"layers": [1, 2]}, "configurations": rates}
    return results_of({"valid_error": curves}, **settings)


def kept() -> Results:
    """A larger batch with the learning rate that an earlier round tuned for a smaller one."""
    first = made(fixed={"batch_size": 32})
    frozen = {"batch_size": 512, "learning_rate": 0.01}
    later = made(Bowl({}), nuisance={"momentum": linear(0.8, 0.9)}, fixed=frozen, continues="s")
    return joined(later, replace(first, round=replace(first.round, name="s")))


def wall(above: float) -> Walled:
    return Walled(BOWL, {"learning_rate": 1.0}, above=above)


def worlds() -> dict[str, Results]:
    """Rounds in which every check speaks, stays silent, and has nothing to judge by."""
    effect = World(BOWL, effect=lambda s: 0.3 * s.number, noise_sd=0.01)
    crowded = World(Bowl({"learning_rate": 1.2}), noise_sd=0.01)
    branches = given({"adam": {"b": linear(0, 1)}, "sgd": {"m": linear(0, 1), "n": linear(0, 1)}})
    range_ = {"width": linear(0, 1)}
    mixed = at_ends(made(scientific=ARMS), made(crowded, scientific=ARMS))
    return {
        "quiet": made(World(BOWL, noise_sd=0.02), {0: 8, 3: 8}, detect=0.5),
        "few": made(trials_per_study=2),
        "none": replace(made(), recorded=()),
        "no arm": replace(made(scientific=ARMS), recorded=()),
        "five": made(trials_per_study=5, scientific=ARMS),
        "high": made(crowded),
        "low": made(Bowl({"learning_rate": -0.2})),
        "off": made(Bowl({"dropout": -0.1}), nuisance={"dropout": linear(0.0, 0.5)}),
        "lone": made(lambda u: 0.1 if u["learning_rate"] > 0.96 else 0.6, trials_per_study=30),
        "list": made(effect, scientific={"layers": [3, 2, 1]}),
        "unordered": made(Bowl({}), nuisance={"act": choice("relu", "gelu")}),
        "nothing": made(Bowl({}), nuisance={}, fixed={"a": 1}, trials_per_study=1),
        "small": made(Bowl(dict.fromkeys("abcd", 0.5)), nuisance=WIDE, detect=0.001),
        "third": made(wall(0.7), trials_per_study=20),
        "most": made(wall(0.25), trials_per_study=40),
        "edge": made(
            Walled(Bowl({"learning_rate": 1.2}), {"learning_rate": 1.0}, above=0.93),
            trials_per_study=60,
        ),
        "all": made(wall(-1.0)),
        "unlucky": made(Unlucky(BOWL, share=0.3), trials_per_study=30),
        "mostly unlucky": made(Unlucky(BOWL, share=0.7), trials_per_study=60),
        "told": made(effect, scientific=ARMS),
        "weak": made(effect, scientific=ARMS, trials_per_study=8),
        "alike": made(World(BOWL, noise_sd=0.01), scientific={"act": ["a", "b", "c"]}),
        "unequal": unequal(made(scientific=ARMS)),
        "mixed": mixed,
        "spaces": made(scientific={"optimizer": ["adam", "sgd"]}, nuisance={"optimizer": branches}),
        "diverging arm": made(
            lambda u: 0.5 + u["learning_rate"] if u["learning_rate"] < 0.1 else None,
            scientific=ARMS,
        ),
        "range": made(scientific=range_, trials_per_study=64),
        "range matters": made(Bowl({"width": 1.0}), scientific=range_, trials_per_study=96),
        "short range": made(scientific=range_),
        "stuck": stuck(made()),
        "larger is better": made(World(BOWL, objective=maximize("accuracy"))),
        "many": made(
            World(Bowl({"learning_rate": 0.4}), noise_sd=0.01),
            nuisance={**RATE, **WIDE, "units": integers(8, 512, log=True)},
            trials_per_study=80,
        ),
        "one code": with_origins(made(scientific=ARMS), lambda n: "0123456789"),
        "two codes": with_origins(made(scientific=ARMS), lambda n: "feed" * 4 if n > 9 else "0123"),
        "code by arm": with_origins(made(scientific=ARMS), lambda n: f"{n % 2}" * 12),
        "no git": with_origins(made(), lambda n: ""),
        "two lengths": two_lengths(),
        "kept": kept(),
        "few repeats": made(World(BOWL, noise_sd=0.02), {0: 2}),
    }


@pytest.fixture(scope="module")
def found() -> list[tuple[str, Finding]]:
    return [
        (name, finding) for name, own in worlds().items() for ask in CHECKS for finding in ask(own)
    ]


def test_headlines_are_short_and_everything_is_filled_in(found: list[tuple[str, Finding]]) -> None:
    for name, finding in found:
        headline = finding.headline
        assert 1 <= len(headline.split()) <= MOST_WORDS, (name, headline)
        for text in (headline, *finding.words.evidence, *(a.text for a in finding.actions)):
            assert text.strip() and not set("{}") & set(text), (name, text)
            assert "None" not in text, (name, text)
        assert finding.words.evidence, (name, headline)
        assert finding.section


def test_every_check_is_heard_in_every_verdict_it_has(found: list[tuple[str, Finding]]) -> None:
    heard: dict[str, set[str]] = {}
    for _, finding in found:
        heard.setdefault(finding.check, set()).add(finding.verdict)
    assert heard == {
        "baseline": {"ok", "warn", "cannot_judge"},
        "same_code": {"ok", "note", "warn", "cannot_judge"},
        "boundary": {"ok", "note", "warn", "cannot_judge"},
        "density": {"ok", "note", "warn", "cannot_judge"},
        "infeasible": {"ok", "note", "warn", "cannot_judge"},
        "fairness": {"ok", "note", "warn", "cannot_judge"},
        "comparison": {"ok", "note", "cannot_judge"},
        "sensitivity": {"ok", "cannot_judge"},
        "variance": {"ok", "cannot_judge"},
    }


def test_every_reason_and_every_advice_of_the_catalogue_is_used(
    found: list[tuple[str, Finding]],
) -> None:
    reasons = {f.evidence.why.code for _, f in found if hasattr(f.evidence, "why")}
    reasons |= {
        pair.why.code
        for _, f in found
        for pair in getattr(f.evidence, "pairs", ())
        if pair.why is not None
    }
    elsewhere = {"boundary.fastest", "comparison.many_infeasible", "baseline.one_point"}
    elsewhere |= {"comparison.different_lengths"}  # tests/checks/test_comparison.py
    assert set(findings_space.SENTENCES) - elsewhere <= reasons
    advice = {a.code for _, f in found for a in f.actions if hasattr(a, "code")}
    assert set(findings_space.ACTIONS) <= advice


def test_a_long_name_with_spaces_fits_a_headline() -> None:
    name = "the learning rate " * 4
    (finding,) = boundary(made(Bowl({name.strip(): 1.2}), nuisance={name.strip(): log(1e-4, 1e-1)}))
    assert len(finding.headline.split()) <= MOST_WORDS
