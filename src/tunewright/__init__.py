"""The Deep Learning Tuning Playbook, executable.

import tunewright as tw

    tw.Round, tw.Workload          what is asked, and of what
    tw.log, tw.linear, tw.given    ranges and conditions
    tw.run, tw.repeat, tw.load     train it, and read it back
    tw.worker                      join a round that another process runs
    tw.check, tw.plots, tw.report  what can be trusted, and how it looks
    tw.launch, tw.next_round       what becomes the baseline, and what to ask next
    tw.probes, tw.tune             settle the basics; the whole loop on autopilot
    tw.progress                    what is shown while anything trains
    tw.rounds, tw.campaign         what a store holds
    tw.project, tw.stores          the files of a project; notes, stops, backups of a store
    tw.importers                   rounds that other tools recorded

Names are looked up when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tunewright import (
        importers as importers,
        pipeline as pipeline,
        probes as probes,
        progress as progress,
        project as project,
        stores as stores,
    )
    from tunewright.advice.extend import extend as extend
    from tunewright.advice.next_round import next_round as next_round
    from tunewright.campaigns.campaign import Campaign as Campaign
    from tunewright.campaigns.reopen import campaign as campaign
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
    from tunewright.errors import Infeasible as Infeasible, TunewrightError as TunewrightError
    from tunewright.execution.again import again as again
    from tunewright.execution.command import command as command
    from tunewright.execution.evaluate import evaluate as evaluate
    from tunewright.execution.executors.inline import Inline as Inline
    from tunewright.execution.executors.local import Local as Local
    from tunewright.execution.executors.packed import Packed as Packed
    from tunewright.execution.executors.ray.ray import Ray as Ray
    from tunewright.execution.handle import Run as Run
    from tunewright.execution.join import worker as worker
    from tunewright.execution.repeat import repeat as repeat
    from tunewright.execution.run import load as load, run as run
    from tunewright.execution.session import open_round as open_round
    from tunewright.execution.workload import Workload as Workload
    from tunewright.finding import Finding as Finding
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
    from tunewright.search.bayesian.belief import believe as believe
    from tunewright.search.halton import Halton as Halton
    from tunewright.search.listed import Listed as Listed
    from tunewright.store.joined import joined as joined
    from tunewright.store.results import Results as Results
    from tunewright.store.trial import Trial as Trial
    from tunewright.stores import remove as remove, rename as rename, rounds as rounds

__version__ = "0.1.0.dev0"

_HOMES = {
    "campaigns.campaign": ("Campaign",),
    "campaigns.reopen": ("campaign",),
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
    "launches.variance": ("variance",),
    "design.conditions": ("given",),
    "design.objective": ("Objective", "maximize", "minimize"),
    "design.round": ("Round",),
    "design.ranges": ("choice", "integers", "linear", "log", "log_from_one"),
    "errors": ("Infeasible", "TunewrightError"),
    "execution.again": ("again",),
    "execution.command": ("command",),
    "execution.evaluate": ("evaluate",),
    "execution.handle": ("Run",),
    "execution.executors.inline": ("Inline",),
    "execution.executors.local": ("Local",),
    "execution.executors.packed": ("Packed",),
    "execution.executors.ray.ray": ("Ray",),
    "execution.join": ("worker",),
    "execution.repeat": ("repeat",),
    "execution.session": ("open_round",),
    "execution.run": ("load", "run"),
    "execution.workload": ("Workload",),
    "store.joined": ("joined",),
    "store.results": ("Results",),
    "store.trial": ("Trial",),
    "stores": ("remove", "rename", "rounds"),
    "present.report": ("report",),
    "search.bayesian.bayesian": ("Bayesian",),
    "search.bayesian.belief": ("believe",),
    "search.halton": ("Halton",),
    "search.listed": ("Listed",),
}
_MODULES = {
    "importers": "importers",
    "presets": "design.presets",
    "pipeline": "pipeline",
    "plots": "present.figures",
    "probes": "probes",
    "progress": "progress",
    "project": "project",
    "schedule": "design.schedule",
    "stores": "stores",
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
