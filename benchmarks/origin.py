"""Where figures come from: the machine, and the state of the code. For `benchmarks` and `evals`."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    cpuinfo = Path("/proc/cpuinfo")
    models = (
        [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if cpuinfo.exists()
        else []
    )
    return {
        "cores": os.cpu_count(),
        "processor": models[0].partition(":")[2].strip() if models else platform.processor(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def commit() -> str:
    """As `git describe` writes it, with ``-dirty`` where files differ from it; empty outside of a checkout."""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
