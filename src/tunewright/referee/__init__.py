"""The referee: keep or discard one change of a program after another.

    own = tw.referee.begin("python train.py --seed {run.seed}", tw.minimize("val_loss"))
    own.attempt()           # judges the commit that is checked out: a Decision
    own.status(), own.history(), own.quote(), own.audit()
    tw.referee.Referee(store="tuning.db")   # the same lineage, later

A change is a commit of a git repository. Each is run from its own checkout; the kept ones are a
lineage, with its runs and diffs in `<store>.judge/<name>/`. What the methods return is in
`tunewright.referee.answers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.referee.referee import Referee as Referee, Terms as Terms, begin as begin

__all__ = ["Referee", "Terms", "begin"]

offer(__name__, {"referee.referee": __all__})
