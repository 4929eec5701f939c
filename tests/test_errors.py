"""Errors: every one has a code, facts and, where something helps, a remedy."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import tunewright as tw
from tunewright import errors
from tunewright.actions import Action, ShowRound
from tunewright.errors import Busy, Damaged, DesignError, Misuse, NotFound, TunewrightError
from tunewright.messages import Message
from tunewright.remedies import FirstRun, ListRounds, Restore, use
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
def test_every_class_takes_a_code_with_its_facts(kind: type[TunewrightError]) -> None:
    error = kind("name.empty", name="")
    assert (error.code, error.facts) == ("name.empty", {"name": ""})
    assert str(error) == error.to_data()["message"] == Message("name.empty", {"name": ""}).text


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_travels_between_processes(kind: type[TunewrightError], copied) -> None:
    error = kind("name.too_long", start="xx", most=2, remedy=ListRounds())
    error.add_note("seen")
    again = copied(error)
    assert type(again) is kind and str(again) == str(error)
    assert again.to_data() == error.to_data()
    assert again.__notes__ == ["seen"]
    found = {"code": "name.too_long", "message": str(error), "facts": {"start": "xx", "most": 2}}
    assert again.to_data() == {
        **found,
        "problems": [found],
        "remedy": {"kind": "list_rounds", "argv": ["tunewright", "ls"]},
    }


def test_place_and_cause_are_facts_and_a_remedy_is_an_action() -> None:
    cause, remedy = Message("round.bad_seed", {"seed": -1}), use("--minimize", "valid error")
    error = Misuse("name.empty", name="", where="a.py:3", cause=cause, remedy=remedy)
    again = pickle.loads(pickle.dumps(error))
    assert (again.where, again.cause, again.remedy) == ("a.py:3", cause, remedy)
    data = json.loads(json.dumps(again.to_data()))
    assert data["facts"] == {"name": "", "where": "a.py:3", "cause": cause.to_data()}
    assert data["remedy"] == {
        "kind": "advise",
        "code": "use_words",
        "facts": {"words": ["--minimize", "valid error"]},
        "argv": [],
    }
    assert Misuse("name.empty", name="").cause is None
    copied = Misuse.several(error.problems, remedy)
    assert (copied.where, copied.cause) == ("a.py:3", cause)


def test_several_problems_are_one_error_with_a_line_each() -> None:
    found = [Message("range.no_choices"), Message("name.empty", {"name": print})]
    error = pickle.loads(pickle.dumps(DesignError.several(found)))
    assert [one.code for one in error.problems] == ["range.no_choices", "name.empty"]
    assert error.code == "range.no_choices" and len(str(error).splitlines()) == 2
    assert "<built-in function print>" in str(error)
    json.dumps(error.to_data())
    (inside, _) = error.inside("file.problem", path="a.toml")
    assert inside.facts == {"path": "a.toml", "problem": {"code": "range.no_choices"}}
    assert inside.text == f"a.toml: {found[0].text}"


def test_a_sentence_from_outside_is_kept_inside_another_problem() -> None:
    error = DesignError("my own words", step=3)
    (inside,) = DesignError.several(error.problems).inside("file.problem", path="a.toml")
    assert inside.text == "a.toml: my own words"


def test_facts_are_plain_data_and_read_as_the_objects_did() -> None:
    error = DesignError(
        "value.not_plain", place=Path("a"), value={"f": (print, 1)}, type="dict", cause=KeyError(3)
    )
    assert repr(error.facts["value"]) == "{'f': (<built-in function print>, 1)}"
    assert error.facts["place"] == "a" and error.facts["cause"] == "3"
    json.dumps(error.to_data())


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
    assert unknown.value.facts["name"] == "a c" and unknown.value.facts["near"] == "a b"
    assert unknown.value.facts["known"] == ["a b"]
    with pytest.raises(NotFound) as beyond:
        tw.load(store, "a b").trial(99)
    assert (beyond.value.code, beyond.value.remedy) == ("trial.not_found", ShowRound("a b"))
    assert beyond.value.facts == {"round": "a b", "trial": 99, "first": 0, "last": 1}


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
