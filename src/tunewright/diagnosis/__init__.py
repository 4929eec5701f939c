"""Is this run sound? Questions to the curves of any run, with the error rate of each answer."""
