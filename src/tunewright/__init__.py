"""The Deep Learning Tuning Playbook, executable.

import tunewright as tw

    tw.Round, tw.Workload          the question, and the training program
    tw.log, tw.linear, tw.given    ranges and conditions
    tw.run, tw.repeat, tw.load     train a round, and read it back
    tw.worker                      join a round that another process runs
    tw.current_run                 the handle of the trial that this program trains
    tw.Measured                    a logged value with its uncertainty
    tw.check, tw.plots, tw.report  what can be trusted, and how it looks
    tw.launch, tw.next_round       the new baseline, and the next question
    tw.diagnose                    the curves of any run: what is wrong, with error rates
    tw.probes, tw.tune             fix the basics; the whole loop on autopilot
    tw.campaign, tw.history        campaigns and launches of a store
    tw.serve, tw.show              the dashboard of a store, and in a notebook

Namespaces hold the rest:

    tw.search, tw.executors        Bayesian, Halton, Listed; Inline, Local, Ray
    tw.ranges, tw.presets          more kinds of ranges, your own kind; usual search spaces
    tw.trials, tw.stores           recorded trials; rounds, notes, stops, backups of a store
    tw.budgets, tw.costs           what a project may spend; what training will cost
    tw.agents                      instructions for coding agents
    tw.receipts                    what a conclusion rests on, and its verification
    tw.launches, tw.advice         terms and variance of a launch; longer training
    tw.referee                     keep or discard one change of a program after another
    tw.protocols, tw.types         Run, Executor, Search, Range, Watcher; types of results
    tw.progress, tw.project        watchers of a training; the files of a project
    tw.importers, tw.pipeline      rounds of other tools; a training pipeline in PyTorch
    tw.schedule, tw.errors, tw.ui  learning-rate schedules; errors; export of the dashboard

Names are looked up when first used, so importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright import (
        advice as advice,
        agents as agents,
        budgets as budgets,
        costs as costs,
        errors as errors,
        executors as executors,
        importers as importers,
        launches as launches,
        pipeline as pipeline,
        probes as probes,
        progress as progress,
        project as project,
        protocols as protocols,
        ranges as ranges,
        receipts as receipts,
        referee as referee,
        search as search,
        stores as stores,
        trials as trials,
        types as types,
        ui as ui,
    )
    from tunewright.advice.next_round import next_round as next_round
    from tunewright.campaigns.campaign import campaign as campaign
    from tunewright.campaigns.tune import tune as tune
    from tunewright.checks.checklist import check as check
    from tunewright.design import presets as presets, schedule as schedule
    from tunewright.design.conditions import given as given
    from tunewright.design.objective import maximize as maximize, minimize as minimize
    from tunewright.design.ranges import (
        choice as choice,
        integers as integers,
        linear as linear,
        log as log,
    )
    from tunewright.design.round import Round as Round
    from tunewright.diagnosis.diagnose import diagnose as diagnose
    from tunewright.errors import Infeasible as Infeasible
    from tunewright.execution.command import command as command
    from tunewright.execution.current_run import current_run as current_run
    from tunewright.execution.executors.local import Local as Local
    from tunewright.execution.join import worker as worker
    from tunewright.execution.repeat import repeat as repeat
    from tunewright.execution.run import load as load, run as run
    from tunewright.execution.session import open_round as open_round
    from tunewright.execution.workload import Workload as Workload
    from tunewright.launches.decide import decide as decide
    from tunewright.launches.lineage import history as history
    from tunewright.launches.workflow import launch as launch
    from tunewright.measured import Measured as Measured
    from tunewright.present import figures as plots
    from tunewright.present.report import report as report
    from tunewright.ui.embed import show as show
    from tunewright.ui.serve import serve as serve

__version__ = "0.2.0"

__all__ = [
    "Infeasible",
    "Local",
    "Measured",
    "Round",
    "Workload",
    "campaign",
    "check",
    "choice",
    "command",
    "current_run",
    "decide",
    "diagnose",
    "given",
    "history",
    "integers",
    "launch",
    "linear",
    "load",
    "log",
    "maximize",
    "minimize",
    "next_round",
    "open_round",
    "plots",
    "presets",
    "probes",
    "repeat",
    "report",
    "run",
    "search",
    "serve",
    "show",
    "stores",
    "tune",
    "worker",
]

_HOMES = {
    "advice.next_round": ("next_round",),
    "campaigns.campaign": ("campaign",),
    "campaigns.tune": ("tune",),
    "checks.checklist": ("check",),
    "design.conditions": ("given",),
    "design.objective": ("maximize", "minimize"),
    "design.ranges": ("choice", "integers", "linear", "log"),
    "design.round": ("Round",),
    "diagnosis.diagnose": ("diagnose",),
    "errors": ("Infeasible",),
    "execution.command": ("command",),
    "execution.current_run": ("current_run",),
    "execution.executors.local": ("Local",),
    "execution.join": ("worker",),
    "execution.repeat": ("repeat",),
    "execution.run": ("load", "run"),
    "execution.session": ("open_round",),
    "execution.workload": ("Workload",),
    "launches.decide": ("decide",),
    "launches.lineage": ("history",),
    "launches.workflow": ("launch",),
    "measured": ("Measured",),
    "present.report": ("report",),
    "ui.embed": ("show",),
    "ui.serve": ("serve",),
}
_MODULES = {
    "advice": "advice",
    "agents": "agents",
    "budgets": "budgets",
    "costs": "costs",
    "campaigns": "campaigns",
    "errors": "errors",
    "executors": "executors",
    "importers": "importers",
    "launches": "launches",
    "pipeline": "pipeline",
    "plots": "present.figures",
    "presets": "design.presets",
    "probes": "probes",
    "progress": "progress",
    "project": "project",
    "protocols": "protocols",
    "ranges": "ranges",
    "receipts": "receipts",
    "referee": "referee",
    "schedule": "design.schedule",
    "search": "search",
    "stores": "stores",
    "trials": "trials",
    "types": "types",
    "ui": "ui",
}
_MOVED = {
    name: f"tw.{home}.{name}"
    for home, names in {
        "advice": ("extend",),
        "errors": ("TunewrightError",),
        "executors": ("Inline", "Ray"),
        "launches": ("Launch", "LaunchTerms", "final_test", "variance"),
        "protocols": ("Run",),
        "ranges": ("log_from_one", "powers_of_two"),
        "search": ("Bayesian", "Halton", "Listed", "believe"),
        "stores": ("joined", "remove", "rename", "rounds"),
        "trials": ("again", "evaluate"),
        "types": ("Campaign", "Finding", "Objective", "Results", "Trial"),
        "ui": ("export_site",),
    }.items()
    for name in names
}

offer(__name__, _HOMES, _MODULES, _MOVED)
