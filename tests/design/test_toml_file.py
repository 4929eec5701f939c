from __future__ import annotations

import tomllib

from hypothesis import given
from tests.strategies import names, values

from tunewright.design.toml_file import toml_key, toml_value


@given(names, values)
def test_toml_reads_what_was_written(name: str, value: object) -> None:
    read = tomllib.loads(f"{toml_key(name)} = [{toml_value(value)}]")
    expected = {"none": True} if value is None else value
    assert read == {name: [expected]}
    assert type(read[name][0]) is type(expected)
