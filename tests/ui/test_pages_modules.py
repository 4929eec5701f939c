"""Functions of the pages' modules, called inside a page of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.beyond_core
Look = Callable[..., Any]


@pytest.fixture
def call(look: Look, server: Any) -> Callable[..., Any]:
    """Call a function of a module with plain arguments."""
    page = look(server).open("/")
    page.locator("table.rounds tbody a").first.wait_for()

    def make(module: str, body: str, *given: Any) -> Any:
        loaded = f"given => import(`${{location.origin}}/static/{module}.js`).then(m => {body})"
        return page.evaluate(loaded, list(given))

    return make


@pytest.mark.parametrize(
    ("text", "numbers", "again"),
    [
        ("1,2,3,7", [1, 2, 3, 7], "1-3,7"),
        ("0-2", [0, 1, 2], "0-2"),
        ("x,-1,3-,5,1e9", [5], "5"),
        ("", [], ""),
    ],
)
def test_selections_in_an_address(
    call: Callable[..., Any], text: str, numbers: list[int], again: str
) -> None:
    assert call("address", "[...m.fromRanges(given[0])]", text) == numbers
    assert call("address", "m.asRanges(given[0])", numbers) == again


def test_metrics_are_paired(call: Callable[..., Any]) -> None:
    names = ["train_loss", "valid_error", "valid_loss", "train/acc", "val/acc", "train_time"]
    found = call("curves", "m.paired(given[0], 'valid_loss')", names)
    assert found == [
        {"main": "valid_loss", "train": "train_loss"},
        {"main": "valid_error", "train": None},
        {"main": "val/acc", "train": "train/acc"},
        {"main": "train_time", "train": None},
    ]


def test_changed_rows_are_merged(call: Callable[..., Any]) -> None:
    made = """(() => {
      const table = (number, value, position) => ({ head: { columns: ["a", "b"] }, arrays: {
        number: Uint32Array.from(number), value: Float32Array.from(value),
        position: Uint16Array.from(position) } });
      const known = table([0, 1], [5, 6], [1, 2, 3, 4]);
      const { head, arrays } = m.merged(known, table([1, 9], [7, 8], [30, 40, 50, 60]));
      return [[...arrays.number], [...arrays.value], [...arrays.position], head.rows];
    })()"""
    assert call("round", made) == [[0, 1, 9], [5, 7, 8], [1, 2, 30, 40, 50, 60], 3]


def test_rows_without_a_value_come_last_either_way(call: Callable[..., Any]) -> None:
    made = """(() => {
      const table = { head: { columns: ["a"] }, arrays: { number: Uint32Array.from([0, 1, 2, 3]),
        status: Uint8Array.from([2, 3, 2, 2]), value: Float32Array.from([3, 0, 1, 2]),
        position: Uint16Array.from([10, 20, 65535, 5]) } };
      return given.map(([by, down, minimize]) => [...m.ordered(table, by, down, minimize)]);
    })()"""
    asked = [
        ["value", False, True],
        ["value", True, True],
        ["value", False, False],
        ["a", True, True],
    ]
    found = call("table", made, *asked)
    assert found == [[2, 3, 0, 1], [0, 3, 2, 1], [0, 3, 2, 1], [1, 0, 3, 2]]


def test_curves_of_different_lengths_share_columns(call: Callable[..., Any]) -> None:
    made = """(() => {
      const low = new Float32Array(250).fill(NaN);
      low[0] = 4; low[249] = 2;
      const found = m.onColumns(low, low, 49, 99);  // ended half-way
      return [found[2].findIndex(v => v === 4), found[2].findIndex(v => v === 2)];
    })()"""
    assert call("curves", made) == [0, 124]


@pytest.mark.parametrize(
    ("values", "minimize", "beyond"),
    [
        ([0.1, 0.11, 0.12, 0.13, 0.14], True, [0, 0, 0, 0, 0]),
        ([0.1, 0.11, 0.12, 0.13, 9.0], True, [0, 0, 0, 0, 1]),
        ([0.1, 0.11, 0.12, 0.181, 9.0], True, [0, 0, 0, 1, 1]),  # in the room above the worst
        ([0.9, 0.89, 0.88, 0.87, -5.0], False, [0, 0, 0, 0, -1]),
        ([0.1, 9.0], True, [0, 0]),
        ([0.3, 0.3, 0.3, 0.3], True, [0, 0, 0, 0]),
        ([], True, []),
    ],
)
def test_values_beyond_the_scale_are_those_of_the_picture(
    call: Callable[..., Any], values: list[float], minimize: bool, beyond: list[int]
) -> None:
    body = (
        "(() => { const values = Float32Array.from(given[0]);"
        " const s = m.scaleOf(values, given[1]);"
        " return [...values].map(v => m.beyondOf(v, s)); })()"
    )
    assert call("scatter", body, values, minimize) == beyond


def test_numbers_have_four_digits(call: Callable[..., Any]) -> None:
    given = [0.123456, 123456, 1e-7, 0, 12, None, -0.00012345]
    found = call("words", "given.map(m.number)", *given)
    assert found == ["0.1235", "1.235e5", "1e-7", "0", "12", "–", "-1.234e-4"]


def test_a_command_is_quoted(call: Callable[..., Any]) -> None:
    found = call("verdict", "given.map(m.quoted)", "depth", "my round; ls", "it's")
    assert found == ["depth", "'my round; ls'", "'it'\"'\"'s'"]


def test_only_what_differs_is_compared(call: Callable[..., Any]) -> None:
    found = call("compare", "m.differing(given)", {"a": 1, "b": [1]}, {"a": 2, "b": [1], "c": 0})
    assert found == [["a", [1, 2]], ["c", [None, 0]]]
    wanted = call("compare", "m.named(new URLSearchParams(given[0]))", "t=a:b:3&t=x&t=:4&t=y:5")
    assert wanted == [{"round": "a:b", "trial": 3}, {"round": "y", "trial": 5}]
