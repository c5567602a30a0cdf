"""From a saved notebook and its runs to one page to hand on: what was accepted, and how it came about."""
