"""`python -m benchmarks [NAME…]`: a table on stdout, JSON in build/benchmarks.json."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import layers, load_ext, overhead, sandbox, transfer

ALL = {
    "load_ext": load_ext.run,
    "sandbox": sandbox.run,
    "layers": layers.run,
    "transfer": transfer.run,
    "overhead": overhead.run,
}
OUTPUT = Path("build/benchmarks.json")


def main(names: list[str]) -> None:
    results: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()},
        "at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    for name in names or list(ALL):
        print(f"{name} …", file=sys.stderr, flush=True)
        results[name] = ALL[name]()
        for key, value in flatten(results[name]):
            print(f"{name + '.' + key:<44}{value}")
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
