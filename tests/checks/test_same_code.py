from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tunewright.actions import Advise, Note, ShowTrial
from tunewright.checks.same_code import SameOrigin, by_sources, same_code
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.store.provenance import Provenance
from tunewright.store.trial import Trial
from tunewright.testing import Bowl, results

ORIGIN = Provenance(
    "python train.py",
    ".",
    commit="0123456789abcdef",
    packages={"torch": "2.6.0", "numpy": "2.1.0"},
    python="3.11.7",
    host="one",
    devices=("H200",),
)


def asked(origin: Callable[[Trial], Provenance | None]) -> Finding:
    round = Round(
        "r",
        goal="?",
        scientific={"act": ["a", "b"]},
        nuisance={"learning_rate": log(1e-4, 1e-1)},
        trials_per_study=6,
    )
    made = results(round, Bowl({"learning_rate": 0.5}))
    recorded = tuple(replace(t, identity=100 + (t.number or 0)) for t in made.recorded)
    origins = {t.identity: own for t in recorded if (own := origin(t)) is not None}
    return same_code(replace(made, recorded=recorded, origins=origins))[0]


def test_the_same_code_everywhere_is_fine_whatever_the_host() -> None:
    finding = asked(lambda t: replace(ORIGIN, host=f"host{t.number}"))
    assert finding.verdict == "ok"
    assert (finding.evidence.commit, finding.evidence.runs) == ("0123456789", 12)


def test_a_commit_in_between_is_told_with_the_trials() -> None:
    finding = asked(lambda t: ORIGIN if (t.number or 0) < 8 else replace(ORIGIN, commit="feed" * 4))
    assert finding.verdict == "warn"
    (difference,) = finding.evidence.differences
    assert difference.part == "commit"
    assert difference.groups == (
        SameOrigin("0123456789", 8, tuple(range(8))),
        SameOrigin("feedfeedfe", 4, (8, 9, 10, 11)),
    )
    assert not difference.goes_with_setting
    assert finding.actions == (Advise("rerun_same_code"), ShowTrial("r", 8))


def test_code_that_goes_with_the_setting_is_worse() -> None:
    finding = asked(lambda t: replace(ORIGIN, diff_sha256="aa" if t.study else ""))
    assert finding.verdict == "warn"
    (difference,) = finding.evidence.differences
    assert (difference.part, difference.goes_with_setting) == ("uncommitted changes", True)


def test_versions_and_devices() -> None:
    finding = asked(
        lambda t: replace(ORIGIN, packages={"torch": f"2.{t.number}.0", "numpy": "2.1.0"})
    )
    (difference,) = finding.evidence.differences
    assert difference.part == "package versions"
    assert difference.groups[0] == SameOrigin("torch 2.0.0", 1, (0,))  # numpy is the same
    finding = asked(lambda t: replace(ORIGIN, devices=("A100",) if t.number == 3 else ("H200",)))
    assert [one.part for one in finding.evidence.differences] == ["device"]


def test_devices_that_are_not_recorded_differ_from_nothing() -> None:
    finding = asked(lambda t: replace(ORIGIN, devices=() if t.number == 3 else ("H200",)))
    assert finding.verdict == "ok"


def test_without_git_the_code_is_unknown() -> None:
    finding = asked(lambda t: replace(ORIGIN, commit=""))
    assert finding.verdict == "note"
    assert finding.actions == (Advise("use_git"),)


def test_imported_trials_cannot_be_judged() -> None:
    finding = asked(lambda t: None)
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.why.code == "same_code.not_recorded"
    assert finding.actions == (Note("r"),)


def committed(folder: Path, **files: str) -> str:
    """Commit these files; its hash."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    if not (folder / ".git").exists():
        subprocess.run([*git, "init", "-q"], check=True)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py").replace("_toml", ".toml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    made = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return made.stdout.strip()


def test_a_committed_round_file_is_no_change_and_the_program_is_named(tmp_path: Path) -> None:
    first = committed(tmp_path, train_py="a", rounds__one_toml="x")
    second = committed(tmp_path, rounds__two_toml="x", rounds__one_toml="y")
    third = committed(tmp_path, train_py="b", rounds__three_toml="x")

    def after(commit: str) -> Finding:
        own = replace(ORIGIN, folder=str(tmp_path), commit=first)
        return asked(lambda t: own if (t.number or 0) < 8 else replace(own, commit=commit))

    assert after(second).verdict == "ok"
    changed = after(third)
    assert changed.verdict == "warn"
    (difference,) = changed.evidence.differences
    assert (difference.part, difference.files) == ("commit", ("train.py",))
    assert "train.py" in " ".join(changed.words.evidence)


def test_a_committed_file_that_the_program_does_not_import_is_no_change(tmp_path: Path) -> None:
    first = committed(tmp_path, train_py="a")
    second = committed(tmp_path, evaluate_py="a")
    third = committed(tmp_path, config_yaml="a")
    own = replace(ORIGIN, folder=str(tmp_path), commit=first, sources={"train.py": "1"})
    later = asked(lambda t: own if t.study else replace(own, commit=second))
    assert (later.verdict, later.evidence.sources) == ("ok", 1)
    settings = asked(lambda t: own if t.study else replace(own, commit=third))
    assert [one.files for one in settings.evidence.differences] == [("config_yaml",)]


def test_an_untracked_program_that_changed_is_noticed() -> None:
    own = replace(ORIGIN, commit="", sources={"train.py": "1", "net.py": "1"})
    edited = replace(own, sources={"train.py": "1", "net.py": "2"})
    finding = asked(lambda t: own if (t.number or 0) < 8 else edited)
    assert finding.verdict == "warn"
    (difference,) = finding.evidence.differences
    assert (difference.part, difference.files) == ("source files", ("net.py",))
    assert [group.runs for group in difference.groups] == [8, 4]
    assert asked(lambda t: own).verdict == "ok"


def test_uncommitted_changes_are_compared_file_by_file() -> None:
    shown = "diff --git a/{0} b/{0}\n+x\n"
    plain = replace(ORIGIN, diff=shown.format("train.py"), diff_sha256="a")
    noted = replace(plain, diff=plain.diff + shown.format("notes.md"), diff_sha256="b")
    other = replace(plain, diff=plain.diff + shown.format("data.json"), diff_sha256="c")
    assert asked(lambda t: noted if t.study else plain).verdict == "ok"
    finding = asked(lambda t: other if t.study else plain)
    assert [one.files for one in finding.evidence.differences] == [("data.json",)]


def test_a_program_is_shown_by_ten_characters_of_its_digest() -> None:
    origins = [
        Provenance("python train.py", ".", sources={"train.py": digest})
        for digest in ("a" * 64, "b" * 64)
    ]
    found = by_sources(origins)
    assert found.values == [origin.program[:10] for origin in origins]
    assert [len(value) for value in found.values] == [10, 10] and found.files == ["train.py"]
