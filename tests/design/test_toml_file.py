from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from tests.strategies import names, values

from tunewright.design.round_file import read_round
from tunewright.design.workload_file import LARGEST, read_toml, toml_key, toml_value
from tunewright.errors import DesignError


@given(names, values)
def test_toml_reads_what_was_written(name: str, value: object) -> None:
    read = tomllib.loads(f"{toml_key(name)} = [{toml_value(value)}]")
    expected = {"none": True} if value is None else value
    assert read == {name: [expected]}
    assert type(read[name][0]) is type(expected)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bom.toml"
    text = 'goal = "x"\r\ntrials_per_study = 2\r\n[nuisance]\r\nlr = { log = [0.1, 1] }\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    round = read_round(path)
    assert (round.name, round.goal, round.trials_per_study) == ("bom", "x", 2)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1" + "0" * 100_000,
        ".".join("a" for _ in range(50_000)) + " = 1",
        "[" + ".".join("a" for _ in range(50_000)) + "]",
        "# " + "x" * LARGEST,
        "a = [" * 2_000,
    ],
    ids=["digits", "dotted key", "dotted table", "large", "nested"],
)
def test_hostile_files_are_refused_at_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hostile.toml"
    path.write_text(text)
    with pytest.raises(DesignError) as refused:
        read_toml(path)
    assert refused.value.facts["path"] == str(path)
