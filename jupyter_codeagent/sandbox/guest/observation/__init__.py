"""Watch what a cell's calls do to rows and columns, while it runs: `hooks` finds the calls, `observer` counts."""
