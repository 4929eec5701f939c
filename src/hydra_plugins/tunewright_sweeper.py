"""Where Hydra looks for plugins: the sweeper of tunewright.integrations.hydra, once Hydra is there.

The folder has no __init__.py: it is one that plugins of several packages share.
"""

from importlib.util import find_spec

from tunewright.integrations.hydra import sweeper

if find_spec("hydra") is not None:
    TunewrightSweeper = sweeper()
