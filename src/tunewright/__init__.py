"""The Deep Learning Tuning Playbook, executable.

import tunewright as tw

    tw.Round, tw.Workload          what is asked, and of what
    tw.log, tw.linear, tw.given    ranges and conditions
    tw.run, tw.repeat, tw.load     do it, and read it
    tw.check, tw.plots, tw.report  what can be trusted, and how it looks
    tw.launch, tw.next_round       what becomes the baseline, and what to ask next
    tw.probes, tw.tune             settle the basics; the whole loop on autopilot

Names are looked up when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tunewright import pipeline as pipeline, probes as probes
    from tunewright.advice.extend import extend as extend
    from tunewright.advice.next_round import next_round as next_round
    from tunewright.advice.proposal import Proposal as Proposal
    from tunewright.campaigns.campaign import Campaign as Campaign
    from tunewright.campaigns.tune import tune as tune
    from tunewright.checks.checklist import check as check
    from tunewright.design import presets as presets, schedule as schedule
    from tunewright.design.conditions import given as given
    from tunewright.design.objective import (
        Objective as Objective,
        maximize as maximize,
        minimize as minimize,
    )
    from tunewright.design.ranges import (
        choice as choice,
        integers as integers,
        linear as linear,
        log as log,
        log_from_one as log_from_one,
    )
    from tunewright.design.round import Round as Round
    from tunewright.design.study import Study as Study
    from tunewright.errors import Infeasible as Infeasible, TunewrightError as TunewrightError
    from tunewright.execution.checkpoint import Checkpoint as Checkpoint
    from tunewright.execution.command import command as command
    from tunewright.execution.evaluate import evaluate as evaluate
    from tunewright.execution.executors.inline import Inline as Inline
    from tunewright.execution.executors.local import Local as Local
    from tunewright.execution.executors.ray.ray import Ray as Ray
    from tunewright.execution.handle import Run as Run
    from tunewright.execution.repeat import repeat as repeat
    from tunewright.execution.run import load as load, run as run
    from tunewright.execution.session import open_round as open_round
    from tunewright.execution.workload import Workload as Workload
    from tunewright.finding import Finding as Finding
    from tunewright.importers.frames import import_frames as import_frames
    from tunewright.importers.mlflow import import_mlflow as import_mlflow
    from tunewright.importers.optuna import import_optuna as import_optuna
    from tunewright.importers.ray_tune import import_ray as import_ray
    from tunewright.importers.tables import import_tables as import_tables
    from tunewright.importers.tensorboard import import_tensorboard as import_tensorboard
    from tunewright.importers.wandb import import_wandb as import_wandb
    from tunewright.launches.decide import decide as decide
    from tunewright.launches.final import final_test as final_test
    from tunewright.launches.history import history as history
    from tunewright.launches.launch import Launch as Launch
    from tunewright.launches.terms import LaunchTerms as LaunchTerms
    from tunewright.launches.variance import variance as variance
    from tunewright.launches.workflow import launch as launch
    from tunewright.present import figures as plots  # noqa: F401
    from tunewright.present.report import report as report
    from tunewright.search.bayesian.bayesian import Bayesian as Bayesian
    from tunewright.search.halton import Halton as Halton
    from tunewright.search.listed import Listed as Listed
    from tunewright.store.joined import joined as joined
    from tunewright.store.results import Results as Results
    from tunewright.store.trial import Trial as Trial

__version__ = "0.1.0.dev0"

_HOMES = {
    "campaigns.campaign": ("Campaign",),
    "campaigns.tune": ("tune",),
    "checks.checklist": ("check",),
    "finding": ("Finding",),
    "launches.decide": ("decide",),
    "advice.extend": ("extend",),
    "launches.final": ("final_test",),
    "launches.history": ("history",),
    "launches.launch": ("Launch",),
    "launches.terms": ("LaunchTerms",),
    "launches.workflow": ("launch",),
    "advice.next_round": ("next_round",),
    "advice.proposal": ("Proposal",),
    "launches.variance": ("variance",),
    "design.conditions": ("given",),
    "design.objective": ("Objective", "maximize", "minimize"),
    "design.round": ("Round",),
    "design.ranges": ("choice", "integers", "linear", "log", "log_from_one"),
    "design.study": ("Study",),
    "errors": ("Infeasible", "TunewrightError"),
    "execution.command": ("command",),
    "execution.evaluate": ("evaluate",),
    "execution.handle": ("Run",),
    "execution.executors.inline": ("Inline",),
    "execution.executors.local": ("Local",),
    "execution.checkpoint": ("Checkpoint",),
    "execution.executors.ray.ray": ("Ray",),
    "execution.repeat": ("repeat",),
    "execution.session": ("open_round",),
    "execution.run": ("load", "run"),
    "execution.workload": ("Workload",),
    "importers.frames": ("import_frames",),
    "importers.mlflow": ("import_mlflow",),
    "importers.optuna": ("import_optuna",),
    "importers.ray_tune": ("import_ray",),
    "importers.tables": ("import_tables",),
    "importers.tensorboard": ("import_tensorboard",),
    "importers.wandb": ("import_wandb",),
    "store.joined": ("joined",),
    "store.results": ("Results",),
    "store.trial": ("Trial",),
    "present.report": ("report",),
    "search.bayesian.bayesian": ("Bayesian",),
    "search.halton": ("Halton",),
    "search.listed": ("Listed",),
}
_MODULES = {
    "presets": "design.presets",
    "pipeline": "pipeline",
    "plots": "present.figures",
    "probes": "probes",
    "schedule": "design.schedule",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import the home of a public name when it is first used (PEP 562)."""
    if name in _MODULES:
        found: Any = importlib.import_module(f"tunewright.{_MODULES[name]}")
    elif name in _HOME:
        found = getattr(importlib.import_module(f"tunewright.{_HOME[name]}"), name)
    else:
        import difflib

        near = difflib.get_close_matches(name, __all__, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'tunewright' has no {name!r}.{hint}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
