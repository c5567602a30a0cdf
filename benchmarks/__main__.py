"""`python -m benchmarks [NAME…]`: a table on stdout, JSON in build/benchmarks.json."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import (
    databases,
    describe,
    explore,
    history,
    layers,
    load_ext,
    mcp_calls,
    observation,
    overhead,
    panel,
    sandbox,
    tokens,
    tools,
    transfer,
    users,
)
from benchmarks.origin import commit, machine

ALL = {
    "load_ext": load_ext.run,
    "sandbox": sandbox.run,
    "layers": layers.run,
    "transfer": transfer.run,
    "overhead": overhead.run,
    "describe": describe.run,
    "observation": observation.run,
    "explore": explore.run,
    "tokens": tokens.run,
    "panel": panel.run,
    "history": history.run,
    "tools": tools.run,
    "mcp": mcp_calls.run,
    "databases": databases.run,
    "users": users.run,
}
OUTPUT = Path("build/benchmarks.json")
"""Figures worth keeping are copied to benchmarks/results by hand, with their date."""


def main(names: list[str]) -> None:
    if unknown := [name for name in names if name not in ALL]:
        sys.exit(f"There is no benchmark {unknown[0]!r}; there are {', '.join(ALL)}.")
    results: dict[str, Any] = {
        "machine": machine(),
        "commit": commit(),
        "at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    for name in names or list(ALL):
        print(f"{name} …", file=sys.stderr, flush=True)
        results[name] = ALL[name]()
        goals = results[name].get("goals", {})
        for key, value in flatten({key: item for key, item in results[name].items() if key != "goals"}):
            goal = f"goal {goals[key]}" if key in goals else ""
            print(f"{name + '.' + key:<48} {value:<12} {goal}".rstrip())
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(f"written to {OUTPUT}", file=sys.stderr)


def flatten(value: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested figures as rows of ``a.b.c`` and a rounded text."""
    rows: list[tuple[str, str]] = []
    for key, item in value.items():
        if isinstance(item, dict):
            rows += flatten(item, f"{prefix}{key}.")
        else:
            rows.append((prefix + key, f"{item:.4g}" if isinstance(item, float) else json.dumps(item)))
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
