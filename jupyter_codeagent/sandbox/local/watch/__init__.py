"""Looking at a sandbox from outside: its processes, its memory, its files, its limits."""
