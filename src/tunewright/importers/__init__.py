"""Rounds that other people's tools recorded, read as results of ours."""
