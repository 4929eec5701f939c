"""The Ray executor."""
