"""The libraries that charts may be drawn with."""

from __future__ import annotations

from typing import Literal, get_args

ChartLibrary = Literal["matplotlib", "altair", "plotly"]
CHART_LIBRARIES: tuple[ChartLibrary, ...] = get_args(ChartLibrary)
"""The default comes first."""
