#!/bin/sh
# The usual loop: an agent edits train.py, one run decides. AGENT is a program that edits it.
best=$(python train.py | sed 's/.*"valid_error": //; s/}//')
for change in $(seq 20); do
  $AGENT
  now=$(python train.py | sed 's/.*"valid_error": //; s/}//')
  if [ "$(echo "$now < $best" | bc)" = 1 ]; then git add -A; git commit -qm "change $change"; best=$now
  else git reset -q --hard; git clean -qfd; fi
done
