"""A training program read from its source: options, their roles and ranges, and the files for it.

Nothing here imports or runs the program. `tunewright.project.scan` is the door.
"""
