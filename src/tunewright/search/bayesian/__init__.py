"""Bayesian search: Gaussian process, feasibility, acquisition."""
