"""Training libraries report to the current trial: one module per library, imported when used."""
