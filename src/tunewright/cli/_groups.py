"""What the groups of options mean: how a round is judged, where it trains, what it would cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from tunewright.budgets.cost import CostEstimate, Price
from tunewright.cli import _options as options
from tunewright.cli._errors import answer
from tunewright.cli._options import (
    AtOption,
    JsonOption,
    MaximizeOption,
    MinimizeOption,
    StoreOption,
    WorkersOption,
    with_objective_options,
)
from tunewright.errors import DesignError, Misuse
from tunewright.execution.executors.executor import Executor
from tunewright.present.terminal.screen import say
from tunewright.remedies import use
from tunewright.store.results import Results

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen and what it costs, no more.")
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="Of one hour of training, such as 2.5 or '2.5 EUR'; the budget's by default.",
        show_default=False,
    ),
]
MeasureOption = Annotated[
    bool,
    typer.Option(
        "--measure",
        help="With --dry-run: where no trial shows how long training takes, time a short one. It "
        "trains.",
    ),
]


@dataclass(frozen=True)
class Judging:
    """The objective that recorded trials are judged by; as recorded, unless one is asked for."""

    minimize: MinimizeOption = None
    maximize: MaximizeOption = None
    at: AtOption = None

    def apply(self, results: Results, *, aloud: bool = True) -> Results:
        """The results under this objective."""
        return with_objective_options(results, self.minimize, self.maximize, self.at, aloud=aloud)


@dataclass(frozen=True)
class Answering:
    """Which store, and whether the answer is JSON."""

    store: StoreOption = None
    json: JsonOption = False

    def show(self, data: Any, page: Callable[[], None], code: int = 0) -> None:
        """Print the data as JSON, or the page for readers; leave with the exit code."""
        answer(self.json, data, page, code)


@dataclass(frozen=True)
class Training:
    """Where trials train."""

    workers: WorkersOption = None
    on: options.OnOption = "local"
    ray_address: options.AddressOption = None
    resources: options.ResourcesOption = None
    slurm: options.SlurmOption = None

    @property
    def executor(self) -> Executor:
        """Who trains."""
        return options.executor(self.on, self.workers, self.ray_address, self.resources, self.slurm)


@dataclass(frozen=True)
class PackedTraining(Training):
    """Where trials train, many at once on a GPU too."""

    pack: options.PackOption = None

    @property
    def executor(self) -> Executor:
        """Who trains."""
        return options.executor(
            self.on, self.workers, self.ray_address, self.resources, self.slurm, self.pack
        )


@dataclass(frozen=True)
class Priced:
    """Whether to answer what it costs instead of training, and the price of an hour."""

    dry_run: DryRunOption = False
    price: PriceOption = None

    @property
    def per_hour(self) -> Price | None:
        """The price given; None: the budget's."""
        if self.price is None:
            return None
        try:
            return Price.read(self.price)
        except DesignError as error:
            remedy = use("--price", "2.5")
            raise Misuse.several(list(error.problems), remedy) from None

    def with_price(self, cost: CostEstimate) -> CostEstimate:
        """The cost at the price given."""
        return cost.priced(self.per_hour)


@dataclass(frozen=True)
class Expecting(Priced):
    """The same, where a short training may have to show how long one takes."""

    measure: MeasureOption = False

    def check(self) -> None:
        """Refuse to measure where it would be pointless, and a price that is none."""
        if self.measure and not self.dry_run:
            raise Misuse(
                "cost.only_dry_run", option="--measure", remedy=use("--dry-run", "--measure")
            )
        _ = self.per_hour


def show_cost(cost: CostEstimate, json: bool, **about: Any) -> None:
    """Answer a dry run that is about its cost alone."""
    answer(json, {**about, "cost": cost}, lambda: say(f"cost        {cost.message.text}"))
