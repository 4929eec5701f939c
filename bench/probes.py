"""The batch-size probe against brute force and others' finders; the input probe's verdicts.

    PYTHONPATH=src python bench/probes.py [--models gpt,resnet] [--smallest 32] [--inputs all]

Everybody probes the same steps (bench/probe_steps.py). The brute-force sweep doubles until memory
runs out, timing every size, and bisects to the largest that holds at most the memory our probe
allows; the finders look for the largest that runs at all, as they do by default. Each contender
runs in a process of its own, one after the other. Their seconds count the search alone, without
imports; ours count the whole call with all of its processes and what these import. The input probe
watches pipelines with a planted fault each (bench/probe_inputs.py). Prints markdown, every row as
soon as it is known; whoever would come after `--seconds` is left out.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import platform
import subprocess
import sys
import time
from typing import Any

from probe_contenders import CONTENDERS, RIVALS, imported

import tunewright

ALL = "brute,ours,accelerate,lightning"
UNTIL = [float("inf"), 60.0]  # when everybody must have ended; seconds that a finder may take
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
    parser.add_argument("--without", default="", help="a contender of one model: lightning:resnet")
    parser.add_argument("--inputs", default="all", help="pipelines, all or none")
    parser.add_argument("--seconds", type=float, default=900.0, help="for everybody together")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for each finder")
    parser.add_argument("--contender", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        took = imported(arguments.contender)
        print("READY", flush=True)
        if sys.stdin.readline():  # nothing: the bench has ended
            found = CONTENDERS[arguments.contender](arguments.models, arguments.smallest)
            print("ANSWER " + json.dumps({**took, **found}))
        return
    UNTIL[:] = [time.monotonic() + arguments.seconds, arguments.patience]
    contenders = arguments.contenders.split(",")
    models = [model for model in arguments.models.split(",") if model]
    pipelines = _pipelines(arguments.inputs)
    wanted = [(c, m) for m in models for c in contenders if f"{c}:{m}" != arguments.without]
    started = start(wanted, pipelines, arguments.smallest)
    header(started)
    for model in models:
        compare(model, contenders, started)
    if pipelines:
        compare_inputs(pipelines, started)


def _pipelines(asked: str) -> list[str]:
    from probe_inputs import PIPELINES

    if asked in ("all", "none"):
        return list(PIPELINES) if asked == "all" else []
    return asked.split(",")


Key = tuple[str, str]  # a contender, and its model or pipeline


def start(
    wanted: list[Key], pipelines: list[str], smallest: int
) -> dict[Key, subprocess.Popen[str]]:
    """Everybody's process: all import at once, and wait for their turn."""
    keys = [("facts", ""), *(key for key in wanted if importlib.util.find_spec(needs(key)))]
    keys += [("inputs", pipeline) for pipeline in pipelines]
    command = [sys.executable, __file__, "--smallest", str(smallest)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = {
        (contender, model): subprocess.Popen(
            [*command, "--contender", contender, "--models", model], **pipes
        )
        for contender, model in keys
    }
    for process in started.values():
        assert process.stdout is not None
        process.stdout.readline()  # READY
    return started


def needs(key: Key) -> str:
    """The package that a contender is from."""
    return RIVALS.get(key[0], "torch")


def header(started: dict[Key, subprocess.Popen[str]]) -> None:
    facts = asked("facts", "", started) or {}
    put("# bench/probes.py\n")
    put(
        f"{datetime.date.today()}, {facts.get('device', platform.machine())}, "
        f"Python {platform.python_version()}, torch {facts.get('torch')}, "
        f"tunewright {tunewright.__version__}"
        + "".join(f", {name} {facts[name]}" for name in RIVALS.values() if name in facts)
        + f"\n\n`{' '.join(['python', *sys.argv])}`\n"
    )
    put(
        f"Importing torch took {facts.get('torch_s', 0.0):.1f} s, and its compiler, which comes "
        f"with the first optimizer, {facts.get('compiler_s', 0.0):.1f} s more, "
        f"{len(started)} processes at once.\n"
    )


def compare(model: str, contenders: list[str], started: dict[Key, subprocess.Popen[str]]) -> None:
    from probe_steps import NAMES

    put(f"## {NAMES[model]}\n")
    put("| | largest | of the brute force | knee | seconds | out of memory |")
    put("|---|---|---|---|---|---|")
    brute = asked("brute", model, started)
    if brute is not None:
        put(row("brute force: doubling, timing, bisection", brute, brute))
    ours = asked("ours", model, started)
    if ours is not None:
        put(row("tunewright: largest, knee, verdict", ours, brute))
        to_largest = {**ours, "seconds": ours["largest_s"], "knee": None}
        put(row("tunewright: to the largest alone", to_largest, brute))
    for name in contenders:
        if name in RIVALS and (name, model) in started:
            found = asked(name, model, started)
            if found is None:
                put(f"| {RIVALS[name]} | none within the time it was given | | | | |")
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


def compare_inputs(pipelines: list[str], started: dict[Key, subprocess.Popen[str]]) -> None:
    from probe_inputs import BATCH, PIPELINES, WORKERS

    put(f"## Input pipelines: batch size {BATCH}, {WORKERS} workers\n")
    put(
        "| planted | verdict | ms per step | waiting | cached | host waits | slowest stage, "
        "ms per batch | copy, ms | seconds |"
    )
    put("|---|---|---|---|---|---|---|---|---|")
    said = []
    for name in pipelines:
        found = asked("inputs", name, started)
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


def asked(
    contender: str, model: str, started: dict[Key, subprocess.Popen[str]]
) -> dict[str, Any] | None:
    """What a contender finds when it is its turn; None if it is not there, or fails."""
    process = started.get((contender, model))
    if process is None:
        return None
    try:
        left = UNTIL[0] - time.monotonic()
        patience = min(left, UNTIL[1]) if contender in RIVALS else left
        printed, _ = process.communicate("go\n", timeout=max(patience, 0.0))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        printed = ""
    for line in printed.splitlines():
        if line.startswith("ANSWER "):
            found: dict[str, Any] = json.loads(line.removeprefix("ANSWER "))
            return found
    print(f"{contender} failed on {model}", file=sys.stderr, flush=True)
    return None


if __name__ == "__main__":
    main()
