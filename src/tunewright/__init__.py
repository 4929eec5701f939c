"""The Deep Learning Tuning Playbook, executable."""

__version__ = "0.1.0.dev0"
