"""The two probes that time training steps: batch size, and the input pipeline."""
