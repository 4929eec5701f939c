"""The referee: keep or discard one change of a program after another.

    referee = tw.referee.begin("python train.py --seed {run.seed}", tw.minimize("val_loss"))
    referee.attempt()           # judges the commit that is checked out: a Decision
    referee.status(), referee.history(), referee.quote(), referee.audit()

A change is a commit of a git repository. Each is run from its own checkout; the kept ones are a
lineage, with its runs and diffs in `<store>.judge/<name>/`.
"""
