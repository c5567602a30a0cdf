"""`%agent explore` from the cell to the last finding, as a terminal has it, and what it costs the user's kernel."""

from __future__ import annotations

from typing import Any

from benchmarks.kernel import MARK, measure, running_kernel

SETUP = """
import json, os, time
import numpy as np, pandas as pd
def table(rows, numbers, groups):
    rng = np.random.default_rng(1)
    columns = {f"number_{i}": rng.gamma(2, 30, rows) for i in range(numbers)}
    columns |= {f"group_{i}": rng.choice(list("abcdef"), rows) for i in range(groups)}
    days = pd.to_timedelta(rng.integers(0, 900, rows), "D")
    made = pd.DataFrame(columns | {"day": pd.Timestamp("2020-01-01") + days})
    made["number_0"] += 20 * (made["group_0"] == "a")
    return made
def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
get_ipython().run_line_magic("load_ext", "jupyter_codeagent")
"""
MEASURED = """
table_ = table(ROWS, NUMBERS, GROUPS)
before, started = resident(), time.perf_counter()
get_ipython().run_line_magic("agent", "explore table_")
seconds = time.perf_counter() - started
print(MARK + json.dumps({"seconds": seconds, "kernel_grew": (resident() - before) / before}))
"""
TABLES = {"rows_100k_columns_20": (100_000, 13, 6), "rows_10m_columns_6": (10_000_000, 3, 2)}


def run() -> dict[str, Any]:
    """Return seconds, and by which part the memory of the kernel has grown, by table."""
    found: dict[str, Any] = {
        "goals": {
            "rows_100k_columns_20.seconds": "<= 30",
            "rows_100k_columns_20.kernel_grew": "<= 0.1",
            "rows_10m_columns_6.seconds": "<= 120",
            "rows_10m_columns_6.kernel_grew": "<= 0.1",
        }
    }
    with running_kernel() as client:
        measure(client, f"{SETUP}\nprint({MARK!r} + '0')")
        for name, (rows, numbers, groups) in TABLES.items():
            code = MEASURED.replace("MARK", repr(MARK)).replace("ROWS", str(rows))
            code = code.replace("NUMBERS", str(numbers)).replace("GROUPS", str(groups))
            found[name] = measure(client, code, timeout_s=600)
    return found
