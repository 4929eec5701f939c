"""Constants of a file as options: what later code changes is a counter, no setting."""

from __future__ import annotations

from pathlib import Path

from tunewright.project.programs.config_files import module_options, overridden, seeds_in_code
from tunewright.project.programs.declared import Source, read_source

PROGRAM = """
# Optimization
RATE = 0.1      # of the embedding
step = 0
best = 1e9
total = 0
def count():
    global total
    total += 1
while step < 3:
    step += 1
for best in (1, 2):
    pass
torch.manual_seed(42)
"""


def source(folder: Path, text: str) -> Source:
    (folder / "train.py").write_text(text)
    read = read_source(folder / "train.py")
    assert isinstance(read, Source)
    return read


def test_counters_are_no_options_and_comments_are_kept(tmp_path: Path) -> None:
    own = source(tmp_path, PROGRAM)
    (only,) = module_options(own)
    assert (only.name, only.section, only.help) == ("RATE", "Optimization", "of the embedding")
    assert seeds_in_code(own) == [14]
    assert overridden(own) == []


def test_a_command_line_that_sets_globals(tmp_path: Path) -> None:
    text = "# model\nbias = False # inside layers?\nexec(open('configurator.py').read())\n"
    (only,) = overridden(source(tmp_path, text))
    assert (only.option, only.section, only.default) == ("--bias", "model", False)
