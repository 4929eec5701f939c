"""Which watcher fits: by the argument, the variable, and where the output goes."""

from __future__ import annotations

import io
import sys

import pytest

from tunewright.errors import DesignError
from tunewright.progress.choose import UNDER_TEST, VARIABLE, lines_for, on_screen, watcher_for
from tunewright.progress.lines import Lines
from tunewright.progress.live import LiveRegion
from tunewright.progress.watcher import Silent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def as_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process look like no test; pytest sets its variable anew for each phase."""
    for name in (*UNDER_TEST, VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())


def test_pytest_stays_quiet() -> None:
    assert type(watcher_for("auto")) is Silent


def test_a_script_gets_quiet_lines_and_a_terminal_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    as_script(monkeypatch)
    assert isinstance(watcher_for("auto"), Lines)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(watcher_for("auto"), LiveRegion)
    assert isinstance(watcher_for("auto", debuggable=True), Lines), "a debugger needs the screen"
    assert type(watcher_for("off")) is Silent


def test_the_variable_switches_it_off_and_a_watcher_given_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_script(monkeypatch)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv(VARIABLE, "off")
    assert type(watcher_for("auto")) is Silent
    monkeypatch.setenv(VARIABLE, "plain")
    assert isinstance(watcher_for("auto"), Lines)
    own = Silent()
    assert watcher_for(own) is own


@pytest.mark.parametrize("wrong", ["on", True, 3, object()])
def test_what_is_no_watcher_is_refused(wrong: object) -> None:
    with pytest.raises(DesignError) as refused:
        watcher_for(wrong)  # type: ignore[arg-type]
    assert refused.value.code == "progress.bad"


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    as_script(monkeypatch)
    monkeypatch.setenv(VARIABLE, "quiet")
    with pytest.raises(DesignError) as refused:
        watcher_for("auto")
    assert refused.value.code == "progress.bad_variable"
    assert refused.value.facts["value"] == "quiet"


def test_a_command_prints_a_line_per_event_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_script(monkeypatch)
    assert isinstance(on_screen(), Lines)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(on_screen(), LiveRegion)


def test_lines_of_a_probe_go_to_standard_error_unless_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_script(monkeypatch)
    lines_for("auto")("batch size 64")
    lines_for("off")("batch size 128")
    printed = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "batch size 64" in printed and "128" not in printed
