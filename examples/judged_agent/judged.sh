#!/bin/sh
# The same loop, judged: five lines in place of the run and the comparison.
tunewright judge begin "python train.py --seed {run.seed}" --minimize valid_error --protect evaluate.py
for change in $(seq 20); do
  $AGENT
  if tunewright judge try --json | grep -q '"verdict": "keep"'; then git add -A; git commit -qm "change $change"
  else git reset -q --hard; git clean -qfd; fi
done
tunewright judge quote
