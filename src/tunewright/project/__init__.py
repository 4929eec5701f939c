"""A project: a folder with `tunewright.toml`, round files beside it, and the store it names.

    project = tw.project.init("train.py:train", minimize="valid_error")
    tw.project.new("depth")               # writes rounds/depth.toml, to be filled in
    results = tw.run(project.round("depth"), project.workload())
    proposals = project.next_round(results)
    project.write(proposals[0].round)

The shell's commands work on the project of their folder; `load` gives the same one.
"""

from __future__ import annotations

from tunewright.project._doctor import Examined, doctor
from tunewright.project._project import Project, find, load
from tunewright.project._scan import Scan, ScannedOption, scan
from tunewright.project._set_up import NewRound, RenamedRound, init, new, rename

__all__ = [
    "Examined",
    "NewRound",
    "Project",
    "RenamedRound",
    "Scan",
    "ScannedOption",
    "doctor",
    "find",
    "init",
    "load",
    "new",
    "rename",
    "scan",
]
