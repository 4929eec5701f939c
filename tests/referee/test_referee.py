"""The referee on a real repository: checkouts, resuming, protection, budgets, quote and audit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.referee.programs import commit, git, repository, write

import tunewright as tw
from tunewright.errors import Busy, DesignError, Misuse, NotFound

pytestmark = pytest.mark.beyond_core  # every run is a program
COMMAND = f"{sys.executable} train.py {{run.seed}}"


def begun(folder: Path, **terms: object) -> tw.referee.Referee:
    return tw.referee.begin(
        COMMAND,
        tw.minimize("loss"),
        terms=tw.referee.Terms(**terms),  # type: ignore[arg-type]
        folder=folder,
        store=folder / "tuning.db",
        executor=tw.executors.Inline(),
    )


def test_a_lineage_from_begin_to_audit(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder)
    first = own.status().first
    better = commit(folder, 1.0)
    decision = own.attempt()
    assert decision.verdict == "keep" and decision.commit == better
    assert decision.expected_gain == pytest.approx(1.0, abs=0.4)
    assert decision.baseline_runs >= 3
    useless = commit(folder, 1.0, "# a comment\n")
    verdict = own.attempt().verdict
    write(folder, 1.8)  # not committed: the working tree is judged, and left alone
    worse = own.attempt()
    assert worse.verdict == "discard" and worse.expected_gain < -0.2
    assert "SIZE = 1.8" in (folder / "train.py").read_text()
    git(folder, "checkout", "-q", "--", ".")
    status = own.status()
    assert (status.tried, status.first) == (3, first)
    assert status.current == (useless if verdict == "keep" else better)
    quote = own.quote()
    assert quote.interval[0] < 1.0 < quote.interval[1] and quote.runs == 8
    assert own.status().quote == quote
    audit = own.audit()
    found = {one.commit: one.verdict for one in audit.removals}
    assert found[better] == "keep"
    assert next(one.verdict for one in own.history()) == "keep"
    again = tw.referee.Referee(store=folder / "tuning.db").status()
    assert again == own.status()
    assert git(folder, "status", "--porcelain") == ""


def test_a_killed_call_resumes_with_the_runs_it_has(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder)
    commit(folder, 1.9)

    class Killed(tw.executors.Inline):
        """Ends the process, as it were, after five trainings."""

        left = 4

        def start(self, *arguments: object) -> None:
            if not Killed.left:
                raise KeyboardInterrupt
            Killed.left -= 1
            super().start(*arguments)  # type: ignore[arg-type]

    cut = tw.referee.Referee(store=folder / "tuning.db", executor=Killed())
    try:
        decision = cut.attempt()
    except KeyboardInterrupt:
        journal = own.lineage.journal
        assert len(journal.read_text().splitlines()) == 1 + 1 + 4
        with journal.open("a") as file:
            file.write('{"event": "run", "num')  # torn
        decision = own.attempt()
    numbers = [run.number for run in own.lineage.state().runs]
    assert numbers == list(range(1, len(numbers) + 1))
    assert own.status().tried == 1 and decision.runs + decision.baseline_runs == len(numbers)
    for line in own.lineage.journal.read_text().splitlines():
        json.loads(line)


def test_a_protected_path_is_refused_with_its_lines(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder, protect=("data.txt",))
    (folder / "data.txt").write_text("a\nc\n")
    with pytest.raises(Misuse) as refused:
        own.attempt()
    assert refused.value.code == "referee.protected"
    assert list(refused.value.facts["lines"]) == ["data.txt:2: -b", "data.txt:2: +c"]
    assert own.status().tried == 0 and own.status().cost.runs == 0


def test_the_budget_leaves_a_change_open(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder, budget_trials=4)
    commit(folder, 1.98)
    decision = own.attempt()
    if decision.verdict == "undecided":
        assert decision.why.code == "referee.why.budget_spent"
    assert own.status().cost.runs_left == 0
    commit(folder, 1.0)
    with pytest.raises(Misuse) as refused:
        own.attempt()
    assert refused.value.code == "referee.budget_spent"


def test_a_change_that_does_not_run_is_discarded(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder)
    commit(folder, 1.0, "raise SystemExit(3)\n")
    decision = own.attempt()
    assert (decision.verdict, decision.why.code) == ("discard", "referee.why.failed")
    assert str(decision.sentence)


def test_what_cannot_begin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse) as refused:
        begun(tmp_path)
    assert refused.value.code == "referee.no_repository"
    folder = repository(tmp_path / "own")
    write(folder, 3.0)
    with pytest.raises(Misuse) as refused:
        begun(folder)
    assert refused.value.code == "referee.uncommitted"
    with pytest.raises(Misuse) as refused:
        tw.referee.begin("python train.py", tw.minimize("loss"), folder=folder)
    assert refused.value.code == "referee.no_seed"
    with pytest.raises(DesignError):
        tw.referee.Terms(budget_trials=2)
    with pytest.raises(NotFound):
        tw.referee.Referee(store=tmp_path / "other.db")
    git(folder, "checkout", "-q", "--", ".")
    own = begun(folder)
    with pytest.raises(Misuse) as refused:
        begun(folder, worth=0.5)
    assert refused.value.code == "referee.begun_otherwise"
    with pytest.raises(Misuse) as refused:
        own.attempt()
    assert refused.value.code == "referee.no_change"
    with own.lineage.hold(), pytest.raises(Busy):
        own.attempt()


def bare(folder: Path) -> Path:
    """A repository that ignores nothing, with the program in a folder below its top."""
    repository(folder)
    (folder / ".gitignore").unlink()
    (folder / "sub").mkdir()
    for name in ("train.py", "data.txt"):
        (folder / name).rename(folder / "sub" / name)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "moved")
    return folder / "sub"


def test_a_repository_that_ignores_nothing_and_a_program_below_its_top(tmp_path: Path) -> None:
    folder = bare(tmp_path / "own")
    (folder / "budget.toml").write_text("trials = 100\n")
    own = begun(folder, protect=("data.txt",))
    assert git(folder, "status", "--porcelain").split() == ["??", "sub/budget.toml"]
    write(folder, 1.0)
    (folder / "new.py").write_text("A = 1\n")
    decision = own.attempt()
    assert decision.verdict == "keep"
    assert (folder / "budget-ledger.jsonl").is_file()
    shown = git(folder, "show", "--stat", "--format=", decision.commit)
    assert "new.py" in shown and "budget" not in shown and "judge" not in shown
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "kept")
    with pytest.raises(Misuse) as refused:
        own.attempt()  # the kept files, committed: no change
    assert refused.value.code == "referee.no_change"
    (folder / "data.txt").write_text("a\nc\n")
    with pytest.raises(Misuse) as refused:
        tw.referee.Referee(store=folder / "tuning.db").attempt()
    assert refused.value.code == "referee.protected"


def test_a_protected_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    with pytest.raises(Misuse) as refused:
        begun(folder, protect=("data.txt", "dta.txt"))
    assert refused.value.code == "referee.protects_nothing"
    assert list(refused.value.facts["paths"]) == ["dta.txt"]


def test_a_small_gain_is_kept_after_two_runs_at_the_earliest(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    own = begun(folder, confirm=1.0)
    kept = []
    for size in (1.98, 1.97, 1.96, 1.0):
        commit(folder, size)
        decision = own.attempt()
        if decision.verdict == "keep":
            kept.append(decision)
        else:
            git(folder, "reset", "-q", "--hard", "HEAD~1")
    assert kept[-1].expected_gain > 0.3
    for decision in kept:
        assert decision.runs >= 2 or decision.expected_gain >= decision.sd
