"""A small ResNet with ghost batch norm on Fashion-MNIST, with all that the pipeline offers.

    python examples/11_pipeline_fashion_resnet.py

Reads ../shared/data/fashion-mnist/fashion20k.npz beside the repository if it is there.
"""

import os
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tunewright import snapshot
from tunewright.design.schedule import Cosine, Warmup
from tunewright.pipeline import (
    FitConfig,
    Keep,
    Nesterov,
    Validation,
    convert_batch_norm,
    evaluate,
    fit,
    hosts,
)

SHORT = bool(os.environ.get("TUNEWRIGHT_SHORT"))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
FILE = Path(__file__).resolve().parents[2] / "shared/data/fashion-mnist/fashion20k.npz"


def pictures():
    if FILE.exists():
        with np.load(FILE) as file:
            images, labels = file["images"], file["labels"]
    else:
        print(f"{FILE.name} is not there: training on noise of the same shape")
        random = np.random.default_rng(0)
        images = random.integers(0, 256, (20_000, 28, 28), dtype=np.uint8)
        labels = random.integers(0, 10, 20_000, dtype=np.uint8)
    if SHORT:
        images, labels = images[:1500], labels[:1500]
    x = torch.from_numpy(images)[:, None].float().div(255).sub(0.286).div(0.353)
    y = torch.from_numpy(labels).long()
    cut = len(x) * 4 // 5
    return (x[:cut].to(DEVICE), y[:cut].to(DEVICE)), (x[cut:].to(DEVICE), y[cut:].to(DEVICE))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm_1, self.norm_2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.around = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        inner = self.norm_2(self.second(F.relu(self.norm_1(self.first(x)))))
        return F.relu(inner + self.around(x))


def resnet(width):
    torch.manual_seed(hosts.seeds(0).init)
    return nn.Sequential(
        nn.Conv2d(1, width, 3, 1, 1, bias=False),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, 10),
    )


def loss(model, batch):
    x, y = batch
    if model.training:  # turn half of the pictures round, on the device
        flip = torch.rand(len(x), 1, 1, 1, device=x.device) < 0.5
        x = torch.where(flip, x.flip(3), x)
    return F.cross_entropy(model(x), y)


def metrics(model, batch):
    right = (model(batch[0]).argmax(1) == batch[1]).float()
    return {"valid_error": 1 - right, "right": right}


data, valid = pictures()
# 64 examples normalise together, whatever the batch size: batch sizes can then be compared.
model = convert_batch_norm(resnet(width=4 if SHORT else 16), virtual_batch_size=64)
fitted = fit(
    model.to(DEVICE),
    loss,
    data,
    FitConfig(
        max_train_steps=12 if SHORT else 1000,
        batch_size=128,
        base_learning_rate=0.1,
        optimizer=Nesterov(momentum=0.9, weight_decay=5e-4),
        schedule=Warmup(5 if SHORT else 100, Cosine()),
        clip_norm=2.0,
        precision="bf16" if DEVICE.type == "cuda" else "fp32",
        capture=DEVICE.type == "cuda",  # the whole step as one CUDA graph
        average_decay=0.99,
    ),
    valid=Validation(valid, metrics, labels=valid[1], correct="right"),
    keep=Keep("valid_error"),
    folder="fashion",
    say=print,
)
print(f"best checkpoint: {fitted.selected.says}")
print(fitted.throughput, *fitted.notes, sep="\n")

# Load the chosen checkpoint: its averaged weights were the ones evaluated.
chosen = snapshot.load(fitted.selected.snapshot)
fitted.averages.load_state_dict(chosen["averages"])
with fitted.averages.applied(model):
    final = evaluate(model, valid, metrics, labels=valid[1], correct="right")
print(f"evaluated again: {final.metrics['valid_error']:.4f}")
print(*final.class_counts, sep="\n")
