"""From findings to launch: variances, decisions, the next round, longer training."""
