"""What a user starts: the magics, the command line, headless runs, completion."""
