"""Statistics that search, checks, launches and probes share: numpy and scipy only."""
