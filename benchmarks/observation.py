"""What it costs to count what a program does to rows: the same programs with and without hooks, a million rows."""

from __future__ import annotations

import io
import statistics
import time
from contextlib import redirect_stdout
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from jupyter_codeagent.sandbox.guest.observation.observer import Observer

ROUNDS = 5
SETUP = """
import numpy as np, pandas as pd, polars as pl
rng = np.random.default_rng(1)
n = 1_000_000
sales = pd.DataFrame({
    "shop": rng.choice(["north", "south", "east", "west"], n), "item": rng.integers(0, 5000, n),
    "amount": rng.gamma(2, 30, n), "day": rng.integers(0, 365, n),
})
sales.loc[rng.integers(0, n, 10_000), "amount"] = np.nan
items = pd.DataFrame({"item": range(4800), "price": rng.gamma(2, 9, 4800)})
table = pl.from_pandas(sales)
"""
PROGRAMS = {
    "filter": "sales[sales['shop'] == 'north'].amount.mean()",
    "group": "sales.groupby('shop')['amount'].agg(['mean', 'sum', 'count'])",
    "join": "sales.merge(items, on='item', how='left')['price'].sum()",
    "chain": "sales.dropna().query('amount > 10').groupby(['shop', 'item']).size().nlargest(5)",
    "sort": "sales.sort_values('amount', ascending=False).head(10)",
    "loop": "found = []\nfor v in sales['amount'].tolist():\n    if v > 50:\n        found.append(v * 2)",
    "polars": "table.filter(pl.col('amount') > 10).group_by('shop').agg(pl.col('amount').mean())",
}  # fmt: skip


def run() -> dict[str, Any]:
    """Return milliseconds by program: without hooks, and what hooks add; the median of `ROUNDS`."""
    shell = InteractiveShell(history_load_length=0)
    shell.run_cell(SETUP)
    found: dict[str, Any] = {"goals": {"most_added_ms": "<= 100"}}
    for name, code in PROGRAMS.items():
        plain, observed = [], []
        for _ in range(ROUNDS):
            plain.append(_milliseconds(shell, code))
            observer = Observer(shell)
            observed.append(_milliseconds(shell, code))
            observer.report()
            observer.close()
        without = statistics.median(plain)
        found[name] = {"without_ms": without, "added_ms": statistics.median(observed) - without}
    found["most_added_ms"] = max(found[name]["added_ms"] for name in PROGRAMS)
    return found


def _milliseconds(shell: InteractiveShell, code: str) -> float:
    with redirect_stdout(io.StringIO()):
        started = time.perf_counter()
        shell.run_cell(code)
        return (time.perf_counter() - started) * 1000
