"""What training will cost, before it begins: of a round, repeats, a campaign, a probe.

    tw.costs.of_run(round, workload).hours
    tw.costs.of_run(round, workload, measure=True).priced(tw.budgets.Price(2.5, "EUR")).money

Each answer is a `tw.budgets.CostEstimate`: trainings, hours and money as ranges, and what they rest
on. Nothing is trained, unless `measure` asks for a short training where nothing is known. The cost
of a launch is in its plan: `tw.launch(..., dry_run=True).plan.cost`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.costs.measure import measured as measured
    from tunewright.costs.probes import of_probe as of_probe
    from tunewright.costs.rounds import of_repeat as of_repeat, of_run as of_run
    from tunewright.costs.tune import of_tune as of_tune

__all__ = ["measured", "of_probe", "of_repeat", "of_run", "of_tune"]

offer(
    __name__,
    {
        "costs.measure": ("measured",),
        "costs.probes": ("of_probe",),
        "costs.rounds": ("of_repeat", "of_run"),
        "costs.tune": ("of_tune",),
    },
)
