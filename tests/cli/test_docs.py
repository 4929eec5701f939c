"""docs/cli/ is replayed, page by page in one project: it shows what commands print, up to digits.

TUNEWRIGHT_WRITE_DOCS=1 writes the outputs of this run into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "cli.md"
FACTS = {  # of the machine the page was written on
    "command": "tunewright run decay --workers 2",
    "packages": "python 3.11.7  tunewright 0.1.0  numpy 2.4.6  scipy 1.17.1",
    "machine": "my_host",
}
BLOCK = re.compile(r"```(console|toml)\n(.*?)```", re.DOTALL)


def same_but_digits(text: str) -> str:
    """The text with numbers, curves and spacing made alike."""
    text = re.sub(r"[▁▂▃▄▅▆▇█]+", "~", text)
    text = re.sub(r"r\d+-[0-9a-f]{6}\b", "rN", text)  # a round's folder
    text = re.sub(r"-?\d[\d.]*(e-?\d+)?(m\d\d)?", "#", text)
    return re.sub(r"\s+", " ", text).strip()


def written_by(tunewright: Tunewright, command: str, folder: Path) -> str:
    """What a command of the page prints, with this machine's paths left out."""
    program, *arguments = shlex.split(command)
    if program == "cat":
        return (folder / arguments[0]).read_text()
    assert program == "tunewright", command
    answer = tunewright(*arguments)
    text = answer.out if answer.code == 0 else answer.out + answer.err
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    for label, fact in FACTS.items():
        text = re.sub(rf"^{label} .*$", f"{label:<12}{fact}", text, flags=re.MULTILINE)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def pages() -> list[Path]:
    """The pages in the order in which the index lists them: one project from first to last."""
    names = re.findall(r"^\| \[[^]]+\]\((cli/\w+\.md)\)", INDEX.read_text("utf-8"), re.MULTILINE)
    return [INDEX.parent / name for name in names]


def test_the_index_lists_every_page() -> None:
    assert sorted(pages()) == sorted((ROOT / "docs" / "cli").glob("*.md"))


@pytest.mark.beyond_core
def test_the_pages_show_what_commands_print(
    tunewright: Tunewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "examples" / "train_script.py", tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "120")
    before: list[str] = []
    after: list[str] = []

    def replayed(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "toml":
            target = tmp_path / body.splitlines()[0].removeprefix("# ")
            target.write_text(body)
            return block.group()
        commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
        shown = [f"$ {c}\n{written_by(tunewright, c, tmp_path)}" for c in commands]
        return f"```{kind}\n{''.join(shown)}```"

    for path in pages():
        page = path.read_text(encoding="utf-8")
        now = BLOCK.sub(replayed, page)
        if os.environ.get("TUNEWRIGHT_WRITE_DOCS"):
            path.write_text(now, encoding="utf-8")
        before += [same_but_digits(block) for _, block in BLOCK.findall(page)]
        after += [same_but_digits(block) for _, block in BLOCK.findall(now)]
    assert len(before) > 15
    for was, found in zip(before, after, strict=True):
        assert was == found, "write the pages anew with TUNEWRIGHT_WRITE_DOCS=1, and read them"
