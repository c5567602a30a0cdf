"""The notebook: cells of a run, cleaned outputs, and the effects of code on the namespace."""
