"""Every action is a command that the program accepts and a call that Python accepts."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import shlex
from types import SimpleNamespace
from typing import Any

import pytest
from click import Context
from typer.main import get_command

import tunewright as tw
from tunewright import actions, remedies
from tunewright.actions import (
    Action,
    Advise,
    CheckRound,
    Declare,
    Export,
    Extend,
    Launch,
    MeasureVariance,
    NextRound,
    Note,
    Probe,
    ProbeLonger,
    RemoveRound,
    Repeat,
    ReportRound,
    RunRound,
    RunTrials,
    SearchRange,
    ShowRound,
    ShowTrial,
    StopRound,
    TrainAgain,
)
from tunewright.cli.main import app
from tunewright.design.ranges import choice, integers, linear, log, log_from_one
from tunewright.remedies import (
    BackUp,
    Doctor,
    FirstRun,
    InitProject,
    JoinRound,
    ListBackups,
    ListRounds,
    NewRound,
    Restore,
    ScanProgram,
    SetBudget,
    Tune,
    use,
)

HOSTILE = ["depth", "my round; ls", "a'b", '"$(reboot)"', "--x", "-h", "--", "tief e"]


def about(round: str) -> list[Action]:
    """One of every action about a round."""
    return [
        RunTrials(round),
        RunTrials(round, 32),
        RunTrials(round, 32, "bayesian"),
        RunRound(round),
        RunRound(round, "bayesian"),
        Repeat(round),
        Repeat(round, times=3, trial=7),
        NextRound(round),
        NextRound(round, write=True),
        CheckRound(round),
        ShowRound(round),
        ShowTrial(round, 7),
        TrainAgain(round, 7),
        TrainAgain(round, 7, repeat=2, anyway=True),
        StopRound(round),
        RemoveRound(round),
        RemoveRound(round, undo=True),
        *(Probe(name, round) for name in ("stability", "warmup", "clip")),
        Note(round, "ran at commit 0123"),
        Note(round, "--help"),
        Launch(round),
        Extend(round, 2000),
        ProbeLonger(round),
        ReportRound(round),
        Export(round, "trials.csv"),
        JoinRound(round),
        NewRound(round),
        Tune(round),
        NextRound(round, write=True, take=2),
        MeasureVariance(round, times=5),
        MeasureVariance(round, studies=3, splits=4),
    ]


ABOUT_NO_ROUND: list[Action] = [
    *(ListRounds(), Doctor(), Restore(), Restore(rebuild=True), SetBudget()),
    *(BackUp(), ListBackups(), InitProject(), ScanProgram("train.py")),
]
NAMED = {"new": "name", "tune": "space"}  # commands that call a round something else


RANGES = [log(1e-4, 0.1), linear(0, 0.3), log_from_one(0.8, 0.99), integers(1, 64, log=True)]
WITHOUT_COMMAND: list[Action] = [
    *(SearchRange("learning_rate", range) for range in [*RANGES, choice("a'b", None, 2)]),
    Declare("chance"),
    Declare("train_loss", "train/loss"),
    Declare("dropout", 0.0, table="off"),
    Advise("declare_detect"),
    use("--minimize", "valid error"),
]


def parsed(words: list[str]) -> tuple[str, dict[str, Any]]:
    """The verb that these words call, and its arguments, as the program itself reads them."""
    program, *rest = words
    assert program == "tunewright"
    command: Any = get_command(app)
    names = []
    while hasattr(command, "get_command"):  # a group: its first word names the command
        name, *rest = rest
        names.append(name)
        found = command.get_command(Context(command), name)
        command = getattr(found, "real", found)  # loaded when it is used
    return " ".join(names), command.make_context(names[-1], rest).params


@pytest.mark.parametrize("round", HOSTILE)
def test_every_command_is_read_as_it_is_meant(round: str) -> None:
    for action in about(round):
        # as a shell takes it apart, not only as the words were put together
        verb, arguments = parsed(shlex.split(action.command))
        assert arguments[NAMED.get(verb, "round")] == round, action
        assert verb.split()[0] == action.argv[1]


def test_options_mean_what_the_action_says() -> None:
    for round in HOSTILE:
        assert parsed(list(RunTrials(round, 32, "bayesian").argv))[1]["trials"] == 32
        assert parsed(list(RunTrials(round, 32, "bayesian").argv))[1]["search"] == "bayesian"
        repeated = parsed(list(Repeat(round, times=3, trial=7).argv))[1]
        assert (repeated["times"], repeated["number"]) == (3, 7)
        assert parsed(list(NextRound(round, write=True).argv))[1]["write"] is True
        assert parsed(list(ShowTrial(round, 7).argv))[1]["number"] == 7
        assert parsed(list(Note(round, "--help").argv))[1]["text"] == "--help"
        assert parsed(list(Extend(round, 2000).argv))[1]["max_train_steps"] == 2000
        assert parsed(list(Probe("warmup", round).argv))[0] == "probe warmup"


def test_remedies_are_commands_too() -> None:
    for action in ABOUT_NO_ROUND:
        verb, _ = parsed(shlex.split(action.command))
        assert action.argv[1 : 1 + len(verb.split())] == tuple(verb.split())
    assert parsed(list(Restore(rebuild=True).argv))[1]["rebuilt"] is True
    assert parsed(list(FirstRun().argv))[1]["round"] == "ROUND"  # stands for a name


def test_a_probe_needs_no_round() -> None:
    assert parsed(list(Probe("clip").argv))[1]["round"] is None


@pytest.mark.parametrize("round", HOSTILE)
def test_no_name_leaves_its_argument(round: str) -> None:
    """What a shell runs is one program with these words, whatever the name holds."""
    for action in about(round):
        lexer = shlex.shlex(action.command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        assert tuple(lexer) == action.argv


class Recorder:
    """Stands for `tw`: takes every call apart by the real signature, and runs nothing."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if inspect.ismodule(real):
            return Recorder(real)

        def call(*positional: Any, **named: Any) -> Any:
            inspect.signature(real).bind(*positional, **named)
            return SimpleNamespace(called=name, round=lambda name: name)  # of a project

        return call


@dataclasses.dataclass
class StandIn:
    """A workload with the fields that calls may change."""

    means: dict[str, Any] | None = None
    off: dict[str, Any] | None = None
    store: str = "tuning.db"


def test_every_call_fits_the_function_it_names() -> None:
    round = tw.Round("r", goal="?", nuisance={"a": linear(0, 1)}, trials_per_study=4)
    trial = SimpleNamespace(number=7)
    results = SimpleNamespace(
        round=round,
        trials=(trial,),
        top=lambda k: [trial][:k],
        trial=lambda number: trial,
        repeats=lambda number: [trial, trial],
        store="tuning.db",
        export=lambda path: path,
    )
    names = {
        "tw": Recorder(tw),
        "dataclasses": dataclasses,
        "results": results,
        "proposal": SimpleNamespace(round=round),
        "workload": StandIn(),
        "round": round,
    }
    made = [one for name in HOSTILE for one in about(name)]
    made += [*WITHOUT_COMMAND, *ABOUT_NO_ROUND, FirstRun()]
    # advice is what neither a command nor a call carries out
    assert {action.kind for action in made if not action.call} == {Advise.kind}
    for call in {action.call for action in made} - {""}:
        ast.parse(call, mode="eval")
        assert eval(call, dict(names)) is not None, call


@pytest.mark.parametrize("range", [*RANGES, choice("a'b", None, 2)], ids=str)
def test_a_range_is_written_as_python_reads_it(range: Any) -> None:
    assert eval(SearchRange("a", range).call, {"tw": tw}) == range


def test_a_declaration_changes_one_entry() -> None:
    workload = StandIn(means={"learning_rate": "lr"})
    found = eval(
        Declare("train_loss", "train/loss").call, {"dataclasses": dataclasses, "workload": workload}
    )
    assert found.means == {"learning_rate": "lr", "train_loss": "train/loss"}


def test_every_action_is_tested_has_words_and_is_plain_data() -> None:
    made = [*about("my round; ls"), *WITHOUT_COMMAND, *ABOUT_NO_ROUND, FirstRun()]
    kinds = {
        cls.kind
        for cls in (*vars(actions).values(), *vars(remedies).values())
        if isinstance(cls, type) and issubclass(cls, Action) and cls is not Action
    }
    assert {action.kind for action in made} == kinds
    for action in made:
        assert action.text and "{" not in action.text
        data = json.loads(json.dumps(action.to_data()))
        assert data["kind"] == action.kind
        assert data["argv"] == list(action.argv)


def test_the_range_of_an_action_keeps_its_kind() -> None:
    data = SearchRange("beta1", log_from_one(0.8, 0.99)).to_data()
    assert data["range"] == {"log_from_one": [0.8, 0.99]}
