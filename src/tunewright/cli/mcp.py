"""The command that serves coding agents: mcp."""

from __future__ import annotations

import sys
from pathlib import Path

from tunewright.cli._options import need_project
from tunewright.errors import need


def mcp() -> None:
    """Serve this project to a coding agent by the Model Context Protocol, over stdio.

    An agent's configuration names `tunewright mcp` as the command, with this folder. Training that
    it starts continues after the server ends. Where no project is yet, every tool answers with the
    command that makes one.
    """
    need("mcp", extra="mcp", purpose="tunewright mcp")
    from tunewright.mcp.server import serve

    if sys.stdin.isatty():
        need_project()  # a person would wait for an answer that only an agent reads
    serve(Path.cwd())
