"""The adapter that `init --scan` points to where no metrics are read."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tunewright.project import scan
from tunewright.project.programs.adapters import adapter_note

OPTIONS = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float, "
OPTIONS += "default=0.1)\np.parse_args()\n"


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import lightning as L", "lightning"),
        ("from pytorch_lightning import Trainer", "lightning"),
        ("from transformers import Trainer, TrainingArguments", "transformers"),
        ("from trl import SFTTrainer", "transformers"),
        ("from accelerate import Accelerator", "accelerate"),
        ("import keras", "keras"),
        ("from transformers import AutoModel", None),
        ("import torch", None),
        ("import keras\nfrom tunewright.integrations.keras import callback", None),
    ],
)
def test_a_program_that_reports_nothing_yet(tmp_path: Path, line: str, module: str | None) -> None:
    (tmp_path / "train.py").write_text(f"{line}\n{OPTIONS}")
    notes = {note.code: note for note in scan("train.py", minimize="loss", folder=tmp_path).notes}
    if module is None:
        assert "scan.adapter" not in notes
        return
    facts = notes["scan.adapter"].facts
    own = importlib.import_module(f"tunewright.integrations.{facts['module']}")
    assert facts["module"] == module and callable(getattr(own, facts["word"]))
    assert (Path(__file__).parents[3] / "docs" / f"{module}.md").is_file()


@pytest.mark.beyond_core
def test_no_note_where_metrics_were_found(tmp_path: Path) -> None:
    (tmp_path / "keras.py").write_text("")  # the program's own: nothing is installed for this
    report = 'print(\'{"step": 1, "loss": 0.5}\')\n'
    (tmp_path / "train.py").write_text(f"import keras\n{OPTIONS}{report}")
    found = scan("train.py", minimize="loss", folder=tmp_path, try_s=60, write=False)
    assert found.tried is not None and found.tried.message.code == "scan.tried_json"
    assert "scan.adapter" not in {note.code for note in found.notes}


def test_nothing_to_report_to() -> None:
    assert adapter_note([]) is None
