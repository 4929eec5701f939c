"""Commands that show conclusions to others: receipt writes them to a file, verify reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._errors import FINE, WARNED, answer
from tunewright.cli._options import JsonOption, RoundName, StoreOption, store_address
from tunewright.messages import Message, words
from tunewright.present.terminal.screen import say
from tunewright.receipts.receipt import write
from tunewright.receipts.verify import Verified, verify as verified

_ENDING = ".receipt.json"


def receipt(
    round: RoundName,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="By default ROUND.receipt.json; .gz compresses.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write everything that a round's conclusions rest on to one file.

    Goal, roles, spaces, budgets of each setting, all trials with their curves and hashes, code,
    seeds, looks at the test set, verdicts with their evidence and error rates, launches.
    """
    path = out or Path(f"{round}{_ENDING}")
    file = write(store_address(store), round, path)
    data = {"file": file, "bytes": file.stat().st_size}
    answer(json, data, lambda: say(f"wrote {words.printable(str(file))}"))


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `tunewright receipt` wrote.")],
    json: JsonOption = False,
) -> None:
    """Derive every verdict of a receipt again, and name malpractice. Exits with 1 on any.

    It needs the file alone: neither the store nor the training program.
    """
    verified_receipt = verified(file)
    answer(
        json,
        verified_receipt,
        lambda: _print(verified_receipt),
        FINE if verified_receipt.ok else WARNED,
    )


def _print(receipt: Verified) -> None:
    say(words.printable(receipt.headline), style="bold")
    facts = {name: getattr(receipt, name) for name in ("round", "trials", "findings", "launches")}
    say(words.printable(Message("receipt.verified", facts).text))
    if receipt.not_derived:
        say(Message("receipt.not_derived", {"not_derived": receipt.not_derived}).text)
    for fault in receipt.malpractice:
        say(f"  {fault.kind}: {words.printable(str(fault))}")
    for disagreement in receipt.disagreements:
        say(f"  {disagreement.what}: {words.printable(str(disagreement))}")
