"""Findings in English: one function per check, headline first."""

from __future__ import annotations

from collections.abc import Callable

from tunewright.messages import Facts

REFERENCES = {
    "detect": "the difference to detect",
    "between_settings": "the gap between the two best settings",
    "trial_sd": "the seed-to-seed spread",
}


def density(verdict: str, facts: Facts) -> list[str]:
    """Have we sampled enough?"""
    gains = (
        f"{facts['feasible']} feasible trials; the second half improved the best by "
        f"{facts['last_gain']:.2g}, the quarter before by {facts['gain_before']:.2g}"
    )
    if facts["reference"] is None:
        return ["Whether more trials would help is unknown", gains]
    size, source = facts["reference"]["size"], REFERENCES[facts["reference"]["source"]]
    gains += f" ({source}: {size:.2g})"
    if verdict == "ok":
        return ["Enough trials for the difference that matters", gains]
    evidence = [gains, f"a repeat of this study would differ by about {facts['repeat_sd']:.2g}"]
    if facts["good_region"] < 3:
        near = "one trial" if facts["good_region"] == 1 else f"{facts['good_region']} trials"
        evidence.append(f"{near} came close to the best")
    headline = f"Too few trials: doubling may still gain about {facts['expected_gain']:.1g}"
    return [headline, *evidence]


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {"density": density}
# the headline where a check has nothing to judge by; the reason follows as evidence
CANNOT_JUDGE: dict[str, str] = {
    "density": "Too few trials to tell whether more would help",
}
SECTIONS: dict[str, str] = {
    "density": "Not sampling enough points in the search space",
}
