"""Coding agents: the instructions that a project gives them, as files of this package.

tw.agents.install(".")          # AGENTS.md and a skill, into the project
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.agents.install import Installed as Installed, install as install, text as text

__all__ = ["Installed", "install", "text"]

offer(__name__, {"agents.install": ("Installed", "install", "text")})
