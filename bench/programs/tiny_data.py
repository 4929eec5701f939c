"""Tiny data for the public programs of the table, written where each one looks for it.

    python bench/programs/tiny_data.py FOLDER [NAME ...]

FOLDER holds the checkouts. Only files are written: no program is changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

TEXT = "the quick brown fox jumps over the lazy dog while seven wizards box in the rain . "


def nanogpt(folder: Path) -> None:
    """Two files of tokens."""
    data = folder / "nanoGPT" / "data" / "tiny"
    data.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, count in (("train", 4000), ("val", 1000)):
        (np.arange(count) % 7 + rng.integers(0, 2, count)).astype(np.uint16).tofile(
            data / f"{name}.bin"
        )


def speedrun(folder: Path) -> None:
    """Two shards of tokens with the header of llm.c."""
    data = folder / "modded-nanogpt-2024" / "data" / "fineweb10B"
    data.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name in ("train_000001", "val_000000"):
        tokens = (np.arange(20_000) % 50 + rng.integers(0, 2, 20_000)).astype(np.uint16)
        header = np.zeros(256, dtype=np.int32)
        header[:3] = 20240520, 1, len(tokens)
        with (data / f"fineweb_{name}.bin").open("wb") as file:
            file.write(header.tobytes() + tokens.tobytes())


def flax(folder: Path) -> None:
    """The builder of MNIST with 256 drawn pictures in place of its download."""
    import tensorflow_datasets as tfds
    from tensorflow_datasets.image_classification import mnist

    class Mnist(mnist.MNIST, skip_registration=True):  # type: ignore[call-arg]
        def _split_generators(self, dl_manager: object) -> list[object]:
            kinds = (("train", 256), ("test", 128))
            return [
                tfds.core.SplitGenerator(name=name, gen_kwargs={"count": count})
                for name, count in kinds
            ]

        def _generate_examples(self, count: int):  # type: ignore[no-untyped-def]
            rng = np.random.default_rng(count)
            for number in range(count):
                label = number % 10
                picture = rng.integers(0, 60, (28, 28, 1)).astype(np.uint8)
                picture[2 * label : 2 * label + 4] = 200
                yield number, {"image": picture, "label": label}

    Mnist(data_dir=folder / "flax" / "tensorflow_datasets").download_and_prepare()


def pictures(folder: Path) -> None:
    """ImageFolder for timm: two classes of 64 x 64 noise, one brighter."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for split, count in (("train", 16), ("val", 8)):
        for label in range(2):
            own = folder / "timm" / "tiny" / split / f"class{label}"
            own.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                picture = rng.integers(90 * label, 90 * label + 120, (64, 64, 3)).astype(np.uint8)
                Image.fromarray(picture).save(own / f"{number}.png")


def boxes(folder: Path) -> None:
    """Bright squares on noise, with their boxes as YOLO writes them, and a font it would fetch."""
    import matplotlib
    from PIL import Image

    fonts = folder / "yolov5" / "fonts"
    fonts.mkdir(exist_ok=True)
    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    (fonts / "Arial.ttf").write_bytes(font.read_bytes())

    rng = np.random.default_rng(0)
    root = folder / "yolov5" / "tiny"
    for split, count in (("train", 16), ("val", 8)):
        for kind in ("images", "labels"):
            (root / kind / split).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picture = rng.integers(0, 60, (64, 64, 3)).astype(np.uint8)
            left, top = rng.integers(4, 28, 2)
            picture[top : top + 32, left : left + 32] = 230
            Image.fromarray(picture).save(root / "images" / split / f"{number}.png")
            box = f"0 {(left + 16) / 64} {(top + 16) / 64} 0.5 0.5\n"
            (root / "labels" / split / f"{number}.txt").write_text(box)
    (root / "tiny.yaml").write_text(
        f"path: {root}\ntrain: images/train\nval: images/val\nnames:\n  0: square\n"
    )


def _words_model(root: Path, architecture: str) -> None:
    """A tiny model of the architecture with a tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        GPT2Config,
        GPT2LMHeadModel,
        PreTrainedTokenizerFast,
    )

    words = ["[PAD]", "[UNK]", "[EOS]", *sorted(set(TEXT.split()))]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", eos_token="[EOS]"
    )
    fast.save_pretrained(root)
    if architecture == "gpt2":
        ends = {"bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 0}
        made = GPT2LMHeadModel(
            GPT2Config(vocab_size=32, n_positions=64, n_embd=16, n_layer=1, n_head=2, **ends)
        )
    else:
        made = BertForSequenceClassification(
            BertConfig(
                vocab_size=32,
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=32,
            )
        )
    made.save_pretrained(root)


def accelerate(folder: Path) -> None:
    """Folders with the names that the example asks the Hub for; local ones are taken first."""
    root = folder / "accelerate" / "examples"
    _words_model(root / "bert-base-cased", "bert")
    data = root / "nyu-mll" / "glue"
    data.mkdir(parents=True, exist_ok=True)
    words = TEXT.split()
    for split, count in (("train", 64), ("validation", 32)):
        rows = []
        for number in range(count):
            first = " ".join(words[number % 7 : number % 7 + 5])
            second = first if number % 2 else " ".join(words[(number + 3) % 7 :][:5])
            rows.append(
                {"sentence1": first, "sentence2": second, "label": number % 2, "idx": number}
            )
        (data / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (data / "README.md").write_text(
        "---\nconfigs:\n- config_name: mrpc\n  data_files:\n  - split: train\n"
        "    path: train.jsonl\n  - split: validation\n    path: validation.jsonl\n---\n"
    )
    metric = root / "glue"
    metric.mkdir(exist_ok=True)
    (metric / "glue.py").write_text(METRIC)


METRIC = '''"""Accuracy and F1 of two classes."""

import datasets
import evaluate


class Glue(evaluate.Metric):
    def _info(self):
        number = datasets.Value("int64")
        features = datasets.Features({"predictions": number, "references": number})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=features
        )

    def _compute(self, predictions, references):
        pairs = list(zip(predictions, references))
        hits = sum(p == r == 1 for p, r in pairs)
        wrong = sum(p != r for p, r in pairs)
        accuracy = 1 - wrong / len(pairs)
        return {"accuracy": accuracy, "f1": 2 * hits / max(1, 2 * hits + wrong)}
'''


def transformers(folder: Path) -> None:
    """A text file, a GPT-2 of one layer, and the metric it would fetch."""
    root = folder / "transformers" / "examples" / "pytorch" / "language-modeling"
    _words_model(root / "tiny-gpt2", "gpt2")
    (root / "train.txt").write_text((TEXT + "\n") * 200)
    (root / "valid.txt").write_text((TEXT + "\n") * 40)
    (root / "accuracy").mkdir(exist_ok=True)
    (root / "accuracy" / "accuracy.py").write_text(METRIC)


def trl(folder: Path) -> None:
    """The same for TRL, as a data set with two splits."""
    root = folder / "trl"
    _words_model(root / "tiny-gpt2", "gpt2")
    data = root / "tiny"
    data.mkdir(exist_ok=True)
    for split, count in (("train", 64), ("test", 16)):
        (data / f"{split}.jsonl").write_text((json.dumps({"text": TEXT}) + "\n") * count)


def hydra(folder: Path) -> None:
    """MNIST's four files for the Lightning-Hydra template: drawn pictures."""
    root = folder / "lht" / "data" / "MNIST" / "raw"
    root.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, count in (("train", 60_000), ("t10k", 10_000)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        images = rng.integers(0, 60, (count, 28, 28)).astype(np.uint8)
        sizes = np.array([2051, count, 28, 28], dtype=">i4").tobytes()
        (root / f"{name}-images-idx3-ubyte").write_bytes(sizes + images.tobytes())
        sizes = np.array([2049, count], dtype=">i4").tobytes()
        (root / f"{name}-labels-idx1-ubyte").write_bytes(sizes + labels.tobytes())


MAKERS: dict[str, Callable[[Path], None]] = {
    "nanoGPT": nanogpt,
    "modded-nanogpt-2024": speedrun,
    "flax": flax,
    "timm": pictures,
    "yolov5": boxes,
    "accelerate": accelerate,
    "transformers": transformers,
    "trl": trl,
    "lightning-hydra-template": hydra,
}


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or MAKERS:
        MAKERS[name](root)
        print(name)
