"""Executors: who trains, in this process, on this machine or on a cluster."""
