"""Options are read from source, style by style, with what real programs do."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tunewright.project.programs.declared import Declared
from tunewright.project.programs.read import Read, read_program


def read(folder: Path, text: str, **files: str) -> Read:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "train.py").write_text(text)
    return read_program(folder / "train.py")


def by_name(found: Read) -> dict[str, Declared]:
    return {one.name: one for one in found.options}


def codes(found: Read) -> set[str]:
    return {note.code for note in found.notes}


ARGPARSE = """
import argparse
ROOT = "data"
RATES = [0.1, 0.2]
def str2bool(text): return text == "true"
def get(parser=None):
    parser = argparse.ArgumentParser(description=f"train {ROOT}")
    group = parser.add_argument_group("optimizer")
    group.add_argument("-l", "--lr", "--learning-rate", dest="rate", type=float, default=5 * 1e-3)
    group.add_argument("--betas", type=float, nargs=2, default=(0.9, 0.999))
    parser.add_argument("--amp", action="store_true", help="mixed precision")
    parser.add_argument("--no-bias", action="store_false", dest="bias")
    parser.add_argument("--ema", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--nesterov", type=str2bool, default=True)
    parser.add_argument("--odd", type=bool, default=False)
    parser.add_argument("--opt", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--data-dir", default=f"{ROOT}/train")
    parser.add_argument("--where", default=somewhere())
    for name, value in (("steps", 100), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    if RATES:
        parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--version", action="version", version="1")
    parser.add_argument("data", nargs="?", default=None)
    parser.set_defaults(opt="adam")
    return parser
if __name__ == "__main__":
    known, rest = get().parse_known_args()
"""


def test_argparse_with_what_real_programs_do(tmp_path: Path) -> None:
    found = read(tmp_path, ARGPARSE)
    own = by_name(found)
    assert found.style == "argparse"
    assert (own["rate"].option, own["rate"].default, own["rate"].kind) == ("--lr", 0.005, "float")
    assert own["betas"].kind == "list"
    assert (own["amp"].passed, own["amp"].default) == ("flag", False)
    assert (own["bias"].passed, own["bias"].default) == ("negative flag", True)
    assert (own["ema"].passed, own["ema"].off_option) == ("pair", "--no-ema")
    assert own["nesterov"].kind == "bool"
    assert [note.code for note in own["odd"].notes] == ["scan.type_bool"]
    assert (own["opt"].choices, own["opt"].default) == (("sgd", "adam"), "adam")
    assert own["data_dir"].default == "data/train"
    assert not own["where"].known and own["where"].value is None
    assert (own["steps"].default, own["seed"].default) == (100, 1)
    assert own["warmup"].conditional and not own["seed"].conditional
    assert not own["data"].option and not own["data"].required
    assert "version" not in own


def test_the_parser_of_an_imported_file_counts_and_its_own_program_does_not(tmp_path: Path) -> None:
    other = (
        "import argparse\ndef get_parser():\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--lr', type=float, default=0.1)\n    return p\n"
        "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--shards', type=int)\n"
    )
    found = read(
        tmp_path, "from options import get_parser\nget_parser().parse_args()", options_py=other
    )
    assert list(by_name(found)) == ["lr"] and found.files == ("train.py", "options.py")
    more = (
        "import argparse, options\nparser = argparse.ArgumentParser()\nparser.add_argument('--wd')"
    )
    assert list(by_name(read(tmp_path, more))) == ["wd"], "another file's options are its own"


def test_of_subcommands_the_one_that_trains_is_read(tmp_path: Path) -> None:
    text = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int)\n"
        "s = p.add_subparsers()\nt = s.add_parser('train')\nt.add_argument('--lr', type=float)\n"
        "e = s.add_parser('export')\ne.add_argument('--format')\n"
    )
    found = read(tmp_path, text)
    assert found.words == ("train",) and "scan.subcommands" in codes(found)
    assert list(by_name(found)) == ["lr"] or list(by_name(found)) == ["seed", "lr"]
    assert "format" not in by_name(found)


def test_click(tmp_path: Path) -> None:
    text = """
import click
@click.command()
@click.option("--lr", "learning_rate", type=float, default=1e-3, help="the rate")
@click.option("--shuffle/--no-shuffle", default=True)
@click.option("--amp", is_flag=True)
@click.option("--opt", type=click.Choice(["sgd", "adam"]), default="sgd")
@click.option("--depth", type=click.IntRange(1, 9), default=3)
@click.argument("data")
def main(learning_rate, shuffle, amp, opt, depth, data): ...
"""
    found = read(tmp_path, text)
    own = by_name(found)
    assert found.style == "click"
    assert (own["learning_rate"].option, own["learning_rate"].default) == ("--lr", 0.001)
    assert (own["shuffle"].option, own["shuffle"].off_option) == ("--shuffle", "--no-shuffle")
    assert own["amp"].passed == "flag" and own["opt"].choices == ("sgd", "adam")
    assert own["depth"].kind == "int" and own["data"].required and not own["data"].option


def test_typer(tmp_path: Path) -> None:
    text = """
import typer
from typing import Annotated, Optional
app = typer.Typer()
@app.command()
def train(
    data: str,
    lr: Annotated[float, typer.Option(help="the rate")] = 1,
    weight_decay: float = typer.Option(0.1, "--wd"),
    steps: int = typer.Option(...),
    bias: bool = True,
    name: Optional[str] = None,
): ...
@app.command()
def export(format: str = "onnx"): ...
app()
"""
    found = read(tmp_path, text)
    own = by_name(found)
    assert found.style == "typer" and "format" not in own
    assert (own["lr"].option, own["lr"].default) == ("--lr", 1.0)
    assert (own["weight_decay"].option, own["weight_decay"].default) == ("--wd", 0.1)
    assert own["steps"].required and not own["data"].option
    assert (own["bias"].option, own["bias"].off_option) == ("--bias", "--no-bias")
    assert own["name"].value is None


def test_dataclasses_of_a_parser_nested_and_inherited(tmp_path: Path) -> None:
    text = """
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Optional
from transformers import HfArgumentParser
@dataclass
class Base:
    seed: int = 42
@dataclass
class Model(Base):
    kind: ClassVar[str] = "m"
    hidden_dropout: float = field(default=0, metadata={"help": "p", "choices": [0.0, 0.1]})
    act: Literal["relu", "gelu"] = "relu"
    path: str = field(metadata={"help": "no default"})
    layers: "Optional[int]" = None
    sizes: list[int] = field(default_factory=list)
parser = HfArgumentParser((Model,))
"""
    found = read(tmp_path, text)
    own = by_name(found)
    assert found.style == "dataclass" and "kind" not in own
    assert own["seed"].default == 42 and own["seed"].option == "--seed"
    assert own["hidden_dropout"].default == 0.0 and own["hidden_dropout"].choices == (0.0, 0.1)
    assert own["act"].choices == ("relu", "gelu") and own["path"].required
    assert own["layers"].kind == "int" and not own["sizes"].known
    nested = text.replace("from transformers import HfArgumentParser", "import tyro").replace(
        "parser = HfArgumentParser((Model,))",
        "@dataclass\nclass Args:\n    model: Model\n    use_ema: bool = False\ntyro.cli(Args)",
    )
    own = by_name(read(tmp_path, nested))
    assert own["model.hidden_dropout"].option == "--model.hidden-dropout"
    assert own["use_ema"].off_option == "--no-use-ema"


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
def test_the_classes_of_a_library_are_read_without_importing_it(tmp_path: Path) -> None:
    before = "transformers" in sys.modules
    text = "from transformers import HfArgumentParser, TrainingArguments\n"
    own = by_name(read(tmp_path, text + "HfArgumentParser(TrainingArguments)"))
    assert own["learning_rate"].default == 5e-5 and own["seed"].default == 42
    assert own["per_device_eval_batch_size"].default == 8
    assert before or "transformers" not in sys.modules


def test_a_library_that_is_not_installed_is_a_note(tmp_path: Path) -> None:
    text = (
        "from trl import SFTConfig, TrlParser\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Own:\n    seed: int = 1\nTrlParser((Own, SFTConfig))"
    )
    found = read(tmp_path, text)
    assert next(iter(by_name(found))) == "seed"
    missing = importlib.util.find_spec("trl") is None
    assert ("scan.library_missing" in codes(found)) == missing


def test_hydra_composes_its_files(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    found = read(
        tmp_path,
        'import hydra\n@hydra.main(version_base=None, config_path="conf", config_name="config")\n'
        "def main(cfg): ...\n",
        conf__config_yaml="defaults:\n  - optimizer: adam\n  - optional local: none\n  - _self_\n"
        "seed: 1\nname: ${now:}\nmodel:\n  _target_: net.Net\n  width: 32\n",
        conf__optimizer__adam_yaml="lr: 1e-3\nbetas: [0.9, 0.99]\n",
    )
    own = by_name(found)
    assert found.style == "hydra"
    assert (own["optimizer.lr"].default, own["optimizer.lr"].option) == (0.001, "optimizer.lr")
    assert own["model.width"].default == 32 and own["seed"].default == 1
    assert "name" not in own and own["optimizer.betas"].kind == "list"


def test_absl_flags_and_a_configuration_file(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "from absl import flags\nfrom ml_collections import config_flags\n"
        "flags.DEFINE_float('lr', 1, 'rate')\nflags.DEFINE_bool('remat', False, '')\n"
        "config_flags.DEFINE_config_file('config', None, 'file')\n",
        configs__default_py="import ml_collections\ndef get_config():\n"
        "    config = ml_collections.ConfigDict()\n    config.momentum = 0.9\n    return config\n",
    )
    own = by_name(found)
    assert found.style == "absl" and own["lr"].default == 1.0
    assert own["remat"].off_option == "--noremat"
    assert (own["config.momentum"].option, own["config.momentum"].default) == (
        "--config.momentum",
        0.9,
    )
    assert own["config"].default == "configs/default.py"


def test_a_lightning_command_line_and_a_function(tmp_path: Path) -> None:
    text = """
import lightning as L
from lightning.pytorch.cli import LightningCLI
class Net(L.LightningModule):
    def __init__(self, lr: float = 1e-3, hidden: int = 32): super().__init__()
class Data(L.LightningDataModule):
    def __init__(self, batch_size: int = 8): super().__init__()
if __name__ == "__main__":
    LightningCLI(Net, Data)
"""
    found = read(tmp_path, text)
    own = by_name(found)
    assert (found.style, found.words) == ("lightning", ("fit",))
    assert own["model.lr"].option == "--model.lr" and own["data.batch_size"].default == 8
    fire = read(tmp_path, "import fire\ndef main(lr=0.1, depth: int = 2): ...\nfire.Fire(main)")
    assert fire.style == "fire" and by_name(fire)["lr"].option == "--lr"


def test_constants_with_and_without_a_command_line(tmp_path: Path) -> None:
    text = "lr = 6e-4\nbias = False\n_private = 3\nsteps = 5 * 8\nnames = [1]\n"
    found = read(tmp_path, text + "exec(open('configurator.py').read())\nlater = 3\n")
    assert found.style == "configurator"
    assert list(by_name(found)) == ["lr", "bias", "steps"]
    text = "LR = 0.1\nX = 1\nTWICE = 1\nTWICE = 2\nclass Hyperparameters:\n    depth: int = 2\n"
    found = read(tmp_path, text + "args = Hyperparameters()\nimport torch\ntorch.manual_seed(3)\n")
    assert found.style == "constants"
    assert list(by_name(found)) == ["LR", "Hyperparameters.depth"]
    note = next(one for one in found.notes if one.code == "scan.no_seed_option")
    assert note.facts["lines"] == [9]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"import argparse\nparser.add_argument('--lr'\n", "scan.syntax_error"),
        (b"# coding: latin-1\nimport click\n\xe9 = 1\n\xff(", "scan.syntax_error"),
        (b"\xff\xfe\x00", "scan.not_decodable"),
        (b"# coding: nonsense\n", "scan.not_decodable"),
        (b"x = 1\0", "scan.syntax_error"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "scan.syntax_error"),
        (b"#" * 5_000_001, "scan.too_large"),
    ],
)
def test_what_cannot_be_read_is_a_note(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "train.py").write_bytes(content)
    found = read_program(tmp_path / "train.py")
    assert found.style == "none" and [note.code for note in found.notes] == [code]


def test_an_encoding_that_the_file_declares(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(
        b"# -*- coding: latin-1 -*-\nimport argparse\np = argparse.ArgumentParser('\xe9')\n"
        b"p.add_argument('--lr', type=float, default=0.1, help='\xe9')\n"
    )
    assert by_name(read_program(tmp_path / "train.py"))["lr"].help == "é"


def test_nothing_is_executed(tmp_path: Path) -> None:
    text = (
        "import argparse, pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
        "p = argparse.ArgumentParser()\np.add_argument('--n', type=int, default=9 ** 9 ** 9)\n"
        "p.add_argument('--m', default='x' * 10 ** 9)\np.add_argument('--lr', default=1.0)\n"
    )
    own = by_name(read(tmp_path, text))
    assert not (tmp_path / "ran").exists()
    assert not own["n"].known and not own["m"].known and own["lr"].default == 1.0
