"""How often the answers are right, and at what cost: `python -m evals`. See docs/evals.md."""
