"""What next: one proposal per file, and longer training."""
