"""The entry point of `tunewright` and of `python -m tunewright`: the version at once, else cli."""

from __future__ import annotations

import sys


def main() -> int:
    """Answer `--version` before anything is imported; run every other command."""
    import tunewright

    if sys.argv[1:] == ["--version"]:
        print(f"tunewright {tunewright.__version__}")
        return 0
    from tunewright.cli.main import main as run  # typer and rich, which the version does not need

    return run()


if __name__ == "__main__":
    sys.exit(main())
