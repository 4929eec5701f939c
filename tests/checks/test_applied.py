"""Worlds in which a value is not applied, and worlds that only look like it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.checks import applied_worlds
from tests.checks.applied_worlds import Manner, ignoring, results_of, round_of

import tunewright as tw
from tunewright.actions import Advise
from tunewright.checks.applied import AppliedEvidence, _agree, applied
from tunewright.checks.checklist import check
from tunewright.cli.main import main
from tunewright.finding import Finding
from tunewright.store.results import Results


def asked(results: Results) -> Finding:
    (finding,) = applied(results)
    return finding


def doubts(finding: Finding) -> dict[str, str]:
    """The kinds of doubt by hyperparameter, in their order."""
    assert isinstance(finding.evidence, AppliedEvidence)
    return {doubt.name: doubt.kind for doubt in finding.evidence.doubts}


@pytest.mark.parametrize("case", applied_worlds.planted(Path()))
def test_planted_cases_are_found_and_named(case: str, tmp_path: Path) -> None:
    for seed in range(4):
        results, name = applied_worlds.planted(tmp_path)[case](np.random.default_rng([5, seed]))
        finding = asked(results)
        assert finding.verdict == "warn", (seed, name, finding)
        assert next(iter(doubts(finding))) == name, (seed, name, finding)


def test_honest_rounds_are_never_warned_about(tmp_path: Path) -> None:
    for kind, results in applied_worlds.every_honest(6, 20, tmp_path):
        finding = asked(results)
        assert finding.verdict != "warn", (kind, finding)
        assert finding.verdict != "note" or kind == "no effect", (kind, finding)


def echoing(change: Any) -> Finding:
    made = round_of(np.random.default_rng(1), None, searched=2)
    return asked(results_of(made, Manner(echo=lambda given, used: change(given))))


def test_an_echo_that_agrees_confirms_and_one_that_differs_warns() -> None:
    fine = echoing(lambda given: given)
    assert fine.verdict == "ok"
    assert isinstance(fine.evidence, AppliedEvidence)
    assert "learning_rate" in fine.evidence.confirmed
    other = echoing(lambda given: {**given, "learning_rate": 1e-4})
    assert (other.verdict, doubts(other)) == ("warn", {"learning_rate": "echo"})
    assert isinstance(other.actions[0], Advise)
    assert other.actions[0].code == "trace_value"


def test_one_factor_in_all_trials_is_a_note() -> None:
    scaled = echoing(lambda given: {"learning_rate": 4 * given["learning_rate"]})
    assert (scaled.verdict, doubts(scaled)) == ("note", {"learning_rate": "scaled"})


def test_a_list_for_one_value_is_a_value_per_rank() -> None:
    alike = echoing(lambda given: {"learning_rate": [given["learning_rate"]] * 4})
    assert alike.verdict == "ok"
    apart = echoing(lambda given: {"learning_rate": [given["learning_rate"], 0.5]})
    assert (apart.verdict, doubts(apart)) == ("warn", {"learning_rate": "ranks"})


def test_an_echo_under_the_name_of_the_meaning_is_compared() -> None:
    assert _agree(0.1, "0.1") and _agree(True, "true") and not _agree("sgd", "adam")


def test_what_the_optimizer_holds_outranks_what_the_program_says() -> None:
    kept = echoing(lambda given: {**given, "optimizer.lr": 0.003})
    assert (kept.verdict, doubts(kept)) == ("warn", {"learning_rate": "echo"})
    held = echoing(lambda given: {"optimizer.group2.lr": given["learning_rate"]})
    assert isinstance(held.evidence, AppliedEvidence)
    assert held.evidence.confirmed == ("learning_rate",)
    apart = echoing(lambda given: {**given, "optimizer.lr": [0.1, 0.2]})
    assert (apart.verdict, doubts(apart)) == ("warn", {"learning_rate": "ranks"})
    made = round_of(np.random.default_rng(1), None, searched=2)
    manner = Manner(
        logs_rate=False, echo=lambda given, used: {"optimizer.lr": 4 * given["learning_rate"]}
    )
    scaled = asked(results_of(made, manner))
    assert isinstance(scaled.evidence, AppliedEvidence)
    assert "learning_rate" in scaled.evidence.unseen, "no sign either way"


def test_what_nothing_shows_is_named() -> None:
    made = round_of(np.random.default_rng(3), "optimizer", searched=2)
    finding = asked(results_of(made, Manner(logs_rate=False)))
    assert isinstance(finding.evidence, AppliedEvidence) and finding.verdict == "ok"
    assert finding.evidence.confirmed == ("optimizer",)
    assert set(finding.evidence.unseen) == set(made.nuisance)


def test_a_hyperparameter_without_effect_is_only_noted() -> None:
    made = round_of(np.random.default_rng(3), "num_workers")
    finding = asked(results_of(made, Manner()))
    assert (finding.verdict, doubts(finding)) == ("note", {"num_workers": "curves"})
    assert isinstance(finding.evidence, AppliedEvidence)
    assert not finding.evidence.doubts[0].certain


def test_an_echo_overrules_equal_curves() -> None:
    made = round_of(np.random.default_rng(3), "num_workers")
    finding = asked(results_of(made, Manner(echo=lambda given, used: given)))
    assert finding.verdict == "ok"


def test_nothing_that_shows_it_cannot_be_judged() -> None:
    made = round_of(np.random.default_rng(3), None)
    coarse = asked(results_of(made, Manner(counts_of=5, every=30)))
    assert coarse.verdict == "cannot_judge"
    assert coarse.actions == (Advise("report_applied"),)
    none = asked(replace(results_of(made, Manner()), recorded=()))
    assert none.evidence.why.code == "applied.none_ended"  # type: ignore[attr-defined]


def test_it_is_part_of_the_checklist() -> None:
    made = round_of(np.random.default_rng(3), "optimizer")
    found = check(results_of(made, Manner(fault=ignoring("optimizer"))))
    assert [f.verdict for f in found if f.check == "applied"] == ["warn"]


IGNORES = """
import json, random, sys
rate, steps, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rate = USED
draw, weight = random.Random(seed), 1.0
for step in range(1, steps + 1):
    weight -= rate * (weight + draw.gauss(0, 0.1))
    print(json.dumps({"step": step, "valid_loss": weight * weight + 0.01 * draw.random()}))
"""


@pytest.mark.beyond_core
@pytest.mark.parametrize(("used", "verdict"), [("0.003", "warn"), ("rate", "ok")])
def test_the_round_of_the_page_shows_what_no_report_does(
    used: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "checks" / "applied.md").read_text("utf-8")
    (block,) = re.findall(r"```toml\n# rounds/used.toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "used.toml").write_text(block)
    usual = block.replace("[scientific]", "[nuisance]").replace("= [", "= { log = [")
    usual = usual.replace("1e-2]", "1e-2] }").replace("study = 1", "study = 4")
    (tmp_path / "rounds" / "usual.toml").write_text(usual)
    (tmp_path / "train.sh").write_text(f"'{sys.executable}' train.txt $@\n")  # no Python to read
    (tmp_path / "train.txt").write_text(IGNORES.replace("USED", used))
    (tmp_path / "tunewright.toml").write_text(
        '[workload]\ncommand = "sh train.sh {lr} {max_steps} {run.seed}"\nminimize = "valid_loss"\n'
        '[workload.means]\nmax_train_steps = "max_steps"\nlearning_rate = "lr"\n'
    )
    monkeypatch.chdir(tmp_path)
    for name in ("usual", "used"):
        assert main(["run", name, "--workers", "1", "--json"]) in (0, None)
    usual_finding = asked(tw.load("tuning.db", "usual"))
    assert isinstance(usual_finding.evidence, AppliedEvidence)
    assert usual_finding.verdict == "ok" and usual_finding.evidence.unseen == ("lr",)
    finding = asked(tw.load("tuning.db", "used"))
    assert finding.verdict == verdict
    assert doubts(finding) == ({"lr": "curves"} if verdict == "warn" else {})
