"""Where a person starts: the magics, the command line, headless runs, completion."""
