"""Launch decisions: variance, terms, the decision, its lineage."""
