"""Colours of charts, for all kinds of sight, on white and on black.

The first four are those of Okabe and Ito that can be seen on both; the last is as far as possible from them, to any
eye.
"""

from __future__ import annotations

BLUE, VERMILION, GREEN, PINK, VIOLET = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8811DD"
COLOURS = (BLUE, VERMILION, GREEN, PINK, VIOLET)
"""Levels that are told apart by colour, the most frequent first."""
GREY = "#757575"
"""For what stands beside the data, text included: its contrast is above 4.5 on white and on black."""
