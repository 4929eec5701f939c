"""Print line and branch coverage of each folder of src, after `scripts/test --full`."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections import Counter
from pathlib import Path

import coverage

SOURCE = Path("src/tunewright")


def main() -> int:
    """Combine what all processes measured, and print one line a folder."""
    measured = coverage.Coverage()
    measured.load()  # first: `combine` erases what it did not load
    with contextlib.suppress(coverage.exceptions.NoDataError):
        measured.combine()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "coverage.json")
        with contextlib.redirect_stdout(io.StringIO()):
            measured.json_report(outfile=str(report))
        files = json.loads(report.read_text())["files"]
    totals: dict[str, Counter[str]] = {}
    for name, file in files.items():
        parts = Path(name).relative_to(SOURCE).parts
        for folder_name in (parts[0] if len(parts) > 1 else "top level", "all"):
            totals.setdefault(folder_name, Counter()).update(
                {k: v for k, v in file["summary"].items() if isinstance(v, int)}
            )
    print(f"{'folder':12} {'lines':>8} {'branches':>9} {'both':>8}")
    for name in sorted(totals, key=lambda one: (one == "all", one)):
        own = totals[name]
        lines = own["covered_lines"] / max(own["num_statements"], 1)
        branches = own["covered_branches"] / max(own["num_branches"], 1)
        both = (own["covered_lines"] + own["covered_branches"]) / max(
            own["num_statements"] + own["num_branches"], 1
        )
        print(f"{name:12} {lines:8.1%} {branches:9.1%} {both:8.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
