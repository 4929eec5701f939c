"""The long tier of the fault tests as a table: which cases were tried, and how they ended.

    scripts/test --all tests/faults --junitxml=faults.xml     (or in pieces, one file each)
    python bench/faults_all.py faults.xml ...

Prints markdown, one line per case of the fault list, and writes it to bench/results/faults_all.md;
exits with 1 when a case failed.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "faults_all.md"


def outcome(test: ElementTree.Element) -> str:
    for kind in ("failure", "error", "skipped"):
        if test.find(kind) is not None:
            return "failed" if kind == "error" else kind.replace("failure", "failed")
    return "passed"


def main(files: list[str]) -> int:
    counts: dict[str, Counter[str]] = {}
    seconds: Counter[str] = Counter()
    reasons: dict[str, set[str]] = {}
    for file in files:
        for test in ElementTree.parse(file).getroot().iter("testcase"):
            found = re.search(r"test_case_(\d+(?:_and_\d+)*)_(\w+)", test.get("classname", ""))
            if found is None:
                continue
            case = f"{found[1].replace('_and_', ', ').lstrip('0')} {found[2].replace('_', ' ')}"
            counts.setdefault(case, Counter())[outcome(test)] += 1
            seconds[case] += round(float(test.get("time", "0")))
            if (skipped := test.find("skipped")) is not None:
                reasons.setdefault(case, set()).add(skipped.get("message", ""))
    lines = [
        "# The fault tests, long tier",
        "",
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} CPU "
        f"threads, Python {platform.python_version()}. Every test asserts the three zeros: no "
        "finished result lost, none recorded or trained twice, no trial without a terminal state.",
        "",
        "| case | tried | survived | failed | skipped | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for case in sorted(counts, key=lambda name: (int(re.match(r"\d+", name)[0]), name)):
        found = counts[case]
        lines.append(
            f"| {case} | {found.total() - found['skipped']} | {found['passed']} "
            f"| {found['failed']} | {found['skipped']} | {seconds[case]} |"
        )
    total = sum(counts.values(), Counter())
    lines.append(
        f"| all | {total.total() - total['skipped']} | {total['passed']} | {total['failed']} "
        f"| {total['skipped']} | {sum(seconds.values())} |"
    )
    for case, why in sorted(reasons.items()):
        lines += ["", f"Skipped of {case}: {'; '.join(sorted(why))}"]
    text = "\n".join([*lines, ""])
    print(text)
    RESULTS.write_text(text)
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
