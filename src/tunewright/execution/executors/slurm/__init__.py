"""The Slurm executor."""
