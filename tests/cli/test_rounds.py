"""`rm` and `rename`: what they print is what undoes them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.small_project import Tunewright


def names(tunewright: Tunewright) -> list[str]:
    return [row["name"] for row in tunewright("ls", "--json").data["rounds"]]


def test_a_round_is_removed_and_the_printed_command_brings_it_back(
    tunewright: Tunewright, ran: Path
) -> None:
    gone = tunewright("rm", "rounds/layers.toml")
    assert gone.code == 0 and names(tunewright) == []
    assert [one["name"] for one in tunewright("rm", "--list", "--json").data["removed"]] == [
        "layers"
    ]
    assert "layers" in tunewright("rm", "--list").out
    (line,) = re.findall(r"tunewright rm .*", gone.out)
    assert tunewright(*shlex.split(line)[1:]).code == 0
    assert names(tunewright) == ["layers"]
    assert tunewright("show", "layers", "--json").data["counts"]["completed"] == 6


def test_a_mended_round_runs_under_the_same_name(tunewright: Tunewright, ran: Path) -> None:
    path = ran / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("[1, 2]", "[1, 3]"))
    assert tunewright("run", "layers", "--on", "inline").code == 2
    assert tunewright("rm", "layers", "--json").data["trials"] == 8
    assert tunewright("run", "layers", "--on", "inline").code == 0


def test_rename(tunewright: Tunewright, ran: Path) -> None:
    done = tunewright("rename", "layers", "my round; ls", "--json")
    assert done.data["new"] == "my round; ls" and done.data["recorded"]
    assert (ran / "rounds" / "my round; ls.toml").is_file()
    assert tunewright("check", "my round; ls", "--json").code in (0, 1)
    assert tunewright("run", "my round; ls", "--dry-run", "--json").code == 0
    assert "is called again" in tunewright("rename", "my round; ls", "again").out


def test_what_is_refused(tunewright: Tunewright, ran: Path) -> None:
    assert tunewright("rm", "--json").error["code"] == "rm.no_round"
    assert tunewright("rm", "layer", "--json").error["code"] == "round.not_found"
    assert tunewright("rm", "layers", "--undo", "--json").error["code"] == "removed.not_found"
    assert tunewright("rename", "layers", "a/b", "--json").error["code"] == "project.bad_round_name"
