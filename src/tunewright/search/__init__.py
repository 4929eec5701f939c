"""Which point next: quasi-random, listed, Bayesian."""
