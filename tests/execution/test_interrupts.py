"""Signals are counted, and the handlers of before come back."""

from __future__ import annotations

import signal
import threading

from tunewright.execution.interrupts import Interrupt, Interrupts


def test_ctrl_c_once_twice_thrice():
    told = []
    with Interrupts() as interrupts:
        interrupts.on_change = told.append
        assert interrupts.level == Interrupt.NONE
        for _ in range(4):
            signal.raise_signal(signal.SIGINT)
    assert told == [Interrupt.FINISH, Interrupt.STOP, Interrupt.AT_ONCE, Interrupt.AT_ONCE]
    assert interrupts.level == Interrupt.AT_ONCE
    assert not interrupts.terminated


def test_sigterm_stops_and_says_who_it_was():
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGTERM)
    assert interrupts.level == Interrupt.STOP
    assert interrupts.terminated


def test_sigterm_after_two_ctrl_c_takes_nothing_back():
    with Interrupts() as interrupts:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert interrupts.level == Interrupt.AT_ONCE


def test_the_old_handlers_come_back():
    def mine(number, frame):
        raise AssertionError("not called")

    before = signal.signal(signal.SIGTERM, mine)
    try:
        sigint = signal.getsignal(signal.SIGINT)
        with Interrupts():
            assert signal.getsignal(signal.SIGTERM) is not mine
        assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGINT) is sigint
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_nothing_is_touched():
    found = []
    before = signal.getsignal(signal.SIGINT)

    def enter():
        with Interrupts() as interrupts:
            found.append((signal.getsignal(signal.SIGINT), interrupts.level))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [(before, Interrupt.NONE)]
