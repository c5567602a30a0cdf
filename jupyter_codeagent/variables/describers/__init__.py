"""One describer for each kind of value, found by the name of its type."""
