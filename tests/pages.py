"""Pages of docs/ as programs: their Python runs from top to bottom and prints what `# ->` says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def printed(arguments: list[str], folder: Path) -> str:
    """What Python prints when it is run there on these arguments."""
    source = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def replayed(page: str, folder: Path, promises: int) -> str:
    """Run a page as one program; its `# ->` lines, so many at least, must come in their order."""
    blocks = re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)
    (folder / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    output = printed(["page.py"], folder)
    promised = [line.strip() for block in blocks for line in re.findall(r"# -> (.*)", block)]
    assert len(promised) >= promises, "the page promises less than it did"
    place = 0
    for line in promised:
        place = output.find(line, place)
        assert place >= 0, f"{line!r} is not in its place of\n{output}"
    return output
