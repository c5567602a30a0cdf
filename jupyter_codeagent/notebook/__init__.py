"""The notebook: cells made of a run, cleaned outputs, and what code would do to its names."""
