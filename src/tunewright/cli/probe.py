"""The family of commands `tunewright probe ...`; how an answer is shown is in `probe_page`."""

from __future__ import annotations

from typing import Any

import typer

from tunewright.cli import probe_length, probe_stability, probe_throughput
from tunewright.cli._verbs import flowing

_PROBES: tuple[Any, ...] = (
    probe_throughput.batch_size,
    probe_length.critical_batch,
    probe_length.train_steps,
    probe_length.longer,
    probe_stability.stability,
    probe_stability.warmup,
    probe_stability.clip,
    probe_throughput.input,
)

probe = typer.Typer(
    name="probe",
    help="Short experiments that settle one setting: batch size, steps, warm-up, clipping, input.",
    invoke_without_command=True,
    add_completion=False,
)


@probe.callback()
def begin(context: typer.Context) -> None:
    """Short experiments that settle one setting: batch size, steps, warm-up, clipping, input."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


for verb in _PROBES:
    probe.command(help=flowing(verb.__doc__ or ""))(verb)
