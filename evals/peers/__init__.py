"""Workers for peers, each run by a Python of its own that has that peer installed (`python -m evals peers`)."""
