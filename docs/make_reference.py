"""Write docs/reference/: every public name of Python, by its signature and its docstring."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tunewright as tw

FOLDER = Path(__file__).parent
GROUPS = {
    "What will be tried": (
        *(
            "Round",
            "Workload",
            "command",
            "current_run",
            "Measured",
            "linear",
            "log",
            "integers",
            "choice",
        ),
        *("given", "minimize", "maximize", "presets.space", "ranges"),
    ),
    "Inside a training function": ("protocols", "Infeasible"),
    "Doing it": (
        *("run", "load", "worker", "repeat", "open_round", "Local"),
        *("executors", "search", "trials"),
    ),
    "What happened": ("types", "campaign"),
    "What can be trusted": ("check", "diagnose", "report", "plots"),
    "The dashboard": ("serve", "show", "ui"),
    "What to do about it": (
        *("launch", "decide", "history", "launches", "next_round", "advice", "tune", "campaigns"),
    ),
    "Changes of a program": ("referee",),
    "Short experiments": ("probes",),
    "While it trains": ("progress",),
    "Projects and stores": ("project", "stores", "budgets", "costs"),
    "For others, and for agents": ("receipts", "agents"),
    "From elsewhere": ("importers",),
    "The training pipeline": ("pipeline", "schedule"),
    "Errors": ("errors",),
}
MODULES = {
    "advice": ("extend", "Extension"),
    "errors": ("TunewrightError",),
    "executors": ("Inline", "Packed", "Ray"),
    "campaigns": ("TuneTerms",),
    "launches": ("LaunchTerms", "Launch", "variance", "final_test"),
    "protocols": ("Run", "Executor", "Search", "Watcher"),
    "search": ("Halton", "Listed", "Bayesian", "believe"),
    "trials": ("again", "Again", "evaluate", "Checkpoint"),
    "types": ("Results", "Trial", "Objective", "Finding", "Proposal", "Campaign"),
    "ui": ("export_site",),
    "budgets": (
        *("Budget", "Amounts", "BudgetState", "read", "write", "state"),
        *("cost_of", "CostEstimate", "Price", "Timing", "Trainings", "spending", "Spending"),
    ),
    "costs": ("of_run", "of_repeat", "of_tune", "of_probe", "measured"),
    "receipts": ("receipt", "write", "verify", "Verified", "Malpractice", "Disagreement"),
    "agents": ("install", "text"),
    "project": ("init", "new", "find", "load", "doctor", "rename", "Project"),
    "stores": (
        *("rounds", "history", "note", "stop", "keep", "backup", "backups", "restore", "rebuild"),
        *("remove", "removed", "bring_back", "rename", "joined"),
    ),
    "ranges": ("log_from_one", "powers_of_two", "Range", "register", "Bins", "Wider"),
    "referee": ("begin", "Referee", "Terms"),
    "importers": (*("optuna", "mlflow", "wandb", "tensorboard", "ray_tune", "tables", "frames"),),
    "plots": (
        *("axis", "isolation", "curves", "best_step", "best_of_k", "gradient_norm"),
        *("sensitivity", "steps_to_fit", "batch_scaling", "throughput", "progress", "pair"),
        "Figure",
    ),
    "progress": (
        *("Watcher", "Silent", "RoundStarted", "Started", "Reached", "Concluded", "Summary"),
        "CampaignStep",
    ),
    "probes": (
        *("batch_size", "longer", "critical_batch", "train_steps", "stability", "warmup", "clip"),
        *("input_bound", "BatchSizeTerms", "Cost", "TimingRule"),
    ),
    "pipeline": (
        *("fit", "FitConfig", "Fitted", "Validation", "Keep", "evaluate", "select", "train_step"),
        *("GhostBatchNorm", "convert_batch_norm", "sync_batch_norm", "recompute_batch_norm"),
        *("SGD", "Momentum", "Nesterov", "RMSProp", "Adam", "AdamW", "NAdam", "NAdamW"),
    ),
    "schedule": (
        "Constant",
        "Linear",
        "Cosine",
        "Rsqrt",
        "Piecewise",
        "WarmupStableDecay",
        "Warmup",
    ),
}


def pages() -> dict[str, str]:
    """The index and a page for each group, by their names in docs/."""
    listed = [f"- [{title}](reference/{slug(title)}.md): {contents(title)}" for title in GROUPS]
    index = [
        "# Python, name by name",
        "",
        "`import tunewright as tw`. Written by `python docs/make_reference.py` from signatures and",
        "docstrings; a test keeps it so. Commands are in [cli.md](cli.md).",
        "",
        *listed,
    ]
    found = {"reference.md": "\n".join(index) + "\n"}
    for title, names in GROUPS.items():
        found[f"reference/{slug(title)}.md"] = page(title, names)
    return found


def slug(title: str) -> str:
    """The name of a group's file.

    >>> slug("For others, and for agents")
    'for_others_and_for_agents'
    """
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def contents(title: str) -> str:
    """The names of a group, for the index."""
    return ", ".join(f"`tw.{name}`" for name in GROUPS[title])


def page(title: str, names: Sequence[str]) -> str:
    """One group: its names, and what each namespace among them holds."""
    lines = [f"# {title}", "", "Part of [Python, name by name](../reference.md).", ""]
    for name in names:
        if name in MODULES:
            module = getattr(tw, name)
            lines += ["", f"`tw.{name}`: {sentence(module)}", ""]
            for inner in MODULES[name]:
                lines += entry(f"{name}.{inner}", getattr(module, inner))
        else:
            found: Any = tw
            for part in name.split("."):
                found = getattr(found, part)
            lines += entry(name, found)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def entry(name: str, thing: Any) -> list[str]:
    """A name as a list item, and below it what its instances have."""
    lines = [f"- **`tw.{name}{signature(thing)}`**  ", f"  {sentence(thing)}"]
    if inspect.isclass(thing):
        lines += [f"  - {line}" for line in members(thing)]
    return lines


def members(kind: type) -> Iterator[str]:
    """The public properties and methods of a class, with what each says of itself."""
    for name, member in vars(kind).items():
        if name.startswith("_") or isinstance(member, types.MemberDescriptorType):
            continue
        if isinstance(member, property) and member.__doc__:
            yield f"`.{name}`: {sentence(member)}"
        elif isinstance(member, classmethod | staticmethod):
            yield f"`.{name}{signature(member.__func__)}`: {sentence(member.__func__)}"
        elif inspect.isfunction(member) and member.__doc__:
            yield f"`.{name}{signature(member)}`: {sentence(member)}"


def sentence(thing: Any) -> str:
    """The first sentence of the docstring."""
    text = inspect.getdoc(thing) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return first if first.endswith((".", ":", "?", "!")) else f"{first}."


def signature(thing: Any) -> str:
    """The parameters with their defaults; types are left to the docstring and the editor."""
    if inspect.isclass(thing) and issubclass(thing, BaseException | enum.Enum):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parts, keywords = [], False
    for parameter in found.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        if parameter.kind is parameter.VAR_POSITIONAL:
            keywords = True
            parts.append(f"*{parameter.name}")
        elif parameter.kind is parameter.VAR_KEYWORD:
            parts.append(f"**{parameter.name}")
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            parts.append(f"{parameter.name}={default(parameter.default)}")
    return f"({', '.join(parts)})"


def default(value: Any) -> str:
    """A default as it would be typed; what cannot be typed is left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}()"
    text = repr(value)
    return "..." if re.search(r"<.*>", text) else text


if __name__ == "__main__":
    (FOLDER / "reference").mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
