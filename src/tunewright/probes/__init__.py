"""Short experiments that settle one setting each, before the rounds begin."""
