"""Instructions for agents: copied into a project, nothing of the user's is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

import tunewright as tw
from tunewright.agents.install import BEGIN, END
from tunewright.errors import Misuse


def test_what_a_user_wrote_stays(tmp_path: Path) -> None:
    own = tmp_path / "AGENTS.md"
    own.write_text("# House rules\n\nNo tabs.\n")
    with pytest.raises(Misuse) as refused:
        tw.agents.install(tmp_path)
    assert refused.value.code == "agents.would_change"
    assert own.read_text() == "# House rules\n\nNo tabs.\n"
    assert [one.did for one in tw.agents.install(tmp_path, yes=True)] == ["added", "written"]
    assert own.read_text().startswith("# House rules\n\nNo tabs.\n\n" + BEGIN)


def test_an_earlier_version_is_replaced_in_its_place(tmp_path: Path) -> None:
    own = tmp_path / "AGENTS.md"
    own.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    asked: list[Path] = []
    tw.agents.install(tmp_path, ask=lambda path: not asked.append(path))
    text = own.read_text()
    assert asked == [own] and "old" not in text
    assert text.startswith(f"before\n{BEGIN}") and text.endswith(f"{END}\nafter\n")
    assert [one.did for one in tw.agents.install(tmp_path)] == ["unchanged", "unchanged"]


def test_a_refusal_to_be_asked_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("mine\n")
    with pytest.raises(Misuse):
        tw.agents.install(tmp_path, ask=lambda path: False)
    assert [p.name for p in tmp_path.iterdir()] == ["AGENTS.md"]


@pytest.mark.parametrize("name", ["AGENTS.md", "SKILL.md"])
def test_every_command_they_name_exists(name: str) -> None:
    from tunewright.cli.main import app

    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"tunewright ([a-z]+)", tw.agents.text(name)))  # type: ignore[arg-type]
    assert named and named <= commands | {"mcp"}


def test_the_skill_has_a_head() -> None:
    text = tw.agents.text("SKILL.md")
    assert text.startswith("---\nname: tunewright\ndescription: ") and text.count("---\n") == 2
