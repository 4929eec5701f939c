"""Options that a program drops or never reads, found in its source."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from tests.checks.applied_worlds import Manner, Source, results_of, round_of, with_source

from tunewright.checks._options import Program, is_value, option_signs, options_of

NAMES = {"learning_rate": "--lr", "weight_decay": "--wd"}


def program(text: str) -> Program:
    return Program((ast.parse(text),))


PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--rate')\n"


@pytest.mark.parametrize(
    ("parse", "dropped"),
    [
        ("args, _ = p.parse_known_args()", True),
        ("args = p.parse_known_args()[0]", True),
        ("args, rest = p.parse_known_args()\nother(rest)", False),
        ("args = p.parse_args()", False),
        ("args, _ = p.parse_known_args()\nimport sys\nread(sys.argv)", False),
        ("args, _ = p.parse_known_args()\np.add_argument(f'--{x}')", False),
    ],
)
def test_unknown_options_are_dropped_only_where_the_source_says_so(
    parse: str, dropped: bool
) -> None:
    own = program(PARSER + parse)
    assert own.ignores("--lr") is dropped
    assert not own.ignores("--rate") and not own.ignores("--ra")


@pytest.mark.parametrize(
    ("rest", "unread"),
    [
        ("train(lr=0.1)", True),
        ("train(args.rate)", False),
        ("train(**vars(args))", False),
        ("library.train(args)", False),
        ("def train(a): pass\ntrain(args)", True),
    ],
)
def test_an_option_that_is_never_read(rest: str, unread: bool) -> None:
    own = program(f"{PARSER}args = p.parse_args()\n{rest}")
    assert own.never_reads("--rate") is unread


def test_the_words_of_a_command() -> None:
    assert options_of("python t.py --lr -1e-3 --flag --x=a") == [
        ("--lr", "-1e-3"),
        ("--flag", ""),
        ("--x", "a"),
    ]
    assert options_of("./train --lr 1") == []


def test_a_program_that_changed_since_is_not_read(tmp_path: Path) -> None:
    made = round_of(np.random.default_rng(8), None, searched=1)
    names = {"learning_rate": "--lr"}
    wrong = Source(names, {"learning_rate": "--rate"})
    results = with_source(results_of(made, Manner(logs_rate=False)), wrong, tmp_path)
    found = option_signs(results)
    assert [(d.kind, d.name, d.option) for d in found.doubts] == [
        ("unknown_option", "learning_rate", "--lr")
    ]
    (tmp_path / "train.py").write_text(wrong.text + "\nprint('changed')\n")
    assert option_signs(results).read == 0


@pytest.mark.parametrize(
    ("given", "text", "same"),
    [("Adam", "adam", True), ("adam", "sgd", False), (True, "true", True), (True, "false", False)],
)
def test_a_value_and_its_text_on_a_command_line(given: object, text: str, same: bool) -> None:
    assert is_value({"a": given}, "a", text) is same  # type: ignore[dict-item]
