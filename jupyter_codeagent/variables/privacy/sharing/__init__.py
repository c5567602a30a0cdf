"""Keep track of the variables and columns that the user shares or hides."""
