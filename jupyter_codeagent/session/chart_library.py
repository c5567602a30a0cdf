"""Whether the library that the user wants charts drawn with is there; nothing is imported to find out."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec

from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.charts import CHART_LIBRARIES, ChartLibrary
from jupyter_codeagent.types.errors import UsageError

DEFAULT = CHART_LIBRARIES[0]


def require_chart_library(charts: ChartLibrary) -> None:
    """Raise UsageError with what to do if the library is not installed in the user's kernel."""
    if not _is_installed(charts):
        raise UsageError(f"{_missing(charts)}. {_what_to_do(charts)}")


def with_installed_charts(settings: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings with a library that is there, and a note if that is not the one that was set."""
    if _is_installed(settings.charts):
        return settings, ()
    note = f"{_missing(settings.charts)}, so the model was told to use {DEFAULT}. {_what_to_do(settings.charts)}"
    return replace(settings, charts=DEFAULT), (note,)


def unless_default(charts: ChartLibrary) -> str:
    """Return the name for the digest of a question; empty for the default, as before there was a choice."""
    return "" if charts == DEFAULT else charts


def _is_installed(charts: ChartLibrary) -> bool:
    # The model is always told the default, which is no dependency of ours; its own errors say what is missing.
    return charts == DEFAULT or sys.modules.get(charts) is not None or find_spec(charts) is not None


def _missing(charts: ChartLibrary) -> str:
    return f"CodeAgent.charts is {charts}, which is not installed in this kernel"


def _what_to_do(charts: ChartLibrary) -> str:
    return f"Run `%pip install {charts}`, or `%config CodeAgent.charts = '{DEFAULT}'`."
