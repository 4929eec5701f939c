"""docs/instability.md runs as it stands and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "instability.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_about_instability_prints_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    source = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    promised = [line.strip() for block in BLOCKS for line in re.findall(r"# -> (.*)", block)]
    assert len(promised) == 8
    place = 0
    for line in promised:
        place = done.stdout.find(line, place)
        assert place >= 0, f"{line!r} is not in its place of\n{done.stdout}"
