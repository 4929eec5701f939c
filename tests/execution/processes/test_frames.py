"""Messages over a pipe arrive whole, in order, however the pipe cuts them."""

from __future__ import annotations

import os
import threading

from hypothesis import given, strategies as st

from tunewright.execution.processes.frames import Receiver, Sender, to_bytes

heads = st.dictionaries(st.text(), st.integers() | st.text(), max_size=3)
messages = st.lists(st.tuples(heads, st.binary(max_size=50)), max_size=6)


@given(messages, st.data())
def test_messages_arrive_whole(
    sent: list[tuple[dict[str, object], bytes]], data: st.DataObject
) -> None:
    stream = b"".join(to_bytes(head, body) for head, body in sent)
    receiver, found = Receiver(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += list(receiver.feed(stream[:size]))
        stream = stream[size:]
    assert found == sent


def test_threads_do_not_cut_into_each_other() -> None:
    read, write = os.pipe()
    sender = Sender(write)
    body = b"x" * 100_000  # more than the pipe holds

    def send(name: int) -> None:
        for at in range(20):
            sender.send({"from": name, "at": at}, body)

    threads = [threading.Thread(target=send, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    receiver, found = Receiver(), []
    while len(found) < 60:
        found += list(receiver.feed(os.read(read, 2**16)))
    for thread in threads:
        thread.join()
    os.close(read)
    os.close(write)
    assert all(received == body for _, received in found)
    for name in range(3):
        assert [head["at"] for head, _ in found if head["from"] == name] == list(range(20))
