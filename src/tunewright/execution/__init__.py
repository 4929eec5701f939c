"""Doing it: workloads, executors, the supervisor."""
