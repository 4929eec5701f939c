"""The batch-size probe against brute force and others' finders; the input probe's verdicts.

    PYTHONPATH=src python bench/probes.py [--models gpt,resnet] [--smallest 32] [--inputs all]

Everybody probes the same steps (bench/probe_steps.py). The brute-force sweep doubles until memory
runs out, timing every size, and bisects to the largest that holds at most the memory our probe
allows; the finders look for the largest that runs at all, as they do by default. Each contender
runs in a process of its own. Their seconds count the search alone, without imports; ours count the
whole call with all of its processes. The input probe watches pipelines with a planted fault each
(bench/probe_inputs.py). Prints markdown, every row as soon as it is known.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.util
import json
import platform
import subprocess
import sys
from typing import Any

from probe_contenders import CONTENDERS, RIVALS

import tunewright

ALL = "brute,ours,accelerate,lightning"
PATIENCE_S = 120.0  # for a contender
ORDERS = {  # how the time of the probe's orders is told
    "start": "starting processes",
    "load": "importing torch and the step",
    "build": "building models and batches",
    "run": "steps",
    "rest": "giving memory back",
    "identify": "looking at the model",
    "close": "ending processes",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="gpt,resnet")
    parser.add_argument("--smallest", type=int, default=32)
    parser.add_argument("--contenders", default=ALL)
    parser.add_argument("--inputs", default="all", help="pipelines, all or none")
    parser.add_argument("--contender", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        found = CONTENDERS[arguments.contender](arguments.models, arguments.smallest)
        print("ANSWER " + json.dumps(found))
        return
    header()
    if arguments.inputs != "none":
        compare_inputs(arguments.inputs)
    for model in filter(None, arguments.models.split(",")):
        compare(model, arguments.smallest, arguments.contenders.split(","))


def header() -> None:
    facts = in_process("facts", "resnet", 1) or {}
    put("# bench/probes.py\n")
    put(
        f"{datetime.date.today()}, {facts.get('device', platform.machine())}, "
        f"Python {platform.python_version()}, torch {facts.get('torch')}, "
        f"tunewright {tunewright.__version__}"
        + "".join(f", {name} {facts[name]}" for name in RIVALS.values() if name in facts)
        + f"\n\n`{' '.join(['python', *sys.argv])}`\n"
    )


def compare(model: str, smallest: int, contenders: list[str]) -> None:
    from probe_steps import NAMES

    put(f"## {NAMES[model]}\n")
    put("| | largest | of the brute force | knee | seconds | out of memory |")
    put("|---|---|---|---|---|---|")
    brute = in_process("brute", model, smallest) if "brute" in contenders else None
    if brute is not None:
        put(row("brute force: doubling, timing, bisection", brute, brute))
    ours = in_process("ours", model, smallest) if "ours" in contenders else None
    if ours is not None:
        put(row("tunewright: largest, knee, verdict", ours, brute))
        to_largest = {**ours, "seconds": ours["largest_s"], "knee": None}
        put(row("tunewright: to the largest alone", to_largest, brute))
    for name in contenders:
        if name in RIVALS and importlib.util.find_spec(RIVALS[name]):
            found = in_process(name, model, smallest)
            if found is None:
                put(f"| {RIVALS[name]} | none within {PATIENCE_S:.0f} s | | | | |")
            else:
                put(row(f"{RIVALS[name]}: {found['how']}", found, brute))
    if ours is not None:
        compare_rates(ours, brute)


def compare_rates(ours: dict[str, Any], brute: dict[str, Any] | None) -> None:
    rates = {} if brute is None else brute["rates"]
    put(f"\n{ours['says']} {ours['bottleneck']}\n")
    spent = ", ".join(f"{ORDERS[kind]} {seconds:.1f}" for kind, seconds in ours["spent"].items())
    put(f"Where the seconds of the probe went: {spent}.\n")
    put("| batch size | brute force, examples/s | probe, examples/s (95 %) | ratio | busy |")
    put("|---|---|---|---|---|")
    for size, rate, low, high, busy in ours["rows"]:
        swept = rates.get(str(size))
        put(
            f"| {size} | {'-' if swept is None else f'{swept:,.0f}'} | "
            f"{rate:,.0f} ({low:,.0f} to {high:,.0f}) | "
            f"{'-' if swept is None else f'{rate / swept:.3f}'} | "
            f"{'-' if busy is None else f'{busy:.0%}'} |"
        )
    rest = {size: rate for size, rate in rates.items() if int(size) > ours["rows"][-1][0]}
    beyond = ", ".join(f"{size}: {rate:,.0f}" for size, rate in rest.items())
    put(f"\nBeyond, by brute force: {beyond or 'nothing'} examples/s.\n")


def compare_inputs(which: str) -> None:
    from probe_inputs import BATCH, PIPELINES, WORKERS

    put(f"## Input pipelines: batch size {BATCH}, {WORKERS} workers\n")
    put(
        "| planted | verdict | ms per step | waiting | cached | host waits | slowest stage, "
        "ms per batch | copy, ms | seconds |"
    )
    put("|---|---|---|---|---|---|---|---|---|")
    said = []
    for name in PIPELINES if which == "all" else which.split(","):
        found = in_process("inputs", name, 1)
        if found is None:
            put(f"| {PIPELINES[name]} | failed | | | | | | | |")
            continue
        stage = max(found["stages"], key=lambda each: each[1], default=("-", 0.0))
        copy = dict(found["stages"]).get("copy to the device")
        share, ratio = found["waiting_share"], found["slowdown"]
        put(
            f"| {PIPELINES[name]} | {found['verdict']} | {found['step_ms']:.2f} | "
            f"{'-' if share is None else f'{share:.0%}'} | "
            f"{'-' if ratio is None else f'{ratio:.2f}x'} | {found['host_waits']:.2g} | "
            f"{stage[0]} {stage[1]:.1f} | {'-' if copy is None else f'{copy:.2f}'} | "
            f"{found['seconds']:.1f} |"
        )
        lines = " ".join([found["says"], *found["notes"]])
        advice = ", ".join(f"{key} = {value}" for key, value in found["settings"].items())
        said.append(f"- {name}: {lines}" + (f" Advised: {advice}." if advice else ""))
    put("\nIts words:\n\n" + "\n".join(said) + "\n")


def row(name: str, found: dict[str, Any], brute: dict[str, Any] | None) -> str:
    share = "-" if brute is None else f"{found['largest'] / brute['largest']:.1%}"
    return (
        f"| {name} | {found['largest']:,} | {share} | {found.get('knee') or '-'} | "
        f"{found['seconds']:.1f} | {found['out_of_memory']} |"
    )


def put(text: str) -> None:
    print(text, flush=True)


def in_process(contender: str, model: str, smallest: int) -> dict[str, Any] | None:
    """A contender in a process of its own."""
    command = [sys.executable, __file__, "--contender", contender, "--models", model]
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [*command, "--smallest", str(smallest)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        for line in done.stdout.splitlines():
            if line.startswith("ANSWER "):
                found: dict[str, Any] = json.loads(line.removeprefix("ANSWER "))
                return found
    print(f"{contender} failed on {model}", file=sys.stderr, flush=True)
    return None


if __name__ == "__main__":
    main()
