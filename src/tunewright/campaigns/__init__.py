"""The whole loop within a budget, each step a round with its reason."""
