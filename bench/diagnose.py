"""How often `diagnose` is right, on labelled curves; beside the rule of W&B's `diagnose_run`.

    python bench/diagnose.py           reports the held half with the limits in the package
    python bench/diagnose.py --fit     prints limits fitted on the tuning half

Labels: `bench/diagnose_curves.py`. Writes bench/results/diagnose.jsonl (one line per question, set
and half) and prints the table of bench/results/diagnose.md.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.diagnose_curves import Case, Floats
from bench.diagnose_faults import cases

from tunewright.diagnosis import _scores as scores
from tunewright.diagnosis._limits import LIMITS
from tunewright.diagnosis._read_curve import ReadCurve, read_curve
from tunewright.diagnosis._scores import Score
from tunewright.diagnosis.answer import QUESTIONS

OUT = Path(__file__).parent / "results" / "diagnose.jsonl"
ALARMS, MISSES = 0.035, 0.07  # aims on the tuning half, stricter than on the held one


def curve(values: Floats) -> ReadCurve | None:
    return read_curve("m", range(1, len(values) + 1), values, 1.0) if len(values) else None


def scored(case: Case) -> Score | None:
    """The score of a case, by the functions of the package."""
    train, valid, other = curve(case.train), curve(case.valid), curve(case.other)
    either = valid or train
    if case.question in ("gradient_norm", "schedule"):
        assert other is not None
        if case.question == "schedule":
            return scores.off_schedule(other, *case.setting)
        return scores.gradient(other)
    if case.question in ("spikes", "training_bug"):
        assert train is not None
        return scores.spike_score(train) if case.question == "spikes" else scores.rose(train)
    if case.question == "overfitting":
        assert valid is not None
        return scores.worsening(valid, train)
    if case.question == "learned":
        found = train or valid
        assert found is not None
        return scores.no_learning(found, None)
    if case.question == "diverged":
        found = valid if train is None or (train.finite and valid and not valid.finite) else train
        assert found is not None
        return scores.divergence(found)
    assert either is not None
    asks = {
        "still_improving": scores.improves,
        "saturated": scores.levelling_off,
        "noise": scores.jumps,
        "periodicity": scores.periodic,
    }
    return asks[case.question.rstrip("*")](either)


def verdict(case: Case, score: Score | None) -> str:
    """yes, no, silent (between the limits), or unread (fewer points than the question needs)."""
    limits = LIMITS[case.question.rstrip("*")]  # type: ignore[index]
    if score is None or (score.points < limits.fewest and score.score < scores.SURE):
        return "unread"
    if score.unclear:
        return "silent"
    if score.score >= limits.yes:
        return "yes"
    return "no" if score.score <= limits.no else "silent"


# ---- the rule of W&B's MCP server (v0.4), from its description: halves, 5 % and 30 %


def trend(values: Floats) -> str:
    """Halves are compared: 5 % apart is a move; a tail within 5 % of its half is a plateau."""
    if len(values) < 10:
        return "insufficient"
    half = len(values) // 2
    early, late = float(values[:half].mean()), float(values[half:].mean())
    tail = float(values[-max(1, len(values) // 10) :].mean())
    if late < 0.95 * early:
        near = abs(tail - late) / max(abs(late), 1e-8) < 0.05
        return "plateau" if near else "falls"
    return "rises" if late > 1.05 * early else "plateau"


def weights_and_biases(case: Case) -> bool | None:
    """What that rule answers; None where it has no such question."""
    train, valid = case.train, case.valid
    shown = valid if len(valid) else train
    if case.question == "diverged":
        both = np.concatenate([train, valid])
        return bool(not np.isfinite(both).all() or trend(shown) == "rises")
    finite = np.isfinite(shown).all() and len(shown) > 0
    if not finite or (case.set in TURNED and case.question != "overfitting"):
        return None
    if case.question in ("still_improving", "still_improving*", "saturated"):
        found = trend(shown)
        if found == "insufficient":
            return None
        return found == "plateau" if case.question == "saturated" else found == "falls"
    if case.question == "overfitting":
        if len(train) < 10 or len(valid) < 10 or case.set in TURNED:
            return None
        at = np.linspace(0, len(train) - 1, len(valid)).astype(int)
        own = train[at]
        gap, half = np.abs(valid - own), len(valid) // 2
        grows = float(gap[half:].mean()) > 1.3 * float(gap[:half].mean())
        return bool((trend(own) == "falls" and trend(valid) in ("rises", "plateau")) or grows)
    return None


TURNED = {"baker2018", "opda"}  # scores: the rule reads losses


def fitted(rows: Sequence[tuple[Case, Score | None]]) -> dict[str, tuple[float, float]]:
    """Limits of the tuning half: few false alarms first, then few misses."""
    found = {}
    for question in QUESTIONS:
        own = [(c, s) for c, s in rows if c.question == question and not c.held]
        own = [
            (c, s) for c, s in own if s is not None and verdict(c, s) != "unread" and not s.unclear
        ]
        yes = np.array([s.score for c, s in own if c.label and s is not None])
        no = np.array([s.score for c, s in own if not c.label and s is not None])
        if not len(yes) or not len(no):
            continue
        upper = float(np.quantile(no, 1 - ALARMS)) * 1.0 + 1e-9
        warned = int((yes >= upper).sum())
        missed = int(warned * MISSES / (1 - MISSES))  # so many of them may be called sound
        below = np.sort(yes[yes < upper])
        lower = float(below[missed]) - 1e-9 if len(below) > missed else upper
        found[question] = (upper, min(lower, upper))
    return found


def report(rows: Sequence[tuple[Case, Score | None]]) -> None:
    """The table, and its lines."""
    lines: list[dict[str, Any]] = []
    for held in (False, True):
        groups: dict[tuple[str, str, str], list[tuple[Case, Score | None]]] = defaultdict(list)
        for case, score in rows:
            if case.held == held:
                groups[case.question, "all", "all"].append((case, score))
                groups[case.question, case.set, case.kind].append((case, score))
        for (question, name, kind), own in groups.items():
            lines.append(_line(question, name, kind, held, own))
    OUT.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print("| question | no / yes | false alarms | power | silent | W&B: false alarms, power |")
    print("|---|---|---|---|---|---|")
    for question in (*QUESTIONS, "still_improving*"):
        for line in lines:
            if line["question"] == question and line["set"] == "all" and line["held"]:
                wandb = line["wandb"]
                other = "" if wandb is None else f"{wandb[0]:.1%}, {wandb[1]:.1%}"
                print(
                    f"| {question} | {line['no']} / {line['yes']} | {line['false_alarms']:.1%} | "
                    f"{line['power']:.1%} | {line['silent']:.1%} | {other} |"
                )


def _line(
    question: str, name: str, kind: str, held: bool, own: Sequence[tuple[Case, Score | None]]
) -> dict[str, Any]:
    said = [(case.label, verdict(case, score)) for case, score in own]
    read = [(label, v) for label, v in said if v != "unread"]
    no = [v for label, v in read if not label]
    judged = [v for label, v in read if label and v != "silent"]
    rival = [(c.label, w) for c, _ in own if (w := weights_and_biases(c)) is not None]
    wandb = None
    if any(label for label, _ in rival) and any(not label for label, _ in rival):
        wandb = [float(np.mean([w for label, w in rival if label == want])) for want in (0, 1)]
    return {
        "question": question,
        "set": name,
        "kind": kind,
        "held": held,
        "cases": len(said),
        "read": len(read),
        "no": len(no),
        "yes": len(read) - len(no),
        "false_alarms": float(np.mean([v == "yes" for v in no])) if no else 0.0,
        "power": float(np.mean([v == "yes" for v in judged])) if judged else 0.0,
        "silent": float(np.mean([v == "silent" for _, v in read])) if read else 0.0,
        "wandb": wandb,
    }


def main() -> None:
    rows = [(case, scored(case)) for case in cases()]
    if "--fit" in sys.argv:
        for question, (upper, lower) in fitted(rows).items():
            print(f'    "{question}": Limits({upper:.3g}, {lower:.3g}),')
    print(f"{len(rows)} labelled cases")
    report(rows)


if __name__ == "__main__":
    main()
