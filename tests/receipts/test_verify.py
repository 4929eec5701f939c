"""Receipts: verdicts are derived again elsewhere, and each malpractice is named."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.errors import NotFound, Unreadable
from tunewright.messages import is_code
from tunewright.receipts._launches import same
from tunewright.receipts.malpractice import QUESTIONS
from tunewright.receipts.receipt import SEAL, seal
from tunewright.store.curves import Batch, Curve, Curves, packed
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import repeat_seed, trial_seed
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results


def healthy(**changed: Any) -> Results:
    """Two settings, eight trials each, three repeats of the best, with the seeds a store gives."""
    declared: dict[str, Any] = {
        "goal": "Do more layers help?",
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": tw.log(1e-3, 1.0)},
        "fixed": {"max_train_steps": 1000},
        "trials_per_study": 8,
        "seed": 5,
    }
    round = tw.Round("layers", **{**declared, **changed})
    world = World(
        Bowl({"learning_rate": 0.5}),
        effect=lambda study: -0.02 * study.number,
        noise_sd=0.01,
        curve_sd=0.002,
    )
    best = results(round, world).best().number or 0
    made = results(round, world, repeats={best: 3})
    trials = tuple(
        replace(t, seed=trial_seed(5, t.index or 0), identity=k + 1)
        for k, t in enumerate(made.recorded)
    )
    again = tuple(
        replace(t, seed=repeat_seed(5, k + 1)) for k, t in enumerate(made.recorded_repeats)
    )
    return replace(made, recorded=trials, recorded_repeats=again)


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    return tw.receipts.receipt(healthy())


def named(data: dict[str, Any], reseal: bool = True) -> set[str]:
    """The kinds of malpractice that verification names in a receipt."""
    if reseal:
        data[SEAL] = seal(data)
    return {one.kind for one in tw.receipts.verify(json.loads(json.dumps(data))).malpractice}


def test_an_honest_round_verifies(honest: dict[str, Any]) -> None:
    found = tw.receipts.verify(json.loads(json.dumps(honest)))
    assert found.ok and found.disagreements == () and found.malpractice == ()
    assert found.trials == 19 and found.findings == len(honest["findings"])
    assert found.to_data()["ok"] is True
    assert len(found.headline.split()) <= 12


def test_it_holds_what_a_conclusion_rests_on(honest: dict[str, Any]) -> None:
    assert honest["round"]["goal"] == "Do more layers help?"
    assert [arm["trials"] for arm in honest["arms"]] == [8, 8]
    assert honest["error_rates"]["false_launches"] == {"feature": 0.10, "hyperparameters": 0.25}
    curve = honest["trials"][0]["curves"]["valid_error"]
    assert curve["points"] == len(curve["values"]) == 20 and len(curve["sha256"]) == 64
    assert {one["check"] for one in honest["findings"]} > {"boundary", "comparison", "fairness"}


def test_an_edited_value_contradicts_curve_seal_and_verdicts(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    data["trials"][0]["curves"]["valid_error"]["values"][-1] -= 0.5
    kinds = {one.what for one in tw.receipts.verify(data).disagreements}
    assert {"seal", "curve", "value"} <= kinds


def test_a_changed_verdict_is_found(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    own = next(one for one in data["findings"] if one["check"] == "comparison")
    own["verdict"] = "ok" if own["verdict"] != "ok" else "warn"
    data[SEAL] = seal(data)
    (one,) = tw.receipts.verify(data).disagreements
    assert one.what == "finding" and one.about.startswith("comparison")


def cut(curve: Curve, share: float) -> Curve:
    count = int(len(curve) * share)
    return Curve(curve.steps[:count], curve.values[:count])


def changed(found: Results, number: int, share: float, only: str = "") -> Results:
    """The round with the curves of one trial cut."""
    trials = []
    for trial in found.recorded:
        if trial.number == number:
            curves = {n: cut(c, share) if only in ("", n) else c for n, c in trial.curves.items()}
            trial = replace(trial, curves=Curves([Batch(1, 0, packed(curves))]))
        trials.append(trial)
    return replace(found, recorded=tuple(trials))


def test_dropped_trials_and_repeats(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    parent = data["repeats"][0]["parent"]
    data["trials"] = [t for t in data["trials"] if t["number"] != parent]
    assert named(data) == {"dropped_failures"}
    data = copy.deepcopy(honest)
    del data["repeats"][1]
    assert named(data) == {"dropped_failures"}


def test_a_truncated_curve(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    curve = data["trials"][2]["curves"]["valid_error"]
    curve["steps"], curve["values"] = curve["steps"][:8], curve["values"][:8]
    assert "truncated_curve" in named(data)
    cut_before = tw.receipts.receipt(changed(healthy(), 2, 0.5, "valid_error"))
    assert "truncated_curve" in named(cut_before)


def test_mid_decay() -> None:
    assert named(tw.receipts.receipt(changed(healthy(), 2, 0.6))) == {"mid_decay"}


def test_unequal_tuning() -> None:
    found = healthy()
    trials = tuple(
        replace(t, status="pending", curves=Curves(()))
        if t.study == 0 and (t.index or 0) > 2
        else t
        for t in found.recorded
    )
    data = tw.receipts.receipt(replace(found, recorded=trials, recorded_repeats=()))
    assert named(data) == {"unequal_tuning"}


@pytest.mark.parametrize(
    ("nuisance", "kind"),
    [
        ({"seed": tw.choice(1, 2, 3)}, "seed_tuned"),
        ({"max_train_steps": tw.integers(100, 900)}, "steps_tuned"),
        ({"fold": tw.choice(0, 1, 2)}, "different_split"),
    ],
)
def test_what_must_not_be_tuned(nuisance: dict[str, Any], kind: str) -> None:
    own = healthy(nuisance={"learning_rate": tw.log(1e-3, 1.0), **nuisance}, fixed={})
    assert kind in named(tw.receipts.receipt(own))


def test_changed_code() -> None:
    found = healthy()

    def origin(number: int) -> Provenance:
        return Provenance("run", "/p", sources={"train.py": ("a" if number < 8 else "b") * 64})

    origins = {t.identity: origin(t.number or 0) for t in found.recorded}
    assert named(tw.receipts.receipt(replace(found, origins=origins))) == {"changed_code"}


def test_a_narrowed_rival() -> None:
    ranges = {
        "new": {"learning_rate": tw.log(1e-5, 1.0)},
        "old": {"learning_rate": tw.log(1e-2, 1e-1)},
    }
    own = healthy(scientific={"way": ["old", "new"]}, nuisance={"way": tw.given(ranges)})
    assert "narrowed_rival" in named(tw.receipts.receipt(own))
    swapped = healthy(scientific={"way": ["new", "old"]}, nuisance={"way": tw.given(ranges)})
    assert "narrowed_rival" not in named(tw.receipts.receipt(swapped)), "the narrow one won"


def test_reused_seeds() -> None:
    found = healthy()
    first, second, *others = found.recorded_repeats
    shared = replace(second, seed=first.seed)
    data = tw.receipts.receipt(replace(found, recorded_repeats=(first, shared, *others)))
    assert "reused_seeds" in named(data)
    copied = replace(second, curves=first.curves)
    data = tw.receipts.receipt(replace(found, recorded_repeats=(first, copied, *others)))
    assert named(data) == {"reused_seeds"}


def test_a_test_metric_as_the_objective(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    looks = [{"trial": k, "number": k, "look": k, "metrics": {}} for k in (1, 2)]
    assert named({**data, "looks": looks}) == {"test_peeking"}
    assert named({**data, "looks": looks[:1]}) == set(), "one look is what a test set is for"


def test_every_kind_has_a_sentence() -> None:
    assert len(QUESTIONS) == 12
    assert all(is_code(f"malpractice.{kind}") for kind in QUESTIONS)


@pytest.mark.beyond_core  # it starts a process
def test_it_needs_the_file_alone(honest: dict[str, Any], tmp_path: Path) -> None:
    path = tw.receipts.write(healthy(), "", tmp_path / "r.json.gz")
    script = "import sys, tunewright as tw; print(tw.receipts.verify(sys.argv[1]).ok)"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "True", done.stderr
    assert path.read_bytes()[:2] == b"\x1f\x8b"


def test_what_is_no_receipt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        tw.receipts.verify(tmp_path / "none.json")
    for text in ("[]", "{", '{"format": "other"}', '{"format": "tunewright-receipt"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(Unreadable):
            tw.receipts.verify(tmp_path / "bad.json")


def test_a_receipt_with_a_wrong_field_is_refused(honest: dict[str, Any]) -> None:
    data = copy.deepcopy(honest)
    del data["trials"][0]["unit"]
    with pytest.raises(tw.errors.DesignError) as refused:
        tw.receipts.verify(data)
    assert refused.value.code == "receipt.wrong_field"


def test_numbers_are_equal_to_a_relative_1e_9() -> None:
    assert same([1e12], [1e12 * (1 + 1e-10)]) and not same([1e12], [1e12 * (1 + 1e-8)])
    assert not same(True, 1) and same(float("nan"), float("nan"))
