"""What happened: the store, trials, curves, results."""
