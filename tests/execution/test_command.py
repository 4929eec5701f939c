"""Command templates: what is refused, and what each field becomes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import WorkloadError
from tunewright.execution.command import as_config, command, overrides, text
from tunewright.execution.prepare import ready
from tunewright.execution.workload import Workload
from tunewright.search.halton import Halton

values = (
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
    | st.none()
)
names = st.from_regex(r"[a-z][a-z_]{0,8}(\.[a-z]{1,5})?", fullmatch=True)
configurations = st.dictionaries(names, values, max_size=6)
FACTS = {"seed": 7, "folder": "/a b", "start_step": 0, "devices": "0,1", "port": 4321}


def test_the_template_is_split_first_and_filled_then() -> None:
    words = command("""prog --note={note} 'two words' {run.folder}/x""")
    filled = words.fill({"note": "a; rm -rf / 'quoted'"}, FACTS)
    assert filled == ["prog", "--note=a; rm -rf / 'quoted'", "two words", "/a b/x"]


@given(values.filter(lambda value: value != ""))
def test_no_value_can_become_two_words(value: object) -> None:
    shown = text(value)  # type: ignore[arg-type]
    assert command("prog {x}").fill({"x": value}, FACTS) == ["prog", shown]  # type: ignore[dict-item]


def test_all_facts_are_known() -> None:
    template = "p {run.seed} {run.folder} {run.start_step} {run.devices} {run.port} {config}"
    filled = command(template).fill({}, FACTS, "c.json")
    assert filled == ["p", "7", "/a b", "0", "0,1", "4321", "c.json"]


def test_eval_every_needs_the_number_of_steps() -> None:
    template = command("p --every={run.eval_every}")
    assert template.fill({}, {**FACTS, "eval_every": 5}) == ["p", "--every=5"]
    with pytest.raises(WorkloadError, match="the number of steps is not known"):
        template.fill({}, FACTS)


def test_what_is_not_active_is_left_out_with_its_flag() -> None:
    template = command("p --lr={lr} --momentum={momentum} --beta {beta} -v {x}{y} end")
    assert template.fill({"lr": 0.1, "x": 1, "y": 2}, FACTS) == [
        "p",
        "--lr=0.1",
        "-v",
        "12",
        "end",
    ]
    assert template.fill({"lr": 0.1, "beta": 0.9, "momentum": 0.5}, FACTS) == [
        *("p", "--lr=0.1", "--momentum=0.5", "--beta", "0.9", "end")
    ]


def test_braces_can_be_written() -> None:
    assert command("p {{{x}}} '{{}}'").fill({"x": 1}, FACTS) == ["p", "{1}", "{}"]


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("", "empty"),
        ("p 'open", "no closing quotation"),
        ("p {", "a plain brace is written twice"),
        ("p {}", "name the hyperparameter inside the braces"),
        ("p {0}", "name the hyperparameter inside the braces"),
        ("p {x:.3f}", "takes no format"),
        ("p {x!r}", "takes no format"),
        ("p --all={overrides}", "stands alone"),
        ("p {run.sed}", r"Did you mean \{run.seed\}\?"),
        ("p {run.zzz}", r"Known: \{run.seed\}"),
    ],
)
def test_what_cannot_be_filled_is_refused(template: str, says: str) -> None:
    with pytest.raises(WorkloadError, match=says):
        command(template)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(WorkloadError) as caught:
        command("p {x:d} {run.sed} {}")
    assert len(str(caught.value).splitlines()) == 3


def test_which_names_it_takes() -> None:
    template = command("p {optimizer.lr} {beta} {beta} {run.seed} {config}")
    assert template.hyperparameters == ("optimizer.lr", "beta")
    assert template.takes_anything and template.takes_seed
    assert not command("p {lr}").takes_anything
    assert not command("p {lr} {overrides}").takes_seed


@given(configurations)
def test_the_config_file_is_json(configuration: dict[str, object]) -> None:
    found = json.loads(as_config(configuration, {"seed": 7}))  # type: ignore[arg-type]
    assert found == {**configuration, "run.seed": 7}


@given(configurations)
def test_the_config_file_is_yaml_that_means_the_same(configuration: dict[str, object]) -> None:
    yaml = pytest.importorskip("yaml")
    common = {
        name: value
        for name, value in configuration.items()
        # the one thing that JSON and YAML cannot write alike
        if not isinstance(value, str) or all(c.isprintable() or c <= "\uffff" for c in value)
    }
    found = yaml.safe_load(as_config(common, {}))  # type: ignore[arg-type]
    assert found == common
    assert [type(value) for value in found.values()] == [type(v) for v in common.values()]


def test_overrides_are_hydras() -> None:
    assert overrides({"a.b": 1e-05, "c": None, "d": False, "e": "adam", "f": "x y", "g": ""}) == [
        *("a.b=1e-05", "c=null", "d=false", "e=adam", "f='x y'", "g=''")
    ]
    assert overrides({"q": "it's"}) == [r"q='it\'s'"]
    assert overrides({"q": "1e-3", "r": "null", "s": "{a}"}) == ["q='1e-3'", "r='null'", "s='{a}'"]


@pytest.mark.beyond_core
def test_no_shell_is_involved() -> None:
    program = "import sys; print(sys.argv[1])"
    words = command(f'{sys.executable} -c "{program}" {{x}}').fill({"x": "$(echo no) `no` *"}, {})
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    assert answer.stdout == "$(echo no) `no` *\n"


def test_defaults_stand_in_the_template_or_beside_it() -> None:
    own = command("p --lr={lr=1e-3} --opt={opt=adam} --amp={amp}", defaults={"amp": True})
    assert own.default_values == {"lr": 0.001, "opt": "adam", "amp": True}
    assert own.hyperparameters == ("lr", "opt", "amp")
    assert own.fill({"lr": 0.1, "opt": "sgd", "amp": False}, FACTS) == [
        *("p", "--lr=0.1", "--opt=sgd", "--amp=false")
    ]
    assert Workload(own, minimize("x")).accepts.required == frozenset()
    round = Round("r", goal="?", nuisance={"lr": log(0.1, 1)}, trials_per_study=1)
    done = ready(round, Workload(own, minimize("x")), Halton())
    assert done.fixed == {"opt": "adam", "amp": True}  # what the round names is not changed


@pytest.mark.parametrize(
    ("template", "defaults", "code"),
    [
        ("p {lr=0.1}", {"lr": 0.2}, "command.two_defaults"),
        ("p {lr}", {"lrr": 0.2}, "command.not_a_field"),
        ("p {lr}", 3, "command.bad_defaults"),
        ("p {run.seed=3}", {}, "command.problem"),
    ],
)
def test_defaults_that_cannot_be_meant_are_refused(template, defaults, code) -> None:
    with pytest.raises(WorkloadError) as refused:
        command(template, defaults=defaults)
    assert [one.code for one in refused.value.problems] == [code]
