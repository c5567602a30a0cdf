"""Timing and memory of the parts a user waits for: `python -m benchmarks`."""
