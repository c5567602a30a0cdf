"""What describing a frame costs over rows and columns, against what people call themselves and against reports.

skrub and ydata-profiling are asked where they are installed (the extra `bench`; ydata-profiling wants pandas < 3).
"""

from __future__ import annotations

import importlib.util
import io
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from jupyter_codeagent.variables.describe import describe

ROWS = (1_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
ROWS_COLUMNS = 4
COLUMNS = (10, 100, 1_000)
COLUMNS_ROWS = 100_000
PATIENCE_S = 20.0
"""Whoever took longer is not asked for the next size."""

Way = Callable[[Any], object]


def run() -> dict[str, Any]:
    """Seconds by way and size; best of three where one took less than a second."""
    ways = known_ways()
    results: dict[str, Any] = {"rows": {}, "columns": {}, "peers_missing": missing_peers()}
    slow: set[str] = set()
    for rows in ROWS:
        results["rows"][f"{rows}x{ROWS_COLUMNS}"] = measured(ways, numbers_and_text(rows, ROWS_COLUMNS), slow)
    slow.clear()
    for columns in COLUMNS:
        results["columns"][f"{COLUMNS_ROWS}x{columns}"] = measured(
            ways, numbers_and_text(COLUMNS_ROWS, columns), slow
        )
    return results


def measured(ways: dict[str, Way], frame: Any, slow: set[str]) -> dict[str, float]:
    """Seconds of each way that was not too slow before; adds to `slow` who is now."""
    seconds = {}
    for name, way in ways.items():
        if name in slow:
            continue
        seconds[name] = best_s(way, frame)
        if seconds[name] > PATIENCE_S:
            slow.add(name)
    return seconds


def best_s(way: Way, frame: Any) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            way(frame)
        best = min(best, time.perf_counter() - started)
        if best > 1:
            break
    return best


def numbers_and_text(rows: int, columns: int) -> Any:
    """A quarter each: floats, whole numbers, categories as text, times."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    words = np.array(["north", "south", "east", "west"])
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: rng.random(rows),
        lambda: rng.integers(0, 1000, rows),
        lambda: pd.Series(words[rng.integers(0, 4, rows)], dtype="str"),
        lambda: pd.Timestamp("2013-01-01").to_datetime64() + rng.integers(0, 10**9, rows).astype("m8[s]"),
    )
    return pd.DataFrame({f"c{at}": kinds[at % 4]() for at in range(columns)}, copy=False)


def known_ways() -> dict[str, Way]:
    ways: dict[str, Way] = {
        "ours": lambda frame: describe({"df": frame}, privacy="stats", mentioned=""),
        "df.describe": lambda frame: frame.describe(),
        "df.info": lambda frame: frame.info(buf=io.StringIO()),
    }
    if _installed("skrub"):
        ways["skrub"] = _skrub_report
    if _installed("data_profiling"):
        ways["ydata_minimal"] = _ydata_report
    return ways


def missing_peers() -> list[str]:
    return [name for name in ("skrub", "data_profiling") if not _installed(name)]


def _skrub_report(frame: Any) -> object:
    from skrub import TableReport

    return TableReport(frame, verbose=0).html()


def _ydata_report(frame: Any) -> object:
    from data_profiling import ProfileReport

    return ProfileReport(frame, minimal=True, progress_bar=False).to_html()


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
