"""A command that is written for a shell is refused before compute, with the remedy."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, strategies as st

from tunewright.errors import WorkloadError
from tunewright.execution.command import command
from tunewright.execution.command_syntax import for_a_shell, in_a_shell


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("python a.py --lr={lr} | python b.py", "|"),
        ("python a.py --lr={lr} || true", "||"),
        ("python a.py --lr={lr} > log.txt", ">"),
        ("python a.py --lr={lr} 2>&1", "2>"),
        ("python a.py --lr={lr} >log.txt", ">"),
        ("cd x && python a.py --lr={lr}", "&&"),
        ("python a.py --lr={lr}; echo done", ";"),
        ("python a.py --lr={lr} &", "&"),
        ("python a.py --lr={lr} < in.txt", "<"),
        ("python a.py --data $DATA --lr={lr}", "$DATA"),
        ('python a.py --data "$DATA/x" --lr={lr}', "$DATA"),
        ("python a.py --n $(nproc) --lr={lr}", "$("),
        ("python a.py --n `nproc` --lr={lr}", "`"),
        ("python a.py data/*.csv --lr={lr}", "data/*.csv"),
        ("python a.py ~/data --lr={lr}", "~/data"),
    ],
)
def test_shell_syntax_is_refused_before_compute(template: str, found: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        command(template)
    (problem,) = [one for one in refused.value.problems if one.code == "command.shell"]
    assert found in problem.facts["found"]
    remedy = command(problem.facts["instead"])
    assert [word.texts[0] for word in remedy.words[:2]] == ["bash", "-c"]
    assert "lr" in remedy.hyperparameters


@pytest.mark.parametrize(
    "template",
    [
        "bash -c 'python a.py --lr={lr} | tee log > x; echo $HOME'",
        'sh -c "cd $HOME && python a.py --lr={lr}"',
        "python a.py '--filter=a|b' --lr={lr}",
        'python a.py --note "a; b > c" --lr={lr}',
        "python a.py --url=http://x/y?a=b&c=d --lr={lr}",
        "python a.py 'data/*.csv' --lr={lr}",
        "python a.py model.layers=[1,2] +x=3 --lr={lr}",
        r"python a.py \$HOME \| --lr={lr}",
        "python a.py --cost=5$ --lr={lr}",
        "python a.py --glob=*.csv --lr={lr}",
    ],
)
def test_plain_commands_are_accepted(template: str) -> None:
    assert command(template).hyperparameters == ("lr",)


def test_the_remedy_is_one_word_for_the_shell() -> None:
    template = "python a.py --note \"it's\" --x=${HOME} | tee 'a b'"
    program, option, script = shlex.split(in_a_shell(template))
    assert (program, option) == ("bash", "-c")
    assert script == template.replace("${HOME}", "$HOME"), "braces would be a field"


@given(st.text(max_size=40))
def test_looking_never_fails(template: str) -> None:
    assert isinstance(for_a_shell(template), tuple)
