"""Names of functions that several rules know."""

from __future__ import annotations

AGGREGATIONS = frozenset({"mean", "sum", "median", "min", "max", "std", "var", "count", "nunique"})
"""Methods that make one value of a column, and one for each group of grouped ones."""
FIRST_AND_LAST = frozenset({"first", "last"})
"""The same of groups only."""
DISPLAYING = frozenset({"print", "display"})
