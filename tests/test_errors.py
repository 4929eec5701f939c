"""Errors: every one has a code, facts and, where something helps, a remedy."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tunewright as tw
from tunewright import errors
from tunewright.actions import Action, FirstRun, ListRounds, Restore, ShowRound
from tunewright.errors import Busy, Damaged, NotFound, TunewrightError
from tunewright.messages import Message, Text
from tunewright.store.store import Store

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, TunewrightError)
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    round = tw.Round("a b", goal="?", nuisance={"lr": tw.log(1e-3, 1)}, trials_per_study=2)
    with tw.open_round(round, tw.minimize("err"), tmp_path / "tuning.db") as session:
        trial = session.ask()
        assert trial is not None
        trial.log(1, err=0.5)
        trial.finish()
    return tmp_path / "tuning.db"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_class_has_a_code_of_its_own(kind: type[TunewrightError]) -> None:
    error = kind("what happened")
    assert str(error) == "what happened" and error.facts == {}
    assert [k.usual_code for k in KINDS].count(error.code) == 1
    assert error.to_data()["message"] == "what happened"


def test_code_facts_and_remedy_are_kept_and_travel_between_processes() -> None:
    error = NotFound("no round", code="round.not_found", remedy=ListRounds(), name="dept")
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert one.to_data() == {
            "code": "round.not_found",
            "message": "no round",
            "facts": {"name": "dept"},
            "problems": [
                {"code": "round.not_found", "message": "no round", "facts": {"name": "dept"}}
            ],
            "remedy": {"kind": "list_rounds", "argv": ["tunewright", "ls"]},
        }
    said = TunewrightError("x", remedy=Text("mend it"))
    assert said.to_data()["remedy"] == "mend it"


@pytest.mark.parametrize(
    "action",
    [FirstRun(), ListRounds(), ShowRound("a; ls"), Restore(), Restore(rebuild=True)],
    ids=lambda action: action.kind,
)
def test_a_remedy_has_a_quoted_command_and_says_what_it_does(action: Action) -> None:
    assert action.argv[0] == "tunewright" and action.text
    if "a; ls" in action.argv:
        assert action.command == "tunewright show 'a; ls'"


def test_what_is_not_there_says_what_helps(store: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        tw.load(tmp_path / "other.db", "a b")
    assert (missing.value.code, missing.value.remedy) == ("store.not_found", FirstRun())
    assert missing.value.facts["others"] == ["tuning.db"]
    with pytest.raises(NotFound) as unknown:
        tw.load(store, "a c")
    assert (unknown.value.code, unknown.value.remedy) == ("round.not_found", ListRounds())
    assert unknown.value.facts == {"name": "a c", "near": "a b"}
    with pytest.raises(NotFound) as beyond:
        tw.load(store, "a b").trial(99)
    assert (beyond.value.code, beyond.value.remedy) == ("trial.not_found", ShowRound("a b"))
    assert beyond.value.facts == {"round": "a b", "trial": 99}


def test_a_round_in_use_names_who_holds_it_and_how_to_join(store: Path) -> None:
    with Store.open(store) as first, Store.open(store) as second:
        record = first.round("a b")
        first.register(record.id, "supervisor", exclusive=True)
        with pytest.raises(Busy) as busy:
            second.register(record.id, "supervisor", exclusive=True)
    assert busy.value.facts["round"] == "a b" and busy.value.facts["pid"]
    assert isinstance(busy.value.remedy, Action)
    assert busy.value.remedy.command == "tunewright worker 'a b'"


def test_a_lost_store_beside_its_trials_is_rebuilt(store: Path) -> None:
    (store.with_name("tuning.db.trials") / "r1-a" / "t000000").mkdir(parents=True)
    store.unlink()
    with pytest.raises(Damaged) as lost:
        tw.load(store, "a b")
    assert lost.value.remedy == Restore(rebuild=True)


def test_what_ends_a_trial_carries_its_reason() -> None:
    reason = Message("stopped.after_step", {"step": 3})
    ended = pickle.loads(pickle.dumps(errors.Stopped(reason, "where it was")))
    assert (ended.reason, ended.detail) == (reason, "where it was")
    assert str(ended).splitlines()[-1] == "where it was"
