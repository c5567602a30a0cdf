"""Which variables and columns the user shares, and where that is kept."""
