"""Fields of protocol-buffer messages, and what is refused."""

from __future__ import annotations

import struct

import pytest
from tests.importers.event_writer import block, double, single, whole

from tunewright.errors import Unreadable
from tunewright.formats.wire import fields, inside, number, text, to_signed


def test_every_kind_of_field() -> None:
    data = whole(1, 300) + block(2, "name") + single(3, 0.5) + double(4, 0.1) + whole(5, -1)
    found = dict(fields(data))
    assert (to_signed(found[1]), text(found[2]), number(found[3])) == (300, "name", 0.5)
    assert (number(found[4]), to_signed(found[5]), inside(found[2])) == (0.1, -1, b"name")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (block(1, "long")[:-1], "importers.wire_field_cut"),
        (b"\x80", "importers.wire_number_cut"),
        (b"\x0b", "importers.wire_unknown_kind"),
    ],
)
def test_torn_messages_are_unreadable(data: bytes, code: str) -> None:
    with pytest.raises(Unreadable) as error:
        list(fields(data))
    assert error.value.code == code


def test_bytes_that_are_no_float() -> None:
    with pytest.raises(Unreadable) as error:
        number(struct.pack("<h", 1))
    assert error.value.code == "importers.wire_not_a_float"
